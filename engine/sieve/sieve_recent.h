/* Signatures that are known and not on disk yet. They are sorted, to be written, in the memory of the set itself.
 * From then on the set cannot be asked until it is cleared. */
#pragma once

#include "engine/sieve/limits.h"
#include "lockfree/signatures.h"

struct sieve_recent {
    struct signatures set;
    struct signatures_writer writer;
    uint64_t *memory;
    size_t bytes, count;
};

/* Memory for so many. */
static inline size_t sieve_recent_bytes(size_t count_max)
{
    return signatures_bytes(count_max);
}

/* `bytes` of zeroed memory, a multiple of LF_CACHE_LINE. */
void sieve_recent_init(struct sieve_recent *recent, void *memory, size_t bytes);
/* Whether it was not there. There must be room. */
bool sieve_recent_add(struct sieve_recent *recent, uint64_t signature);
/* The same for up to SIEVE_ASK_GROUP of them: how many were not there. */
size_t sieve_recent_add_batch(struct sieve_recent *recent, const uint64_t *signatures, size_t count);
/* All in order: recent->memory[0..recent->count). */
void sieve_recent_sort(struct sieve_recent *recent);
void sieve_recent_clear(struct sieve_recent *recent);

static inline size_t sieve_recent_room(const struct sieve_recent *recent)
{
    return recent->set.count_max - recent->count;
}

static inline bool sieve_recent_has(struct sieve_recent *recent, uint64_t signature)
{
    return signatures_has(&recent->set, signature);
}
