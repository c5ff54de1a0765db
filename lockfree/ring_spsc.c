/* Lamport's one-producer one-consumer ring (1983) with free-running indices, and with each side keeping its
 * last look at the other's index (Lee, Bui and Kumar, MCRingBuffer, 2010): the line of the other side is
 * fetched once per round of the ring in the best case, not once per item.
 *
 * Why it is correct: only the producer writes tail and only the consumer head. Slot p is written when
 * p - head < capacity by a look at head that acquired (A2) the release (R2) by which the consumer said that
 * it had read what was in that slot; and read when p < tail by a look that acquired (A1) the release (R1) by
 * which the producer said that it had written it. An old look only makes a side believe the ring fuller
 * (emptier) than it is, and it looks again before it says so. 64-bit indices do not come round. */
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
    lf_store(&ring->producer.tail, 0, relaxed);
    ring->producer.head_seen = 0;
    lf_store(&ring->consumer.head, 0, relaxed);
    ring->consumer.tail_seen = 0;
    ring->producer.slots = ring->consumer.slots = memory;
    ring->producer.mask = ring->consumer.mask = capacity - 1;
}

size_t ring_spsc_push_batch(struct ring_spsc *ring, const uint64_t *items, size_t count)
{
    uint64_t mask = ring->producer.mask, tail = lf_load(&ring->producer.tail, relaxed);
    uint64_t *slots = ring->producer.slots;
    if (ring->producer.head_seen + mask + 1 - tail < count)
        ring->producer.head_seen = lf_load(&ring->consumer.head, acquire); /* A2 pairs with R2 in pop */
    uint64_t room = ring->producer.head_seen + mask + 1 - tail;
    if (LF_BUG(ring_spsc_overfull, count > room, false))
        count = room;
    for (size_t i = 0; i < count; i++)
        lf_plain_write(slots[(tail + i) & mask], items[i]);
    lf_store(&ring->producer.tail, tail + count, release); /* R1 pairs with A1 in pop */
    return count;
}

size_t ring_spsc_pop_batch(struct ring_spsc *ring, uint64_t *items, size_t count)
{
    uint64_t mask = ring->consumer.mask, head = lf_load(&ring->consumer.head, relaxed);
    const uint64_t *slots = ring->consumer.slots;
    if (ring->consumer.tail_seen - head < count)
        ring->consumer.tail_seen = lf_load(&ring->producer.tail, acquire); /* A1 pairs with R1 in push */
    uint64_t there = ring->consumer.tail_seen - head;
    if (count > there)
        count = there;
    for (size_t i = 0; i < count; i++)
        items[i] = lf_plain_read(slots[(head + i) & mask]);
    lf_store(&ring->consumer.head, head + count, release); /* R2 pairs with A2 in push */
    return count;
}

size_t ring_spsc_count(struct ring_spsc *ring)
{
    uint64_t head = lf_load(&ring->consumer.head, relaxed), tail = lf_load(&ring->producer.tail, relaxed);
    uint64_t capacity = ring->producer.mask + 1;
    return tail - head < capacity ? tail - head : capacity;
}
