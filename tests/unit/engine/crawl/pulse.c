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
