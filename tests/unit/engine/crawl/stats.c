#include "engine/crawl/stats.h"

#include <pthread.h>

#include "tests/support/check.h"

static struct stats a, b, total;

TEST(quantiles_are_right_to_an_eighth)
{
    for (uint64_t i = 1; i <= 100000; i++)
        stats_record(&a.fetch_us, i);
    const double quantiles[] = {0.01, 0.5, 0.9, 0.99, 1};
    for (int i = 0; i < 5; i++) {
        double value = (double)stats_quantile(&a.fetch_us, quantiles[i]), exact = quantiles[i] * 100000;
        CHECK(value >= exact && value <= exact * 1.126);
    }
    CHECK_INT(stats_quantile(&a.body_bytes, 0.5), 0);
}

TEST(every_value_has_a_bucket)
{
    stats_record(&b.body_bytes, 0);
    CHECK_INT(stats_quantile(&b.body_bytes, 1), 0);
    stats_record(&b.body_bytes, UINT64_MAX);
    CHECK(stats_quantile(&b.body_bytes, 1) == UINT64_MAX);
    for (int i = 0; i < 64; i++)
        stats_record(&b.first_byte_us, UINT64_C(1) << i);
    CHECK(stats_quantile(&b.first_byte_us, 1) >= UINT64_C(1) << 63);
    CHECK_INT(stats_quantile(&b.first_byte_us, 1.0 / 64), 1);
}

TEST(sums_count_everything_once)
{
    stats_add(&a.urls_out, 3);
    stats_add(&b.urls_out, 4);
    stats_add(&a.pages, 1);
    stats_add(&b.outcomes[FETCH_ROBOTS_DENIED], 7);
    stats_sum(&total, &a);
    stats_sum(&total, &b);
    CHECK_INT(stats_get(&total.urls_out), 7);
    CHECK_INT(stats_get(&total.pages), 1);
    CHECK_INT(stats_get(&total.outcomes[FETCH_ROBOTS_DENIED]), 7);
    CHECK_INT(stats_quantile(&total.fetch_us, 0.00001), 1);
}

/* A counter that is left out of the sum would always be 0 in the status: each gets a number of its own. */
TEST(no_counter_is_left_out_of_the_sum)
{
    static struct stats part, sum;
    uint64_t value = 1000;
#define FILL(name)      stats_set(&part.name, ++value);
#define FILL_RACE(name) stats_set(&part.lost_races.name, ++value);
    STATS_COUNTERS(FILL)
    STATS_RACES(FILL_RACE)
    FILL(asked)
    FILL(connections) FILL(looking_up) FILL(page_bytes) FILL(frontier_bytes)
#undef FILL
#undef FILL_RACE
        stats_sum(&sum, &part);
    stats_sum(&sum, &part);
#define COMPARE(name)      CHECK_INT(stats_get(&sum.name), 2 * stats_get(&part.name));
#define COMPARE_RACE(name) CHECK_INT(stats_get(&sum.lost_races.name), 2 * stats_get(&part.lost_races.name));
    STATS_COUNTERS(COMPARE)
    STATS_RACES(COMPARE_RACE)
    COMPARE(asked) COMPARE(connections) COMPARE(looking_up) COMPARE(page_bytes) COMPARE(frontier_bytes)
#undef COMPARE
#undef COMPARE_RACE
}

TEST(tables_are_summed_to_their_last_entry)
{
    static struct stats part, sum;
    stats_set(&part.outcomes[FETCH_OUTCOME_COUNT - 1], 1);
    stats_set(&part.tries_failed[FETCH_OUTCOME_COUNT - 1], 2);
    stats_set(&part.statuses[STATS_STATUSES - 1], 3);
    stats_set(&part.codes[STATS_CODES - 1], 6);
    stats_set(&part.lookups[STATS_LOOKUPS - 1], 7);
    stats_set(&part.scope[SCOPE_RULES - 1], 4);
    stats_set(&part.limited_ns[LIMITED_COUNT - 1], 5);
    stats_record(&part.body_bytes, UINT64_MAX);
    stats_record(&part.first_byte_us, 17);
    stats_record(&part.rest_us, 18);
    stats_record(&part.dns_us, 19);
    stats_sum(&sum, &part);
    CHECK_INT(stats_get(&sum.outcomes[FETCH_OUTCOME_COUNT - 1]), 1);
    CHECK_INT(stats_get(&sum.tries_failed[FETCH_OUTCOME_COUNT - 1]), 2);
    CHECK_INT(stats_get(&sum.statuses[STATS_STATUSES - 1]), 3);
    CHECK_INT(stats_get(&sum.codes[STATS_CODES - 1]), 6);
    CHECK_INT(stats_get(&sum.lookups[STATS_LOOKUPS - 1]), 7);
    CHECK_INT(stats_get(&sum.scope[SCOPE_RULES - 1]), 4);
    CHECK_INT(stats_get(&sum.limited_ns[LIMITED_COUNT - 1]), 5);
    CHECK(stats_quantile(&sum.body_bytes, 1) == UINT64_MAX);
    CHECK_INT(stats_get(&sum.first_byte_us.sum), 17);
    CHECK_INT(stats_get(&sum.rest_us.sum), 18);
    CHECK_INT(stats_get(&sum.dns_us.sum), 19);
}

/* Moments mean nothing when they are added. */
TEST(moments_are_not_summed)
{
    static struct stats part, sum;
    stats_set(&part.next_due_ns, 10);
    stats_set(&part.names_out_since_ns, 20);
    stats_sum(&sum, &part);
    CHECK_INT(stats_get(&sum.next_due_ns), 0);
    CHECK_INT(stats_get(&sum.names_out_since_ns), 0);
}

/* A gauge may be below 0 in one loop: another has released what this one has acquired. */
TEST(what_one_loop_lacks_another_has)
{
    static struct stats one, other, sum;
    stats_add(&one.frontier_bytes, 700);
    stats_add(&other.frontier_bytes, (uint64_t)-300);
    stats_sum(&sum, &one);
    stats_sum(&sum, &other);
    CHECK_INT(stats_get(&sum.frontier_bytes), 400);
}

static struct stats running;
static _Atomic(bool) is_through;

/* Each page has two links: they are admitted before it is finished. */
static void *count_pages(void *argument)
{
    (void)argument;
    for (int i = 0; i < 200000; i++) {
        stats_add(&running.urls_in, 2);
        if (i % 2)
            stats_count_out(&running);
        else
            stats_count_known(&running);
    }
    lf_store(&is_through, true, relaxed);
    return NULL;
}

TEST(whoever_sees_a_url_finished_sees_its_links)
{
    static struct stats sum;
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, count_pages, NULL), 0);
    while (!lf_load(&is_through, relaxed)) {
        sum = (struct stats){0};
        stats_sum(&sum, &running);
        CHECK(stats_get(&sum.urls_in) >= 2 * (stats_get(&sum.urls_out) + stats_get(&sum.urls_known)));
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(stats_get(&running.urls_out), 100000);
    CHECK_INT(stats_get(&running.urls_known), 100000);
}
