/* Sorts lines by their bytes, however many there are, in the memory it is given: runs are sorted in memory and written to a
 * temporary file, which has no name; then they are merged, in several passes if there are more than memory has buffers
 * for. The same as sort(1) in the C locale.
 *
 *     add ... add -> finish -> next ... next */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "net/slice.h"

struct line_sort_run;

struct line_sort_options {
    size_t memory_bytes;   /* LINE_SORT_MEMORY_MIN at least */
    const char *directory; /* for the temporary file; outlives the sort */
};

struct line_sort {
    struct line_sort_options options;
    struct archive_error *error;
    char *memory;        /* lines from the front, their slices from the back; then the buffers of runs */
    size_t used;         /* by lines */
    struct slice *lines; /* the last one that was added comes first */
    size_t count;
    int fd; /* -1: all fits memory */
    uint64_t file_bytes;
    struct line_sort_run *runs; /* those not merged yet are from `first` on */
    size_t first, run_count, run_room;
    struct line_sort_run **heap;
    size_t heap_count;
};

/* The error outlives the sort. False, here and below: the error is set. */
bool line_sort_init(struct line_sort *sort, const struct line_sort_options *options,
                    struct archive_error *error);
void line_sort_fini(struct line_sort *sort);

/* A line with its end, of CDXJ_LINE_BYTES_MAX at most. */
bool line_sort_add(struct line_sort *sort, struct slice line);
bool line_sort_finish(struct line_sort *sort);
/* False: there are no more, or the error is set. The line is good until the next call. */
bool line_sort_next(struct line_sort *sort, struct slice *line);

/* Less than, equal to or greater than 0: the order of two lines, without their ends. */
int line_sort_compare(struct slice a, struct slice b);
