/* A line of crawl.log, in Heritrix's columns:
 *
 *   1 time of the end, ISO 8601 with milliseconds, UTC     7 MIME type
 *   2 status: HTTP's, or a negative code of Heritrix's     8 #NNN, the loop
 *   3 size of the body                                     9 time of the start, 17 digits, and +milliseconds
 *   4 URL                                                 10 sha1:BASE32 of the body
 *   5 path of hops from a seed                            11 source tag: the seed that led here
 *   6 the page that led here                              12 annotations, joined by commas
 *                                                       13 if wanted, JSON: {"v":7,"o":12,"f":35}
 *
 * 13: the number of the visit, the links found on the page, the milliseconds from the request to the first byte; each only
 * if it is known. Annotations: the outcome unless it is "done", "3t" if it took three tries, and others.
 * Fields that are not known are "-". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/outcome/fetch_outcome.h"
#include "engine/url/limits.h"
#include "net/slice.h"

enum { CRAWL_LOG_LINE_BYTES_MAX = 3 * URL_BYTES_MAX + 1024 };

struct crawl_log_entry {
    uint64_t end_us, start_us; /* since 1970; start_us 0: never begun */
    enum fetch_outcome outcome;
    int status;                      /* of HTTP; 0: none */
    int64_t size;                    /* -1: none */
    struct slice url_host, url_path; /* the URL in two parts */
    struct slice hops;               /* as hops_write does; may be empty */
    struct slice mime;
    unsigned loop;
    const unsigned char *digest; /* SHA-1; NULL: none */
    struct slice via, source;    /* URLs; may be empty */
    unsigned tries;              /* written if more than 1 */
    struct slice annotation;     /* further ones, joined by commas; may be empty */
    bool has_extra;              /* the 13th column is written */
    struct crawl_log_extra {
        uint64_t visit;        /* 0: not part of one */
        int64_t outlinks;      /* -1: not read for links */
        int64_t first_byte_ms; /* -1: none came */
    } extra;
};

/* Writes a line with its newline to `buffer` of CRAWL_LOG_LINE_BYTES_MAX bytes; returns its length. */
size_t crawl_log_write(char *buffer, const struct crawl_log_entry *entry);
