/* Exponential backoff; the header has the why. The wait is counted in `pause` instructions rather than read
 * from a clock, which would cost more than the shortest wait is worth. */
#include "lockfree/backoff.h"

#include "lockfree/clock.h"

/* Long enough for the clock's own cost and resolution to vanish, short enough not to be felt at start. */
#define CALIBRATION_PAUSES 1024
#define CALIBRATION_RUNS   5

/* Measured by the first init; the same for all threads. 0: not yet. */
static _Atomic uint32_t calibrated;

#if defined(LF_MODEL)
/* A schedule must not depend on the clock: the model's threads do not wait. */
static uint32_t pauses_per_1024_ns(void)
{
    return 0;
}
#else
/* The fastest of several runs: an interrupted one looks slow. */
static uint32_t pauses_per_1024_ns(void)
{
    uint64_t best_ns = UINT64_MAX;
    for (int run = 0; run < CALIBRATION_RUNS; run++) {
        uint64_t begin_ns = clock_now_ns();
        for (int i = 0; i < CALIBRATION_PAUSES; i++)
            lf_pause();
        uint64_t spent_ns = clock_now_ns() - begin_ns;
        if (spent_ns < best_ns)
            best_ns = spent_ns;
    }
    uint64_t pauses = CALIBRATION_PAUSES * 1024u / (best_ns + 1);
    return pauses ? (uint32_t)pauses : 1;
}
#endif

void backoff_init(struct backoff *backoff, uint64_t seed)
{
    uint32_t pauses = lf_load(&calibrated, relaxed);
    if (!pauses) {
        pauses = pauses_per_1024_ns();
        lf_store(&calibrated, pauses, relaxed);
    }
    backoff->wait_ns = BACKOFF_FIRST_NS;
    backoff->pauses_per_1024 = pauses;
    /* Odd, so that the generator below never sticks at 0. */
    backoff->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    lf_store(&backoff->losses, 0, relaxed);
}

/* xorshift64 */
static uint32_t next_random(struct backoff *backoff)
{
    uint64_t x = backoff->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    backoff->random = x;
    return (uint32_t)(x >> 32);
}

void backoff_lost(struct backoff *backoff)
{
    backoff_count(backoff);
    uint32_t base_ns = backoff->wait_ns;
    uint32_t jitter_ns = next_random(backoff) % (base_ns / 2 + 1);
    uint32_t wait_ns = base_ns - base_ns / 4 + jitter_ns;
    for (uint64_t left = (uint64_t)wait_ns * backoff->pauses_per_1024 / 1024; left > 0; left--)
        lf_pause();
    backoff->wait_ns = base_ns * 2 < BACKOFF_CAP_NS ? base_ns * 2 : BACKOFF_CAP_NS;
}
