/* Rows of figures, each the median over repeats with its spread; a table and JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "macro/crawl_peer.h"
#include "macro/crawl_run.h"
#include "macro/series.h"

enum { CRAWL_REPORT_ROWS_MAX = 64 };

enum crawl_column {
    CRAWL_COLUMN_RATE,     /* pages per second */
    CRAWL_COLUMN_MB,       /* megabytes received per second */
    CRAWL_COLUMN_CPU,      /* seconds of processor time per 1,000 pages */
    CRAWL_COLUMN_USER,     /* of these in user space */
    CRAWL_COLUMN_BUSY,     /* processor time per second: below 1 the server, or a neighbour, is the limit */
    CRAWL_COLUMN_PEAK,     /* megabytes of memory */
    CRAWL_COLUMN_ENTERS,   /* calls of the kernel by the ring, per page */
    CRAWL_COLUMN_OF_FIRST, /* rate by that of the report's first row in the same round */
    CRAWL_COLUMN_LOST,     /* compare-and-swaps that failed */
    CRAWL_COLUMN_ON_DISK,  /* share of the URLs that waited on disk */
    CRAWL_COLUMN_COUNT,
};

struct crawl_report_row {
    char name[96];
    const char *note; /* why there are no figures, or what to know about them; NULL: nothing */
    struct series columns[CRAWL_COLUMN_COUNT];
};

struct crawl_report_column {
    const char *head, *key, *format; /* in the table, in JSON, of a double */
};

struct crawl_report {
    const char *title;
    const struct crawl_report_column *columns; /* NULL: enum crawl_column */
    unsigned column_count;                     /* at most CRAWL_COLUMN_COUNT */
    unsigned spread_columns; /* the table shows least and most beside so many medians; 0 stands for 1 */
    struct crawl_report_row rows[CRAWL_REPORT_ROWS_MAX];
    unsigned count;
    double first_rate;          /* of the round */
    struct crawl_report *below; /* a second table of the same part, or NULL */
};

/* The row of this name, made if there is none. */
struct crawl_report_row *crawl_report_row(struct crawl_report *report, const char *name);
/* Adds one value per column of the report. */
void crawl_report_add(struct crawl_report *report, const char *name, const double *values);
void crawl_report_add_run(struct crawl_report *report, const char *name, const struct crawl_run *run);
void crawl_report_add_peer(struct crawl_report *report, const char *name,
                           const struct crawl_peer_result *peer);

void crawl_report_print(const struct crawl_report *report, FILE *out);
/* An object per table, {"title": ..., "rows": [...]}, with commas between. */
void crawl_report_write_json(const struct crawl_report *report, FILE *out);
