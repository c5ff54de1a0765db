/* A reader for the JSON files that tests take their cases from. One tree, freed as a whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    char *key;          /* in an object; NUL-terminated */
    char *text;         /* of a string (UTF-8, NUL-terminated; may hold NULs) or a number */
    size_t len;         /* bytes of `text` */
    struct json *first; /* of an array or object */
    struct json *next;  /* in the same array or object */
};

/* NULL if `text` is not JSON. */
struct json *json_parse(const char *text, size_t len);
void json_free(struct json *tree);

/* The member of an object with that key, or NULL. */
const struct json *json_get(const struct json *object, const char *key);
/* The text of a string member, or NULL where there is none. */
const char *json_text(const struct json *object, const char *key);
