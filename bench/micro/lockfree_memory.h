/* The one large piece of memory that signatures, bloom and wheel are measured on, one after another, and the
 * floor: what a random read of one of its cache lines takes. */
#pragma once

#include "micro/lockfree.h"

#define LOCKFREE_LINE_WORDS 8

enum lockfree_contents {
    LOCKFREE_UNKNOWN,
    LOCKFREE_RANDOM_BITS, /* every bit set with probability 1/2: a full Bloom filter */
    LOCKFREE_SIGNATURES,  /* lockfree_sieve.c's */
};

/* lockfree_memory_bytes() of it. Tells what is in it and what will be: the caller does the rest. */
uint64_t *lockfree_memory(enum lockfree_contents *before, enum lockfree_contents after);

/* Independent reads: rows with impl = "floor" beside what is limited by them. */
void lockfree_memory_work(struct lockfree_worker *worker);
void *lockfree_memory_begin(const struct lockfree_row *row, unsigned threads);
