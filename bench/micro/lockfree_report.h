/* What bench_lockfree says: the header, a line per row, and the same as JSON lines. */
#pragma once

#include <stdio.h>

#include "micro/lockfree.h"

struct lockfree_result {
    const struct lockfree_row *row;
    unsigned threads;
    unsigned count;       /* samples taken */
    double *ops_per_s;    /* of each */
    double *fairness;     /* slowest worker over fastest; 0 where only one of them counts */
    uint64_t ops, losses; /* of all samples, warm-ups included */
};

struct lockfree_report {
    FILE *json; /* NULL for none */
    double seconds;
    unsigned repeats;
    unsigned samples, disturbed;
};

void lockfree_report_header(const struct lockfree_report *report);
/* The results of one group, all with the same number of threads. Sorts their samples. */
void lockfree_report_group(const struct lockfree_report *report, struct lockfree_result *results,
                           size_t count);
void lockfree_report_footer(const struct lockfree_report *report);
