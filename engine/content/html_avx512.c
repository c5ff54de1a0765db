/* The walk for CPUs with AVX-512 (BW). */
#if defined(__x86_64__)
#include <immintrin.h>

#include "engine/content/html_tag.h"

#define WALK(name)  html_##name##_avx512
#define WALK_TARGET __attribute__((target("avx512f,avx512bw,bmi,bmi2")))

static inline WALK_TARGET uint64_t html_find_avx512(const char *at, char byte)
{
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(byte));
}

static inline WALK_TARGET void html_load_avx512(struct html_block *block, const char *at)
{
    __m512i bytes = _mm512_loadu_si512(at);
    block->lt = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('<'));
    block->gt = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('>'));
    block->double_quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"'));
    block->single_quote = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\''));
    block->equals = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('='));
    block->name_end = block->equals | block->gt | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('/')) |
                      _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(' '));
}

#include "engine/content/html_walk.h"

WALK_TARGET bool html_next_avx512(struct html_walk *walk, struct html_tag *tag)
{
    return WALK(step)(walk, tag);
}
#endif
