/* SimHash for CPUs with AVX-512 (BW, VBMI and VBMI2). */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/content/simhash_parts.h"

#define READ(name)  simhash_##name##_avx512
#define READ_TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")))
#define LANES       8
typedef uint64_t lanes __attribute__((vector_size(64)));

static inline READ_TARGET lanes READ(multiply)(lanes value, uint32_t factor)
{
    return (lanes)_mm512_mul_epu32((__m512i)value, _mm512_set1_epi64(factor));
}

static inline READ_TARGET lanes READ(swap)(lanes value)
{
    return (lanes)_mm512_rol_epi64((__m512i)value, 32);
}

static inline READ_TARGET lanes READ(add)(lanes *low, lanes a, lanes b)
{
    lanes sum = (lanes)_mm512_ternarylogic_epi64((__m512i)*low, (__m512i)a, (__m512i)b, 0x96);
    lanes high = (lanes)_mm512_ternarylogic_epi64((__m512i)*low, (__m512i)a, (__m512i)b, 0xe8);
    *low = sum;
    return high;
}

/* The groups of names for each byte. */
static inline READ_TARGET __m512i groups_of(const char *at, const unsigned char groups[32])
{
    __m512i table = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)groups));
    return _mm512_permutexvar_epi8(_mm512_loadu_si512(at), table);
}

/* Where a name of these groups may begin. */
static inline READ_TARGET uint64_t dates_of(const char *block, const unsigned char groups[3][32])
{
    __m512i two = _mm512_and_si512(groups_of(block, groups[0]), groups_of(block + 1, groups[1]));
    return _mm512_test_epi8_mask(two, groups_of(block + 2, groups[2]));
}

static inline READ_TARGET struct simhash_words READ(words)(const char *block)
{
    __m512i bytes = _mm512_loadu_si512(block);
    __m512i from_a =
        _mm512_sub_epi8(_mm512_or_si512(bytes, _mm512_set1_epi8(SIMHASH_FOLD)), _mm512_set1_epi8('a'));
    __m512i from_zero = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    uint64_t above = _mm512_movepi8_mask(bytes),
             leads = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8((char)0xc0));
    return (struct simhash_words){
        .letters = _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26)) | above,
        .digits = _mm512_cmplt_epu8_mask(from_zero, _mm512_set1_epi8(10)),
        .open = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('<')),
        .ampersand = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('&')),
        .leads = leads & (above & ~leads) >> 1,
        .dates = dates_of(block, simhash_date_groups[0]) | dates_of(block, simhash_date_groups[1]),
    };
}

static inline READ_TARGET struct simhash_tags READ(tags)(const char *block)
{
    __m512i bytes = _mm512_loadu_si512(block);
    return (struct simhash_tags){
        .close = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('>')),
        .double_quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
        .single_quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\'')),
        .equals = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('=')),
        .space = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(' ')),
    };
}

static inline READ_TARGET uint64_t READ(append)(char *out, const char *block, struct simhash_letters letters)
{
    __m512i folded = _mm512_or_si512(_mm512_loadu_si512(block), _mm512_set1_epi8(SIMHASH_FOLD));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(letters.all, folded));
    return _pext_u64(letters.starts, letters.all);
}

#include "engine/content/simhash_read.h"

READ_TARGET void simhash_read_avx512(struct simhash_reader *reader)
{
    READ(document)(reader, 0);
}
#endif
