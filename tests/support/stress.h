/* The frame of all stress tests: threads hammer one structure, then counts and contents are checked.
 *
 * Included before anything of lockfree/. It turns on LF_YIELD, so that in this program every atomic operation
 * of the sources that the test includes (the .c files themselves) is a point where a thread may lose the
 * processor, or be parked:
 *
 *     #include "tests/support/stress.h"
 *     #include "lockfree/backoff.c"
 *     #include "lockfree/list.c"
 */
#pragma once

#ifdef LF_CACHE_LINE
#error "stress.h comes before lockfree/atomic.h"
#endif
#define LF_YIELD 1

#include "tests/support/check.h"
#include "lockfree/atomic.h"

struct stress_worker {
    unsigned index; /* 0 .. threads - 1 */
    unsigned threads;
    uint64_t round;
    uint64_t random; /* state of stress_random */
    void *shared;
};

/* Hooks of one structure. `begin` and `check` run alone; all of `work` starts together, after a barrier. */
struct stress_plan {
    void *shared;
    unsigned threads;     /* 0: two per core and one more, at least 4 */
    unsigned rounds;      /* 0: 1 */
    unsigned yield_every; /* at about every so many atomic operations a thread yields; 0: never */
    uint64_t seed;
    void (*begin)(void *shared, unsigned threads); /* before each round; may be NULL */
    void (*work)(struct stress_worker *worker);    /* in each thread */
    void (*check)(void *shared, unsigned threads); /* after each round; may be NULL */
};

unsigned stress_threads_default(void);
void stress_run(const struct stress_plan *plan);

/* A number in 0 .. bound - 1. */
uint64_t stress_random(struct stress_worker *worker, uint64_t bound);

/* Lock-freedom: `operation` runs in a thread that is stopped before its n-th atomic operation. While it
 * stands there, `others` must be able to finish. Then it is let go, and `finish` checks. Done for n = 1, 2,
 * ... until the operation ends without having been stopped. Returns at how many places it was stopped. */
struct stress_parking {
    void *shared;
    void (*begin)(void *shared);
    void (*operation)(void *shared);
    void (*others)(void *shared);
    void (*finish)(void *shared);
};
unsigned stress_park(const struct stress_parking *parking);
