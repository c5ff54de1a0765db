#include "lockfree/backoff.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

static uint64_t time_one_loss(struct backoff *backoff)
{
    uint64_t begin_ns = clock_now_ns();
    backoff_lost(backoff);
    return clock_now_ns() - begin_ns;
}

TEST(doubles_up_to_the_cap)
{
    struct backoff backoff;
    backoff_init(&backoff, 1);
    uint32_t expected = BACKOFF_FIRST_NS;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(backoff.wait_ns, expected);
        backoff_lost(&backoff);
        expected = expected * 2 < BACKOFF_CAP_NS ? expected * 2 : BACKOFF_CAP_NS;
    }
    CHECK_INT(backoff.wait_ns, BACKOFF_CAP_NS);
}

TEST(starts_anew_after_a_success)
{
    struct backoff backoff;
    backoff_init(&backoff, 1);
    backoff_lost(&backoff);
    backoff_lost(&backoff);
    backoff_won(&backoff);
    CHECK_INT(backoff.wait_ns, BACKOFF_FIRST_NS);
}

TEST(counts_losses)
{
    struct backoff backoff;
    backoff_init(&backoff, 7);
    CHECK_INT(backoff_losses(&backoff), 0);
    for (int i = 0; i < 5; i++) {
        backoff_lost(&backoff);
        backoff_won(&backoff);
    }
    CHECK_INT(backoff_losses(&backoff), 5);
}

/* Interrupts only make a wait longer, so that the shortest of many tells the wait as it was made. */
static uint64_t shortest_wait(uint64_t seed, bool at_cap)
{
    uint64_t shortest_ns = UINT64_MAX;
    struct backoff backoff;
    backoff_init(&backoff, seed);
    for (int i = 0; i < 200; i++) {
        backoff.wait_ns = at_cap ? BACKOFF_CAP_NS : BACKOFF_FIRST_NS;
        uint64_t ns = time_one_loss(&backoff);
        shortest_ns = ns < shortest_ns ? ns : shortest_ns;
    }
    return shortest_ns;
}

TEST(waits_are_in_nanoseconds)
{
    uint64_t first_ns = shortest_wait(3, false), cap_ns = shortest_wait(3, true);
    CHECK(first_ns >= BACKOFF_FIRST_NS / 4 && first_ns <= BACKOFF_FIRST_NS * 3);
    CHECK(cap_ns >= BACKOFF_CAP_NS / 4 && cap_ns <= BACKOFF_CAP_NS * 3);
    CHECK(cap_ns > first_ns * 4);
}

TEST(seeds_give_different_waits)
{
    struct backoff a, b, again;
    backoff_init(&a, 1);
    backoff_init(&b, 2);
    backoff_init(&again, 1);
    backoff_lost(&a);
    backoff_lost(&b);
    backoff_lost(&again);
    CHECK(a.random != b.random);
    CHECK(a.random == again.random);
}

TEST(any_seed_will_do)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct backoff backoff;
        backoff_init(&backoff, seed - 2);
        uint64_t before = backoff.random;
        backoff_lost(&backoff);
        CHECK(backoff.random != 0 && backoff.random != before);
    }
}
