/* Quantities as people write them: counts, sizes, times. Used by the tuning file and by the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/tuning/tuning_table.h"
#include "net/slice.h"

enum { TUNING_VALUE_CHARS = 32 };

/* What a value of this type looks like, for messages: "a time with its unit (250ms, 10s, 5m, 2h, 1d)". */
const char *tuning_value_form(enum tuning_type type);

/* Reads "10K", "64MiB", "250ms", "0.5" into the type's base unit: 1, byte, nanosecond, 1. False if `text` is not
 * that. All but TUNING_NUMBER must come to a whole number. */
bool tuning_value_read(enum tuning_type type, struct slice text, double *value);

/* Writes a value with the largest unit that keeps it exact: "1MiB", "24h" as "1d". Returns `buffer`, which has
 * TUNING_VALUE_CHARS bytes. */
const char *tuning_value_write(enum tuning_type type, double value, char *buffer);
