/* A line of an index of WARC files, in the form that pywb and wabac.js read (CDXJ):
 *
 *     org,example)/a 20261116071947 {"url": "http://example.org/a", "mime": "text/html", "status": "200", "digest": "...",
 *                                    "length": "1234", "offset": "5678", "filename": "NAME.warc.gz"}
 *
 * in one line. As pywb writes it: all values are strings; the digest is that of the payload, and of SHA-1 without the
 * algorithm's name; a revisit has the mime "warc/revisit" and no status. Values that are not known are "-". Text that is
 * not UTF-8 becomes U+FFFD. Lines are sorted by their bytes. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/archive/limits.h"
#include "engine/archive/warc_head.h"
#include "net/slice.h"

struct cdxj {
    struct slice key;
    struct slice timestamp; /* WARC_TIMESTAMP_CHARS digits; read, any number of them */
    struct slice url, mime, status, digest, filename; /* read: empty if absent */
    uint64_t length, offset;                          /* read: 0 if absent */
};

/* Writes the line, with its end, to `buffer` of CDXJ_LINE_BYTES_MAX bytes, and returns its length. 0: it is too long. */
size_t cdxj_write(char *buffer, const struct cdxj *entry);

/* Reads a line, with its end or without. Other members are passed over. The texts are in the line or in `room` of line.len
 * bytes. False: it is no line of an index. */
bool cdxj_parse(struct cdxj *entry, struct slice line, char *room);
