/* Bounded ring, many producers, many consumers.
 *
 * | call                        | by whom    | at the same time as       |
 * |-----------------------------|------------|---------------------------|
 * | push, push_batch            | any thread | anything but init         |
 * | pop, pop_batch              | any thread | anything but init         |
 * | count                       | any thread | anything; an estimate     |
 * | init                        | one thread | nothing                   |
 *
 * Progress: a call never waits for another thread other than in a bounded backoff after a lost race, and
 * somebody's call succeeds whenever one loses; but the ring is NOT lock-free as a whole. A producer stopped
 * between claiming its positions and filling them blocks those positions: consumers take everything before
 * them, then see an empty ring, however much was pushed behind; once producers have come round to the blocked
 * positions they see a full ring. Blocked callers get their `false` at once and can do other work. For the
 * same reason `false` is not a statement about the ring at one instant: it says that the next position in
 * order was not ready. A stopped consumer blocks nobody: it has taken its items or it has not.
 *
 * Order: positions are claimed in order, so each producer's items come out in its order, and a batch in one
 * piece.
 *
 * An item is one word; a pointer travels as (uintptr_t). Pushing a pointer hands over what it points to: all
 * that the producer wrote before the push is seen by whoever pops it. The ring's memory is the caller's. */
#pragma once

#include "lockfree/atomic.h"
#include "lockfree/backoff.h"

struct ring_mpmc_slot {
    _Atomic(uint64_t) turn; /* position + 1: filled for the pop of this position */
    _Atomic(uint64_t) item;
};

struct ring_mpmc {
    LF_ISOLATED _Atomic(uint64_t) tail; /* next position to claim for a push; never wraps */
    _Atomic(uint64_t) head_seen;        /* some producer's look at head: it was at least this */
    LF_ISOLATED _Atomic(uint64_t) head; /* next position to claim for a pop */
    LF_ISOLATED struct ring_mpmc_slot *slots;
    uint64_t mask;
};

/* Memory for `capacity` items, aligned to LF_CACHE_LINE. The capacity is a power of two, at least 2. */
size_t ring_mpmc_bytes(size_t capacity);
void ring_mpmc_init(struct ring_mpmc *ring, void *memory, size_t capacity);

/* The backoff is the calling thread's own: it waits after a lost race and counts the losses. */

/* What push and pop do when the first try does not go through. */
bool ring_mpmc_push_contended(struct ring_mpmc *ring, uint64_t item, struct backoff *backoff);
bool ring_mpmc_pop_contended(struct ring_mpmc *ring, uint64_t *item, struct backoff *backoff);

/* False when full. */
static inline bool ring_mpmc_push(struct ring_mpmc *ring, uint64_t item, struct backoff *backoff)
{
    uint64_t position = lf_load(&ring->tail, relaxed);
    struct ring_mpmc_slot *slot = &ring->slots[position & ring->mask];
    if (position - lf_load(&ring->head_seen, acquire) > ring->mask) /* A3 pairs with R3 in ring_mpmc.c */
        return ring_mpmc_push_contended(ring, item, backoff);
    if (!lf_cas_weak(&ring->tail, &position, position + 1, relaxed, relaxed)) {
        backoff_count(backoff);
        return ring_mpmc_push_contended(ring, item, backoff);
    }
    lf_store(&slot->item, item, relaxed);
    lf_store(&slot->turn, position + 1, release); /* R1 pairs with A1 in pop */
    return true;
}

/* False when empty. */
static inline bool ring_mpmc_pop(struct ring_mpmc *ring, uint64_t *item, struct backoff *backoff)
{
    uint64_t position = lf_load(&ring->head, relaxed);
    struct ring_mpmc_slot *slot = &ring->slots[position & ring->mask];
    if (lf_load(&slot->turn, acquire) != position + 1) /* A1 pairs with R1 in push */
        return ring_mpmc_pop_contended(ring, item, backoff);
    uint64_t found = lf_load(&slot->item, relaxed);
    /* R2 pairs with A2 in ring_mpmc.c: the item has been read. */
    if (!lf_cas_weak(&ring->head, &position, position + 1, release, relaxed)) {
        backoff_count(backoff);
        return ring_mpmc_pop_contended(ring, item, backoff);
    }
    *item = found;
    return true;
}

/* As many of the `count` items as there is room for or as there are, next to each other in the ring's order;
 * returns how many. One claim for the whole batch. pop_batch may write to items[] beyond what it returns. */
size_t ring_mpmc_push_batch(struct ring_mpmc *ring, const uint64_t *items, size_t count,
                            struct backoff *backoff);
size_t ring_mpmc_pop_batch(struct ring_mpmc *ring, uint64_t *items, size_t count, struct backoff *backoff);

size_t ring_mpmc_count(struct ring_mpmc *ring);
