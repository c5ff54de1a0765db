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
 * An item is one word; a pointer travels as (uintptr_t). Pushing a pointer hands over what it points to: all
 * that the producer wrote before the push is seen by whoever pops it. The ring's memory is the caller's, and
 * may be reused once both roles have stopped. */
#pragma once

#include "lockfree/atomic.h"

struct ring_spsc {
    struct {
        LF_ISOLATED _Atomic(uint64_t) tail; /* next position to push; never wraps */
        uint64_t head_seen;                 /* the producer's last look at head */
        uint64_t *slots;
        uint64_t mask;
    } producer;
    struct {
        LF_ISOLATED _Atomic(uint64_t) head; /* next position to pop */
        uint64_t tail_seen;
        uint64_t *slots;
        uint64_t mask;
    } consumer;
};

/* Memory for `capacity` items, aligned to LF_CACHE_LINE. The capacity is a power of two. */
size_t ring_spsc_bytes(size_t capacity);
void ring_spsc_init(struct ring_spsc *ring, void *memory, size_t capacity);

/* False when full. */
static inline bool ring_spsc_push(struct ring_spsc *ring, uint64_t item)
{
    uint64_t tail = lf_load(&ring->producer.tail, relaxed);
    if (tail - ring->producer.head_seen > ring->producer.mask) {
        ring->producer.head_seen = lf_load(&ring->consumer.head, acquire); /* A2 pairs with R2 in pop */
        if (tail - ring->producer.head_seen > ring->producer.mask)
            return false;
    }
    lf_plain_write(ring->producer.slots[tail & ring->producer.mask], item);
    lf_store(&ring->producer.tail, tail + 1, release); /* R1 pairs with A1 in pop */
    return true;
}

/* False when empty. */
static inline bool ring_spsc_pop(struct ring_spsc *ring, uint64_t *item)
{
    uint64_t head = lf_load(&ring->consumer.head, relaxed);
    if (head == ring->consumer.tail_seen) {
        ring->consumer.tail_seen = lf_load(&ring->producer.tail, acquire); /* A1 pairs with R1 in push */
        if (head == ring->consumer.tail_seen)
            return false;
    }
    *item = lf_plain_read(ring->consumer.slots[head & ring->consumer.mask]);
    lf_store(&ring->consumer.head, head + 1, release); /* R2 pairs with A2 in push */
    return true;
}

/* As many of the `count` items as there is room for or as there are, in order; returns how many. */
size_t ring_spsc_push_batch(struct ring_spsc *ring, const uint64_t *items, size_t count);
size_t ring_spsc_pop_batch(struct ring_spsc *ring, uint64_t *items, size_t count);

size_t ring_spsc_count(struct ring_spsc *ring);
