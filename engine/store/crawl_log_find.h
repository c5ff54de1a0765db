/* Finds the lines of crawl.log that are about a URL, known by itself or by its hash: one pass over the file, a piece at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/store/crawl_log.h"
#include "lockfree/atomic.h"
#include "net/slice.h"

/* The columns that tell what became of a URL; 13 is there only if it is wanted. */
enum {
    CRAWL_LOG_END,
    CRAWL_LOG_STATUS,
    CRAWL_LOG_SIZE,
    CRAWL_LOG_URL,
    CRAWL_LOG_HOPS,
    CRAWL_LOG_VIA,
    CRAWL_LOG_ANNOTATIONS = 11,
    CRAWL_LOG_COLUMNS,
};

struct crawl_log_find {
    const char *path;
    struct slice url; /* as the crawl writes it */
    uint64_t hash;    /* if `url` is empty: that of the URL (url/hash.h), as annotations of repeats tell it */
    void *owner;
    /* A line, without its newline, and its columns; all are valid during the call. */
    void (*on_line)(void *owner, struct slice line, const struct slice columns[CRAWL_LOG_COLUMNS]);
    _Atomic(bool) stops; /* another thread gives up */
};

/* 0, or a negative errno: the file cannot be read. */
int crawl_log_find(struct crawl_log_find *find);
