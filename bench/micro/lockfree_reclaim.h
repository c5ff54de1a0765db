/* What all rows of reclaim do: read a shared object through a pointer that another might replace, protected,
 * and say now and then that nothing is held. */
#pragma once

#include "micro/lockfree.h"

#define LOCKFREE_RECLAIM_THREADS 64
#define LOCKFREE_RECLAIM_READS   64
#define LOCKFREE_RECLAIM_ONE     "read, quiescent each time"
#define LOCKFREE_RECLAIM_MANY    "64 reads, then quiescent"

struct lockfree_reclaim_object {
    uint64_t value;
};

struct lockfree_reclaim {
    struct lockfree_reclaim_object
        *object;    /* read as shared: by an atomic load of the implementation's own */
    unsigned reads; /* per protected stretch */
    void *domain;
};

/* row->argument is the number of reads. */
struct lockfree_reclaim *lockfree_reclaim_create(const struct lockfree_row *row, unsigned threads);
void lockfree_reclaim_destroy(void *state);
/* That what was read was there. */
void lockfree_reclaim_check(const struct lockfree_worker *worker, uint64_t sum);
