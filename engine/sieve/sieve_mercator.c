/* The batch is sorted in memory and merged with Z. As in Mercator (Heydon and Najork, 1999), but a bitmap tells
 * what is new, so that no second sort brings the answers back into order of discovery. */
#include "engine/sieve/sieve_sorted.h"
#include "lockfree/arena.h"
#include "lockfree/container_of.h"

struct mercator {
    struct sieve_disk sieve;
    struct sieve_sorted sorted;
    struct sieve_sort sort;
    struct arena arena;
};

/* The sorted batch, in memory. */
struct memory_source {
    struct sieve_source source;
    const struct sieve_item *at, *end;
};

static bool next_of_memory(struct sieve_source *source, struct sieve_item *item)
{
    struct memory_source *memory = container_of(source, struct memory_source, source);
    if (memory->at == memory->end)
        return false;
    *item = *memory->at++;
    return true;
}

static int open_mercator(struct sieve_disk *sieve)
{
    struct mercator *mercator = container_of(sieve, struct mercator, sieve);
    size_t batch_max = sieve->options.batch_max;
    struct arena_options memory = {.bytes = SIEVE_SORTED_BYTES + sieve_sort_bytes(batch_max)};
    int error = arena_init(&mercator->arena, &memory);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "get memory for", sieve->options.directory);
    sieve_sorted_init(&mercator->sorted, sieve, &mercator->arena);
    sieve_sort_init(&mercator->sort, &mercator->arena, batch_max);
    return 0;
}

static void close_mercator(struct sieve_disk *sieve)
{
    arena_fini(&container_of(sieve, struct mercator, sieve)->arena);
}

static int take(struct sieve_disk *sieve, const struct sieve_disk_batch *batch)
{
    struct mercator *mercator = container_of(sieve, struct mercator, sieve);
    sieve_sort_run(&mercator->sort, batch->signatures, batch->count);
    return 0;
}

static int merge(struct sieve_disk *sieve, uint64_t *bitmap)
{
    struct mercator *mercator = container_of(sieve, struct mercator, sieve);
    const struct sieve_sort *sort = &mercator->sort;
    struct memory_source memory = {{next_of_memory}, sort->items, sort->items + sort->count};
    return sieve_sorted_merge(&mercator->sorted, &memory.source, bitmap);
}

const struct sieve_disk_calls sieve_mercator = {
    .bytes = sizeof(struct mercator),
    .answers_at_once = true,
    .open = open_mercator,
    .close = close_mercator,
    .take = take,
    .merge = merge,
};
