#include "engine/frontier/politeness.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

#define MS CLOCK_NS_PER_MS
#define S  CLOCK_NS_PER_S

static struct tuning tuning;
static struct politeness_tuning_live *const polite = &tuning.live.politeness;

static void ratio(double host, double address)
{
    tuning_init(&tuning);
    polite->host_ratio = host;
    polite->address_ratio = address;
    polite->host_min_idle_ns = 1 * S;
    polite->address_min_idle_ns = 100 * MS;
    polite->burst_ns = 1 * S;
}

TEST(rest_is_at_least_the_time_spent_over_the_ratio)
{
    ratio(0.1, 0.5);
    struct politeness_visit visit = {.spent_ns = 700 * MS};
    CHECK(politeness_host_rest(polite, &visit) >= 7 * S);
    CHECK(politeness_host_rest(polite, &visit) <= 7 * S + 2);
    CHECK(politeness_address_rest(polite, &visit) >= 1400 * MS);
    for (uint64_t spent = 1; spent < UINT64_C(1) << 50; spent = spent * 3 + 1) {
        visit.spent_ns = spent;
        CHECK(politeness_host_rest(polite, &visit) >= spent * 10);
    }
}

TEST(rest_is_never_below_the_minimum)
{
    ratio(0.1, 0.5);
    struct politeness_visit visit = {.spent_ns = 1 * MS};
    CHECK_INT(politeness_host_rest(polite, &visit), 1 * S);
    CHECK_INT(politeness_address_rest(polite, &visit), 100 * MS);
    visit.spent_ns = 0;
    CHECK_INT(politeness_host_rest(polite, &visit), 1 * S);
}

TEST(an_endless_rest_does_not_overflow)
{
    ratio(1e-6, 1e-6);
    struct politeness_visit visit = {.spent_ns = UINT64_C(1) << 55};
    CHECK(politeness_host_rest(polite, &visit) >= UINT64_C(1) << 60);
    CHECK(politeness_host_rest(polite, &visit) + clock_now_ns() > UINT64_C(1) << 60);
}

TEST(crawl_delay_and_retry_after_only_make_it_slower)
{
    ratio(0.1, 0.5);
    struct politeness_visit visit = {.spent_ns = 700 * MS, .crawl_delay_ns = 2 * S};
    CHECK(politeness_host_rest(polite, &visit) >= 7 * S);
    visit.crawl_delay_ns = 20 * S;
    CHECK_INT(politeness_host_rest(polite, &visit), 20 * S);
    visit.crawl_delay_ns = 3600 * S;
    CHECK_INT(politeness_host_rest(polite, &visit), polite->crawl_delay_max_ns);
    visit.crawl_delay_ns = 0;
    visit.retry_after_ns = 30 * S;
    CHECK_INT(politeness_host_rest(polite, &visit), 30 * S);
    visit.retry_after_ns = 86400 * S;
    CHECK_INT(politeness_host_rest(polite, &visit), polite->retry_after_max_ns);
    CHECK(politeness_address_rest(polite, &visit) < 2 * S);
}

TEST(a_fixed_delay_is_from_end_to_start)
{
    ratio(0.1, 0.5);
    polite->mode = TUNING_POLITENESS_DELAY;
    polite->delay_ns = 5 * S;
    polite->address_delay_ns = 500 * MS;
    struct politeness_visit visit = {.spent_ns = 3 * S};
    CHECK_INT(politeness_host_rest(polite, &visit), 5 * S);
    CHECK_INT(politeness_address_rest(polite, &visit), 500 * MS);
    CHECK(!politeness_may_request(polite, &visit));
}

TEST(a_visit_starts_no_request_after_its_burst)
{
    ratio(0.1, 0.5);
    CHECK(politeness_may_request(polite, &(struct politeness_visit){.spent_ns = 900 * MS - 1}));
    CHECK(!politeness_may_request(polite, &(struct politeness_visit){.spent_ns = 900 * MS}));
    CHECK(!politeness_may_request(polite, &(struct politeness_visit){.spent_ns = 1 * S}));
    CHECK(!politeness_may_request(polite, &(struct politeness_visit){.spent_ns = 1, .crawl_delay_ns = 1}));
    CHECK(!politeness_may_request(polite, &(struct politeness_visit){.spent_ns = 1, .retry_after_ns = 1}));
}

TEST(waits_after_failures_double_up_to_the_maximum)
{
    tuning_init(&tuning);
    tuning.live.retry.wait_ns = 30 * S;
    tuning.live.retry.wait_max_ns = 100 * S;
    CHECK_INT(politeness_failure_wait(&tuning.live.retry, 1), 30 * S);
    CHECK_INT(politeness_failure_wait(&tuning.live.retry, 2), 60 * S);
    CHECK_INT(politeness_failure_wait(&tuning.live.retry, 3), 100 * S);
    CHECK_INT(politeness_failure_wait(&tuning.live.retry, 1000), 100 * S);
}
