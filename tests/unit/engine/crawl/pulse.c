#include "engine/crawl/pulse.h"

#include <stdlib.h>

#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct crawl crawl;
static struct pulse pulse;
static char why[PULSE_WHY_BYTES];

static void begin(void)
{
    crawl.loop_count = 2;
    crawl.loops = aligned_alloc(_Alignof(struct loop), 2 * sizeof(struct loop));
    memset(crawl.loops, 0, 2 * sizeof(struct loop));
    pulse = (struct pulse){0};
    lf_store(&crawl.kept_ns, CLOCK_NS_PER_S, relaxed);
    CHECK(pulse_look(&pulse, &crawl, CLOCK_NS_PER_S, why));
}

static void turn_loop(unsigned index)
{
    stats_add(&crawl.loops[index].stats.turns, 1);
}

TEST(a_crawl_has_begun_once_every_loop_has_turned)
{
    begin();
    CHECK(!pulse_has_begun(&crawl));
    turn_loop(0);
    turn_loop(1);
    CHECK(!pulse_has_begun(&crawl)); /* its threads do not run yet */
    crawl.begin_ns = 1;
    CHECK(pulse_has_begun(&crawl));
    stats_set(&crawl.loops[1].stats.turns, 0);
    CHECK(!pulse_has_begun(&crawl));
    crawl.begin_ns = 0;
    free(crawl.loops);
}

TEST(a_loop_that_stands_still_is_named)
{
    begin();
    turn_loop(0);
    CHECK(pulse_look(&pulse, &crawl, 5 * CLOCK_NS_PER_S, why));
    turn_loop(0);
    CHECK(!pulse_look(&pulse, &crawl, 6 * CLOCK_NS_PER_S, why));
    CHECK_STR(why, "loop 1 has not turned for 5 s");
    turn_loop(1);
    CHECK(pulse_look(&pulse, &crawl, 7 * CLOCK_NS_PER_S, why));
    free(crawl.loops);
}

TEST(threads_that_have_ended_are_not_missed)
{
    begin();
    gate_set_phase(&crawl.gate, CRAWL_STOPPING);
    CHECK(!pulse_look(&pulse, &crawl, 60 * CLOCK_NS_PER_S, why));
    gate_set_phase(&crawl.gate, CRAWL_ENDING);
    CHECK(pulse_look(&pulse, &crawl, 60 * CLOCK_NS_PER_S, why));
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
    free(crawl.loops);
}

TEST(a_housekeeper_that_waits_for_the_disk_is_named)
{
    begin();
    for (uint64_t s = 2; s < 31; s++) {
        turn_loop(0);
        turn_loop(1);
        CHECK(pulse_look(&pulse, &crawl, s * CLOCK_NS_PER_S, why));
    }
    CHECK(!pulse_look(&pulse, &crawl, 31 * CLOCK_NS_PER_S, why));
    CHECK_STR(why, "the housekeeper has waited for the disk for 30 s");
    lf_store(&crawl.kept_ns, 31 * CLOCK_NS_PER_S, relaxed);
    CHECK(pulse_look(&pulse, &crawl, 31 * CLOCK_NS_PER_S, why));
    free(crawl.loops);
}

/* Two who look at different times each have a pulse of their own. */
TEST(each_looker_counts_from_its_own_first_look)
{
    static struct pulse late;
    begin();
    late = (struct pulse){0};
    CHECK(pulse_look(&late, &crawl, 5 * CLOCK_NS_PER_S, why)); /* the loops may have stood for hours */
    CHECK(!pulse_look(&pulse, &crawl, 6 * CLOCK_NS_PER_S, why));
    CHECK(pulse_look(&late, &crawl, 6 * CLOCK_NS_PER_S, why));
    CHECK(pulse_look(&late, &crawl, 10 * CLOCK_NS_PER_S - 1, why));
    CHECK(!pulse_look(&late, &crawl, 10 * CLOCK_NS_PER_S, why));
    free(crawl.loops);
}

/* A disk that hangs comes to the loops, too, in the end: the cause is what is told. */
TEST(of_several_threads_the_housekeeper_is_named)
{
    begin();
    CHECK(!pulse_look(&pulse, &crawl, 6 * CLOCK_NS_PER_S, why));
    CHECK_STR(why, "loop 1 has not turned for 5 s"); /* the last of them */
    CHECK(!pulse_look(&pulse, &crawl, 61 * CLOCK_NS_PER_S, why));
    CHECK_STR(why, "the housekeeper has waited for the disk for 60 s");
    free(crawl.loops);
}

/* The housekeeper began a turn between the two readings of the clock. */
TEST(a_moment_in_the_future_is_a_sign_of_life)
{
    begin();
    lf_store(&crawl.kept_ns, 2 * CLOCK_NS_PER_S + 1, relaxed);
    CHECK(pulse_look(&pulse, &crawl, 2 * CLOCK_NS_PER_S, why));
    free(crawl.loops);
}

TEST(a_paused_crawl_has_a_pulse)
{
    begin();
    gate_set_phase(&crawl.gate, CRAWL_PAUSED);
    turn_loop(0);
    CHECK(!pulse_look(&pulse, &crawl, 7 * CLOCK_NS_PER_S, why)); /* its loops turn all the same */
    turn_loop(1);
    CHECK(pulse_look(&pulse, &crawl, 7 * CLOCK_NS_PER_S, why));
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
    free(crawl.loops);
}
