/* Vyukov's bounded queue (1024cores.net, 2010): each slot carries the number of the turn it waits for.
 *
 * Position p uses slot p mod capacity. The slot's turn goes p (free for push p) -> p + 1 (filled for pop p)
 * -> p + capacity (free for push p + capacity), and so on; with a capacity of at least 2 the three differ.
 *
 * Why it is correct:
 *   - A push claims p by the CAS of tail from p to p + 1, having seen turn p. Indices only grow, in 64 bits,
 * so the CAS succeeds once per p: one thread owns push p. Nobody but the owner of push p moves a slot on from
 * turn p, so what was seen still holds when the CAS succeeds. The same goes for a batch of positions.
 *   - The owner of push p writes the item after it acquired turn p (A2), which the owner of pop p - capacity
 * released (R2) after reading the item before. The owner of pop p reads the item after it acquired turn p + 1
 * (A1), which the owner of push p released (R1) after writing it. So no item is lost, doubled or overwritten.
 *   - The CAS itself is relaxed: it orders nothing but the claims.
 *   - Seeing a turn before the one wanted means that the slot has not been left by its user of the round
 * before: full, for a push, empty, for a pop. Seeing a later one means that the index has moved since it was
 * read: a lost race.
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
        lf_store(&ring->slots[i].turn, i, relaxed);
    lf_store(&ring->tail, 0, relaxed);
    lf_store(&ring->head, 0, relaxed);
}

/* How many positions from `position` on are at their turn, up to `count`: the number that a CAS may claim. A
 * turn is `position` + `filled`. */
static size_t ready(const struct ring_mpmc *ring, uint64_t position, uint64_t filled, size_t count)
{
    size_t n = 0;
    while (n < count && /* A1 pairs with R1 in push, A2 with R2 in pop */
           lf_load(&ring->slots[(position + n) & ring->mask].turn, acquire) == position + n + filled)
        n++;
    return n;
}

struct claim {
    uint64_t position;
    size_t count;
};

/* Claims up to `count` positions that are at their turn; none when the first is not. */
static struct claim claim(struct ring_mpmc *ring, bool filled, size_t count, struct backoff *backoff)
{
    _Atomic(uint64_t) *index = filled ? &ring->head : &ring->tail;
    for (;;) {
        uint64_t position = lf_load(index, relaxed);
        size_t n = ready(ring, position, filled, count);
        if (n ? lf_cas(index, &position, position + n, relaxed, relaxed)
              : lf_load(index, relaxed) == position) {
            backoff_won(backoff);
            return (struct claim){position, n};
        }
        backoff_lost(backoff);
    }
}

bool ring_mpmc_push_contended(struct ring_mpmc *ring, uint64_t item, struct backoff *backoff)
{
    return ring_mpmc_push_batch(ring, &item, 1, backoff) == 1;
}

bool ring_mpmc_pop_contended(struct ring_mpmc *ring, uint64_t *item, struct backoff *backoff)
{
    return ring_mpmc_pop_batch(ring, item, 1, backoff) == 1;
}

size_t ring_mpmc_push_batch(struct ring_mpmc *ring, const uint64_t *items, size_t count,
                            struct backoff *backoff)
{
    struct claim claimed = claim(ring, false, count, backoff);
    for (size_t i = 0; i < claimed.count; i++) {
        uint64_t position = claimed.position + i;
        struct ring_mpmc_slot *slot = &ring->slots[position & ring->mask];
        lf_plain_write(slot->item, items[i]);
        lf_store(&slot->turn, position + 1, release); /* R1 pairs with A1 in pop */
    }
    return claimed.count;
}

size_t ring_mpmc_pop_batch(struct ring_mpmc *ring, uint64_t *items, size_t count, struct backoff *backoff)
{
    struct claim claimed = claim(ring, true, count, backoff);
    for (size_t i = 0; i < claimed.count; i++) {
        uint64_t position = claimed.position + i;
        struct ring_mpmc_slot *slot = &ring->slots[position & ring->mask];
        items[i] = lf_plain_read(slot->item);
        lf_store(&slot->turn, position + ring->mask + 1, release); /* R2 pairs with A2 in push */
    }
    return claimed.count;
}

size_t ring_mpmc_count(struct ring_mpmc *ring)
{
    uint64_t head = lf_load(&ring->head, relaxed), tail = lf_load(&ring->tail, relaxed);
    if (tail <= head)
        return 0;
    return tail - head < ring->mask + 1 ? tail - head : ring->mask + 1;
}
