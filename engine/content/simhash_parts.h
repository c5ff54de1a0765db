/* The hashes of simhash.c: of words, of shingles, and of the words that are none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Words in a shingle. Two: see the measurements in engine/content/README.md. */
#define SIMHASH_SHINGLE_WORDS 2

/* Odd numbers with as many ones as zeros, of no further meaning. A change of one changes every SimHash. */
#define SIMHASH_WORD    UINT64_C(0x8BB84B93962EACC9)
#define SIMHASH_FACTOR  UINT64_C(0x9E3779B97F4A7C15)
#define SIMHASH_SHINGLE UINT64_C(0xC2B2AE3D27D4EB4F)

/* Both halves of a product of 128 bits. */
static inline uint64_t simhash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of two words in this order. */
static inline uint64_t simhash_shingle(uint64_t word, uint64_t before)
{
    return simhash_mix(word ^ (before << 23 | before >> 41), SIMHASH_SHINGLE);
}

/* Letters as they lie in a word: the first is the lowest byte. */
#define SIMHASH_LETTERS(a, b, c, d, e, f, g, h)                                                              \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32 |  \
     (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)

/* The place of a name in simhash_dates. Found by trial: it gives each name a place of its own. */
#define SIMHASH_DATE_PLACE(letters) ((unsigned)((letters)*UINT64_C(0xE4A4E6B881404CAF) >> 57))

/* Months, weekdays and what stands beside times, up to 8 letters. */
extern const uint64_t simhash_dates[128];

static inline bool simhash_is_date(uint64_t letters)
{
    return simhash_dates[SIMHASH_DATE_PLACE(letters)] == letters;
}

/* The two of nine letters. */
static inline bool simhash_is_long_date(uint64_t letters, uint64_t ninth)
{
    return (letters == SIMHASH_LETTERS('s', 'e', 'p', 't', 'e', 'm', 'b', 'e') && ninth == 'r') ||
           (letters == SIMHASH_LETTERS('w', 'e', 'd', 'n', 'e', 's', 'd', 'a') && ninth == 'y');
}
