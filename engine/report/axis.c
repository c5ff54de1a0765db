#include "engine/report/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct step {
    double divisor;
    const char *suffix;
};

static const struct step counts[] = {{1, ""}, {0, NULL}};
static const struct step percents[] = {{1, "%"}, {0, NULL}};
static const struct step bytes[] = {{1, "B"}, {1e3, "KB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {0, NULL}};
static const struct step rates[] = {{1, "B/s"},    {1e3, "KB/s"},  {1e6, "MB/s"},
                                    {1e9, "GB/s"}, {1e12, "TB/s"}, {0, NULL}};
static const struct step seconds[] = {{1, "s"}, {60, "min"}, {3600, "h"}, {86400, "days"}, {0, NULL}};
static const struct step ms[] = {{1, "ms"}, {1e3, "s"}, {6e4, "min"}, {3.6e6, "h"}, {0, NULL}};

static const struct step *steps_of(enum axis_unit unit)
{
    switch (unit) {
    case AXIS_BYTES:
        return bytes;
    case AXIS_BYTES_PER_S:
        return rates;
    case AXIS_SECONDS:
        return seconds;
    case AXIS_MS:
        return ms;
    case AXIS_PERCENT:
        return percents;
    case AXIS_COUNT:
        break;
    }
    return counts;
}

/* The largest step that `value` holds `least` times. */
static const struct step *step_for(enum axis_unit unit, double value, double least)
{
    const struct step *step = steps_of(unit);
    while (step[1].suffix && value >= least * step[1].divisor)
        step++;
    return step;
}

const char *axis_number(double value, unsigned digits, char text[AXIS_TEXT_BYTES])
{
    char plain[AXIS_TEXT_BYTES];
    snprintf(plain, sizeof plain, "%.*f", (int)digits, value < 1e30 ? value : 1e30);
    size_t whole = strcspn(plain, "."), len = 0;
    for (size_t i = 0; plain[i] && len + 2 < AXIS_TEXT_BYTES; i++) {
        if (i && i < whole && (whole - i) % 3 == 0 && plain[i - 1] != '-')
            text[len++] = ',';
        text[len++] = plain[i];
    }
    text[len] = '\0';
    return text;
}

/* As many digits as tell something: three in all, but never less than the whole part. */
static unsigned digits_for(double value)
{
    value = fabs(value);
    if (value == floor(value) || value >= 100)
        return 0;
    return value >= 10 ? 1 : value >= 0.995 ? 2 : 3;
}

/* "0.100" is "0.1". */
static void drop_zeros(char *number)
{
    size_t len = strlen(number);
    if (!strchr(number, '.'))
        return;
    while (number[len - 1] == '0')
        len--;
    number[number[len - 1] == '.' ? len - 1 : len] = '\0';
}

const char *axis_value(enum axis_unit unit, double value, char text[AXIS_TEXT_BYTES])
{
    char number[AXIS_TEXT_BYTES];
    const struct step *step = step_for(unit, fabs(value), 1);
    double shown = value / step->divisor;
    axis_number(shown, digits_for(shown), number);
    drop_zeros(number);
    snprintf(text, AXIS_TEXT_BYTES, "%.36s%s%s", number, step->suffix[0] && step->suffix[0] != '%' ? " " : "",
             step->suffix);
    return text;
}

/* 1, 2 or 5 times a power of ten: the smallest that is not below. */
static double round_up(double value)
{
    double power = pow(10, floor(log10(value) + 1e-9)), lead = value / power;
    return power * (lead <= 1.0000001 ? 1 : lead <= 2.0000001 ? 2 : lead <= 5.0000001 ? 5 : 10);
}

static void place_ticks(struct axis *axis, const struct axis_range *range)
{
    const struct step *unit = step_for(axis->unit, fabs(range->high), 2);
    axis->divisor = unit->divisor;
    axis->suffix = unit->suffix;
    double width = (range->high - range->low) / axis->divisor;
    double step = round_up(width / (range->ticks_max ? range->ticks_max : 1));
    if (axis->unit == AXIS_COUNT && step < 1)
        step = width > 2 ? 1 : step;
    double first = range->is_tight ? ceil(range->low / axis->divisor / step - 1e-9)
                                   : floor(range->low / axis->divisor / step + 1e-9);
    double last = range->is_tight ? floor(range->high / axis->divisor / step + 1e-9)
                                  : ceil(range->high / axis->divisor / step - 1e-9);
    for (double i = first; i <= last && axis->tick_count < AXIS_TICKS_MAX; i++)
        axis->ticks[axis->tick_count++] = i * step * axis->divisor + 0.0; /* no -0 */
    if (!range->is_tight) {
        axis->low = first * step * axis->divisor;
        axis->high = last * step * axis->divisor;
    }
}

static void add_log_tick(struct axis *axis, double tick)
{
    bool is_part = axis->unit == AXIS_COUNT && tick < 0.9999; /* of a thing */
    if (tick >= axis->low * 0.9999 && tick <= axis->high * 1.0001 && axis->tick_count < AXIS_TICKS_MAX &&
        !is_part)
        axis->ticks[axis->tick_count++] = tick;
}

/* Powers of ten, or fewer of them if they are many; if they are few, 2 and 5 times them as well. */
static void place_log_ticks(struct axis *axis, const struct axis_range *range)
{
    double low = floor(log10(range->low) + 1e-9), high = ceil(log10(range->high) - 1e-9);
    double every = ceil((high - low + 1) / (range->ticks_max ? range->ticks_max : 1));
    if (!range->is_tight) {
        axis->low = pow(10, low);
        axis->high = pow(10, high > low ? high : low + 1);
    }
    bool is_short = log10(axis->high / axis->low) <= 2;
    for (double i = low; i <= high + 1; i += every) {
        add_log_tick(axis, pow(10, i));
        if (is_short) {
            add_log_tick(axis, 2 * pow(10, i));
            add_log_tick(axis, 5 * pow(10, i));
        }
    }
}

void axis_init(struct axis *axis, const struct axis_range *range)
{
    struct axis_range sound = *range;
    if (!isfinite(sound.low) || !isfinite(sound.high))
        sound.low = sound.high = range->is_log;
    if (sound.high <= sound.low)
        sound.high = sound.is_log ? sound.low * 10 : sound.low + 1;
    *axis = (struct axis){.low = sound.low,
                          .high = sound.high,
                          .is_log = sound.is_log,
                          .unit = sound.unit,
                          .divisor = 1,
                          .suffix = ""};
    if (sound.is_log)
        place_log_ticks(axis, &sound);
    else
        place_ticks(axis, &sound);
}

double axis_place(const struct axis *axis, double value)
{
    if (axis->is_log)
        return log(value > axis->low ? value / axis->low : 1) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

const char *axis_label(const struct axis *axis, double value, char text[AXIS_TEXT_BYTES])
{
    if (axis->is_log)
        return axis_value(axis->unit, value, text);
    double shown = value / axis->divisor;
    unsigned digits = 0;
    for (double rest = fabs(shown); digits < 6 && fabs(rest - round(rest)) > 1e-6 * (rest + 1e-9) + 1e-9;
         digits++)
        rest *= 10;
    axis_number(shown, digits, text);
    return text;
}
