#include "engine/pool.h"

#include <assert.h>
#include <errno.h>

/* A free block holds a pointer for its run and one for its neighbour. */
enum { BLOCK_BYTES_MIN = sizeof(struct pool_block) };

int pool_region_init(struct pool_region *region, size_t bytes)
{
    int error = arena_init(&region->arena, &(struct arena_options){.bytes = bytes});
    if (error)
        return error;
    region->bytes = bytes / POOL_SPAN_BYTES * POOL_SPAN_BYTES;
    lf_store(&region->used, 0, relaxed);
    for (size_t i = 0; i < POOL_CLASSES; i++) {
        inbox_init(&region->depot[i]);
    }
    return region->bytes ? 0 : -EINVAL;
}

void pool_region_fini(struct pool_region *region)
{
    arena_fini(&region->arena);
}

void pool_init(struct pool *pool, struct pool_region *region)
{
    *pool = (struct pool){.region = region};
}

static size_t class_of(size_t bytes)
{
    assert(bytes <= POOL_BLOCK_BYTES_MAX);
    if (bytes < BLOCK_BYTES_MIN)
        bytes = BLOCK_BYTES_MIN;
    return (bytes + POOL_STEP_BYTES - 1) / POOL_STEP_BYTES;
}

/* Pools that have too many blocks push runs, pools that have none take: `take` by several threads is safe, as
 * each exchange gives every node to exactly one of them. */
static bool refill_from_depot(struct pool *pool, size_t class)
{
    struct inbox *depot = &pool->region->depot[class];
    if (!inbox_has_some(depot))
        return false;
    struct inbox_node *runs = inbox_take(depot);
    if (!runs)
        return false;
    struct inbox_node *others = runs->next;
    pool->free[class].first = (struct pool_block *)runs;
    pool->free[class].count = POOL_KEEP_BLOCKS / 2;
    while (others) {
        struct inbox_node *next = others->next;
        inbox_push_counted(depot, others, &pool->losses);
        others = next;
    }
    return true;
}

static void *take_from_span(struct pool *pool, size_t bytes)
{
    if ((size_t)(pool->span_end - pool->span) < bytes) {
        struct pool_region *region = pool->region;
        size_t at = lf_fetch_add(&region->used, POOL_SPAN_BYTES, relaxed);
        if (at + POOL_SPAN_BYTES > region->bytes) {
            lf_fetch_sub(&region->used, POOL_SPAN_BYTES, relaxed);
            return NULL;
        }
        /* What is left of the old span is lost: less than one block in a thousand. */
        pool->span = region->arena.base + at;
        pool->span_end = pool->span + POOL_SPAN_BYTES;
    }
    void *block = pool->span;
    pool->span += bytes;
    return block;
}

void *pool_acquire(struct pool *pool, size_t bytes)
{
    size_t class = class_of(bytes);
    struct pool_block *block = pool->free[class].first;
    if (!block && refill_from_depot(pool, class))
        block = pool->free[class].first;
    if (block) {
        pool->free[class].first = block->next;
        pool->free[class].count--;
    } else {
        block = take_from_span(pool, class * POOL_STEP_BYTES);
        if (!block)
            return NULL;
    }
    pool->bytes_in_use += class * POOL_STEP_BYTES;
    return block;
}

/* Cuts the newest POOL_KEEP_BLOCKS / 2 blocks off as one run. */
static void give_half_away(struct pool *pool, size_t class)
{
    struct pool_block *run = pool->free[class].first, *last = run;
    for (size_t i = 1; i < POOL_KEEP_BLOCKS / 2; i++)
        last = last->next;
    pool->free[class].first = last->next;
    pool->free[class].count -= POOL_KEEP_BLOCKS / 2;
    last->next = NULL;
    inbox_push_counted(&pool->region->depot[class], &run->run, &pool->losses);
}

void pool_release(struct pool *pool, void *memory, size_t bytes)
{
    size_t class = class_of(bytes);
    struct pool_block *block = memory;
    block->next = pool->free[class].first;
    pool->free[class].first = block;
    pool->bytes_in_use -= class * POOL_STEP_BYTES;
    if (++pool->free[class].count >= POOL_KEEP_BLOCKS)
        give_half_away(pool, class);
}
