#include "engine/tuning/tuning_value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
    bool is_written; /* used for output: of several equal units the common one */
};

static const struct unit count_units[] = {
    {"", 1, true}, {"k", 1e3, false}, {"K", 1e3, true}, {"M", 1e6, true}, {"G", 1e9, true}, {NULL, 0, false},
};
static const struct unit byte_units[] = {
    {"", 1, true},       {"B", 1, false},       {"K", 1e3, false},      {"KB", 1e3, true},
    {"KiB", 1024, true}, {"M", 1e6, false},     {"MB", 1e6, true},      {"MiB", 1 << 20, true},
    {"G", 1e9, false},   {"GB", 1e9, true},     {"GiB", 1 << 30, true}, {"T", 1e12, false},
    {"TB", 1e12, true},  {"TiB", 0x1p40, true}, {NULL, 0, false},
};
static const struct unit duration_units[] = {
    {"ns", 1, true},   {"us", 1e3, true},   {"ms", 1e6, true},    {"s", 1e9, true},
    {"m", 60e9, true}, {"h", 3600e9, true}, {"d", 86400e9, true}, {NULL, 0, false},
};
static const struct unit no_units[] = {{"", 1, true}, {NULL, 0, false}};

static const struct unit *units_of(enum tuning_type type)
{
    switch (type) {
    case TUNING_COUNT:
        return count_units;
    case TUNING_BYTES:
        return byte_units;
    case TUNING_DURATION:
        return duration_units;
    case TUNING_BOOL:
    case TUNING_NUMBER:
    case TUNING_TEXT:
    case TUNING_LIST:
    case TUNING_CHOICE:
        return no_units;
    }
    return no_units;
}

const char *tuning_value_form(enum tuning_type type)
{
    switch (type) {
    case TUNING_BOOL:
        return "yes or no";
    case TUNING_COUNT:
        return "a whole number, with K, M or G if you like";
    case TUNING_BYTES:
        return "a size (512, 64KiB, 10MB)";
    case TUNING_DURATION:
        return "a time with its unit (250ms, 10s, 5m, 2h, 1d)";
    case TUNING_NUMBER:
        return "a number";
    case TUNING_TEXT:
    case TUNING_LIST:
        return "text";
    case TUNING_CHOICE:
        return "one of";
    }
    return "";
}

bool tuning_value_read(enum tuning_type type, struct slice text, double *value)
{
    char copy[64], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (!isdigit((unsigned char)copy[0]) && copy[0] != '.')
        return false;
    *value = strtod(copy, &end);
    while (*end == ' ')
        end++;
    if (*value == 0 && *end == '\0')
        return true; /* 0 needs no unit */
    for (const struct unit *unit = units_of(type); unit->name; unit++)
        if (strcmp(end, unit->name) == 0) {
            *value *= unit->factor;
            return type == TUNING_NUMBER || *value == floor(*value);
        }
    return false;
}

const char *tuning_value_write(enum tuning_type type, double value, char *buffer)
{
    const struct unit *best = &units_of(type)[0];
    for (const struct unit *unit = best; unit->name; unit++)
        if (unit->is_written && value >= unit->factor && fmod(value, unit->factor) == 0 &&
            unit->factor > best->factor)
            best = unit;
    snprintf(buffer, TUNING_VALUE_CHARS, "%.15g%s", value / best->factor, value == 0 ? "" : best->name);
    return buffer;
}
