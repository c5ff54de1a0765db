#include "engine/report/samples.h"

static const char *const names[SAMPLES_COLUMN_COUNT] = {
#define SAMPLES_NAME(name) #name,
    SAMPLES_COLUMNS(SAMPLES_NAME)
#undef SAMPLES_NAME
};

const char *samples_name(enum samples_column column)
{
    return names[column];
}

void samples_init(struct samples *samples)
{
    memset(samples, 0, sizeof *samples);
    samples->step = 1;
}

/* The text up to the next tab; *rest is what follows it. */
static struct slice cut(struct slice *rest)
{
    const char *tab = memchr(rest->ptr, '\t', rest->len);
    struct slice field = {rest->ptr, tab ? (size_t)(tab - rest->ptr) : rest->len};
    *rest = slice_skip(*rest, tab ? field.len + 1 : field.len);
    return field;
}

static void take_header(struct samples *samples, struct slice line)
{
    samples->has_header = true;
    while (line.len && samples->column_count < SAMPLES_COLUMNS_MAX) {
        struct slice name = cut(&line);
        int column = -1;
        for (int i = 0; i < SAMPLES_COLUMN_COUNT; i++)
            if (slice_equals(name, slice_of(names[i])))
                column = i;
        samples->columns[samples->column_count++] = (int8_t)column;
        if (column >= 0)
            samples->has[column] = true;
    }
}

static bool read_number(struct slice text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *value > UINT64_MAX / 10 - 1)
            return false;
        *value = *value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return text.len > 0;
}

static bool read_values(const struct samples *samples, struct slice line, uint64_t *values)
{
    for (size_t i = 0; i < samples->column_count; i++) {
        uint64_t value;
        if (!read_number(cut(&line), &value))
            return false;
        if (samples->columns[i] >= 0)
            values[samples->columns[i]] = value;
    }
    return true;
}

static void thin_out(struct samples *samples)
{
    for (size_t i = 0; i < SAMPLES_MAX / 2; i++)
        memcpy(samples->values[i], samples->values[2 * i], sizeof samples->values[0]);
    samples->count = SAMPLES_MAX / 2;
    samples->step *= 2;
}

void samples_take(struct samples *samples, struct slice line)
{
    uint64_t values[SAMPLES_COLUMN_COUNT] = {0};
    if (!samples->has_header) {
        take_header(samples, line);
        return;
    }
    if (!read_values(samples, line, values)) {
        samples->bad_lines++;
        return;
    }
    if (samples->ends_early)
        samples->count--;
    if (samples->count == SAMPLES_MAX)
        thin_out(samples);
    /* The newest is always there; it stays if it is its turn. */
    samples->skipped = (samples->skipped + 1) % samples->step;
    samples->ends_early = samples->skipped != 0;
    memcpy(samples->values[samples->count++], values, sizeof values);
}

bool samples_have(const struct samples *samples, enum samples_column column)
{
    return samples->count > 1 && samples->has[SAMPLES_running_ms] && samples->has[column];
}
