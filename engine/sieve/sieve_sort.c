#include "engine/sieve/sieve_sort.h"

#include <stdbool.h>
#include <string.h>

#include "engine/sieve/limits.h"
#include "lockfree/arena.h"

enum { PARTS = 1 << SIEVE_SORT_PART_BITS, BINS = 1 << SIEVE_SORT_BIN_BITS, SCRATCH_MIN = 4096 };

/* Room for a part twice as long as the average. */
static size_t scratch_for(size_t batch_max)
{
    return batch_max / PARTS * 2 + SCRATCH_MIN;
}

size_t sieve_sort_bytes(size_t batch_max)
{
    return (batch_max + scratch_for(batch_max)) * sizeof(struct sieve_item);
}

void sieve_sort_init(struct sieve_sort *sort, struct arena *arena, size_t batch_max)
{
    sort->count = 0;
    sort->scratch_max = scratch_for(batch_max);
    sort->items = arena_take(arena, batch_max * sizeof *sort->items, sizeof *sort->items);
    sort->scratch = arena_take(arena, sort->scratch_max * sizeof *sort->items, sizeof *sort->items);
}

static bool is_before(const struct sieve_item *a, const struct sieve_item *b)
{
    return a->signature != b->signature ? a->signature < b->signature : a->place < b->place;
}

static void sink(struct sieve_item *items, size_t count, size_t at)
{
    struct sieve_item item = items[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&items[child], &items[child + 1]))
            child++;
        if (!is_before(&item, &items[child]))
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

/* For what the dealing does not help with: no memory, and no input is bad for it. */
static void heap_sort(struct sieve_item *items, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sink(items, count, i);
    for (size_t end = count; end-- > 1;) {
        struct sieve_item largest = items[0];
        items[0] = items[end];
        items[end] = largest;
        sink(items, end, 0);
    }
}

/* Equal ones keep their order. */
static void insertion_sort(struct sieve_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sieve_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].signature > item.signature; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void sort_bin(struct sieve_item *items, size_t count)
{
    if (count <= SIEVE_SORT_INSERTION_MAX)
        insertion_sort(items, count);
    else
        heap_sort(items, count);
}

/* From counts to where each begins. */
static void sum_up(uint32_t *counts, unsigned count)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t here = counts[i];
        counts[i] = sum;
        sum += here;
    }
}

/* As many bits as make bins of two to four. */
static unsigned bin_bits(size_t count)
{
    unsigned bits = 1;
    while (bits < SIEVE_SORT_BIN_BITS && count >> (bits + 2))
        bits++;
    return bits;
}

/* The signatures of a part agree in their first `known_bits` bits. */
static void sort_part(struct sieve_sort *sort, struct sieve_item *items, size_t count, unsigned known_bits)
{
    if (count <= SIEVE_SORT_INSERTION_MAX || count > sort->scratch_max) {
        sort_bin(items, count);
        return;
    }
    uint32_t ends[BINS] = {0};
    unsigned bits = bin_bits(count), shift = 64 - bits;
    for (size_t i = 0; i < count; i++)
        ends[items[i].signature << known_bits >> shift]++;
    sum_up(ends, 1u << bits);
    for (size_t i = 0; i < count; i++)
        sort->scratch[ends[items[i].signature << known_bits >> shift]++] = items[i];
    memcpy(items, sort->scratch, count * sizeof *items);
    for (size_t bin = 0, begin = 0; bin < 1u << bits; begin = ends[bin++])
        sort_bin(items + begin, ends[bin] - begin);
}

static void keep_first_of_equals(struct sieve_sort *sort)
{
    struct sieve_item *items = sort->items;
    size_t kept = sort->count > 0;
    for (size_t i = 1; i < sort->count; i++)
        if (items[i].signature != items[kept - 1].signature)
            items[kept++] = items[i];
    sort->count = kept;
}

void sieve_sort_run(struct sieve_sort *sort, const uint64_t *signatures, size_t count)
{
    uint32_t ends[PARTS] = {0};
    unsigned bits = count > SCRATCH_MIN ? SIEVE_SORT_PART_BITS : 1, shift = 64 - bits;
    for (size_t i = 0; i < count; i++)
        ends[signatures[i] >> shift]++;
    sum_up(ends, 1u << bits);
    for (size_t i = 0; i < count; i++)
        sort->items[ends[signatures[i] >> shift]++] = (struct sieve_item){signatures[i], i};
    for (size_t part = 0, begin = 0; part < 1u << bits; begin = ends[part++])
        sort_part(sort, sort->items + begin, ends[part] - begin, bits);
    sort->count = count;
    keep_first_of_equals(sort);
}
