/* The walk for CPUs with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/content/html_tag.h"

#define WALK(name)  html_##name##_avx2
#define WALK_TARGET __attribute__((target("avx2,bmi,bmi2")))

static inline WALK_TARGET uint64_t match(__m256i low, __m256i high, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return first | (uint64_t)second << 32;
}

static inline WALK_TARGET uint64_t html_find_avx2(const char *at, char byte)
{
    return match(_mm256_loadu_si256((const __m256i *)at), _mm256_loadu_si256((const __m256i *)(at + 32)),
                 byte);
}

static inline WALK_TARGET void html_load_avx2(struct html_block *block, const char *at)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(at + 32));
    block->lt = match(low, high, '<');
    block->gt = match(low, high, '>');
    block->double_quote = match(low, high, '"');
    block->single_quote = match(low, high, '\'');
    block->equals = match(low, high, '=');
    __m256i space = _mm256_set1_epi8(' ');
    uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(low, space), low));
    uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(high, space), high));
    block->name_end = block->equals | block->gt | match(low, high, '/') | first | (uint64_t)second << 32;
}

#include "engine/content/html_walk.h"

WALK_TARGET bool html_next_avx2(struct html_walk *walk, struct html_tag *tag)
{
    return WALK(step)(walk, tag);
}
#endif
