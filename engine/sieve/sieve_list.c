#include "engine/sieve/sieve_list.h"

#include <string.h>

#include "engine/sieve/sieve_sort.h"
#include "lockfree/arena.h"

static size_t taken_bytes(size_t count)
{
    return (count + 63) / 64 * sizeof(uint64_t);
}

size_t sieve_list_bytes(size_t batch_max)
{
    return batch_max * sizeof(uint64_t) + taken_bytes(batch_max);
}

void sieve_list_init(struct sieve_list *list, struct arena *arena, size_t batch_max)
{
    list->count = 0;
    list->words = arena_take(arena, batch_max * sizeof *list->words, sizeof *list->words);
    list->taken = arena_take(arena, taken_bytes(batch_max), sizeof *list->taken);
}

void sieve_list_sort(struct sieve_list *list)
{
    sieve_sort(list->words, list->count);
    list->count = sieve_sort_unique(list->words, list->count);
}

/* Where it is, or would be. */
static size_t place_of(const struct sieve_list *list, uint64_t signature)
{
    size_t begin = 0;
    for (size_t count = list->count; count > 0;) {
        size_t half = count / 2;
        bool is_behind = list->words[begin + half] < signature;
        begin += is_behind ? half + 1 : 0;
        count = is_behind ? count - half - 1 : half;
    }
    return begin;
}

bool sieve_list_take(struct sieve_list *list, uint64_t signature)
{
    size_t at = place_of(list, signature);
    if (at == list->count || list->words[at] != signature || list->taken[at / 64] >> at % 64 & 1)
        return false;
    list->taken[at / 64] |= UINT64_C(1) << at % 64;
    return true;
}

void sieve_list_clear(struct sieve_list *list)
{
    memset(list->taken, 0, taken_bytes(list->count));
    list->count = 0;
}
