/* Open addressing with linear probing in one array; a slot goes from 0 to a signature once and stays. A
 * signature's home is the start of a cache line, and a line is looked at as a whole, without a branch per
 * slot: how far a signature lies from its home cannot be predicted, and a wrong guess costs more than the
 * other seven slots.
 *
 * Why exactly one add is told NEW: a signature's probe sequence is fixed, and every add of it walks that
 * sequence from its start, over slots that hold other signatures, to the first slot that holds the signature
 * or 0. Slots never change once they are not 0, so no add can walk past the slot in which another put the
 * signature: when it was there it stops at it; when the slot was 0 its CAS from 0 must succeed to go on, and
 * only one CAS from 0 does. The losers look at the same line again. As slots are filled in the order of the
 * walk, a line with a slot that is 0 also says that no line behind holds the signature.
 *
 * A look is not one instant, nor in any order. Let h be the last slot seen filled; all up to h are then
 * filled. The number of slots seen filled is h + 1 only if all up to h were seen so, and thus compared, and h
 * + 1 is where the CAS goes; otherwise it is at most h, where the CAS from 0 fails.
 *
 * Why a walk ends: at most count_max < slots_count slots are ever filled, because each add pays with a place
 * taken from `reserved`, which never passes count_max.
 *
 * Pairs: R1 publishes what the adding thread wrote before; A1 and A2 (the loads that find the signature) pair
 * with it. R4 and A4 do the same for signature 0. */
#include "lockfree/signatures.h"

#include <assert.h>

#include "lockfree/wide.h"

/* Slots looked at together: a cache line. */
#define TOGETHER LF_SCALE(8u, 2u)

size_t signatures_bytes(uint64_t count_max)
{
    uint64_t slots = (count_max * SIGNATURES_LOAD_DEN + SIGNATURES_LOAD_NUM - 1) / SIGNATURES_LOAD_NUM;
    return (slots * sizeof(uint64_t) + LF_CACHE_LINE - 1) / LF_CACHE_LINE * LF_CACHE_LINE +
           (slots == 0) * LF_CACHE_LINE;
}

void signatures_init(struct signatures *set, void *memory, size_t bytes)
{
    assert(bytes && bytes % LF_CACHE_LINE == 0 && (uintptr_t)memory % LF_CACHE_LINE == 0);
    set->slots = memory;
    set->slots_count = bytes / sizeof(uint64_t);
    set->count_max = set->slots_count * SIGNATURES_LOAD_NUM / SIGNATURES_LOAD_DEN;
    lf_store(&set->reserved, 0, relaxed);
    lf_store(&set->zero, 0, relaxed);
#ifdef WIDE
    set->plain = !__builtin_cpu_supports("avx2");
#else
    set->plain = true;
#endif
}

void signatures_writer_init(struct signatures_writer *writer, struct signatures *set)
{
    *writer = (struct signatures_writer){.set = set};
}

void signatures_writer_fini(struct signatures_writer *writer)
{
    lf_fetch_sub(&writer->set->reserved, writer->credit, relaxed);
    writer->credit = 0;
}

/* The product's high bits depend on the whole signature, whatever part of it a caller has already used to
 * divide the signatures among sets. */
static inline uint64_t home_of(const struct signatures *set, uint64_t signature)
{
    uint64_t mixed = signature * UINT64_C(0x9E3779B97F4A7C15);
    return (uint64_t)(((unsigned __int128)mixed * (set->slots_count / TOGETHER)) >> 64) * TOGETHER;
}

struct look {
    bool found;
    unsigned filled; /* how many slots were seen filled */
};

#ifdef WIDE
/* CPUs with AVX load aligned 16 bytes at once: no slot is torn. A load is an acquire (A1) on x86; the barrier
 * keeps the compiler to it. */
__attribute__((target("avx2,popcnt"))) static inline struct look look_wide(const _Atomic(uint64_t) *slots,
                                                                           uint64_t signature)
{
    const __m256i *line = (const __m256i *)(const void *)slots;
    __m256i low = _mm256_load_si256(line), high = _mm256_load_si256(line + 1);
    __asm__ volatile("" ::: "memory");
    __m256i wanted = _mm256_set1_epi64x((long long)signature), zero = _mm256_setzero_si256();
    __m256i found = _mm256_or_si256(_mm256_cmpeq_epi64(low, wanted), _mm256_cmpeq_epi64(high, wanted));
    int empty_low = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(low, zero)));
    int empty_high = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(high, zero)));
    return (struct look){.found = !_mm256_testz_si256(found, found),
                         .filled = TOGETHER -
                                   (unsigned)__builtin_popcount((unsigned)(empty_low | empty_high << 4))};
}
#endif

static inline struct look look_plain(const _Atomic(uint64_t) *slots, uint64_t signature)
{
    struct look look = {0};
#pragma GCC unroll 8
    for (unsigned i = 0; i < TOGETHER; i++) {
        uint64_t seen = lf_load(&slots[i], acquire); /* A1 pairs with R1 */
        look.found |= seen == signature;
        look.filled += seen != 0;
    }
    return look;
}

static inline struct look look_at(const struct signatures *set, uint64_t line, uint64_t signature)
{
#ifdef WIDE
    if (!set->plain)
        return look_wide(set->slots + line, signature);
#endif
    return look_plain(set->slots + line, signature);
}

static inline uint64_t line_after(const struct signatures *set, uint64_t slot)
{
    return slot + TOGETHER < set->slots_count ? slot + TOGETHER : 0;
}

static bool reserve(struct signatures_writer *writer)
{
    struct signatures *set = writer->set;
    uint64_t reserved = lf_load(&set->reserved, relaxed);
    while (reserved < set->count_max) {
        uint64_t room = set->count_max - reserved;
        uint64_t credit = room < SIGNATURES_CREDIT ? room : SIGNATURES_CREDIT;
        if (lf_cas_weak(&set->reserved, &reserved, reserved + credit, relaxed, relaxed)) {
            writer->credit = credit;
            return true;
        }
        writer->losses++;
    }
    return false;
}

static enum signatures_answer add_zero(struct signatures *set)
{
    if (lf_load(&set->zero, acquire)) /* A4 pairs with R4 */
        return SIGNATURES_KNOWN;
    return lf_exchange(&set->zero, 1, acq_rel) ? SIGNATURES_KNOWN : SIGNATURES_NEW; /* R4, A4 */
}

enum signatures_answer signatures_add(struct signatures_writer *writer, uint64_t signature)
{
    struct signatures *set = writer->set;
    if (!signature)
        return add_zero(set);
    for (uint64_t line = home_of(set, signature);;) {
        struct look look = look_at(set, line, signature);
        if (look.found)
            return SIGNATURES_KNOWN;
        if (look.filled == TOGETHER) {
            line = line_after(set, line);
            continue;
        }
        if (!writer->credit && !reserve(writer))
            return SIGNATURES_FULL;
        uint64_t seen = 0, slot = line + look.filled;
        if (lf_cas(&set->slots[slot], &seen, signature, release, relaxed)) { /* R1 pairs with A1, A2 */
            writer->credit--;
            return SIGNATURES_NEW;
        }
        writer->losses++;
        if (LF_BUG(signatures_no_second_look, false, true))
            line = line_after(set, line);
    }
}

bool signatures_has(struct signatures *set, uint64_t signature)
{
    if (!signature)
        return lf_load(&set->zero, acquire); /* A4 pairs with R4 */
    for (uint64_t line = home_of(set, signature);; line = line_after(set, line)) {
        struct look look = look_at(set, line, signature);
        if (look.found || look.filled < TOGETHER)
            return look.found;
    }
}

/* Inlined by force: gcc takes a function that only prefetches for one without effect and drops the call. */
__attribute__((always_inline)) static inline void prefetch(const struct signatures *set,
                                                           const uint64_t *signatures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch((const void *)&set->slots[home_of(set, signatures[i])], 1);
}

static inline size_t group_at(size_t from, size_t count)
{
    if (from >= count)
        return 0;
    return count - from < WIDE_GROUP ? count - from : WIDE_GROUP;
}

size_t signatures_add_batch(struct signatures_writer *writer, const uint64_t *signatures, size_t count,
                            enum signatures_answer *answers)
{
    size_t added = 0;
    prefetch(writer->set, signatures, group_at(0, count));
    for (size_t from = 0; from < count; from += WIDE_GROUP) {
        size_t group = group_at(from, count), ahead = from + WIDE_GROUP;
        prefetch(writer->set, signatures + ahead, group_at(ahead, count));
        for (size_t i = from; i < from + group; i++) {
            answers[i] = signatures_add(writer, signatures[i]);
            added += answers[i] == SIGNATURES_NEW;
        }
    }
    return added;
}

struct has_batch {
    struct signatures *set;
    const uint64_t *signatures;
    size_t count;
    bool *found;
};

typedef struct look look_function(const _Atomic(uint64_t) *slots, uint64_t signature);

/* Those that lie in a later line than their home: numbers[0..count), at most WIDE_GROUP. */
struct late {
    size_t numbers[WIDE_GROUP];
    size_t count;
};

static size_t has_late(const struct has_batch *batch, struct late *late)
{
    size_t present = 0;
    for (size_t i = 0; i < late->count; i++) {
        size_t number = late->numbers[i];
        present += batch->found[number] = signatures_has(batch->set, batch->signatures[number]);
    }
    late->count = 0;
    return present;
}

/* Always WIDE_GROUP lines ahead with fetching. What lies in a later line waits until some have come together,
 * while that line is fetched. Inlined, so that `look` is known and inlined too. */
__attribute__((always_inline)) static inline size_t has_all(const struct has_batch *batch,
                                                            look_function *look)
{
    struct signatures *set = batch->set;
    const uint64_t *signatures = batch->signatures;
    uint64_t homes[WIDE_GROUP];
    struct late late = {.count = 0};
    size_t present = 0;
    for (size_t i = 0; i < WIDE_GROUP && i < batch->count; i++) {
        homes[i] = home_of(set, signatures[i]);
        __builtin_prefetch((const void *)&set->slots[homes[i]]);
    }
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t home = homes[i % WIDE_GROUP];
        if (i + WIDE_GROUP < batch->count) {
            homes[i % WIDE_GROUP] = home_of(set, signatures[i + WIDE_GROUP]);
            __builtin_prefetch((const void *)&set->slots[homes[i % WIDE_GROUP]]);
        }
        struct look seen = look(set->slots + home, signatures[i]);
        if (__builtin_expect(!signatures[i] || (!seen.found && seen.filled == TOGETHER), 0)) {
            __builtin_prefetch((const void *)&set->slots[line_after(set, home)]);
            late.numbers[late.count++] = i;
            if (late.count == WIDE_GROUP)
                present += has_late(batch, &late);
            continue;
        }
        present += batch->found[i] = seen.found;
    }
    return present + has_late(batch, &late);
}

#ifdef WIDE
__attribute__((target("avx2,popcnt"))) static size_t has_all_wide(const struct has_batch *batch)
{
    return has_all(batch, look_wide);
}
#endif

size_t signatures_has_batch(struct signatures *set, const uint64_t *signatures, size_t count, bool *found)
{
    struct has_batch batch = {set, signatures, count, found};
#ifdef WIDE
    if (!set->plain)
        return has_all_wide(&batch);
#endif
    return has_all(&batch, look_plain);
}

uint64_t signatures_count(struct signatures *set)
{
    return lf_load(&set->reserved, relaxed) + lf_load(&set->zero, relaxed);
}

bool signatures_next(struct signatures *set, uint64_t *cursor, uint64_t *signature)
{
    while (*cursor < set->slots_count) {
        *signature = lf_load(&set->slots[(*cursor)++], acquire); /* A2 pairs with R1 */
        if (*signature)
            return true;
    }
    if (*cursor > set->slots_count || !lf_load(&set->zero, acquire)) /* A4 pairs with R4 */
        return false;
    (*cursor)++;
    *signature = 0;
    return true;
}
