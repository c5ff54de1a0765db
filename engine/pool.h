/* Memory of the URLs that wait: small blocks of many sizes within one budget.
 *
 * A region is taken once; each loop has a pool of its own that hands out blocks and takes them back without
 * an atomic operation. Blocks move between loops as URLs do: what one loop allocates another frees. A pool
 * that has collected many blocks of a size gives half of them to the region's depot, where any pool that has
 * run dry finds them. A full region is an answer (NULL), not an end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "lockfree/inbox.h"

enum {
    POOL_STEP_BYTES = 8,              /* sizes are multiples of this */
    POOL_BLOCK_BYTES_MAX = 8192 + 64, /* the longest URL and its record */
    POOL_CLASSES = POOL_BLOCK_BYTES_MAX / POOL_STEP_BYTES + 1,
    POOL_SPAN_BYTES = 1 << 16, /* what a pool takes from the region at a time */
    POOL_KEEP_BLOCKS = 1024,   /* free blocks of one size that a pool keeps before it gives half away */
};

struct pool_region {
    struct arena arena;
    size_t bytes;
    LF_ISOLATED _Atomic(size_t) used; /* bytes given to pools, in spans */
    struct inbox depot[POOL_CLASSES]; /* runs of free blocks; an inbox node is the first block of a run */
};

struct pool_block {
    struct inbox_node run; /* the next run, while in a depot */
    struct pool_block *next;
};

struct pool {
    struct pool_region *region;
    char *span, *span_end;
    uint64_t losses;       /* races lost at depots */
    uint64_t bytes_in_use; /* handed out minus taken back by this loop: may be negative as a signed number */
    struct {
        struct pool_block *first;
        uint32_t count;
    } free[POOL_CLASSES];
};

/* 0 or a negative errno. */
int pool_region_init(struct pool_region *region, size_t bytes);
void pool_region_fini(struct pool_region *region);

void pool_init(struct pool *pool, struct pool_region *region);

/* At least `bytes` (up to POOL_BLOCK_BYTES_MAX), aligned to 8; NULL if the region is full. */
void *pool_acquire(struct pool *pool, size_t bytes);
/* `bytes` as they were asked for. */
void pool_release(struct pool *pool, void *block, size_t bytes);
