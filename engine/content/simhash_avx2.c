/* SimHash for CPUs with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/content/simhash_append.h"
#include "engine/content/simhash_parts.h"

#define READ(name)  simhash_##name##_avx2
#define READ_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define LANES       4
typedef uint64_t lanes __attribute__((vector_size(32)));

static inline READ_TARGET lanes READ(multiply)(lanes value, uint32_t factor)
{
    return (lanes)_mm256_mul_epu32((__m256i)value, _mm256_set1_epi64x(factor));
}

static inline READ_TARGET lanes READ(swap)(lanes value)
{
    return (lanes)_mm256_shuffle_epi32((__m256i)value, 0xb1);
}

static inline READ_TARGET lanes READ(add)(lanes *low, lanes a, lanes b)
{
    lanes both = *low ^ a, high = (*low & a) | (both & b);
    *low = both ^ b;
    return high;
}

static inline READ_TARGET uint64_t bits_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

static inline READ_TARGET uint64_t match(__m256i low, __m256i high, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    return bits_of(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
}

/* 255 in bytes that are `first` or one of the `count` - 1 after it. */
static inline READ_TARGET __m256i is_among(__m256i bytes, char first, char count)
{
    __m256i from_first = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, _mm256_set1_epi8((char)(count - 1))), from_first);
}

/* The groups of names for a byte. Its lower half is looked up, so that two letters share an entry. */
static inline READ_TARGET __m256i groups_of(__m256i bytes, const unsigned char groups[32])
{
    const __m128i *halves = (const __m128i *)groups;
    __m128i both = _mm_or_si128(_mm_loadu_si128(halves), _mm_loadu_si128(halves + 1));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(both), bytes);
}

/* 0 in bytes at which no date begins. */
static inline READ_TARGET __m256i dates_from(const char *at)
{
    __m256i first = _mm256_loadu_si256((const __m256i *)at);
    __m256i second = _mm256_loadu_si256((const __m256i *)(at + 1));
    __m256i third = _mm256_loadu_si256((const __m256i *)(at + 2));
    __m256i groups[2];
    for (unsigned i = 0; i < 2; i++)
        groups[i] = groups_of(first, simhash_date_groups[i][0]) &
                    groups_of(second, simhash_date_groups[i][1]) &
                    groups_of(third, simhash_date_groups[i][2]);
    return groups[0] | groups[1];
}

static inline READ_TARGET struct simhash_words READ(words)(const char *block)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)(block + 32));
    __m256i fold = _mm256_set1_epi8(SIMHASH_FOLD), lead = _mm256_set1_epi8((char)0xc0),
            zero = _mm256_setzero_si256();
    /* The highest bit is set in bytes above 127, which count as letters. */
    __m256i low_letters = _mm256_or_si256(low, is_among(_mm256_or_si256(low, fold), 'a', 26));
    __m256i high_letters = _mm256_or_si256(high, is_among(_mm256_or_si256(high, fold), 'a', 26));
    uint64_t above = bits_of(low, high), leads = 0;
    if (above) {
        leads = bits_of(_mm256_cmpeq_epi8(_mm256_max_epu8(low, lead), low),
                        _mm256_cmpeq_epi8(_mm256_max_epu8(high, lead), high));
        leads &= (above & ~leads) >> 1;
    }
    return (struct simhash_words){
        .letters = bits_of(low_letters, high_letters),
        .digits = bits_of(is_among(low, '0', 10), is_among(high, '0', 10)),
        .open = match(low, high, '<'),
        .ampersand = match(low, high, '&'),
        .leads = leads,
        .dates = ~bits_of(_mm256_cmpeq_epi8(dates_from(block), zero),
                          _mm256_cmpeq_epi8(dates_from(block + 32), zero)),
    };
}

static inline READ_TARGET struct simhash_tags READ(tags)(const char *block)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)(block + 32));
    return (struct simhash_tags){
        .close = match(low, high, '>'),
        .double_quote = match(low, high, '"'),
        .single_quote = match(low, high, '\''),
        .equals = match(low, high, '='),
        .space = bits_of(is_among(low, 0, ' ' + 1), is_among(high, 0, ' ' + 1)),
    };
}

static inline READ_TARGET uint64_t READ(append)(char *out, const char *block, struct simhash_letters letters)
{
    return simhash_append(out, block, letters);
}

#include "engine/content/simhash_read.h"

READ_TARGET void simhash_read_avx2(struct simhash_reader *reader)
{
    READ(document)(reader, 0);
}
#endif
