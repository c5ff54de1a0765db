/* Taking one sample of a row: its work in pinned threads, between the marks of a clock. */
#pragma once

#include "micro/lockfree.h"

#define LOCKFREE_THREADS_MAX 256

/* The processors that this process may use; their number, at most LOCKFREE_THREADS_MAX. */
unsigned lockfree_sample_processors(void);

struct lockfree_sample_options {
    const struct lockfree_row *row;
    void *state;
    unsigned threads;
    double seconds;
};

/* Into workers[0..threads). Where a thread did not get its processor for itself the sample is taken again, a
 * few times at most, and the least disturbed one counts. False: that one was disturbed too. */
bool lockfree_sample_take(const struct lockfree_sample_options *options, struct lockfree_worker *workers);
