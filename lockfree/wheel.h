/* Timing wheel of 32-bit ids: millions of deadlines, insert and pop at the cost of a few cache lines moved.
 *
 * Not shared: one thread owns a wheel and makes every call.
 *
 * Time is nanoseconds of one clock, cut into ticks of a power of two. A deadline is rounded UP to a tick: an
 * id is never given out before its deadline, and at most one tick after the first pop that could have given
 * it. Within a tick the order is not defined.
 *
 * An id that is inserted twice comes out twice: the wheel does not know of ids but as numbers. That is how
 * cancelling and moving work: leave the old entry in, keep deadline or generation in the id's record, and
 * when a popped id's record says "not now", drop it. Stale entries count against the pool until their tick
 * comes.
 *
 * Level 0 has a slot per tick for the next 65,536 ticks, level 1 a slot per 32,768 ticks for the next
 * 134 million (39 hours of 1.05 ms ticks), and what lies beyond is parked and looked at again every 67
 * million. A slot is a chain of 64-byte chunks: 15 ids at level 0, 10 at level 1, 5 parked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHEEL_TICK_NS_DEFAULT (UINT64_C(1) << 20)

#define WHEEL_NEVER UINT64_MAX

enum wheel_answer {
    WHEEL_OK,
    WHEEL_FULL, /* no chunk left: nothing was inserted */
};

struct wheel_options {
    uint64_t tick_ns; /* a power of two */
    uint64_t now_ns;  /* nothing is due before this moment */
    uint32_t chunks_max;
    /* Where the ids' records are, to prefetch those about to be popped: record i is at records + i *
     * record_bytes. NULL to prefetch none. */
    const void *records;
    size_t record_bytes;
};

struct wheel_chunk;

/* Which slots of a level are not empty. */
struct wheel_bits {
    uint64_t *words;
    uint64_t *summary; /* a bit per word that is not zero */
    uint32_t slots;
    uint32_t used; /* words that are not zero */
};

/* The members are the wheel's own. */
struct wheel {
    uint64_t drained;           /* the tick that is being popped, or was last; all before it are empty */
    uint32_t *level0;           /* a slot: number of its first chunk << 4 | ids in that; 0 when empty */
    struct wheel_chunk *chunks; /* number 0 is not used */
    uint64_t count;
    struct wheel_bits bits0, bits1;
    uint32_t chunks_free; /* chain of chunks given back */
    uint32_t chunks_used;
    uint32_t chunks_touched; /* number of the last chunk that was ever used */
    uint32_t chunks_max;
    uint32_t following; /* like a slot: the chunk expected after the one that is being popped */
    uint32_t warmed;    /* the chunk whose ids' records were prefetched last */
    const char *records;
    size_t record_bytes;
    uint64_t epoch; /* what level 1 held up to this epoch has gone to level 0 */
    uint32_t *level1;
    uint32_t parked; /* like a slot */
    uint32_t tick_shift;
};

/* Chunks that hold `ids` entries wherever their deadlines lie within level 0 and 1. */
uint32_t wheel_chunks_for(uint32_t ids);

/* Memory for the wheel's slots and chunks, aligned to 64 bytes. Chunks are touched when first used, so
 * memory from an arena grows with the ids up to chunks_max. */
size_t wheel_bytes(uint32_t chunks_max);
void wheel_init(struct wheel *wheel, void *memory, const struct wheel_options *options);

/* A deadline in the past, or in the tick that is being popped, comes out with the next tick: ids that are put
 * back at once cannot keep the others from their turn. */
enum wheel_answer wheel_insert(struct wheel *wheel, uint32_t id, uint64_t deadline_ns);

/* One id whose deadline is not after `now_ns`; false when there is none. `now_ns` does not go back. */
bool wheel_pop(struct wheel *wheel, uint64_t now_ns, uint32_t *id);
/* Up to `count` of them; returns how many. */
size_t wheel_pop_batch(struct wheel *wheel, uint64_t now_ns, uint32_t *ids, size_t count);

/* The moment at which wheel_pop is to be called next: no deadline is missed by sleeping until then. It may
 * find nothing due when ids had only to be moved to level 0. WHEEL_NEVER when the wheel is empty. */
uint64_t wheel_next_due(const struct wheel *wheel);

/* Entries in the wheel, stale ones included. */
uint64_t wheel_count(const struct wheel *wheel);
uint32_t wheel_chunks_used(const struct wheel *wheel);
