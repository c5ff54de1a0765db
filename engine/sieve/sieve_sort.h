/* Sorts signatures in place: they are hashes, so they are dealt out by their leading bits. Bounded for any input: each bit of
 * a signature is looked at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void sieve_sort(uint64_t *words, size_t count);
/* Leaves one of each run of equal words; the words are in order. Returns how many are left. */
size_t sieve_sort_unique(uint64_t *words, size_t count);
