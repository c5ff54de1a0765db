/* Putze, Sanders and Singler, "Cache-, hash-, and space-efficient Bloom filters" (2010): all bits of a hash
 * lie in one block of a cache line. The block's eight words form four pairs (w, w + 4); a hash takes one word
 * of each pair and two bits in it, as in the cache-sectorized filters of Lang et al. (2019).
 *
 * Why four words with two bits each: the shared add needs a locked operation per word, and four of them
 * cost 0.6 of eight, while the false-positive rate stays within 2% of eight words with one bit each for 8 to
 * 16 bits a hash. Two words with four bits would be faster still, at 1.15 times the rate (10 bits a hash) and
 * more.
 *
 * No false negative: a bit once set is never cleared, a shared add sets each of its bits by fetch_or, which
 * no concurrent fetch_or undoes, and the owner's add runs alone. The adds skip a word whose bits they see
 * set; set bits stay set.
 *
 * Why at most one shared add of a hash is told "new". An add looks at its words from the last to the first
 * and remembers which lack a bit; then it sets bits from the first to the last. It is told "new" only if its
 * fetch_or on the last word that lacked a bit really set one. Take two adds A and B of one hash, and let a
 * and b be the last words that they saw lacking a bit.
 *   a = b: both set the same bits of one word, and only the first fetch_or sets one that was missing.
 *   a < b: A saw b complete where B had seen it lack a bit. If B's fetch_or completed b, A saw that (A1 pairs
 *   with R1) and so also what B set before, all words up to b: A saw none lacking and is told "known". If
 *   another hash's add completed b, B's fetch_or sets nothing in b, and B is told "known".
 * Whoever is told "known" by a shared add has seen every bit set, in A1 or in A2, and whoever is told "there" by has, in A3:
 * so they see all that the adds that set them did before, and callers may publish more than bits with an add. */
#include "lockfree/bloom.h"

#include <assert.h>

#include "lockfree/wide.h"

#define BLOCK_WORDS (BLOOM_BLOCK_BYTES / 8)
#define PAIRS       4
#define FIELD_BITS  13 /* one bit to choose the word of a pair, twice six for the bits in it */
#define FIELD_LOW                                                                                            \
    12 /* fields are cut from the high end of a product, where all of the hash has been mixed in */

/* Two odd multipliers (the golden ratio, and a prime of the xxHash family): block and bits come
 * from different products, so that the hashes of one block still differ in all their bits, and neither
 * depends on a few bits of the hash by which a caller may have divided the hashes among filters. */
static inline uint64_t block_of(const struct bloom *bloom, uint64_t hash)
{
    uint64_t mixed = hash * UINT64_C(0x9E3779B97F4A7C15);
    return (uint64_t)(((unsigned __int128)mixed * bloom->blocks) >> 64);
}

static inline uint64_t fields_of(uint64_t hash)
{
    return (hash ^ hash >> 32) * UINT64_C(0xC2B2AE3D27D4EB4F);
}

static inline _Atomic(uint64_t) *words_of(const struct bloom *bloom, uint64_t hash)
{
    return bloom->words + block_of(bloom, hash) * BLOCK_WORDS;
}

/* The word of pair `pair`, and in *bits the bits in it. */
static inline unsigned pick(uint64_t fields, unsigned pair, uint64_t *bits)
{
    uint64_t field = fields >> (FIELD_LOW + FIELD_BITS * pair);
    *bits = UINT64_C(1) << (field & 63) | UINT64_C(1) << (field >> 6 & 63);
    return pair + PAIRS * (field >> 12 & 1);
}

void bloom_init(struct bloom *bloom, void *memory, size_t bytes)
{
    assert(bytes && bytes % BLOOM_BLOCK_BYTES == 0 && (uintptr_t)memory % BLOOM_BLOCK_BYTES == 0);
    *bloom = (struct bloom){.words = memory, .blocks = bytes / BLOOM_BLOCK_BYTES};
#ifdef WIDE
    bloom->plain = !__builtin_cpu_supports("avx2");
#else
    bloom->plain = true;
#endif
}

static bool has_plain(struct bloom *bloom, uint64_t hash)
{
    _Atomic(uint64_t) *words = words_of(bloom, hash);
    uint64_t fields = fields_of(hash), missing = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        uint64_t bits;
        unsigned word = pick(fields, pair, &bits);
        missing |= bits & ~lf_load(&words[word], acquire); /* A3 pairs with R1 */
    }
    return !missing;
}

static bool add_owned_plain(struct bloom *bloom, uint64_t hash)
{
    _Atomic(uint64_t) *words = words_of(bloom, hash);
    uint64_t fields = fields_of(hash), missing = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        uint64_t bits;
        unsigned word = pick(fields, pair, &bits);
        uint64_t old = lf_load(&words[word], relaxed);
        missing |= bits & ~old;
        lf_store(&words[word], old | bits, relaxed);
    }
    return missing != 0;
}

static inline bool add_shared(struct bloom *bloom, uint64_t hash)
{
    _Atomic(uint64_t) *words = words_of(bloom, hash), *lacking[PAIRS];
    uint64_t fields = fields_of(hash), bits[PAIRS];
    unsigned count = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        unsigned word = pick(fields, PAIRS - 1 - i, &bits[count]);
        lacking[count] = &words[word];
        count += (bits[count] & ~lf_load(lacking[count], acquire)) != 0; /* A1 pairs with R1 */
    }
    bool is_new = false;
    while (count-- > 0) {
        uint64_t old = lf_fetch_or(lacking[count], bits[count], acq_rel); /* R1 pairs with A1, A3; A2 with R1 */
        is_new = LF_BUG(bloom_any_word_counts, false, is_new) || (bits[count] & ~old) != 0;
    }
    return is_new;
}

#ifdef WIDE
/* The block as two vectors, words 0 to 3 and 4 to 7, so that lane i of the two is pair i. A 32-byte load is
 * not one access, but CPUs with AVX make aligned 16 bytes one: no word is torn by another thread's
 * fetch_or. */
struct wide {
    __m256i *low, *high;
    __m256i bits;   /* what the hash has in its word of each pair */
    __m256i choice; /* sign bit: the word is the high one */
};

__attribute__((target("avx2"))) static inline struct wide wide_of(const struct bloom *bloom, uint64_t hash)
{
    __m256i *low = (__m256i *)(void *)words_of(bloom, hash);
    __m256i fields = _mm256_set1_epi64x((long long)fields_of(hash));
    __m256i first =
        _mm256_srlv_epi64(fields, _mm256_setr_epi64x(FIELD_LOW, FIELD_LOW + FIELD_BITS,
                                                     FIELD_LOW + 2 * FIELD_BITS, FIELD_LOW + 3 * FIELD_BITS));
    __m256i six = _mm256_set1_epi64x(63), one = _mm256_set1_epi64x(1);
    __m256i second = _mm256_srli_epi64(first, 6);
    __m256i bits = _mm256_or_si256(_mm256_sllv_epi64(one, _mm256_and_si256(first, six)),
                                   _mm256_sllv_epi64(one, _mm256_and_si256(second, six)));
    return (struct wide){low, low + 1, bits, _mm256_slli_epi64(first, 63 - 12)};
}

__attribute__((target("avx2"))) static inline bool has_wide(struct bloom *bloom, uint64_t hash)
{
    struct wide wide = wide_of(bloom, hash);
    __m256d words =
        _mm256_blendv_pd(_mm256_castsi256_pd(_mm256_load_si256(wide.low)),
                         _mm256_castsi256_pd(_mm256_load_si256(wide.high)), _mm256_castsi256_pd(wide.choice));
    __asm__ volatile("" ::: "memory"); /* a load is an acquire (A3) on x86; this keeps the compiler to it */
    return _mm256_testc_si256(_mm256_castpd_si256(words), wide.bits);
}

__attribute__((target("avx2"))) static inline bool add_owned_wide(struct bloom *bloom, uint64_t hash)
{
    struct wide wide = wide_of(bloom, hash);
    __m256i is_high = _mm256_cmpgt_epi64(_mm256_setzero_si256(), wide.choice);
    __m256i high_bits = _mm256_and_si256(is_high, wide.bits);
    __m256i low_bits = _mm256_andnot_si256(is_high, wide.bits);
    __m256i low = _mm256_load_si256(wide.low), high = _mm256_load_si256(wide.high);
    bool known = _mm256_testc_si256(low, low_bits) & _mm256_testc_si256(high, high_bits);
    _mm256_store_si256(wide.low, _mm256_or_si256(low, low_bits));
    _mm256_store_si256(wide.high, _mm256_or_si256(high, high_bits));
    return !known;
}
#endif

bool bloom_has(struct bloom *bloom, uint64_t hash)
{
#ifdef WIDE
    if (!bloom->plain)
        return has_wide(bloom, hash);
#endif
    return has_plain(bloom, hash);
}

bool bloom_add_owned(struct bloom *bloom, uint64_t hash)
{
#ifdef WIDE
    if (!bloom->plain)
        return add_owned_wide(bloom, hash);
#endif
    return add_owned_plain(bloom, hash);
}

bool bloom_add_shared(struct bloom *bloom, uint64_t hash)
{
    return add_shared(bloom, hash);
}

struct batch {
    const uint64_t *hashes;
    size_t count;
    bool *result;
};

typedef bool operation(struct bloom *bloom, uint64_t hash);

/* Inlined by force: gcc takes a function that only prefetches for one without effect and drops the call. */
__attribute__((always_inline)) static inline void prefetch(const struct bloom *bloom,
                                                           const struct batch *batch, size_t from)
{
    size_t end = from + WIDE_GROUP < batch->count ? from + WIDE_GROUP : batch->count;
    for (size_t i = from; i < end; i++)
        __builtin_prefetch((const void *)words_of(bloom, batch->hashes[i]), 1);
}

/* Always one group ahead with fetching. Inlined, so that `operate` is known and inlined too. */
__attribute__((always_inline)) static inline size_t run(struct bloom *bloom, const struct batch *batch,
                                                        operation *operate)
{
    size_t positive = 0;
    prefetch(bloom, batch, 0);
    for (size_t from = 0; from < batch->count; from += WIDE_GROUP) {
        prefetch(bloom, batch, from + WIDE_GROUP);
        size_t end = from + WIDE_GROUP < batch->count ? from + WIDE_GROUP : batch->count;
        for (size_t i = from; i < end; i++)
            positive += batch->result[i] = operate(bloom, batch->hashes[i]);
    }
    return positive;
}

#ifdef WIDE
__attribute__((target("avx2"))) static size_t run_has_wide(struct bloom *bloom, const struct batch *batch)
{
    return run(bloom, batch, has_wide);
}

__attribute__((target("avx2"))) static size_t run_add_owned_wide(struct bloom *bloom,
                                                                 const struct batch *batch)
{
    return run(bloom, batch, add_owned_wide);
}
#endif

size_t bloom_has_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result)
{
    struct batch batch = {hashes, count, result};
#ifdef WIDE
    if (!bloom->plain)
        return run_has_wide(bloom, &batch);
#endif
    return run(bloom, &batch, has_plain);
}

size_t bloom_add_owned_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result)
{
    struct batch batch = {hashes, count, result};
#ifdef WIDE
    if (!bloom->plain)
        return run_add_owned_wide(bloom, &batch);
#endif
    return run(bloom, &batch, add_owned_plain);
}

size_t bloom_add_shared_batch(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result)
{
    return run(bloom, &(struct batch){hashes, count, result}, add_shared);
}

static double power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

/* The rate of a block with `keys` hashes in it. A word has got m of them, m binomial (keys, 1/2), that is 2m
 * bits thrown at 64 places. A look-up's two bits fall on one place with probability 1/64 and are then set
 * with 1 - (63/64)^2m, otherwise with 1 - 2 (63/64)^2m + (62/64)^2m; and the mean of a^m is ((1 + a) /
 * 2)^keys. */
static double block_rate(uint64_t keys)
{
    double a = 63.0 / 64 * 63 / 64, b = 62.0 / 64 * 62 / 64;
    double one_clear = power((1 + a) / 2, keys), both_clear = power((1 + b) / 2, keys);
    double word = (1 - one_clear) / 64 + 63 * (1 - 2 * one_clear + both_clear) / 64;
    return power(word, PAIRS);
}

/* The mean over blocks, whose number of hashes is Poisson distributed. Weights are taken relative to that of
 * the most likely number and followed both ways until they are too small to count. */
double bloom_rate(uint64_t bytes, uint64_t count)
{
    assert(bytes >= BLOOM_BLOCK_BYTES);
    double mean = (double)count / ((double)bytes / BLOOM_BLOCK_BYTES);
    if (mean >= 1e6)
        return 1;
    uint64_t mode = (uint64_t)mean;
    double weights = 0, rates = 0, weight = 1;
    for (uint64_t keys = mode; weight > 1e-18; keys++) {
        weights += weight;
        rates += weight * block_rate(keys);
        weight *= mean / (double)(keys + 1);
    }
    weight = 1;
    for (uint64_t keys = mode; keys > 0 && weight > 1e-18; keys--) {
        weight *= (double)keys / mean;
        weights += weight;
        rates += weight * block_rate(keys - 1);
    }
    return rates / weights;
}

uint64_t bloom_bytes(uint64_t count, double rate)
{
    assert(rate > 0 && rate < 1);
    uint64_t low = 0, high = 1; /* blocks: too few, enough */
    while (bloom_rate(high * BLOOM_BLOCK_BYTES, count) > rate) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (bloom_rate(middle * BLOOM_BLOCK_BYTES, count) > rate)
            low = middle;
        else
            high = middle;
    }
    return high * BLOOM_BLOCK_BYTES;
}
