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

/* What an earlier process did is part of the crawl, but not of this process. */
TEST(the_counters_of_this_process_are_told_apart)
{
    static struct stats own;
    begin();
    stats_set(&crawl.before.pages, 5000);
    stats_set(&crawl.before.turns, 70);
    stats_set(&crawl.loops[0].stats.turns, 3);
    stats_set(&crawl.loops[1].stats.turns, 8);
    stats_set(&own.pages, 9); /* of the last call */
    status_count_own(&own, &crawl);
    CHECK_INT(stats_get(&own.pages), 201);
    CHECK(status_turns(&crawl, 0) == 3 && status_turns(&crawl, 1) == 8);
    status_update(&status, &crawl);
    CHECK_INT(stats_get(&status.now.pages), 5201);
    CHECK(status.loops[0].turns == 3 && status.loops[1].turns == 8);
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

/* Each URL has one outcome: what became a page, is forbidden, was dropped or found no room has not failed. */
TEST(failures_are_what_is_left_of_all_outcomes)
{
    begin();
    struct stats *stats = &crawl.loops[1].stats;
    stats_set(&crawl.loops[0].stats.pages, 0);
    stats_set(&stats->pages, 50);
    stats_set(&stats->outcomes[FETCH_DONE], 50);
    stats_set(&stats->outcomes[FETCH_ROBOTS_DENIED], 7);
    stats_set(&stats->outcomes[FETCH_DROPPED], 6);
    stats_set(&stats->outcomes[FETCH_FRONTIER_FULL], 1);
    stats_set(&stats->outcomes[FETCH_HOSTS_FULL], 2);
    stats_set(&stats->outcomes[FETCH_HOST_FULL], 3);
    stats_set(&stats->outcomes[FETCH_DOMAIN_FULL], 4);
    stats_set(&stats->outcomes[FETCH_SIEVE_FULL], 5);
    status_update(&status, &crawl);
    CHECK_INT(status.failed, 0);
    CHECK_INT(status.lost, 15);
    stats_set(&crawl.loops[0].stats.outcomes[FETCH_CONNECT_REFUSED], 11);
    status_update(&status, &crawl);
    CHECK_INT(status.failed, 11);
    CHECK_INT(status.lost, 15);
    stats_add(&stats->pages, 20); /* read before its outcome was counted */
    status_update(&status, &crawl);
    CHECK_INT(status.failed, 0);
    finish();
}

TEST(hosts_that_wait_are_those_that_could_be_visited)
{
    begin();
    for (int state = 0; state < HOST_STATES; state++) {
        lf_store(&crawl.loops[0].frontier.states[state], 1, relaxed);
        lf_store(&crawl.loops[1].frontier.states[state], 1, relaxed);
    }
    lf_store(&crawl.loops[0].troubles.hosts[FETCH_CONNECT_REFUSED], 5, relaxed);
    lf_store(&crawl.loops[1].troubles.hosts[FETCH_CONNECT_REFUSED], -2, relaxed);
    lf_store(&crawl.loops[1].troubles.hosts[FETCH_DNS_TIMEOUT], 1, relaxed);
    status_update(&status, &crawl);
    status_update(&status, &crawl);                         /* nothing is counted twice */
    CHECK_INT(status.waiting_count, 2 * (HOST_STATES - 2)); /* neither idle nor visited */
    CHECK_INT(status.failing[FETCH_CONNECT_REFUSED], 3);
    CHECK_INT(status.failing_count, 4);
    finish();
}

TEST(more_finished_than_found_is_an_empty_queue)
{
    begin();
    stats_add(&crawl.loops[0].stats.urls_known, 360);
    status_update(&status, &crawl);
    CHECK_INT(status.queued, 0);
    stats_add(&crawl.loops[0].stats.urls_known, 10); /* the links were counted after the sum was made */
    status_update(&status, &crawl);
    CHECK_INT(status.queued, 0);
    finish();
}

TEST(the_next_host_is_that_of_the_first_loop_that_has_one)
{
    begin();
    stats_set(&crawl.loops[0].stats.next_due_ns, UINT64_MAX);
    stats_set(&crawl.loops[1].stats.next_due_ns, UINT64_MAX);
    status_update(&status, &crawl);
    CHECK(status.next_due_s < 0);
    stats_set(&crawl.loops[1].stats.next_due_ns, clock_now_ns() + 100 * CLOCK_NS_PER_S);
    status_update(&status, &crawl);
    CHECK(status.next_due_s > 40 && status.next_due_s <= 100);
    stats_set(&crawl.loops[0].stats.next_due_ns, 1); /* long ago */
    status_update(&status, &crawl);
    CHECK(status.next_due_s == 0);
    finish();
}

/* What limited the crawl before a resume says nothing of this process. */
TEST(limits_are_shares_since_the_last_look)
{
    begin();
    stats_set(&crawl.before.limited_ns[LIMITED_STORE], 900);
    stats_set(&crawl.loops[0].stats.limited_ns[LIMITED_WORK], 100);
    stats_set(&crawl.loops[1].stats.limited_ns[LIMITED_NAMES], 300);
    status_update(&status, &crawl);
    CHECK(status.limited[LIMITED_WORK] == 0.25 && status.limited[LIMITED_NAMES] == 0.75);
    CHECK(status.limited[LIMITED_STORE] == 0);
    CHECK(status.loops[0].busy == 1 && status.loops[1].busy == 0);
    stats_add(&crawl.loops[1].stats.limited_ns[LIMITED_WORK], 50);
    stats_add(&crawl.loops[1].stats.limited_ns[LIMITED_NAMES], 150);
    status_update(&status, &crawl);
    CHECK(status.limited[LIMITED_WORK] == 0.25 && status.limited[LIMITED_NAMES] == 0.75);
    CHECK(status.loops[0].busy == 1 && status.loops[1].busy == 0.25); /* the first has not settled since */
    status_update(&status, &crawl);
    for (int by = 0; by < LIMITED_COUNT; by++)
        CHECK(status.limited[by] == 0); /* nothing is known yet */
    finish();
}

TEST(a_resumed_crawl_goes_on_counting)
{
    begin();
    stats_set(&crawl.before.pages, 1000);
    crawl.ran_before_ns = 500 * CLOCK_NS_PER_S;
    status_update(&status, &crawl);
    CHECK_INT(stats_get(&status.now.pages), 1201);
    CHECK(status.running_s >= 502 && status.seconds < 60);
    finish();
}

static void fail_host(unsigned loop, uint32_t id, uint64_t retry_ns)
{
    static char keys[8][32];
    static struct host hosts[8];
    snprintf(keys[id], sizeof keys[id], "http://h%u.test", id);
    hosts[id] = (struct host){.id = id, .key = keys[id], .key_len = (uint16_t)strlen(keys[id])};
    troubles_note(&crawl.loops[loop].troubles, &hosts[id], FETCH_CONNECT_REFUSED, retry_ns);
}

/* Loops hand over copies when they are asked; those of all of them are put in order. */
TEST(failing_hosts_are_shown_by_their_next_try)
{
    begin();
    fail_host(0, 1, 500);
    fail_host(0, 2, 200);
    fail_host(1, 3, 400);
    fail_host(1, 4, 100); /* is tried about now */
    fail_host(1, 5, 300);
    status_update_waiting(&status, &crawl, 100);
    CHECK_INT(status.waiting[0].id, 0); /* they were asked for the first time */
    troubles_turn(&crawl.loops[0].troubles);
    troubles_turn(&crawl.loops[1].troubles);
    status_update_waiting(&status, &crawl, 100);
    CHECK_INT(status.waiting[0].id, 2);
    CHECK_INT(status.waiting[1].id, 5);
    CHECK_INT(status.waiting[2].id, 3);
    CHECK_STR(status.waiting[2].name, "h3.test");
    troubles_turn(&crawl.loops[0].troubles); /* the other is busy: its copy is not there yet */
    status_update_waiting(&status, &crawl, 100);
    CHECK_INT(status.waiting[0].id, 2);
    CHECK_INT(status.waiting[1].id, 1);
    CHECK_INT(status.waiting[2].id, 0);
    finish();
}

TEST(times_are_those_of_fetches_since_the_last_update)
{
    begin();
    for (int i = 0; i < 100; i++)
        stats_record(&crawl.loops[i % 2].stats.fetch_us, 1000);
    lf_store(&crawl.loops[1].store.outlet.taken, 5, relaxed);
    status_update(&status, &crawl);
    CHECK(status.fetch_us[0] >= 1000 && status.fetch_us[2] < 1200);
    CHECK_INT(status.written.store, 5);
    for (int i = 0; i < 20; i++)
        stats_record(&crawl.loops[0].stats.fetch_us, i < 18 ? 10 : 1000000);
    status_update(&status, &crawl);
    CHECK_INT(status.fetch_us[0], 10);
    CHECK_INT(status.fetch_us[1], 10);
    CHECK(status.fetch_us[2] >= 1000000);
    status_update(&status, &crawl);
    CHECK_INT(status.fetch_us[1], 0);
    finish();
}
