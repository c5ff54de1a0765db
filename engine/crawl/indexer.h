/* Makes an index, NAME.cdxj, beside each NAME.warc, NAME.warc.gz or NAME.warc.zst that is closed, on a thread of its own.
 *
 * The index of a file is made of the notes that the loop took when it wrote the file (index_notes.h). It gets its name when the
 * file is closed and is as long as the notes say. Other files without an index are read, on another thread and at low
 * priority: those that an earlier process left, and those whose notes found no room. Until then the thread looks into the folder
 * now and then. The index of a file that a resume cuts is removed by the resume. An index that cannot be made is reported
 * once; the crawl goes on, and `lycosa index` makes it later. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/archive/archive_error.h"
#include "engine/crawl/index_notes.h"
#include "lockfree/atomic.h"

enum { INDEXER_PATH_BYTES = 1100 };

struct indexer {
    char directory[INDEXER_PATH_BYTES];
    pthread_t thread;
    bool is_running;
    _Atomic(bool) is_last;     /* no more files come: index what is there, then end */
    _Atomic(bool) is_over;     /* index nothing more */
    struct index_notes *notes; /* one per loop */
    unsigned notes_count;
    struct indexed_file *ready; /* not closed yet */
    struct archive_error error;
};

struct indexer_options {
    const char *directory;
    struct outlet *const *notes; /* of each loop; they outlive the thread */
    unsigned notes_count;
};

/* 0 or a negative errno: no index is made. */
int indexer_start(struct indexer *indexer, const struct indexer_options *options);
/* All WARC files are closed: the thread ends as soon as they are indexed, or at once if `is_over`. The caller joins it. */
void indexer_finish(struct indexer *indexer, bool is_over);
/* What went wrong, after the thread has been joined. NULL: nothing. */
const char *indexer_error(const struct indexer *indexer);
