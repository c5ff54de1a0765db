#include "macro/series.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void series_add(struct series *series, double value)
{
    assert(series->count < SERIES_REPEATS_MAX);
    series->values[series->count++] = value;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double series_median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct series_spread series_spread(const struct series *series)
{
    double sorted[SERIES_REPEATS_MAX];
    if (series->count == 0)
        return (struct series_spread){0};
    memcpy(sorted, series->values, series->count * sizeof *sorted);
    double median = series_median(sorted, series->count);
    return (struct series_spread){median, sorted[0], sorted[series->count - 1]};
}

void series_print_machine(FILE *out, const char *flags)
{
    struct utsname system;
    char line[256], model[128] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "re");
    uname(&system);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %127[^\n]", model) == 1)
            break;
    if (file)
        fclose(file);
    fprintf(out, "%s, %ld processors, %s %s, compiler %s, %s", model, sysconf(_SC_NPROCESSORS_ONLN),
            system.sysname, system.release, __VERSION__, flags);
}
