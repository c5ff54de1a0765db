/* Long blocks made of short ones. URLs leave a full region in any order, so that hardly a chunk of short blocks ever
 * comes back whole; but most have a few free blocks side by side. */
#include <string.h>

#include "engine/frontier/pool_parts.h"

enum {
    /* The first block of a chunk to the last one of the shortest. */
    BLOCKS_MAX = POOL_CHUNK_BYTES_MAX / POOL_BLOCK_BYTES_MIN,
    WORD_BITS = 64,
    /* Chunks that one call looks at, a microsecond each: with the region full, it is called for every link. */
    LOOKS_MAX = 4,
};

struct free_map {
    uint64_t words[BLOCKS_MAX / WORD_BITS];
    unsigned count; /* of blocks, free or not */
};

static bool is_free(const struct free_map *map, unsigned block)
{
    return map->words[block / WORD_BITS] >> block % WORD_BITS & 1;
}

static void draw_map(struct free_map *map, const struct pool *pool, const struct pool_chunk *chunk)
{
    const char *base = pool_chunk_base(pool->region, chunk);
    map->count = chunk->fresh_at / chunk->block_bytes;
    memset(map->words, 0, (map->count + WORD_BITS - 1) / WORD_BITS * sizeof map->words[0]);
    for (const struct pool_block *block = chunk->free; block; block = (const void *)block->node.next) {
        unsigned place = (unsigned)((const char *)block - base) / chunk->block_bytes;
        map->words[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
    }
}

/* The first of `length` free blocks side by side; map->count if there are none. */
static unsigned find_run(const struct free_map *map, unsigned length)
{
    unsigned found = 0;
    for (unsigned block = 0; block < map->count; block++) {
        found = is_free(map, block) ? found + 1 : 0;
        if (found == length)
            return block + 1 - length;
    }
    return map->count;
}

/* Takes the blocks of a run out of the chunk's free ones. */
static void take_run(struct pool_chunk *chunk, const char *begin, unsigned length)
{
    const char *end = begin + (size_t)length * chunk->block_bytes;
    struct inbox_node *node = &chunk->free->node, *kept = NULL;
    while (node) {
        struct inbox_node *next = node->next;
        if ((char *)node < begin || (char *)node >= end) {
            node->next = kept;
            kept = node;
        }
        node = next;
    }
    chunk->free = (struct pool_block *)kept;
    chunk->blocks_out += length;
}

/* The next chunk to be looked at, of those with blocks shorter than size `size`; NULL: there is none. */
static struct pool_chunk *next_chunk(struct pool *pool, unsigned size)
{
    uint64_t shorter = pool->sizes_with_room & ((UINT64_C(1) << size) - 1);
    struct pool_chunk *chunk = pool->run_next;
    if (!shorter)
        return NULL;
    if (!chunk || chunk->size >= size) {
        /* The longest first, as they need the shortest runs, then around. */
        uint64_t below = chunk || !pool->run_size ? shorter : shorter & ((UINT64_C(1) << pool->run_size) - 1);
        below = below ? below : shorter;
        chunk = pool->room[63 - __builtin_clzll(below)];
    }
    pool->run_size = chunk->size;
    pool->run_next = chunk->next;
    return chunk;
}

void *pool_acquire_run(struct pool *pool, size_t bytes, unsigned size)
{
    struct free_map map;
    struct pool_chunk *chunk;
    for (int i = 0; i < LOOKS_MAX && (chunk = next_chunk(pool, size)); i++) {
        unsigned length = pool_blocks_for(chunk, bytes);
        if (chunk->fresh_at / chunk->block_bytes < chunk->blocks_out + length)
            continue; /* not so many are free */
        draw_map(&map, pool, chunk);
        unsigned first = find_run(&map, length);
        if (first == map.count)
            continue;
        char *begin = pool_chunk_base(pool->region, chunk) + (size_t)first * chunk->block_bytes;
        take_run(chunk, begin, length);
        pool->bytes_in_use += (uint64_t)length * chunk->block_bytes;
        pool->run_next = chunk; /* there may be another run in it */
        pool_drop_exhausted(pool, chunk);
        return begin;
    }
    return NULL;
}
