/* The repeats of one figure, and the machine that they were measured on. */
#pragma once

#include <stdio.h>

enum { SERIES_REPEATS_MAX = 32 };

struct series {
    unsigned count;
    double values[SERIES_REPEATS_MAX];
};

struct series_spread {
    double median, least, most;
};

void series_add(struct series *series, double value);
/* All zero where nothing was added. */
struct series_spread series_spread(const struct series *series);

/* Of an array, which is sorted. */
double series_median(double *values, unsigned count);

/* "Xeon ..., 2 processors, Linux 6.1, compiler 12.2, flags" without an end of line. */
void series_print_machine(FILE *out, const char *flags);
