#include "engine/crawl/end.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct end end;
static struct end_facts facts;

/* A crawl in the middle of its work: 100 pages after 5 seconds, 3 visits open. */
static void begin(void)
{
    tuning_init(&tuning);
    tuning.live.crawl.stop_within_ns = 2 * CLOCK_NS_PER_S;
    end = (struct end){0};
    facts = (struct end_facts){
        .begin_ns = CLOCK_NS_PER_S, .now_ns = 6 * CLOCK_NS_PER_S, .pages = 100, .visits_open = 3};
}

static void check(enum crawl_phase phase, enum crawl_end why)
{
    end_decide(&end, &facts, &tuning.live.crawl);
    CHECK_INT(end.phase, phase);
    CHECK_STR(end_name(end.why), end_name(why));
}

TEST(a_crawl_goes_on_while_there_is_no_reason_to_end)
{
    begin();
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    tuning.live.crawl.max_pages = 101;
    tuning.live.crawl.max_time_ns = 6 * CLOCK_NS_PER_S;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
}

TEST(pages_and_time_let_what_is_in_flight_finish)
{
    begin();
    tuning.live.crawl.max_pages = 100;
    check(CRAWL_STOPPING, CRAWL_END_PAGES);
    facts.visits_open = 0;
    check(CRAWL_ENDING, CRAWL_END_PAGES);
    begin();
    tuning.live.crawl.max_time_ns = 5 * CLOCK_NS_PER_S;
    check(CRAWL_STOPPING, CRAWL_END_TIME);
    facts.now_ns += 2 * CLOCK_NS_PER_S - 1;
    check(CRAWL_STOPPING, CRAWL_END_TIME);
    facts.now_ns += 1;
    check(CRAWL_ENDING, CRAWL_END_TIME);
}

/* Looks at the facts for so long, as often as a crawl does. */
static void pass(uint64_t seconds)
{
    for (uint64_t i = 0; i < seconds * CLOCK_NS_PER_S / END_LOOK_NS; i++) {
        facts.now_ns += END_LOOK_NS;
        end_decide(&end, &facts, &tuning.live.crawl);
    }
}

/* One host that asks for an hour of patience does not hold up the end, but an outage of all name servers does. */
TEST(a_crawl_that_waits_for_too_long_ends)
{
    begin();
    tuning.live.crawl.max_idle_ns = 10 * CLOCK_NS_PER_S;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    facts.visits_open = 0;
    pass(9);
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    facts.is_out_of_names = true;
    pass(60);
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    facts.is_out_of_names = false;
    facts.hosts_held = true; /* the crawl waits for its operator, too */
    pass(60);
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    facts.hosts_held = false;
    pass(9);
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    pass(1);
    check(CRAWL_ENDING, CRAWL_END_IDLE);
    begin();
    tuning.live.crawl.max_idle_ns = 10 * CLOCK_NS_PER_S;
    facts.visits_open = facts.pages = 0;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    pass(10);
    check(CRAWL_ENDING, CRAWL_END_NOTHING);
    begin();
    tuning.live.crawl.max_idle_ns = 0;
    facts.visits_open = 0;
    pass(3600);
    check(CRAWL_RUNNING, CRAWL_END_NONE);
}

/* Visits may begin and end between two looks, and looks may be far apart because the disk is slow. */
TEST(what_was_not_seen_is_not_idleness)
{
    begin();
    tuning.live.crawl.max_idle_ns = CLOCK_NS_PER_S;
    facts.visits_open = 0;
    for (int i = 0; i < 100; i++) {
        facts.visits++;
        facts.now_ns += 900 * CLOCK_NS_PER_MS;
        check(CRAWL_RUNNING, CRAWL_END_NONE);
    }
    facts.now_ns += 3600 * CLOCK_NS_PER_S;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    pass(1);
    check(CRAWL_ENDING, CRAWL_END_IDLE);
}

TEST(the_second_order_to_stop_cuts_off)
{
    begin();
    facts.stops = 1;
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
    facts.stops = 2;
    check(CRAWL_ENDING, CRAWL_END_SIGNAL);
}

TEST(an_order_cuts_off_a_crawl_that_is_stopping_already)
{
    begin();
    tuning.live.crawl.max_pages = 1;
    check(CRAWL_STOPPING, CRAWL_END_PAGES);
    facts.stops = 1;
    check(CRAWL_ENDING, CRAWL_END_PAGES);
}

TEST(a_crawl_without_a_page_fetched_nothing)
{
    begin();
    facts.is_complete = true;
    check(CRAWL_ENDING, CRAWL_END_COMPLETE);
    begin();
    facts.is_complete = true;
    facts.pages = 0;
    check(CRAWL_ENDING, CRAWL_END_NOTHING);
}

TEST(what_could_not_be_kept_is_the_reason_whatever_came_before)
{
    begin();
    facts.stops = 1;
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
    facts.disk_error = -ENOSPC;
    check(CRAWL_ENDING, CRAWL_END_DISK_FULL);
    begin();
    facts.is_complete = true;
    check(CRAWL_ENDING, CRAWL_END_COMPLETE);
    facts.disk_error = -EIO;
    check(CRAWL_ENDING, CRAWL_END_FAILED);
    begin();
    facts.has_failed = true;
    check(CRAWL_ENDING, CRAWL_END_FAILED);
}

enum { LOOPS = 2, URLS = 300000 };
static struct loop *loops;
static _Atomic(bool) is_through;

/* Two loops in one thread: each URL that is finished by one was admitted by the other, its successor before
 * that. */
static void *crawl_chain(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < URLS; i++) {
        struct stats *here = &loops[i % LOOPS].stats, *other = &loops[(i + 1) % LOOPS].stats;
        stats_add(&other->urls_in, 1);
        lf_store(&here->urls_out, lf_load(&here->urls_out, relaxed) + 1, release); /* R1 */
    }
    lf_store(&is_through, true, release);
    return NULL;
}

/* At any moment of the chain one URL is left: the counts must never look equal before the end. */
TEST(a_crawl_is_not_complete_while_a_url_is_on_its_way)
{
    pthread_t thread;
    loops = aligned_alloc(128, LOOPS * sizeof *loops);
    memset(loops, 0, LOOPS * sizeof *loops);
    stats_add(&loops[0].stats.urls_in, 1);
    CHECK(pthread_create(&thread, NULL, crawl_chain, NULL) == 0);
    while (!lf_load(&is_through, acquire))
        CHECK(!end_is_complete(loops, LOOPS));
    pthread_join(thread, NULL);
    stats_add(&loops[URLS % LOOPS].stats.urls_out, 1);
    CHECK(end_is_complete(loops, LOOPS));
    free(loops);
}

TEST(a_pause_stops_the_clock)
{
    begin();
    tuning.live.crawl.max_time_ns = 10 * CLOCK_NS_PER_S;
    tuning.live.crawl.max_idle_ns = 10 * CLOCK_NS_PER_S;
    facts.is_paused = true;
    check(CRAWL_PAUSED, CRAWL_END_NONE);
    facts.visits_open = 0;
    facts.now_ns += 3600 * CLOCK_NS_PER_S;
    check(CRAWL_PAUSED, CRAWL_END_NONE);
    facts.is_paused = false;
    facts.now_ns += CLOCK_NS_PER_S;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    CHECK(end.paused_ns == 3601 * CLOCK_NS_PER_S);
    facts.visits_open = 3;
    facts.now_ns += 5 * CLOCK_NS_PER_S - 1;
    check(CRAWL_RUNNING, CRAWL_END_NONE);
    facts.now_ns += 1;
    check(CRAWL_STOPPING, CRAWL_END_TIME);
}

TEST(a_paused_crawl_can_end)
{
    begin();
    facts.is_paused = true;
    check(CRAWL_PAUSED, CRAWL_END_NONE);
    facts.stops = 1;
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
    begin();
    facts.is_paused = facts.is_complete = true;
    check(CRAWL_ENDING, CRAWL_END_COMPLETE);
    begin();
    facts.stops = 1;
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
    facts.is_paused = true; /* too late */
    check(CRAWL_STOPPING, CRAWL_END_SIGNAL);
}
