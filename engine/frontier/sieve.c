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

static bool has_disk(const struct tuning *tuning)
{
    return tuning->fixed.state.spill && tuning->fixed.memory.sieve_kind != TUNING_SIEVE_BLOOM;
}

/* How memory.sieve is divided. On disk: a quarter of it for the caches, the rest for asking. Signatures leave an eighth for
 * what comes when they are full. */
static size_t cache_bytes(const struct tuning *tuning)
{
    size_t bytes = tuning->fixed.memory.sieve_bytes;
    if (!has_disk(tuning))
        return 0;
    return sieve_is_on_disk(tuning->fixed.memory.sieve_kind) ? bytes / 4 : bytes / 32;
}

size_t sieve_mill_bytes(const struct tuning *tuning)
{
    size_t bytes = tuning->fixed.memory.sieve_bytes;
    return sieve_is_on_disk(tuning->fixed.memory.sieve_kind) ? bytes / 4 * 3 : bytes / 32 * 3;
}

static size_t table_bytes(const struct tuning *tuning)
{
    size_t bytes = tuning->fixed.memory.sieve_bytes;
    if (sieve_is_on_disk(tuning->fixed.memory.sieve_kind))
        return 0;
    bytes -= has_disk(tuning) ? cache_bytes(tuning) + sieve_mill_bytes(tuning) : 0;
    return bytes / BLOOM_BLOCK_BYTES * BLOOM_BLOCK_BYTES;
}

int sieve_init(struct sieve *sieve, const struct tuning *tuning)
{
    size_t bytes = table_bytes(tuning), caches = cache_bytes(tuning);
    if (bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES))
        return -ENOMEM;
    /* The first few thousand URLs touch all of this memory, so it is populated here: a lack of memory is an
     * error at start and not a crash later, and no page waits for page faults. */
    unsigned loops = (unsigned)tuning->fixed.crawl.threads;
    struct arena_options options = {.bytes = bytes + caches + (loops + 1) * LF_CACHE_LINE, .populate = true};
    int error = arena_init(&sieve->arena, &options);
    if (error)
        return error;
    sieve->kind = (enum tuning_sieve)tuning->fixed.memory.sieve_kind;
    sieve->loops = loops;
    sieve->asks_later = has_disk(tuning);
    sieve->cache_cells = caches / sizeof(uint64_t) / loops;
    sieve->bytes = bytes;
    void *memory = bytes ? arena_take(&sieve->arena, bytes, LF_CACHE_LINE) : NULL;
    lf_store(&sieve->bloom_count, 0, relaxed);
    lf_store(&sieve->is_over, false, relaxed);
    lf_store(&sieve->agreed, 0, relaxed);
    switch (sieve->kind) {
    case TUNING_SIEVE_SIGNATURES:
        signatures_init(&sieve->signatures, memory, bytes);
        break;
    case TUNING_SIEVE_BLOOM:
        bloom_init(&sieve->bloom, memory, bytes);
        sieve->bloom_count_max = bloom_capacity(bytes);
        break;
    case TUNING_SIEVE_MERCATOR:
    case TUNING_SIEVE_OFFLINE:
    case TUNING_SIEVE_ROCKSDB:
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
    *loop = (struct sieve_loop){.sieve = sieve};
    if (sieve->kind == TUNING_SIEVE_SIGNATURES)
        signatures_writer_init(&loop->writer, &sieve->signatures);
    if (sieve->cache_cells)
        loop->cache = arena_take(&sieve->arena, sieve->cache_cells * sizeof *loop->cache, LF_CACHE_LINE);
}

void sieve_loop_fini(struct sieve_loop *loop)
{
    if (loop->sieve->kind == TUNING_SIEVE_SIGNATURES)
        signatures_writer_fini(&loop->writer);
}

void sieve_turn(struct sieve_loop *loop)
{
    struct sieve *sieve = loop->sieve;
    if (loop->has_agreed || !lf_load(&sieve->is_over, relaxed)) /* a hint: the next turn looks again */
        return;
    loop->has_agreed = true;
    lf_fetch_add(&sieve->agreed, 1, release); /* R1 pairs with A1: what this loop has added is seen */
}

static uint64_t *cell_of(const struct sieve_loop *loop, uint64_t hash)
{
    uint64_t mixed = hash * UINT64_C(0x9E3779B97F4A7C15);
    return &loop->cache[((unsigned __int128)mixed * loop->sieve->cache_cells) >> 64];
}

/* Whether this loop has just asked the disk about it. */
static bool was_asked(const struct sieve_loop *loop, uint64_t hash)
{
    return hash && loop->cache && *cell_of(loop, hash) == hash;
}

/* Not in memory: the disk has to be asked, unless this loop has just done so. */
static enum sieve_answer answer_later(struct sieve_loop *loop, uint64_t hash)
{
    if (was_asked(loop, hash))
        return SIEVE_KNOWN;
    if (loop->cache)
        *cell_of(loop, hash) = hash;
    return SIEVE_LATER;
}

/* After this loop has agreed to add nothing: what is in memory is known. */
static void look_up_signatures(struct sieve_loop *loop, const uint64_t *hashes, size_t count,
                               enum sieve_answer *answers)
{
    bool found[SIEVE_BATCH_MAX];
    signatures_has_batch(&loop->sieve->signatures, hashes, count, found);
    for (size_t i = 0; i < count; i++)
        answers[i] = found[i] ? SIEVE_KNOWN : answer_later(loop, hashes[i]);
}

static enum sieve_answer answer_full_table(struct sieve_loop *loop, uint64_t hash)
{
    struct sieve *sieve = loop->sieve;
    if (!sieve->asks_later)
        return SIEVE_FULL;
    lf_store(&sieve->is_over, true, relaxed);
    return answer_later(loop, hash);
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
            answers[i] = answer_full_table(loop, hashes[i]);
            break;
        }
}

static void add_bloom(struct sieve *sieve, const uint64_t *hashes, size_t count, enum sieve_answer *answers)
{
    bool is_new[SIEVE_BATCH_MAX];
    uint64_t added = sieve->loops > 1 ? bloom_add_shared_batch(&sieve->bloom, hashes, count, is_new)
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
        if (loop->has_agreed)
            look_up_signatures(loop, hashes, count, answers);
        else
            add_signatures(loop, hashes, count, answers);
        break;
    case TUNING_SIEVE_BLOOM:
        if (lf_load(&sieve->bloom_count, relaxed) >= sieve->bloom_count_max)
            answer_full(sieve, hashes, count, answers);
        else
            add_bloom(sieve, hashes, count, answers);
        break;
    case TUNING_SIEVE_MERCATOR:
    case TUNING_SIEVE_OFFLINE:
    case TUNING_SIEVE_ROCKSDB:
        for (size_t i = 0; i < count; i++)
            answers[i] = answer_later(loop, hashes[i]);
        break;
    }
}

bool sieve_uses_disk(struct sieve *sieve)
{
    return sieve_is_on_disk(sieve->kind) || lf_load(&sieve->is_over, relaxed);
}

bool sieve_is_settled(struct sieve *sieve)
{
    return sieve_is_on_disk(sieve->kind) || lf_load(&sieve->agreed, acquire) == sieve->loops; /* A1 */
}

bool sieve_confirm(struct sieve *sieve, uint64_t hash)
{
    return sieve->kind != TUNING_SIEVE_SIGNATURES || !signatures_has(&sieve->signatures, hash);
}

void sieve_has(struct sieve_loop *loop, const uint64_t *hashes, size_t count, bool *found)
{
    struct sieve *sieve = loop->sieve;
    assert(count <= SIEVE_BATCH_MAX);
    switch (sieve->kind) {
    case TUNING_SIEVE_SIGNATURES:
        signatures_has_batch(&sieve->signatures, hashes, count, found);
        break;
    case TUNING_SIEVE_BLOOM:
        bloom_has_batch(&sieve->bloom, hashes, count, found);
        break;
    case TUNING_SIEVE_MERCATOR:
    case TUNING_SIEVE_OFFLINE:
    case TUNING_SIEVE_ROCKSDB:
        for (size_t i = 0; i < count; i++)
            found[i] = was_asked(loop, hashes[i]);
        break;
    }
}

uint64_t sieve_count(struct sieve *sieve)
{
    if (sieve_is_on_disk(sieve->kind))
        return 0;
    return sieve->kind == TUNING_SIEVE_BLOOM ? lf_load(&sieve->bloom_count, relaxed)
                                             : signatures_count(&sieve->signatures);
}

uint64_t sieve_capacity(const struct sieve *sieve)
{
    if (sieve_is_on_disk(sieve->kind))
        return 0;
    return sieve->kind == TUNING_SIEVE_BLOOM ? sieve->bloom_count_max : sieve->signatures.count_max;
}

double sieve_false_positive_rate(struct sieve *sieve)
{
    double count = (double)sieve_count(sieve);
    /* Signatures: the chance that a 64-bit hash equals one of those present. */
    return sieve->kind == TUNING_SIEVE_BLOOM ? bloom_rate(sieve->bytes, sieve_count(sieve)) : count * 0x1p-64;
}
