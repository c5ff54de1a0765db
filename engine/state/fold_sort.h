/* Brings pairs of a key and a place into the order of their keys, however many there are: runs are sorted in memory,
 * written to one scratch file one after the other, and merged. Pairs with the same key come in no particular order.
 *
 *     add ... add -> finish -> next ... next
 *
 * Memory: 32 bytes for each of `pairs_max` until finish, then FOLD_RUN_BYTES for each run. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"

struct fold_pair {
    uint64_t key, place;
};

struct fold_sort_options {
    const struct disk *disk;
    const char *path; /* of the scratch file, which is the sort's alone; outlives the sort */
    size_t pairs_max; /* in a run */
};

/* A run, and the part of it that is at hand. */
struct fold_run {
    uint64_t offset; /* of what is not at hand */
    uint64_t left;   /* pairs of it */
    struct fold_pair *at, *end;
    struct fold_pair *buffer; /* NULL: the run is in memory as a whole */
};

struct fold_sort {
    struct fold_sort_options options;
    int fd;         /* -1: there is no file, all fits one run */
    int error;      /* negative errno of the first call that failed; then there are no more pairs */
    uint64_t bytes; /* of the file */
    struct fold_pair *pairs, *dealt;
    size_t count; /* in the run at hand */
    struct fold_run *runs;
    size_t run_count, run_room;
    struct fold_run **heap; /* runs that have pairs left; the smallest key is first */
    size_t heap_count;
};

/* 0 or a negative errno, as those that follow. */
int fold_sort_init(struct fold_sort *sort, const struct fold_sort_options *options);
/* Removes the file. */
void fold_sort_fini(struct fold_sort *sort);

int fold_sort_add(struct fold_sort *sort, struct fold_pair pair);
int fold_sort_finish(struct fold_sort *sort);
/* False: there are no more, or `error` says why. */
bool fold_sort_next(struct fold_sort *sort, struct fold_pair *pair);
