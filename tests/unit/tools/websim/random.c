#include "tools/websim/random.h"

#include <math.h>

#include "tests/support/check.h"

TEST(numbers_are_the_same_on_every_machine)
{
    CHECK_INT(websim_below(websim_hash(7, 9), 1000000), 196552);
    CHECK_INT(websim_below(websim_mix(1), 1000000), 255763);
}

TEST(below_covers_its_range_evenly)
{
    unsigned counts[10] = {0};
    for (unsigned i = 0; i < 100000; i++)
        counts[websim_below(websim_hash(1, i), 10)]++;
    for (unsigned i = 0; i < 10; i++)
        CHECK(counts[i] > 9500 && counts[i] < 10500);
}

TEST(chance_is_the_share_asked_for)
{
    unsigned hits = 0;
    for (unsigned i = 0; i < 100000; i++)
        hits += websim_chance(websim_hash(2, i), 30000);
    CHECK(hits > 2800 && hits < 3200);
    CHECK(!websim_chance(0, 0));
    CHECK(websim_chance(UINT64_MAX, WEBSIM_PPM));
}

TEST(skewed_prefers_small_numbers)
{
    unsigned below[2] = {0};
    for (unsigned i = 0; i < 100000; i++) {
        below[0] += websim_skewed(websim_hash(3, i), 1000, 2) < 250;
        below[1] += websim_skewed(websim_hash(3, i), 1000, 3) < 125;
        CHECK(websim_skewed(websim_hash(3, i), 7, 3) < 7);
    }
    /* (1/4)^(1/2) and (1/8)^(1/3) are both one half. */
    CHECK(below[0] > 49000 && below[0] < 51000);
    CHECK(below[1] > 49000 && below[1] < 51000);
}

TEST(logarithm_and_exponential_are_near_libm)
{
    for (uint64_t x = 1; x < UINT64_C(1) << 40; x = x * 9 / 8 + 1) {
        double exact = log2((double)x);
        CHECK(fabs((double)websim_log2_q16(x) / WEBSIM_Q16 - exact) < 2e-4);
    }
    for (int64_t q = 0; q < (int64_t)47 << 16; q += 977) {
        double exact = exp2((double)q / WEBSIM_Q16), got = (double)websim_exp2_q16(q);
        CHECK(fabs(got - exact) <= 0.51 + exact * 1e-4);
    }
    CHECK_INT(websim_exp2_q16(websim_log2_q16(1024)), 1024);
}

TEST(lognormal_has_its_mean_and_spread)
{
    struct websim_lognormal law;
    double sum = 0, logs = 0, squares = 0;
    unsigned count = 200000;
    websim_lognormal_init(&law, 10240, 75);
    for (unsigned i = 0; i < count; i++) {
        double x = (double)websim_lognormal_draw(&law, websim_hash(4, i));
        sum += x;
        logs += log(x);
        squares += log(x) * log(x);
    }
    CHECK(fabs(sum / count - 10240) < 150);
    double mean = logs / count;
    CHECK(fabs(sqrt(squares / count - mean * mean) - 0.75) < 0.01);
    websim_lognormal_init(&law, 4096, 0);
    CHECK_INT(websim_lognormal_draw(&law, websim_hash(5, 5)), 4096);
}
