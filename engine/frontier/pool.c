/* Why a chunk is not released too early: blocks_out counts a block until the owner itself has taken it back.
 * A block in the chunk's inbox still counts, so the chunk stays. The push that finds the inbox parked sends
 * the owner mail, and the inbox is parked again only after the owner has read it. So there is at most one
 * mail per chunk, and none when the chunk is released. */
#include "engine/frontier/pool_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lockfree/container_of.h"

/* Sizes up to FINE_BYTES_MAX are multiples of 8 bytes, which wastes least for most URLs; above that there
 * are eight sizes per doubling. */
enum { STEP_BYTES = 8, FINE_BYTES_MAX = 128, FINE_SIZES = 15, SIZES_PER_DOUBLING = 8 };

static unsigned size_of(size_t bytes)
{
    assert(bytes <= POOL_BLOCK_BYTES_MAX);
    if (bytes <= POOL_BLOCK_BYTES_MIN)
        return 0;
    if (bytes <= FINE_BYTES_MAX)
        return (unsigned)((bytes - POOL_BLOCK_BYTES_MIN + STEP_BYTES - 1) / STEP_BYTES);
    unsigned log2 = 63 - (unsigned)__builtin_clzll(bytes - 1); /* 7: 129 to 256 */
    unsigned step = (unsigned)((bytes - 1) >> (log2 - 3)) & 7; /* 0: the first eighth beyond 2^log2 */
    return FINE_SIZES + (log2 - 7) * SIZES_PER_DOUBLING + step;
}

static uint32_t block_bytes(unsigned size)
{
    if (size < FINE_SIZES)
        return POOL_BLOCK_BYTES_MIN + size * STEP_BYTES;
    unsigned log2 = 7 + (size - FINE_SIZES) / SIZES_PER_DOUBLING;
    uint32_t bytes = (1u << log2) + ((size - FINE_SIZES) % SIZES_PER_DOUBLING + 1) * (1u << (log2 - 3));
    return bytes < POOL_BLOCK_BYTES_MAX ? bytes : POOL_BLOCK_BYTES_MAX;
}

static unsigned chunk_log2_for(size_t bytes)
{
    size_t chunk_bytes = POOL_CHUNK_BYTES_MIN;
    while (chunk_bytes < POOL_CHUNK_BYTES_MAX && bytes / (2 * chunk_bytes) >= POOL_CHUNKS_WANTED)
        chunk_bytes *= 2;
    return (unsigned)__builtin_ctzll(chunk_bytes);
}

int pool_region_init(struct pool_region *region, size_t bytes)
{
    *region = (struct pool_region){.chunk_bytes_log2 = chunk_log2_for(bytes)};
    size_t chunk_bytes = (size_t)1 << region->chunk_bytes_log2;
    size_t count = bytes / (chunk_bytes + sizeof(struct pool_chunk) + sizeof(uint32_t)); /* of each chunk */
    if (count == 0 || count >= UINT32_MAX)
        return -EINVAL;
    int error = arena_init(&region->arena, &(struct arena_options){.bytes = bytes});
    if (error)
        return error;
    region->chunk_count = (uint32_t)count;
    region->base = arena_take(&region->arena, count * chunk_bytes, LF_CACHE_LINE);
    region->chunks = arena_take(&region->arena, count * sizeof *region->chunks, 8);
    _Atomic(uint32_t) *below = arena_take(&region->arena, (count + 1) * sizeof *below, 4);
    id_stack_init(&region->free, below);
    return 0;
}

void pool_region_fini(struct pool_region *region)
{
    arena_fini(&region->arena);
}

size_t pool_region_bytes_used(const struct pool_region *region)
{
    return (size_t)lf_load(&region->chunks_out, relaxed) << region->chunk_bytes_log2;
}

bool pool_has_chunks(const struct pool *pool, uint32_t count)
{
    const struct pool_region *region = pool->region;
    return lf_load(&region->chunks_out, relaxed) + count <= region->chunk_count;
}

void pool_init(struct pool *pool, struct pool_region *region, uint64_t seed)
{
    *pool = (struct pool){.region = region};
    backoff_init(&pool->backoff, seed);
    inbox_init(&pool->mail);
    inbox_take(&pool->mail); /* never parked: its loop checks it once per turn */
}

uint64_t pool_losses(const struct pool *pool)
{
    return pool->losses + backoff_losses(&pool->backoff);
}

static struct pool_chunk *chunk_of(const struct pool_region *region, const void *block)
{
    return &region->chunks[(size_t)((const char *)block - region->base) >> region->chunk_bytes_log2];
}

static void list_chunk(struct pool *pool, struct pool_chunk *chunk)
{
    struct pool_chunk *next = pool->room[chunk->size];
    chunk->prev = NULL;
    chunk->next = next;
    if (next)
        next->prev = chunk;
    pool->room[chunk->size] = chunk;
    pool->sizes_with_room |= UINT64_C(1) << chunk->size;
    chunk->has_room = true;
}

static void unlist_chunk(struct pool *pool, struct pool_chunk *chunk)
{
    if (chunk->next)
        chunk->next->prev = chunk->prev;
    if (chunk->prev)
        chunk->prev->next = chunk->next;
    else
        pool->room[chunk->size] = chunk->next;
    if (pool->run_next == chunk)
        pool->run_next = chunk->next;
    if (!pool->room[chunk->size])
        pool->sizes_with_room &= ~(UINT64_C(1) << chunk->size);
    chunk->has_room = false;
}

/* A chunk that was released or never used; NULL: there is none. */
static struct pool_chunk *take_chunk(struct pool *pool)
{
    struct pool_region *region = pool->region;
    uint32_t id = id_stack_pop(&region->free, &pool->backoff);
    if (!id && lf_load(&region->chunks_begun, relaxed) < region->chunk_count) {
        id = lf_fetch_add(&region->chunks_begun, 1, relaxed) + 1;
        if (id > region->chunk_count) {
            lf_fetch_sub(&region->chunks_begun, 1, relaxed);
            id = 0;
        }
    }
    if (!id)
        return NULL;
    lf_fetch_add(&region->chunks_out, 1, relaxed);
    return &region->chunks[id - 1];
}

static struct pool_chunk *open_chunk(struct pool *pool, unsigned size)
{
    struct pool_chunk *chunk = take_chunk(pool);
    if (!chunk)
        return NULL;
    *chunk = (struct pool_chunk){.owner = pool, .size = (uint8_t)size, .block_bytes = block_bytes(size)};
    inbox_init(&chunk->freed);
    list_chunk(pool, chunk);
    return chunk;
}

/* Releases a chunk whose blocks are all back. */
static void close_chunk(struct pool *pool, struct pool_chunk *chunk)
{
    if (chunk->has_room)
        unlist_chunk(pool, chunk);
    lf_fetch_sub(&pool->region->chunks_out, 1, relaxed);
    /* Hand-over of the chunk to the region. */
    id_stack_push(&pool->region->free, (uint32_t)(chunk - pool->region->chunks) + 1, &pool->backoff);
}

static void take_freed(struct pool *pool, struct pool_chunk *chunk)
{
    do {
        struct inbox_node *node = inbox_take(&chunk->freed);
        while (node) {
            struct inbox_node *next = node->next;
            node->next = chunk->free ? &chunk->free->node : NULL;
            chunk->free = (struct pool_block *)node;
            chunk->blocks_out--;
            node = next;
        }
    } while (!inbox_park(&chunk->freed));
    if (chunk->blocks_out == 0)
        close_chunk(pool, chunk);
    else if (!chunk->has_room)
        list_chunk(pool, chunk);
}

void pool_collect(struct pool *pool)
{
    struct inbox_node *node = inbox_has_some(&pool->mail) ? inbox_take(&pool->mail) : NULL;
    while (node) {
        struct pool_chunk *chunk = container_of(node, struct pool_chunk, mail);
        node = node->next; /* read before the inbox is parked: the node may be sent again after that */
        take_freed(pool, chunk);
    }
}

/* Called when the pool has no block of this size. Looks for one that other loops have released, then for a
 * free chunk, then for a larger block. NULL: none of these. */
static struct pool_chunk *find_room(struct pool *pool, unsigned size)
{
    pool_collect(pool);
    if (pool->room[size])
        return pool->room[size];
    struct pool_chunk *chunk = open_chunk(pool, size);
    if (chunk)
        return chunk;
    uint64_t larger = pool->sizes_with_room >> size;
    return larger ? pool->room[size + (unsigned)__builtin_ctzll(larger)] : NULL;
}

void pool_drop_exhausted(struct pool *pool, struct pool_chunk *chunk)
{
    if (!chunk->free && chunk->fresh_at + chunk->block_bytes > 1u << pool->region->chunk_bytes_log2)
        unlist_chunk(pool, chunk);
}

void *pool_acquire(struct pool *pool, size_t bytes)
{
    unsigned size = size_of(bytes);
    struct pool_chunk *chunk = pool->room[size];
    if (!chunk && !(chunk = find_room(pool, size)))
        return pool_acquire_run(pool, bytes, size);
    struct pool_block *block = chunk->free;
    if (block) {
        chunk->free = (struct pool_block *)block->node.next;
    } else {
        block = (struct pool_block *)(pool_chunk_base(pool->region, chunk) + chunk->fresh_at);
        chunk->fresh_at += chunk->block_bytes;
    }
    chunk->blocks_out++;
    pool->bytes_in_use += chunk->block_bytes;
    pool_drop_exhausted(pool, chunk);
    return block;
}

/* Hand-over of the block to the chunk's owner, who gets mail for the first one. The blocks of a run return one
 * by one, and the chunk stays until the owner has taken back the last of them. */
static void send_back(struct pool *pool, struct pool_chunk *chunk, struct pool_block *block)
{
    struct pool *owner = chunk->owner;
    if (inbox_push_counted(&chunk->freed, &block->node, &pool->losses))
        inbox_push_counted(&owner->mail, &chunk->mail, &pool->losses);
}

static void take_back(struct pool *pool, struct pool_chunk *chunk, char *memory, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct pool_block *block = (struct pool_block *)(memory + (size_t)i * chunk->block_bytes);
        block->node.next = chunk->free ? &chunk->free->node : NULL;
        chunk->free = block;
    }
    chunk->blocks_out -= count;
    if (chunk->blocks_out == 0)
        close_chunk(pool, chunk);
    else if (!chunk->has_room)
        list_chunk(pool, chunk);
}

void pool_release(struct pool *pool, void *memory, size_t bytes)
{
    struct pool_chunk *chunk = chunk_of(pool->region, memory);
    const uint32_t block_bytes = chunk->block_bytes;
    unsigned count = pool_blocks_for(chunk, bytes);
    pool->bytes_in_use -= (uint64_t)count * block_bytes;
    if (chunk->owner == pool) {
        take_back(pool, chunk, memory, count);
        return;
    }
    for (unsigned i = 0; i < count; i++)
        send_back(pool, chunk, (struct pool_block *)((char *)memory + (size_t)i * block_bytes));
}
