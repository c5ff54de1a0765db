/* The table of entity_find; see entity_names.c. */
#pragma once

#include <stdint.h>

#define ENTITY_NAME_CHARS_MAX 31

/* A code is the first code point, plus the index of the second one in entity_seconds, plus a bit for names
 * that may lack the semicolon. */
#define ENTITY_CODE_MASK    0xffffffu
#define ENTITY_SECOND_SHIFT 24
#define ENTITY_SECOND_MASK  0x7fu
#define ENTITY_LEGACY       0x80000000u

/* All names of one length, one after the other, and their codes. */
struct entity_group {
    const char *names;
    const uint32_t *codes;
    uint32_t count;
};

extern const struct entity_group entity_groups[ENTITY_NAME_CHARS_MAX + 1];
extern const unsigned entity_seconds[];
