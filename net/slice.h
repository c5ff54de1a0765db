/* Text that somebody else owns: a pointer and a length, passed by value. Not terminated by a NUL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

static inline struct slice slice_of(const char *string)
{
    return (struct slice){string, strlen(string)};
}

static inline struct slice slice_between(const char *begin, const char *end)
{
    return (struct slice){begin, (size_t)(end - begin)};
}

static inline bool slice_equals(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline char slice_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* ASCII letters compare without regard to case. */
static inline bool slice_equals_nocase(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] && slice_lower(a.ptr[i]) != slice_lower(b.ptr[i]))
            return false;
    return true;
}

static inline bool slice_starts_with(struct slice text, struct slice prefix)
{
    return text.len >= prefix.len && (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

/* `text` without its first `n` bytes. */
static inline struct slice slice_skip(struct slice text, size_t n)
{
    return (struct slice){text.ptr + n, text.len - n};
}

/* ASCII white space as HTML and the URL standard define it. XML, JSON and HTTP know fewer characters; the
 * others have no meaning there, so that they may count as well. */
static inline bool slice_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* White space within a line. */
static inline bool slice_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The value of a hexadecimal digit, or -1. */
static inline int slice_hex_value(char c)
{
    char lower = slice_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Without white space at the start. */
static inline struct slice slice_skip_space(struct slice text)
{
    while (text.len && slice_is_space(text.ptr[0]))
        text = slice_skip(text, 1);
    return text;
}

/* Without white space at both ends. */
static inline struct slice slice_trim(struct slice text)
{
    text = slice_skip_space(text);
    while (text.len && slice_is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}
