/* Sorts signatures in place: they are hashes, so they are dealt out by their leading bits. Bounded for any input: each bit of
 * a signature is looked at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void sieve_sort(uint64_t *words, size_t count);
/* Of words in order, leaves one of those that are equal. Returns how many are left. */
size_t sieve_sort_unique(uint64_t *words, size_t count);
