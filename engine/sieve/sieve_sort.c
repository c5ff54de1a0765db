/* American flag sort (McIlroy, Bostic and McIlroy, 1993). */
#include "engine/sieve/sieve_sort.h"

#include "engine/sieve/limits.h"

enum { BITS = SIEVE_SORT_BITS, BINS = 1 << BITS };

static void insertion_sort(uint64_t *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t word = words[i];
        size_t at = i;
        for (; at > 0 && words[at - 1] > word; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
}

static unsigned bin_of(uint64_t word, unsigned shift)
{
    return word >> shift & (BINS - 1);
}

/* Where each bin begins, and in the last place where the last one ends. */
static void find_bins(const uint64_t *words, size_t count, unsigned shift, size_t *begins)
{
    size_t sum = 0;
    for (unsigned bin = 0; bin <= BINS; bin++)
        begins[bin] = 0;
    for (size_t i = 0; i < count; i++)
        begins[bin_of(words[i], shift)]++;
    for (unsigned bin = 0; bin <= BINS; bin++) {
        size_t here = begins[bin];
        begins[bin] = sum;
        sum += here;
    }
}

/* Each word goes to its bin, and the one that lay there goes on to its own. */
static void deal_out(uint64_t *words, unsigned shift, const size_t *begins)
{
    size_t nexts[BINS];
    for (unsigned bin = 0; bin < BINS; bin++)
        nexts[bin] = begins[bin];
    for (unsigned bin = 0; bin < BINS; bin++)
        while (nexts[bin] < begins[bin + 1]) {
            uint64_t word = words[nexts[bin]];
            for (unsigned other; (other = bin_of(word, shift)) != bin;) {
                uint64_t met = words[nexts[other]];
                words[nexts[other]++] = word;
                word = met;
            }
            words[nexts[bin]++] = word;
        }
}

/* The words agree in all bits above `shift` + BITS. */
static void sort_by(uint64_t *words, size_t count, unsigned shift)
{
    size_t begins[BINS + 1];
    if (count <= SIEVE_SORT_INSERTION_MAX) {
        insertion_sort(words, count);
        return;
    }
    find_bins(words, count, shift, begins);
    deal_out(words, shift, begins);
    for (unsigned bin = 0; bin < BINS && shift > 0; bin++)
        sort_by(words + begins[bin], begins[bin + 1] - begins[bin], shift - BITS);
}

void sieve_sort(uint64_t *words, size_t count)
{
    sort_by(words, count, 64 - BITS);
}

size_t sieve_sort_unique(uint64_t *words, size_t count)
{
    size_t kept = count > 0;
    for (size_t i = 1; i < count; i++)
        if (words[i] != words[kept - 1])
            words[kept++] = words[i];
    return kept;
}
