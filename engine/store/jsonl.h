/* A page as one line of JSON (RFC 8259), for `store.kind = jsonl`. No I/O.
 *
 *     {"url": "https://example.org/", "status": 200, "type": "text/html", "date": "2026-11-16T07:19:47.123456Z",
 *      "bytes": 1256, "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "title": "Example", "text": "..."}
 *
 * (without the line end in the middle). Members come in this order; `truncated` is behind `digest`, `text_cut` at the
 * end. A member that has nothing to say is left out: type, digest, truncated, title and text where they are empty,
 * text_cut unless it is true. A line is valid UTF-8 and has no control characters, whatever the page holds:
 * malformed bytes become U+FFFD, control characters and quotes are escaped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/store/limits.h"
#include "net/slice.h"

struct jsonl_page {
    struct slice url;
    int status;                  /* of HTTP */
    struct slice type;           /* the Content-Type: its parameters are left out */
    uint64_t date_us;            /* microseconds since 1970: when the fetch began */
    uint64_t bytes;              /* length of the body */
    const unsigned char *digest; /* SHA-1 of the body; NULL: none */
    struct slice truncated;      /* "length", "time", "disconnect"; empty: whole */
    struct slice title, text;    /* text beyond JSONL_TEXT_BYTES_MAX is cut, between two characters */
    bool is_text_cut;            /* there was more text than `text` */
};

/* Writes the line with its newline to `buffer` of `size` bytes. Returns its length; 0 if it does not fit: then the
 * buffer's content is undefined. JSONL_TEXT_BYTES_MAX of ordinary text take less than a millisecond, of control
 * characters four. */
size_t jsonl_write(char *buffer, size_t size, const struct jsonl_page *page);

/* Room that the line of this page needs at most. It follows from the lengths alone: six bytes for each one that may
 * have to be escaped. Ordinary text takes little more than its own length. */
size_t jsonl_bytes_max(const struct jsonl_page *page);
