/* Giacomoni, Moseley and Vachharajani, "FastForward for efficient pipeline parallelism" (2008): the slot
 * itself tells whether it is full, so the two sides share no index. In Lamport's ring (1983), and also when
 * each side keeps its last look at the other's index, a side that catches up with the other fetches two lines
 * per item, the index and the slot; here it fetches one, and with it up to seven slots more.
 *
 * Why it is correct: both sides go through the slots in the same order, round and round. The producer alone
 * turns a slot from 0 to item + 1 and the consumer alone turns it back, so a slot alternates, and what the
 * consumer finds in its n-th round is what the producer put there in its n-th: the producer waits for the 0
 * of the round before, the consumer for the item. R1 and A1 hand over what the item points to. The way
 * back is relaxed: the 0 says nothing but that the slot is free, and all accesses to one slot are in one
 * order.
 *
 * Who counts looks at the producer's `next`, a second word: R2 comes behind the slots that it tells of, so that
 * a consumer finds what it has counted. */
#include "lockfree/ring_spsc.h"

#include <assert.h>

size_t ring_spsc_bytes(size_t capacity)
{
    return capacity * sizeof(uint64_t);
}

void ring_spsc_init(struct ring_spsc *ring, void *memory, size_t capacity)
{
    assert(capacity && !(capacity & (capacity - 1)));
    assert((uintptr_t)memory % LF_CACHE_LINE == 0);
    _Atomic(uint64_t) *slots = memory;
    ring->producer.begin = ring->consumer.begin = slots;
    ring->producer.end = ring->consumer.end = slots + capacity;
    lf_store(&ring->producer.next, slots, relaxed);
    lf_store(&ring->consumer.next, slots, relaxed);
    for (size_t i = 0; i < capacity; i++)
        lf_store(&slots[i], 0, relaxed);
}

size_t ring_spsc_push_batch(struct ring_spsc *ring, const uint64_t *items, size_t count)
{
    _Atomic(uint64_t) *slot = lf_load(&ring->producer.next, relaxed);
    size_t pushed = 0;
    while (pushed < count && LF_BUG(ring_spsc_overfull, !lf_load(slot, relaxed), true)) {
        assert(items[pushed] != RING_SPSC_NEVER);
        lf_store(slot, items[pushed++] + 1, release); /* R1 pairs with A1 in pop */
        if (++slot == ring->producer.end)
            slot = ring->producer.begin;
    }
    lf_store(&ring->producer.next, slot, release); /* R2 pairs with A2 in count */
    return pushed;
}

size_t ring_spsc_pop_batch(struct ring_spsc *ring, uint64_t *items, size_t count)
{
    _Atomic(uint64_t) *slot = lf_load(&ring->consumer.next, relaxed);
    size_t popped = 0;
    uint64_t seen;
    while (popped < count && (seen = lf_load(slot, acquire))) { /* A1 pairs with R1 in push */
        items[popped++] = seen - 1;
        lf_store(slot, 0, relaxed);
        if (++slot == ring->consumer.end)
            slot = ring->consumer.begin;
    }
    lf_store(&ring->consumer.next, slot, relaxed);
    return popped;
}

/* Where both sides are at the same slot, the ring is full or empty; the slot before it tells which, even when
 * one side has changed the slot and not yet gone on. */
size_t ring_spsc_count(struct ring_spsc *ring)
{
    _Atomic(uint64_t) *head = lf_load(&ring->consumer.next, relaxed),
                      *tail = lf_load(&ring->producer.next, acquire); /* A2 pairs with R2 in push */
    size_t capacity = (size_t)(ring->producer.end - ring->producer.begin);
    if (tail != head)
        return tail > head ? (size_t)(tail - head) : capacity - (size_t)(head - tail);
    _Atomic(uint64_t) *before = head == ring->producer.begin ? ring->producer.end - 1 : head - 1;
    return lf_load(before, acquire) ? capacity : 0; /* A1 pairs with R1 in push */
}
