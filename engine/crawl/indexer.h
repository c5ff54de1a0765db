/* Makes an index, NAME.cdxj, beside each NAME.warc, NAME.warc.gz or NAME.warc.zst that is closed, on a thread of its own, at low priority.
 *
 * It looks into the folder now and then for WARC files without an index: so files that an earlier process left are
 * indexed, too. The index of a file that a resume cuts is removed by the resume. An index that cannot be made is
 * reported once; the crawl goes on, and `lycosa index` makes it later. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/archive/archive_error.h"
#include "lockfree/atomic.h"

enum { INDEXER_PATH_BYTES = 1100 };

struct indexer {
    char directory[INDEXER_PATH_BYTES];
    pthread_t thread;
    bool is_running;
    _Atomic(bool) is_last; /* no more files come: index what is there, then end */
    _Atomic(bool) is_over; /* index nothing more */
    struct archive_error error;
};

/* 0 or a negative errno: no index is made. */
int indexer_start(struct indexer *indexer, const char *directory);
/* All WARC files are closed: the thread ends as soon as they are indexed, or at once if `is_over`. The caller joins it. */
void indexer_finish(struct indexer *indexer, bool is_over);
/* What went wrong, after the thread has been joined. NULL: nothing. */
const char *indexer_error(const struct indexer *indexer);
