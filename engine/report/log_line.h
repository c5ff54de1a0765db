/* A line of crawl.log, taken apart: lycosa's (store/crawl_log.h has the columns) or Heritrix's own, with or without the 13th
 * column. Text stays where it is: the fields are slices of the line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

struct log_line {
    uint64_t end_ms; /* since 1970 */
    int status;      /* of HTTP, or a code below 0 */
    int64_t size;    /* -1: none */
    struct slice url;
    struct slice hops; /* "-": a seed */
    struct slice mime;
    int64_t took_ms;         /* from the request to the end; -1: never begun */
    struct slice source;     /* the seed; "-": not known */
    struct slice annotation; /* "-": none; empty if the line has no such column */
    uint64_t visit;          /* 0: not known */
    int64_t outlinks;        /* -1: not known */
    int64_t first_byte_ms;   /* likewise */
};

/* `text` is without its newline. False: not a line of a crawl.log, because a column is missing or is not what it should
 * be. */
bool log_line_read(struct log_line *line, struct slice text);

/* How many hops from a seed: "LLR" is 3, "12+LL" is 14, "-" is 0. */
unsigned log_line_depth(struct slice hops);
/* The scheme and the authority of a URL: "http://example.org:8080" of "http://example.org:8080/a"; of "dns:example.org", which
 * Heritrix writes, "dns:". */
struct slice log_line_host(struct slice url);
