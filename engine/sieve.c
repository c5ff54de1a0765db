/* The signatures tell exactly one thread that a hash is new. The Bloom filter's shared add may tell two that
 * add the same hash at the same moment. So a hash is claimed first, in a table that maps it to one slot:
 * whoever finds its own hash there is not the first. Where the slot holds another hash the claim is passed
 * over: then two loops would have to add one hash within the same 100 ns and a third hash lie in between for
 * a URL to be let out twice. */
#include "engine/sieve.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#define CLAIMS_COUNT (UINT64_C(1) << 16)

/* The most hashes at which the filter's rate stays below the bound. */
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
    size_t bytes = tuning->sieve_bytes / BLOOM_BLOCK_BYTES * BLOOM_BLOCK_BYTES;
    size_t claims_bytes = CLAIMS_COUNT * sizeof *sieve->claims;
    if (bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES))
        return -ENOMEM;
    /* The first thousands of URLs touch every page of it. Now, a lack of memory is an error and the time is no
     * page's; then, it would be the end. */
    struct arena_options options = {.bytes = bytes + claims_bytes, .populate = true};
    int error = arena_init(&sieve->arena, &options);
    if (error)
        return error;
    sieve->kind = (enum tuning_sieve)tuning->sieve_kind;
    sieve->is_shared = tuning->threads > 1;
    sieve->bytes = bytes;
    void *memory = arena_take(&sieve->arena, bytes, LF_CACHE_LINE);
    sieve->claims = arena_take(&sieve->arena, claims_bytes, LF_CACHE_LINE);
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

enum claim { CLAIM_MINE, CLAIM_OTHERS, CLAIM_PASSED };

static enum claim claim(struct sieve *sieve, uint64_t hash)
{
    uint64_t seen = 0;
    /* A1 pairs with R1 in release_claim: bits set under an earlier claim of this slot are seen. */
    if (lf_cas(&sieve->claims[hash % CLAIMS_COUNT], &seen, hash, acquire, relaxed))
        return CLAIM_MINE;
    return seen == hash ? CLAIM_OTHERS : CLAIM_PASSED;
}

static void release_claim(struct sieve *sieve, uint64_t hash)
{
    lf_store(&sieve->claims[hash % CLAIMS_COUNT], 0, release); /* R1 pairs with A1 in claim */
}

static void add_bloom_shared(struct sieve *sieve, const uint64_t *hashes, size_t count,
                             enum sieve_answer *answers)
{
    enum claim claims[SIEVE_BATCH_MAX];
    uint64_t mine[SIEVE_BATCH_MAX] = {0};
    bool is_new[SIEVE_BATCH_MAX];
    size_t mine_count = 0;
    for (size_t i = 0; i < count; i++) {
        claims[i] = claim(sieve, hashes[i]);
        if (claims[i] != CLAIM_OTHERS)
            mine[mine_count++] = hashes[i];
    }
    uint64_t added = bloom_add_shared_batch(&sieve->bloom, mine, mine_count, is_new);
    for (size_t i = 0, next = 0; i < count; i++) {
        answers[i] = claims[i] != CLAIM_OTHERS && is_new[next] ? SIEVE_NEW : SIEVE_KNOWN;
        next += claims[i] != CLAIM_OTHERS;
        if (claims[i] == CLAIM_MINE)
            release_claim(sieve, hashes[i]);
    }
    lf_fetch_add(&sieve->bloom_count, added, relaxed);
}

static void add_bloom_owned(struct sieve *sieve, const uint64_t *hashes, size_t count,
                            enum sieve_answer *answers)
{
    bool is_new[SIEVE_BATCH_MAX];
    uint64_t added = bloom_add_owned_batch(&sieve->bloom, hashes, count, is_new);
    for (size_t i = 0; i < count; i++)
        answers[i] = is_new[i] ? SIEVE_NEW : SIEVE_KNOWN;
    lf_store(&sieve->bloom_count, lf_load(&sieve->bloom_count, relaxed) + added, relaxed);
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
        else if (sieve->is_shared)
            add_bloom_shared(sieve, hashes, count, answers);
        else
            add_bloom_owned(sieve, hashes, count, answers);
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
    /* Signatures: the chance that a hash of 64 bits hits one of those that are there. */
    return sieve->kind == TUNING_SIEVE_BLOOM ? bloom_rate(sieve->bytes, sieve_count(sieve)) : count * 0x1p-64;
}
