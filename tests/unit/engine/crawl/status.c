#include "engine/crawl/status.h"

#include <stdlib.h>

#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct crawl crawl;
static struct status status;

/* Two loops that have done something. */
static void begin(void)
{
    crawl = (struct crawl){.directory = "here", .loop_count = 2};
    status = (struct status){0};
    crawl.begin_ns = clock_now_ns() - 2 * CLOCK_NS_PER_S;
    crawl.loops = aligned_alloc(128, 2 * sizeof *crawl.loops);
    memset(crawl.loops, 0, 2 * sizeof *crawl.loops);
    for (unsigned i = 0; i < 2; i++) {
        struct stats *stats = &crawl.loops[i].stats;
        stats_add(&stats->pages, 100 + i);
        stats_add(&stats->urls_in, 300);
        stats_add(&stats->urls_out, 120);
        stats_add(&stats->tries_failed[FETCH_CONNECT_REFUSED], 2);
        stats_add(&stats->tries_failed[FETCH_DNS_NO_NAME], 1);
        lf_store(&crawl.loops[i].frontier.states[HOST_RESTING], i ? 12 : -2, relaxed);
    }
}

static void finish(void)
{
    free(crawl.loops);
}

TEST(the_loops_are_summed_up)
{
    begin();
    status_update(&status, &crawl);
    CHECK_INT(stats_get(&status.now.pages), 201);
    CHECK_INT(status.queued, 360);
    CHECK_INT(status.tries_failed, 6);
    CHECK_INT(status.hosts[HOST_RESTING], 10);
    CHECK(status.seconds >= 2 && status.seconds < 60);
    CHECK_STR(status.directory, "here");
    finish();
}

TEST(an_outage_lasts_as_long_as_that_of_any_loop)
{
    begin();
    status_update(&status, &crawl);
    CHECK(status.names_outage_s == 0);
    stats_set(&crawl.loops[0].stats.names_out_since_ns, clock_now_ns() - 2 * CLOCK_NS_PER_S);
    stats_set(&crawl.loops[1].stats.names_out_since_ns, clock_now_ns() - 3 * CLOCK_NS_PER_S);
    status_update(&status, &crawl);
    CHECK(status.names_outage_s >= 3 && status.names_outage_s < 60);
    finish();
}

/* What is shown as a counter must not fall: Prometheus would take that for a new start, and add all of it once more. */
TEST(the_running_time_never_goes_back)
{
    begin();
    status_update(&status, &crawl);
    double before = status.running_s;
    CHECK(before >= 2);
    lf_store(&crawl.paused_ns, CLOCK_NS_PER_S, relaxed); /* of a pause, counted late */
    status_update(&status, &crawl);
    CHECK(status.running_s == before);
    crawl.begin_ns -= 5 * CLOCK_NS_PER_S;
    status_update(&status, &crawl);
    CHECK(status.running_s >= before + 3.9 && status.running_s < before + 60);
    finish();
}

TEST(rates_are_since_the_last_look)
{
    begin();
    status_update(&status, &crawl);
    CHECK_INT(status.pages_per_s, 0); /* nothing to compare with */
    stats_add(&crawl.loops[1].stats.pages, 1000);
    status.now_ns -= CLOCK_NS_PER_S;
    status_update(&status, &crawl);
    CHECK(status.pages_per_s > 500 && status.pages_per_s <= 1000);
    finish();
}
