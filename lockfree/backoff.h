/* Exponential backoff after a lost compare-and-swap.
 *
 * A thread that lost a race waits before it tries again, so that the winner keeps the cache line for a while
 * instead of passing it back and forth. The wait doubles from BACKOFF_FIRST_NS to BACKOFF_CAP_NS, each time
 * stretched or shrunk by up to a quarter at random, so that losers do not return in step. It is made of
 * `pause` instructions, whose cost (10 to 140 cycles by CPU) is measured once per process.
 *
 * A struct backoff belongs to one thread, which passes it to every operation that may lose. Its counter of
 * losses may be read by any thread. Waiting is bounded: it never sleeps and never waits for a condition. */
#pragma once

#include "lockfree/atomic.h"

/* The first wait has to cover tens of operations of the winner: below 0.3 us a saturated ring gains nothing.
 * The cap is what an event loop can spare. */
#define BACKOFF_FIRST_NS 1000u
#define BACKOFF_CAP_NS   20000u

struct backoff {
    uint32_t wait_ns;         /* the next wait, before jitter */
    uint32_t pauses_per_1024; /* `pause` instructions in 1024 ns */
    uint64_t random;
    _Atomic uint64_t losses;
};

/* `seed` should differ between threads; any value will do. */
void backoff_init(struct backoff *backoff, uint64_t seed);

/* The compare-and-swap just failed: count it and do not wait, as a first try may be made again at once. Only
 * the owner writes, so that this needs no atomic increment. */
static inline void backoff_count(struct backoff *backoff)
{
    lf_store(&backoff->losses, lf_load(&backoff->losses, relaxed) + 1, relaxed);
}

/* The compare-and-swap just failed: count it, wait, double the next wait. */
void backoff_lost(struct backoff *backoff);

/* The operation went through: the next loss starts with the shortest wait again. */
static inline void backoff_won(struct backoff *backoff)
{
    backoff->wait_ns = BACKOFF_FIRST_NS;
}

/* Races lost since init. Any thread. */
static inline uint64_t backoff_losses(const struct backoff *backoff)
{
    return lf_load(&backoff->losses, relaxed);
}
