/* SimHash of a page: 64 bits that differ in few places where two pages differ in few words.
 *
 * Charikar, "Similarity estimation techniques from rounding algorithms", 2002; for web pages Manku, Jain and Das
 * Sarma, "Detecting near-duplicates for web crawling", 2007, who take pages within 3 bits for near-duplicates.
 * Read over the normalised form of a page (fingerprint_normalise), which is never written out: nothing is
 * allocated, and no more is looked at than limits.h says. The value is the same on every CPU and in every run.
 * What distance which change makes is measured in engine/content/README.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

/* False: the page has too few words to say anything (SIMHASH_SHINGLES_MIN), *hash is left alone. */
bool simhash_html(struct slice html, uint64_t *hash);
/* The same of plain text, in which '<' and '&' are nothing but characters between words. */
bool simhash_text(struct slice text, uint64_t *hash);

/* In how many bits two of them differ: 0 to 64. */
static inline unsigned simhash_distance(uint64_t a, uint64_t b)
{
    return (unsigned)__builtin_popcountll(a ^ b);
}

/* How pages are read. */
enum simhash_way {
    SIMHASH_PLAIN, /* portable code */
    SIMHASH_AVX2,
    SIMHASH_AVX512,
};

/* Nothing better than this even where the CPU has it, for tests and benchmarks; not while another thread hashes. */
void simhash_use(enum simhash_way best);
