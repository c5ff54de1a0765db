/* The serialisation under construction, and the percent-encode sets of the URL standard. Private to url. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

struct url_writer {
    char *text;
    size_t len, size;
    bool full;      /* something did not fit; what follows is dropped */
    bool query_raw; /* see struct url */
};

/* What a byte is, one bit each: in a percent-encode set (it is escaped there), or the end of a part. */
enum url_class {
    URL_IN_FRAGMENT = 1u << 0,
    URL_IN_QUERY = 1u << 1, /* the special-query set */
    URL_IN_PATH = 1u << 2,
    URL_IN_USERINFO = 1u << 3,
    URL_ENDS_PATH = 1u << 4,      /* ? # */
    URL_ENDS_AUTHORITY = 1u << 5, /* / \ ? # */
    URL_HOST_PLAIN = 1u << 6,     /* letters, digits, - _ . : never forbidden, need at most lower case */
    URL_PATH_STOP = 1u << 7,      /* cannot simply be copied to a path: URL_IN_PATH, ? # \ . % */
};

extern const uint8_t url_classes[256];

static inline bool url_class_has(char byte, unsigned classes)
{
    return url_classes[(uint8_t)byte] & classes;
}

static inline void url_write_byte(struct url_writer *out, char byte)
{
    if (out->len == out->size) {
        out->full = true;
        return;
    }
    out->text[out->len++] = byte;
}

static inline void url_write(struct url_writer *out, struct slice bytes)
{
    if (bytes.len > out->size - out->len) {
        out->full = true;
        return;
    }
    if (bytes.len)
        memcpy(out->text + out->len, bytes.ptr, bytes.len);
    out->len += bytes.len;
}

/* Copies the bytes up to the first that has one of `stop`; returns how many. May set `full`. */
size_t url_write_span(struct url_writer *out, struct slice bytes, unsigned stop);

/* Writes `bytes` with the bytes of class `set` as %XX, each ill-formed UTF-8 sequence as U+FFFD. */
void url_write_escaped(struct url_writer *out, struct slice bytes, enum url_class set);

/* Writes the segments of the path that `input` begins with below what is written already, which ends in '/'.
 * "." and ".." are taken out; ".." does not go above `floor`, the place of the path's first '/'. Returns what
 * follows the path: empty, or from '?' or '#' on. */
struct slice url_write_path(struct url_writer *out, struct slice input, size_t floor);
