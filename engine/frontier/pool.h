/* Memory for waiting URLs: small blocks of many sizes within one budget.
 *
 * A region is allocated once and divided into chunks. A loop's pool takes a chunk, splits it into blocks of
 * one size and owns it until all its blocks are back. Then the chunk returns to the region and can be split
 * into another size, so that memory of short URLs can be reused for long ones. If the region is full and no
 * chunk is empty, a long block is made of adjacent free short ones (a run).
 *
 * The owner acquires and releases blocks without atomic operations. Blocks move between loops as URLs do: a
 * loop that releases a block of another loop's chunk pushes it to the chunk's inbox, and the first push
 * since the owner last looked sends the owner mail. When the region is full, pool_acquire returns NULL.
 *
 * | call                    | by whom                                       |
 * |-------------------------|-----------------------------------------------|
 * | acquire, collect        | the pool's loop                               |
 * | release                 | any loop, with its own pool, whoever acquired |
 * | pool_region_bytes_used  | anybody                                       | */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "lockfree/backoff.h"
#include "lockfree/id_stack.h"
#include "lockfree/inbox.h"

enum {
    POOL_BLOCK_BYTES_MAX = 8192 + 64, /* the longest URL and its record */
    POOL_SIZES = 64,                  /* sizes of blocks: one bit each in a word */
    /* Each pool has an open chunk for every size in use, so there must be thousands of chunks; but each must
     * hold at least one block of the largest size. */
    POOL_CHUNKS_WANTED = 4096,
    POOL_CHUNK_BYTES_MIN = 1 << 14,
    POOL_CHUNK_BYTES_MAX = 1 << 16,
};

struct pool_block {
    struct inbox_node node; /* the next free block */
};

struct pool_chunk {
    struct inbox freed;             /* blocks released by other loops; parked: the next push sends mail */
    struct inbox_node mail;         /* its place in the owner's inbox */
    struct pool *owner;             /* written before the first block is handed out */
    struct pool_block *free;        /* blocks that the owner has taken back */
    struct pool_chunk *next, *prev; /* in the owner's list of chunks of this size with room */
    uint32_t fresh_at;              /* offset of the first block that was never used */
    uint32_t block_bytes;
    uint32_t blocks_out; /* as far as the owner knows */
    uint8_t size;        /* index of its size */
    bool has_room;       /* it is in the list */
};

struct pool_region {
    struct arena arena;
    char *base; /* of the chunks */
    struct pool_chunk *chunks;
    uint32_t chunk_count;
    unsigned chunk_bytes_log2;
    struct id_stack free;                       /* released chunks: index + 1 */
    LF_ISOLATED _Atomic(uint32_t) chunks_begun; /* chunks from this index on were never used */
    LF_ISOLATED _Atomic(uint32_t) chunks_out;   /* owned by pools */
};

struct pool {
    struct pool_region *region;
    struct backoff backoff;
    uint64_t losses;          /* races lost at inboxes; the backoff counts those at the free chunks */
    uint64_t bytes_in_use;    /* acquired minus released by this loop; may wrap below 0 */
    uint64_t sizes_with_room; /* one bit for each non-empty list */
    struct pool_chunk *room[POOL_SIZES]; /* own chunks that have free blocks */
    struct pool_chunk *run_next;         /* one of them: where the search for a run continues; or NULL */
    unsigned run_size;                   /* the size of the chunk searched last */
    LF_ISOLATED struct inbox mail;       /* own chunks with blocks released by other loops */
};

/* 0 or a negative errno. */
int pool_region_init(struct pool_region *region, size_t bytes);
void pool_region_fini(struct pool_region *region);
/* Bytes in chunks owned by pools. */
size_t pool_region_bytes_used(const struct pool_region *region);

void pool_init(struct pool *pool, struct pool_region *region, uint64_t seed);

/* At least `bytes` (up to POOL_BLOCK_BYTES_MAX), aligned to 8; NULL if the region is full. */
void *pool_acquire(struct pool *pool, size_t bytes);
/* Whether the region has at least `count` free chunks. A snapshot: other loops may take them. */
bool pool_has_chunks(const struct pool *pool, uint32_t count);
/* `bytes` as it was acquired with. */
void pool_release(struct pool *pool, void *block, size_t bytes);

/* Takes back the blocks that other loops have released to this pool. Once per turn. */
void pool_collect(struct pool *pool);
uint64_t pool_losses(const struct pool *pool);
