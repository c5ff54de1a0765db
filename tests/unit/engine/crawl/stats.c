#include "engine/crawl/stats.h"

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
