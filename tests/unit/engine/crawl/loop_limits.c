/* What a loop says that it waits for: each reason from the one thing that is short, and which comes first when several are. */
#include <stdlib.h>

#include "engine/crawl/loop.h"
#include "engine/crawl/visit.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

#define NOW_NS     (1000 * CLOCK_NS_PER_S)
#define LAG_MAX_NS CLOCK_NS_PER_S

static struct loop loop;
static struct gate gate;
static struct bandwidth bandwidth;
static struct tuning tuning;
static struct visit visit;
static struct outlet crawl_log;
static void *wheel_memory;

/* A loop that lacks nothing: one connection of two is open, and nobody rests. */
static void set_up(void)
{
    struct wheel_options options = {.tick_ns = 1 << 20, .now_ns = NOW_NS, .chunks_max = 4};
    memset(&loop, 0, sizeof loop);
    memset(&tuning, 0, sizeof tuning);
    gate = (struct gate){.opens_ns = NOW_NS};
    bandwidth = (struct bandwidth){0};
    outlet_fini(&crawl_log);
    CHECK_INT(outlet_init(&crawl_log, &(struct outlet_options){.bytes = 2 * sizeof(struct outlet_block)}), 0);
    loop.ledger.log = &crawl_log;
    loop.pages.bytes_max = BUFFER_ROOM_BYTES;
    loop.visits = (struct visits){.tuning = &tuning,
                                  .gate = &gate,
                                  .bandwidth = &bandwidth,
                                  .pages = &loop.pages,
                                  .ledger = &loop.ledger,
                                  .open = 1,
                                  .max = 2};
    free(wheel_memory);
    wheel_memory = aligned_alloc(64, (wheel_bytes(4) + 63) / 64 * 64);
    wheel_init(&loop.frontier.wheel, wheel_memory, &options);
}

/* The last commit was made so long ago. */
static void lag(uint64_t lag_ns)
{
    static _Atomic(uint64_t) committed_ns;
    lf_store(&committed_ns, NOW_NS - lag_ns, relaxed);
    gate.committed_ns = &committed_ns;
    gate.lag_max_ns = LAG_MAX_NS;
}

static void rest(void)
{
    CHECK(wheel_insert(&loop.frontier.wheel, 1, NOW_NS + CLOCK_NS_PER_S) == WHEEL_OK);
}

static const char *limit(void)
{
    return limited_name(loop_limited_by(&loop, CLOCK_NS_PER_MS, NOW_NS));
}

TEST(a_loop_that_does_not_sleep_works)
{
    set_up();
    gate_set_phase(&gate, CRAWL_PAUSED);
    CHECK_STR(limited_name(loop_limited_by(&loop, 0, NOW_NS)), "work");
    CHECK_STR(limited_name(loop_limited_by(&loop, 1, NOW_NS)), "paused");
}

TEST(nothing_but_open_visits_is_servers_and_nothing_at_all_is_empty)
{
    set_up();
    CHECK_STR(limit(), "servers");
    loop.visits.open = 0;
    CHECK_STR(limit(), "empty");
}

TEST(every_phase_but_running_is_a_pause)
{
    const enum crawl_phase phases[] = {CRAWL_PAUSED, CRAWL_STOPPING, CRAWL_ENDING};
    for (int i = 0; i < 3; i++) {
        set_up();
        gate_set_phase(&gate, phases[i]);
        CHECK_STR(limit(), "paused");
    }
}

TEST(a_disk_that_is_behind_or_holds_up_pages_is_the_store)
{
    set_up();
    lag(LAG_MAX_NS / 2);
    CHECK_STR(limit(), "store");
    set_up();
    lag(LAG_MAX_NS);
    CHECK_STR(limit(), "store");
    set_up();
    loop.visits.stalled = &visit;
    CHECK_STR(limit(), "store");
    set_up();
    while (outlet_take_block(&crawl_log)) { /* until none is left for a line of crawl.log */
    }
    CHECK_STR(limit(), "store");
}

TEST(rests_of_hosts_and_of_a_resumed_crawl_are_politeness)
{
    set_up();
    rest();
    CHECK_STR(limit(), "politeness");
    set_up();
    gate.opens_ns = NOW_NS + 1;
    CHECK_STR(limit(), "politeness");
}

TEST(bandwidth_is_used_up_or_waited_for)
{
    set_up();
    tuning.live.net.bandwidth_bytes = 1000;
    lf_store(&bandwidth.paid_ns, NOW_NS + 1, relaxed);
    CHECK_STR(limit(), "bandwidth");
    lf_store(&bandwidth.paid_ns, NOW_NS, relaxed);
    CHECK_STR(limit(), "servers");
    loop.visits.waiting.first = &visit;
    CHECK_STR(limit(), "bandwidth");
    set_up();
    loop.visits.on_hold.first = &visit;
    CHECK_STR(limit(), "bandwidth");
}

TEST(memory_is_used_up_or_pages_wait_for_it)
{
    set_up();
    loop.pages.bytes_used = 1;
    CHECK_STR(limit(), "memory");
    set_up();
    loop.visits.starved = 1;
    CHECK_STR(limit(), "memory");
}

TEST(the_last_pages_are_in_flight)
{
    set_up();
    tuning.live.crawl.max_pages = 7;
    lf_store(&gate.pages_reserved, 6, relaxed);
    CHECK_STR(limit(), "servers");
    lf_store(&gate.pages_reserved, 7, relaxed);
    CHECK_STR(limit(), "pages");
}

TEST(all_connections_are_open)
{
    set_up();
    loop.visits.open = 2;
    CHECK_STR(limit(), "connections");
}

TEST(names_are_looked_up_or_nobody_answers)
{
    set_up();
    loop.names.quick = 1;
    CHECK_STR(limit(), "names");
    set_up();
    loop.names.slow = 1;
    CHECK_STR(limit(), "names");
    set_up();
    loop.names.outage_since_ns = NOW_NS - 1;
    CHECK_STR(limit(), "names");
}

/* From the last to the first: each is added to those below it, and wins. */
TEST(the_reason_that_nothing_else_would_help_against_wins)
{
    set_up();
    loop.names.quick = 1;
    rest();
    CHECK_STR(limit(), "politeness");
    loop.names.outage_since_ns = 1;
    CHECK_STR(limit(), "names");
    loop.visits.open = 2;
    CHECK_STR(limit(), "connections");
    tuning.live.crawl.max_pages = 1;
    lf_store(&gate.pages_reserved, 1, relaxed);
    CHECK_STR(limit(), "pages");
    loop.visits.stalled = &visit;
    CHECK_STR(limit(), "store");
    loop.visits.starved = 1;
    CHECK_STR(limit(), "memory");
    loop.visits.on_hold.first = &visit;
    CHECK_STR(limit(), "bandwidth");
    gate.opens_ns = NOW_NS + 1;
    CHECK_STR(limit(), "politeness");
    lag(LAG_MAX_NS / 2);
    CHECK_STR(limit(), "store");
    gate_set_phase(&gate, CRAWL_PAUSED);
    CHECK_STR(limit(), "paused");
    outlet_fini(&crawl_log);
    free(wheel_memory);
}
