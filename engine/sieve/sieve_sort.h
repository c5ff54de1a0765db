/* Sorts the signatures of a batch, each with its place in the batch, and leaves one of those that are equal: the
 * first. 64-bit hashes are dealt out by their leading bits twice, after which hardly anything is left to do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

struct sieve_item {
    uint64_t signature;
    uint64_t place;
};

struct sieve_sort {
    struct sieve_item *items; /* the result */
    size_t count;
    struct sieve_item *scratch;
    size_t scratch_max;
};

/* Memory for batches of up to `batch_max`: 16 bytes each, and less than a MiB. */
size_t sieve_sort_bytes(size_t batch_max);
/* Takes so much of the arena. */
void sieve_sort_init(struct sieve_sort *sort, struct arena *arena, size_t batch_max);
void sieve_sort_run(struct sieve_sort *sort, const uint64_t *signatures, size_t count);
