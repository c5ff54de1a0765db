#include "engine/report/spread.h"

#include "tests/support/check.h"

TEST(mean_deviation_and_quantiles)
{
    static struct spread spread;
    CHECK_INT(spread_quantile(&spread, 0.5), 0);
    CHECK(spread_mean(&spread) == 0 && spread_deviation(&spread) == 0);
    for (unsigned i = 1; i <= 5; i++)
        spread_add(&spread, i);
    CHECK(spread_mean(&spread) == 3);
    CHECK(fabs(spread_deviation(&spread) - sqrt(2)) < 1e-12);
    CHECK_INT(spread_quantile(&spread, 0.5), 3);
    CHECK_INT(spread_quantile(&spread, 1), 5);
}

/* The sum of squares would not fit 64 bits, nor the bucket of the largest value the array. */
TEST(huge_values_are_values)
{
    static struct spread spread;
    spread_add(&spread, UINT64_MAX);
    spread_add(&spread, UINT64_MAX);
    CHECK_INT(spread.buckets[SPREAD_BUCKETS - 1], 2);
    CHECK(spread_deviation(&spread) == 0);
}
