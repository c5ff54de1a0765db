#include "engine/crawl/health.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct host host;
static struct stats stats;

static void begin(void)
{
    tuning_init(&tuning);
    tuning.live.retry.host_failures_max = 3;
    host = (struct host){0};
    stats = (struct stats){0};
}

TEST(a_host_is_given_up_after_failures_in_a_row)
{
    begin();
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(!host.is_dead);
    health_fail(&host, FETCH_CONNECT_TIMEOUT, &tuning.live, &stats);
    CHECK(host.is_dead);
    CHECK_INT(host.dead_why, FETCH_CONNECT_TIMEOUT);
    CHECK_INT(stats_get(&stats.hosts_given_up), 1);
}

TEST(a_host_is_given_up_once)
{
    begin();
    for (int i = 0; i < 70000; i++)
        health_fail(&host, FETCH_HOST_BUSY, &tuning.live, &stats);
    CHECK_INT(host.failures, UINT16_MAX);
    CHECK_INT(stats_get(&stats.hosts_given_up), 1);
}

TEST(a_host_is_given_up_when_its_time_is_over)
{
    begin();
    tuning.live.retry.host_failures_max = 1000;
    tuning.live.retry.wait_ns = tuning.live.robots.retry_ns = 10 * CLOCK_NS_PER_S;
    tuning.live.retry.host_time_max_ns = 60 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_ROBOTS_UNREACHABLE, &tuning.live, &stats);
    CHECK(!host.is_dead);
    host.failing_since_ns -= 20 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_ROBOTS_UNREACHABLE, &tuning.live, &stats);
    CHECK(!host.is_dead);
    host.failing_since_ns -= 31 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_ROBOTS_UNREACHABLE, &tuning.live, &stats);
    CHECK(host.is_dead);
    CHECK_INT(host.dead_why, FETCH_ROBOTS_UNREACHABLE);
}

TEST(a_host_is_tried_again_at_least_once)
{
    begin();
    tuning.live.retry.host_time_max_ns = 1;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(!host.is_dead);
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(host.is_dead);
}

/* A robots.txt that is not to be had is tried again later than a page: that wait counts. */
TEST(a_host_without_robots_txt_waits_longer)
{
    begin();
    tuning.live.retry.host_failures_max = 1000;
    tuning.live.retry.wait_ns = tuning.live.retry.wait_max_ns = CLOCK_NS_PER_S;
    tuning.live.robots.retry_ns = 50 * CLOCK_NS_PER_S;
    tuning.live.retry.host_time_max_ns = 60 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    host.failing_since_ns -= 20 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats); /* 21 of 60 seconds */
    CHECK(!host.is_dead);
    health_fail(&host, FETCH_ROBOTS_UNREACHABLE, &tuning.live, &stats); /* 70 */
    CHECK(host.is_dead);
}

TEST(without_a_limit_of_time_failures_decide)
{
    begin();
    tuning.live.retry.host_time_max_ns = 0;
    tuning.live.retry.host_failures_max = 5;
    for (int i = 0; i < 4; i++) {
        health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
        host.failing_since_ns -= 3600 * CLOCK_NS_PER_S;
    }
    CHECK(!host.is_dead);
    CHECK_INT(stats_get(&stats.hosts_given_up), 0);
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(host.is_dead);
}

/* The clock runs from the first failure of the row, not from the last row. */
TEST(a_host_that_recovered_begins_anew)
{
    begin();
    tuning.live.retry.host_time_max_ns = 3600 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    uint64_t first_ns = host.failing_since_ns;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(host.failing_since_ns == first_ns);
    lf_store(&host.failures, 0, relaxed); /* a page came */
    host.failing_since_ns -= 7200 * CLOCK_NS_PER_S;
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(host.failing_since_ns >= first_ns);
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK(!host.is_dead); /* two of three */
}

TEST(one_failure_may_be_enough)
{
    begin();
    tuning.live.retry.host_failures_max = 1;
    health_fail(&host, FETCH_DNS_NO_NAME, &tuning.live, &stats);
    CHECK(host.is_dead);
    CHECK_INT(host.dead_why, FETCH_DNS_NO_NAME);
    health_fail(&host, FETCH_CONNECT_REFUSED, &tuning.live, &stats);
    CHECK_INT(host.dead_why, FETCH_DNS_NO_NAME); /* the reason is the one that decided */
}
