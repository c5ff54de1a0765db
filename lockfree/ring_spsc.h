/* Bounded ring, one producer, one consumer. Wait-free: every call ends after a fixed number of steps.
 *
 * | call                  | by whom      | at the same time as        |
 * |-----------------------|--------------|----------------------------|
 * | push, push_batch      | the producer | anything of the consumer's |
 * | pop, pop_batch        | the consumer | anything of the producer's |
 * | count                 | anyone       | anything; an estimate      |
 * | init                  | one thread   | nothing                    |
 *
 * Producer and consumer are roles: a role may move to another thread if the hand-over itself is ordered
 * (release to acquire). A stopped producer blocks nobody: what it has pushed can be popped. A stopped
 * consumer leaves the ring full.
 *
 * An item is one word, any but RING_SPSC_NEVER; a pointer travels as (uintptr_t). Pushing a pointer hands
 * over what it points to: all that the producer wrote before the push is seen by whoever pops it. The ring's
 * memory is the caller's, and may be reused once both roles have stopped. */
#pragma once

#include "lockfree/atomic.h"

#define RING_SPSC_NEVER UINT64_MAX

/* Each side has its own line, in which the other does not look except to count: what is full and what is
 * empty is seen at the slots themselves. */
struct ring_spsc_side {
    LF_ISOLATED _Atomic(_Atomic(uint64_t) *) next; /* the slot to push to, to pop from */
    _Atomic(uint64_t) *begin;                      /* a slot: 0 when empty, otherwise the item plus one */
    _Atomic(uint64_t) *end;
};

struct ring_spsc {
    struct ring_spsc_side producer, consumer;
};

/* Memory for `capacity` items, aligned to LF_CACHE_LINE. The capacity is a power of two. */
size_t ring_spsc_bytes(size_t capacity);
void ring_spsc_init(struct ring_spsc *ring, void *memory, size_t capacity);

/* False when full. */
static inline bool ring_spsc_push(struct ring_spsc *ring, uint64_t item)
{
    _Atomic(uint64_t) *slot = lf_load(&ring->producer.next, relaxed);
    if (lf_load(slot, relaxed))
        return false;
    lf_store(slot, item + 1, release); /* R1 pairs with A1 in pop */
    slot++;
    /* R2 pairs with A2 in count. */
    lf_store(&ring->producer.next, slot == ring->producer.end ? ring->producer.begin : slot, release);
    return true;
}

/* False when empty. */
static inline bool ring_spsc_pop(struct ring_spsc *ring, uint64_t *item)
{
    _Atomic(uint64_t) *slot = lf_load(&ring->consumer.next, relaxed);
    uint64_t seen = lf_load(slot, acquire); /* A1 pairs with R1 in push */
    if (!seen)
        return false;
    *item = seen - 1;
    lf_store(slot, 0, relaxed);
    slot++;
    lf_store(&ring->consumer.next, slot == ring->consumer.end ? ring->consumer.begin : slot, relaxed);
    return true;
}

/* As many of the `count` items as there is room for or as there are, in order; returns how many. */
size_t ring_spsc_push_batch(struct ring_spsc *ring, const uint64_t *items, size_t count);
size_t ring_spsc_pop_batch(struct ring_spsc *ring, uint64_t *items, size_t count);

/* Exact, called by either side, but for one item that the other is about to push or pop. What the consumer counts it
 * can pop. */
size_t ring_spsc_count(struct ring_spsc *ring);
