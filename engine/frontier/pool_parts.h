/* What the files of pool share with each other; nobody else includes it. */
#pragma once

#include "engine/frontier/pool.h"

/* The shortest block. */
enum { POOL_BLOCK_BYTES_MIN = 16 };

static inline char *pool_chunk_base(const struct pool_region *region, const struct pool_chunk *chunk)
{
    return region->base + ((size_t)(chunk - region->chunks) << region->chunk_bytes_log2);
}

/* How many blocks of this chunk are needed for `bytes`. */
static inline unsigned pool_blocks_for(const struct pool_chunk *chunk, size_t bytes)
{
    return bytes <= chunk->block_bytes ? 1
                                       : (unsigned)((bytes + chunk->block_bytes - 1) / chunk->block_bytes);
}

/* Free blocks side by side in one of the pool's chunks, which are shorter than those of size `size`. NULL: a short search
 * has found none. */
void *pool_acquire_run(struct pool *pool, size_t bytes, unsigned size);

/* Takes a chunk that has no free block out of the list of those that have some. */
void pool_drop_exhausted(struct pool *pool, struct pool_chunk *chunk);
