#include "engine/report/axis.h"

#include <math.h>

#include "tests/support/check.h"

static char text[AXIS_TEXT_BYTES];

TEST(numbers_have_separators_and_units_that_fit)
{
    CHECK_STR(axis_number(1234567, 0, text), "1,234,567");
    CHECK_STR(axis_number(-1234.5, 1, text), "-1,234.5");
    CHECK_STR(axis_number(999, 0, text), "999");
    CHECK_STR(axis_value(AXIS_BYTES, 1340000000, text), "1.34 GB");
    CHECK_STR(axis_value(AXIS_BYTES, 0, text), "0 B");
    CHECK_STR(axis_value(AXIS_MS, 1500, text), "1.5 s");
    CHECK_STR(axis_value(AXIS_PERCENT, 0.1, text), "0.1%");
    CHECK_STR(axis_value(AXIS_COUNT, 120, text), "120");
}

/* Whatever the range, ticks are at 1, 2 or 5 times a power of ten, and neither too few nor too many. */
TEST(ticks_are_round)
{
    for (double high = 0.013; high < 1e13; high *= 1.7) {
        struct axis axis;
        axis_init(&axis, &(struct axis_range){0, high, false, AXIS_PERCENT, 5, false});
        double step = axis.ticks[1] - axis.ticks[0], lead = step / pow(10, floor(log10(step) + 1e-9));
        CHECK(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6);
        CHECK(axis.tick_count >= 3 && axis.tick_count <= 7);
        CHECK(axis.high >= high * 0.999999 && axis.low == 0);
        CHECK(fabs(axis_place(&axis, axis.high) - 1) < 1e-9 && axis_place(&axis, 0) == 0);
    }
}

TEST(time_is_in_the_unit_that_fits)
{
    struct axis axis;
    axis_init(&axis, &(struct axis_range){0, 7 * 3600, false, AXIS_SECONDS, 6, true});
    CHECK_STR(axis.suffix, "h");
    CHECK_STR(axis_label(&axis, axis.ticks[1], text), "2");
    CHECK_STR(axis_label(&axis, axis.ticks[0], text), "0");
}

TEST(logarithmic_axes_have_powers_of_ten)
{
    struct axis axis;
    axis_init(&axis, &(struct axis_range){3, 40000, true, AXIS_BYTES, 6, false});
    CHECK_INT(axis.tick_count, 6);
    CHECK_STR(axis_label(&axis, axis.ticks[3], text), "1 KB");
    CHECK(axis_place(&axis, 0) == 0 && fabs(axis_place(&axis, 1e5) - 1) < 1e-9);
}

TEST(a_range_without_width_is_an_axis)
{
    static const double ranges[][2] = {{0, 0}, {5, 5}, {INFINITY, -INFINITY}, {1e300, 1e300}};
    for (unsigned i = 0; i < 8; i++) {
        struct axis axis;
        axis_init(&axis,
                  &(struct axis_range){ranges[i / 2][0], ranges[i / 2][1], i % 2, AXIS_COUNT, 5, true});
        CHECK(axis.tick_count <= AXIS_TICKS_MAX);
    }
}
