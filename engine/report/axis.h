/* An axis of a chart: its range, its ticks at 1, 2 or 5 times a power of ten, and how numbers are written on it. Also the
 * numbers in captions and tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum axis_unit {
    AXIS_COUNT,
    AXIS_BYTES,
    AXIS_BYTES_PER_S,
    AXIS_SECONDS,
    AXIS_MS,
    AXIS_PERCENT,
};

enum { AXIS_TICKS_MAX = 24, AXIS_TEXT_BYTES = 48 };

struct axis {
    double low, high; /* in the unit of the data */
    bool is_log;
    enum axis_unit unit;
    double divisor;     /* linear axes: what ticks are divided by */
    const char *suffix; /* of the divided unit: "GB", "hours"; log axes have it on each tick. May be empty */
    double ticks[AXIS_TICKS_MAX];
    size_t tick_count;
};

struct axis_range {
    double low, high; /* of the data */
    bool is_log;      /* both must be above 0 */
    enum axis_unit unit;
    unsigned ticks_max; /* roughly */
    bool is_tight;      /* ends with the data, not at a tick */
};

void axis_init(struct axis *axis, const struct axis_range *range);
/* Where a value is, from 0 (low) to 1 (high). */
double axis_place(const struct axis *axis, double value);
/* What stands at a tick. */
const char *axis_label(const struct axis *axis, double value, char text[AXIS_TEXT_BYTES]);

/* "1,234,567"; with `digits` after the point. */
const char *axis_number(double value, unsigned digits, char text[AXIS_TEXT_BYTES]);
/* With a unit that fits: "1.3 GB", "12 min", "45%". */
const char *axis_value(enum axis_unit unit, double value, char text[AXIS_TEXT_BYTES]);
