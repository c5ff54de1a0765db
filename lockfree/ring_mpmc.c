/* Vyukov's bounded queue (1024cores.net, 2010): each slot carries the number of the turn it is filled for.
 * Here a pop reads the item before it claims the position, as in ck_ring, and writes nothing but the head:
 * what is free is told by the head, not by the slots. So the line of a slot goes from producer to consumer
 * and back without a third journey.
 *
 * Position p uses slot p mod capacity; the slot's turn is p + 1 from the moment that push p has filled it
 * until push p + capacity has.
 *
 * Why it is correct:
 *   - A push claims p by the CAS of tail from p to p + 1, having seen a head above p - capacity. Indices
 *     only grow, in 64 bits, so the CAS succeeds once per p: one thread owns push p, and what was seen of
 *     the head still holds. The same goes for a batch of positions.
 *   - Pop p reads the item after it acquired turn p + 1 (A1), which the owner of push p released (R1) after
 *     writing it, and then claims p by the CAS of head, once per p. If that succeeds the head was p all
 *     along, so no push p + capacity could begin, and what was read is the item of p. If it fails, what was
 *     read is not used.
 *   - The owner of push p + capacity writes the item after it acquired (A2) a head above p, which the CAS
 *     of pop p released (R2) after its read; or a look at such a head that another producer released (R3)
 *     and it acquired (A3). So no item is lost, doubled or overwritten.
 *   - The CAS of tail is relaxed: it orders nothing but the claims.
 *   - An index that has moved since it was read makes what was computed from it worthless: before a caller
 *     is told full or empty, the index is read again. If it has moved, that is a lost race.
 *
 * Backoff after a lost race makes the ring several times faster when saturated, because the winner then
 * keeps the line of the index for a run of operations. */
#include "lockfree/ring_mpmc.h"
#include "lockfree/backoff.h"

#include <assert.h>

size_t ring_mpmc_bytes(size_t capacity)
{
    return capacity * sizeof(struct ring_mpmc_slot);
}

void ring_mpmc_init(struct ring_mpmc *ring, void *memory, size_t capacity)
{
    assert(capacity >= 2 && !(capacity & (capacity - 1)));
    assert((uintptr_t)memory % LF_CACHE_LINE == 0);
    ring->slots = memory;
    ring->mask = capacity - 1;
    for (size_t i = 0; i < capacity; i++)
        lf_store(&ring->slots[i].turn, 0, relaxed);
    lf_store(&ring->tail, 0, relaxed);
    lf_store(&ring->head, 0, relaxed);
    lf_store(&ring->head_seen, 0, relaxed);
}

/* How many positions from `position` on are free, up to `count`. */
static size_t room(struct ring_mpmc *ring, uint64_t position, size_t count)
{
    uint64_t capacity = ring->mask + 1;
    uint64_t used = position - lf_load(&ring->head_seen, acquire); /* A3 pairs with R3 below */
    if (used + count > capacity) {
        uint64_t head = lf_load(&ring->head, acquire); /* A2 pairs with R2 in pop */
        lf_store(&ring->head_seen, head, release);     /* R3 pairs with A3 here and in push */
        used = position - head;
    }
    if (used >= capacity)
        return 0;
    return capacity - used < count ? capacity - used : count;
}

/* Reads the items from `position` on that are there, up to `count`; returns how many. */
static size_t look(const struct ring_mpmc *ring, uint64_t position, uint64_t *items, size_t count)
{
    size_t n = 0;
    for (; n < count; n++) {
        struct ring_mpmc_slot *slot = &ring->slots[(position + n) & ring->mask];
        if (lf_load(&slot->turn, acquire) != position + n + 1) /* A1 pairs with R1 in push */
            break;
        items[n] = lf_load(&slot->item, relaxed);
    }
    return n;
}

bool ring_mpmc_push_contended(struct ring_mpmc *ring, uint64_t item, struct backoff *backoff)
{
    return ring_mpmc_push_batch(ring, &item, 1, backoff) == 1;
}

bool ring_mpmc_pop_contended(struct ring_mpmc *ring, uint64_t *item, struct backoff *backoff)
{
    uint64_t found;
    if (!ring_mpmc_pop_batch(ring, &found, 1, backoff))
        return false;
    *item = found;
    return true;
}

static void fill(struct ring_mpmc *ring, uint64_t position, const uint64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ring_mpmc_slot *slot = &ring->slots[(position + i) & ring->mask];
        lf_store(&slot->item, items[i], relaxed);
        lf_store(&slot->turn, position + i + 1, release); /* R1 pairs with A1 in pop */
    }
}

size_t ring_mpmc_push_batch(struct ring_mpmc *ring, const uint64_t *items, size_t count,
                            struct backoff *backoff)
{
    for (;;) {
        uint64_t position = lf_load(&ring->tail, relaxed);
        size_t n = room(ring, position, count);
        if (n ? lf_cas(&ring->tail, &position, position + n, relaxed, relaxed)
              : lf_load(&ring->tail, relaxed) == position) {
            backoff_won(backoff);
            fill(ring, position, items, n);
            return n;
        }
        backoff_lost(backoff);
    }
}

/* What is in items[] behind those popped may have been written to. */
size_t ring_mpmc_pop_batch(struct ring_mpmc *ring, uint64_t *items, size_t count, struct backoff *backoff)
{
    for (;;) {
        uint64_t position = lf_load(&ring->head, relaxed);
        size_t n = look(ring, position, items, count);
        /* R2 pairs with A2 in room: the items have been read. */
        if (n ? lf_cas(&ring->head, &position, position + n, release, relaxed)
              : lf_load(&ring->head, relaxed) == position) {
            backoff_won(backoff);
            return n;
        }
        backoff_lost(backoff);
    }
}

size_t ring_mpmc_count(struct ring_mpmc *ring)
{
    uint64_t head = lf_load(&ring->head, relaxed), tail = lf_load(&ring->tail, relaxed);
    if (tail <= head)
        return 0;
    return tail - head < ring->mask + 1 ? tail - head : ring->mask + 1;
}
