#include "engine/frontier/sieve.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

/* The largest number of hashes at which the filter's false positive rate stays below the limit. */
static uint64_t bloom_capacity(size_t bytes)
{
    uint64_t low = 0, high = (uint64_t)bytes * 8;
    while (low + 1 < high) {
        uint64_t middle = low + (high - low) / 2;
        if (bloom_rate(bytes, middle) <= SIEVE_BLOOM_RATE_MAX)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int sieve_init(struct sieve *sieve, const struct tuning *tuning)
{
    size_t bytes = tuning->fixed.memory.sieve_bytes / BLOOM_BLOCK_BYTES * BLOOM_BLOCK_BYTES;
    if (bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES))
        return -ENOMEM;
    /* The first few thousand URLs touch all of this memory, so it is populated here: a lack of memory is an
     * error at start and not a crash later, and no page waits for page faults. */
    struct arena_options options = {.bytes = bytes, .populate = true};
    int error = arena_init(&sieve->arena, &options);
    if (error)
        return error;
    sieve->kind = (enum tuning_sieve)tuning->fixed.memory.sieve_kind;
    sieve->is_shared = tuning->fixed.crawl.threads > 1;
    sieve->bytes = bytes;
    void *memory = arena_take(&sieve->arena, bytes, LF_CACHE_LINE);
    lf_store(&sieve->bloom_count, 0, relaxed);
    switch (sieve->kind) {
    case TUNING_SIEVE_SIGNATURES:
        signatures_init(&sieve->signatures, memory, bytes);
        break;
    case TUNING_SIEVE_BLOOM:
        bloom_init(&sieve->bloom, memory, bytes);
        sieve->bloom_count_max = bloom_capacity(bytes);
        break;
    }
    return 0;
}

void sieve_fini(struct sieve *sieve)
{
    arena_fini(&sieve->arena);
}

void sieve_loop_init(struct sieve_loop *loop, struct sieve *sieve)
{
    loop->sieve = sieve;
    if (sieve->kind == TUNING_SIEVE_SIGNATURES)
        signatures_writer_init(&loop->writer, &sieve->signatures);
}

void sieve_loop_fini(struct sieve_loop *loop)
{
    if (loop->sieve->kind == TUNING_SIEVE_SIGNATURES)
        signatures_writer_fini(&loop->writer);
}

static void add_signatures(struct sieve_loop *loop, const uint64_t *hashes, size_t count,
                           enum sieve_answer *answers)
{
    enum signatures_answer found[SIEVE_BATCH_MAX];
    signatures_add_batch(&loop->writer, hashes, count, found);
    for (size_t i = 0; i < count; i++)
        switch (found[i]) {
        case SIGNATURES_NEW:
            answers[i] = SIEVE_NEW;
            break;
        case SIGNATURES_KNOWN:
            answers[i] = SIEVE_KNOWN;
            break;
        case SIGNATURES_FULL:
            answers[i] = SIEVE_FULL;
            break;
        }
}

static void add_bloom(struct sieve *sieve, const uint64_t *hashes, size_t count, enum sieve_answer *answers)
{
    bool is_new[SIEVE_BATCH_MAX];
    uint64_t added = sieve->is_shared ? bloom_add_shared_batch(&sieve->bloom, hashes, count, is_new)
                                      : bloom_add_owned_batch(&sieve->bloom, hashes, count, is_new);
    for (size_t i = 0; i < count; i++)
        answers[i] = is_new[i] ? SIEVE_NEW : SIEVE_KNOWN;
    lf_fetch_add(&sieve->bloom_count, added, relaxed);
}

static void answer_full(struct sieve *sieve, const uint64_t *hashes, size_t count, enum sieve_answer *answers)
{
    bool found[SIEVE_BATCH_MAX];
    bloom_has_batch(&sieve->bloom, hashes, count, found);
    for (size_t i = 0; i < count; i++)
        answers[i] = found[i] ? SIEVE_KNOWN : SIEVE_FULL;
}

void sieve_add(struct sieve_loop *loop, const uint64_t *hashes, size_t count, enum sieve_answer *answers)
{
    struct sieve *sieve = loop->sieve;
    assert(count <= SIEVE_BATCH_MAX);
    switch (sieve->kind) {
    case TUNING_SIEVE_SIGNATURES:
        add_signatures(loop, hashes, count, answers);
        break;
    case TUNING_SIEVE_BLOOM:
        if (lf_load(&sieve->bloom_count, relaxed) >= sieve->bloom_count_max)
            answer_full(sieve, hashes, count, answers);
        else
            add_bloom(sieve, hashes, count, answers);
        break;
    }
}

uint64_t sieve_count(struct sieve *sieve)
{
    return sieve->kind == TUNING_SIEVE_BLOOM ? lf_load(&sieve->bloom_count, relaxed)
                                             : signatures_count(&sieve->signatures);
}

uint64_t sieve_capacity(const struct sieve *sieve)
{
    return sieve->kind == TUNING_SIEVE_BLOOM ? sieve->bloom_count_max : sieve->signatures.count_max;
}

double sieve_false_positive_rate(struct sieve *sieve)
{
    double count = (double)sieve_count(sieve);
    /* Signatures: the chance that a 64-bit hash equals one of those present. */
    return sieve->kind == TUNING_SIEVE_BLOOM ? bloom_rate(sieve->bytes, sieve_count(sieve)) : count * 0x1p-64;
}
