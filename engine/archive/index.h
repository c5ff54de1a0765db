/* Makes a sorted index (CDXJ) of WARC files, and of indexes that are there already, in fixed memory.
 *
 *     create -> add_warc, add_cdxj, add ... -> write -> destroy
 *
 * Indexed are response, revisit, resource and metadata records of http, https and urn URIs, except those that hold fields of
 * the archive itself (application/warc-fields). The index is written under another name and then renamed: a file that was
 * there is overwritten only if that is asked for, and never by half an index.
 *
 * Calls block: for a thread of its own beside a crawl, which `stop` ends within a moment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "engine/archive/cdxj.h"
#include "lockfree/atomic.h"

struct index_options {
    size_t memory_bytes;       /* for sorting; 0: INDEX_MEMORY_BYTES */
    const char *directory;     /* for temporary files; outlives the index */
    bool is_forced;            /* a file that is there is overwritten */
    const _Atomic(bool) *stop; /* may be NULL; set by another thread: the index is given up */
    void (*progress)(void *owner, uint64_t bytes); /* may be NULL: bytes of the files so far */
    void *owner;
};

struct index_counts {
    uint64_t records, indexed;
    uint64_t too_long; /* records whose URL is too long for a line */
    uint64_t bytes;    /* of the files that were read */
};

struct index;

/* The error outlives the index. NULL, and below false: the error is set. */
struct index *index_create(const struct index_options *options, struct archive_error *error);
void index_destroy(struct index *index);

bool index_add_warc(struct index *index, const char *path);
/* Adds a record whose writer knows all that a line needs, except for the key, which is made here. */
bool index_add(struct index *index, struct cdxj *line);
/* Adds an index that is there already. It is refused if it is not sorted. */
bool index_add_cdxj(struct index *index, const char *path);
/* The end: makes the file. */
bool index_write(struct index *index, const char *path);
const struct index_counts *index_counts(const struct index *index);

/* All of the above for one file. `options->directory` may be NULL: that of the index. */
bool index_file(const char *warc, const char *cdxj, const struct index_options *options,
                struct archive_error *error);
