/* Every bound of engine/duplicates, with the reason for its value. */
#pragma once

#include <stdint.h>

/* near: the largest distance. A query for 7 looks at some five hundred lines of memory; pages further apart than
 * that are different pages. */
#define NEAR_DISTANCE_MAX 7
/* near: tables, one per part of a fingerprint. More would cost more than 64 bytes per fingerprint. */
#define NEAR_TABLES_MAX 4
/* near: the least memory: a few hundred fingerprints in each generation. */
#define NEAR_BYTES_MIN (1u << 18)
/* near: the most memory: with more, the bits of one part are too few to number all lines. */
#define NEAR_BYTES_MAX (UINT64_C(1) << 40)
/* near: generations that are held. When memory is full the oldest is dropped: an eighth of all. */
#define NEAR_GENERATIONS 8
/* near: how many lines beyond its own a fingerprint may be put. Who floods one line with made-up pages fills these,
 * and makes queries there read so many; the rest of the index stays as it is. */
#define NEAR_HOPS_MAX 255

/* exact: writers. As many as there may be loops. */
#define EXACT_LOOPS_MAX 64
/* exact: the least memory per loop: eight of the longest URLs. */
#define EXACT_LOOP_BYTES_MIN (1u << 17)
