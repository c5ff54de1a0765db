/* Blocked Bloom filter over 64-bit hashes: a block is one cache line, so an operation touches one line.
 *
 * | call                                | by whom                  | at the same time as             |
 * |-------------------------------------|--------------------------|---------------------------------|
 * | add_shared, add_shared_batch, has,  | any thread               | each other                      |
 * | has_batch                           |                          |                                 |
 * | add_owned, add_owned_batch          | the owner, one thread    | nothing, but for the owner's    |
 * |                                     |                          | own other calls                 |
 * | init                                | one thread               | nothing                         |
 *
 * Progress: all wait-free.
 *
 * Never a false negative: once an add has returned, has and add find the hash (in another thread: as soon as
 * that thread has synchronised with the one that added). A false positive has the probability bloom_rate
 * tells.
 *
 * Both adds tell whether the hash was new, that is, whether a bit was missing. Of all threads that share-add
 * one hash, at most one is told "new". None is told so if the hash was a false positive, or became one by
 * adds of other hashes to the same block in the middle of the add.
 *
 * Who is told "known" by a shared add, or "there" by has, sees what the threads that added the hash did before.
 *
 * The hash must be a good one: all 64 bits count. The memory is the caller's, zeroed; its content is the
 * filter and may be saved and loaded. */
#pragma once

#include "lockfree/atomic.h"

#define BLOOM_BLOCK_BYTES 64

struct bloom {
    _Atomic(uint64_t) *words;
    uint64_t blocks;
    bool plain; /* take the plain C path even where there is a faster one; for tests and comparison */
};

/* The size, a multiple of BLOOM_BLOCK_BYTES, at which `count` hashes give a false-positive rate of at most
 * `rate`, 0 < rate < 1. */
uint64_t bloom_bytes(uint64_t count, double rate);
/* The rate expected of a filter of `bytes` with `count` distinct hashes in it. */
double bloom_rate(uint64_t bytes, uint64_t count);

/* `bytes` of zeroed (or earlier saved) memory, a multiple of BLOOM_BLOCK_BYTES and so aligned. */
void bloom_init(struct bloom *bloom, void *memory, size_t bytes);

bool bloom_add_owned(struct bloom *bloom, uint64_t hash);
bool bloom_add_shared(struct bloom *bloom, uint64_t hash);
bool bloom_has(struct bloom *bloom, uint64_t hash);

/* The same for many hashes, all lines being fetched at once. Each returns how many were new (how many
 * there were, has_batch), and says which in result[0..count). */
size_t bloom_add_owned_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result);
size_t bloom_add_shared_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result);
size_t bloom_has_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result);
