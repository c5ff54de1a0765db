#include "tests/support/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX                                                                                            \
    64 /* files of test cases nest three deep; a bound keeps a broken one from the stack's end */

struct reader {
    const char *at, *end;
    unsigned depth;
};

static struct json *read_value(struct reader *in);

static void skip_space(struct reader *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at)
        in->at++;
}

static bool take(struct reader *in, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(in->end - in->at) < len || memcmp(in->at, word, len) != 0)
        return false;
    in->at += len;
    return true;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(lead[len] | c);
    return len;
}

static bool read_hex4(struct reader *in, uint32_t *value)
{
    char digits[5] = {0}, *stop;
    if (in->end - in->at < 4)
        return false;
    memcpy(digits, in->at, 4);
    *value = (uint32_t)strtoul(digits, &stop, 16);
    in->at += 4;
    return *stop == '\0';
}

/* What follows a backslash. */
static bool read_escape(struct reader *in, char *to, size_t *len)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    uint32_t c, low;
    if (in->at == in->end)
        return false;
    const char *name = strchr(names, *in->at);
    if (name && *name) {
        in->at++;
        to[(*len)++] = values[name - names];
        return true;
    }
    if (!take(in, "u") || !read_hex4(in, &c))
        return false;
    if (c >= 0xd800 && c < 0xdc00 && take(in, "\\u")) {
        if (!read_hex4(in, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    *len += put_utf8(to + *len, c);
    return true;
}

static char *read_string(struct reader *in, size_t *len)
{
    if (!take(in, "\""))
        return NULL;
    const char *quote = in->at;
    while (quote < in->end && *quote != '"')
        quote += *quote == '\\' ? 2 : 1;
    if (quote >= in->end)
        return NULL;
    char *text = malloc((size_t)(quote - in->at) + 1);
    *len = 0;
    while (in->at < quote) {
        char c = *in->at++;
        if (c != '\\') {
            text[(*len)++] = c;
        } else if (!read_escape(in, text, len)) {
            free(text);
            return NULL;
        }
    }
    in->at++;
    text[*len] = '\0';
    return text;
}

static bool read_member(struct reader *in, enum json_kind kind, struct json **member)
{
    size_t len;
    char *key = NULL;
    skip_space(in);
    if (kind == JSON_OBJECT) {
        key = read_string(in, &len);
        skip_space(in);
        if (!key || !take(in, ":")) {
            free(key);
            return false;
        }
    }
    *member = read_value(in);
    if (!*member) {
        free(key);
        return false;
    }
    (*member)->key = key;
    return true;
}

static bool read_members(struct reader *in, struct json *parent)
{
    const char *close = parent->kind == JSON_OBJECT ? "}" : "]";
    struct json **last = &parent->first;
    skip_space(in);
    if (take(in, close))
        return true;
    do {
        if (!read_member(in, parent->kind, last))
            return false;
        last = &(*last)->next;
        skip_space(in);
    } while (take(in, ","));
    return take(in, close);
}

static bool read_number(struct reader *in, struct json *value)
{
    const char *begin = in->at;
    while (in->at < in->end && *in->at && strchr("+-0123456789.eE", *in->at))
        in->at++;
    value->len = (size_t)(in->at - begin);
    value->text = strndup(begin, value->len);
    value->kind = JSON_NUMBER;
    return value->len > 0;
}

static bool read_kind(struct reader *in, struct json *value)
{
    if (take(in, "null"))
        return true;
    if (take(in, "true")) {
        value->kind = JSON_TRUE;
        return true;
    }
    if (take(in, "false")) {
        value->kind = JSON_FALSE;
        return true;
    }
    if (take(in, "{") || take(in, "[")) {
        value->kind = in->at[-1] == '{' ? JSON_OBJECT : JSON_ARRAY;
        return in->depth < DEPTH_MAX && read_members(in, value);
    }
    if (in->at < in->end && *in->at == '"') {
        value->kind = JSON_STRING;
        value->text = read_string(in, &value->len);
        return value->text != NULL;
    }
    return read_number(in, value);
}

static struct json *read_value(struct reader *in)
{
    struct json *value = calloc(1, sizeof *value);
    skip_space(in);
    in->depth++;
    bool good = read_kind(in, value);
    in->depth--;
    if (good)
        return value;
    json_free(value);
    return NULL;
}

struct json *json_parse(const char *text, size_t len)
{
    struct reader in = {.at = text, .end = text + len};
    struct json *tree = read_value(&in);
    skip_space(&in);
    if (tree && in.at != in.end) {
        json_free(tree);
        return NULL;
    }
    return tree;
}

void json_free(struct json *tree)
{
    while (tree) {
        struct json *next = tree->next;
        json_free(tree->first);
        free(tree->key);
        free(tree->text);
        free(tree);
        tree = next;
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    for (const struct json *member = object ? object->first : NULL; member; member = member->next)
        if (member->key && strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

const char *json_text(const struct json *object, const char *key)
{
    const struct json *member = json_get(object, key);
    return member && member->kind == JSON_STRING ? member->text : NULL;
}
