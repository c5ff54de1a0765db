/* Threads that fight for one word: all increments arrive, and losses can be read meanwhile. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"

#define INCREMENTS  20000
#define THREADS_MAX 64

static struct {
    LF_ISOLATED _Atomic uint64_t counter;
    struct backoff backoffs[THREADS_MAX];
    uint64_t failures[THREADS_MAX]; /* what the losses should be */
} shared;

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK(threads <= THREADS_MAX);
    lf_store(&shared.counter, 0, relaxed);
    for (unsigned i = 0; i < threads; i++)
        backoff_init(&shared.backoffs[i], i);
}

static void work(struct stress_worker *worker)
{
    struct backoff *backoff = &shared.backoffs[worker->index];
    uint64_t failed = 0, last = 0;
    for (int i = 0; i < INCREMENTS; i++) {
        uint64_t seen = lf_load(&shared.counter, relaxed);
        while (!lf_cas(&shared.counter, &seen, seen + 1, relaxed, relaxed)) {
            failed++;
            backoff_lost(backoff);
            seen = lf_load(&shared.counter, relaxed);
        }
        backoff_won(backoff);
        uint64_t others = backoff_losses(&shared.backoffs[(worker->index + 1) % worker->threads]);
        CHECK(others >= last);
        last = others;
    }
    shared.failures[worker->index] = failed;
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    CHECK_INT(lf_load(&shared.counter, relaxed), (uint64_t)threads * INCREMENTS);
    for (unsigned i = 0; i < threads; i++)
        CHECK_INT(backoff_losses(&shared.backoffs[i]), shared.failures[i]);
}

TEST(increments_arrive_and_losses_are_counted)
{
    struct stress_plan plan = {.begin = begin, .work = work, .check = check, .rounds = 2};
    stress_run(&plan);
    plan.yield_every = 16;
    stress_run(&plan);
}
