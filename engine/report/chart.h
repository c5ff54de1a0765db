/* A chart: its numbers, and how they are drawn. Written as SVG for a page or a file of its own, as a table for a page, and as
 * TSV. Colours are the classes c0 to c9, which the style sheet (chart_style) sets for light and dark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/report/axis.h"
#include "net/slice.h"

enum { CHART_POINTS_MAX = 1024, CHART_SERIES_MAX = 12, CHART_COLOURS = 10, CHART_NAME_BYTES = 64 };

enum chart_kind {
    CHART_LINES,   /* y over x */
    CHART_AREAS,   /* the same, on top of each other */
    CHART_COLUMNS, /* a histogram: y from x to x_end */
    CHART_BARS,    /* a bar per name; a series per crawl */
    CHART_GRID,    /* a week: point i is hour i % 24 of day i / 24; below 0: nothing was seen */
};

struct chart_point {
    double x, y;
    double x_end;   /* columns */
    uint64_t count; /* columns: how many things; y is their share */
};

struct chart_series {
    char name[CHART_NAME_BYTES];
    unsigned colour;
    bool is_dashed;
    bool is_dots; /* lines: a mark at each point */
    size_t count;
    struct chart_point points[CHART_POINTS_MAX];
};

struct chart_axis {
    const char *title; /* of the axis: "pages", "time since the start" */
    const char *name;  /* of the TSV column: "pages", "seconds" */
    enum axis_unit unit;
    bool is_log;
};

struct chart {
    enum chart_kind kind;
    struct chart_axis x, y;
    double x_max; /* columns: not drawn beyond; 0: all are */
    size_t series_count;
    size_t name_count; /* bars */
    struct slice names[CHART_POINTS_MAX];
    struct chart_series series[CHART_SERIES_MAX];
};

void chart_init(struct chart *chart, enum chart_kind kind, const struct chart_axis *x,
                const struct chart_axis *y);
/* A further series, without points. Names may come from anywhere; they are cut. */
struct chart_series *chart_add(struct chart *chart, const char *name);
/* No-op if the series is full. */
void chart_push(struct chart_series *series, double x, double y);
/* Whether there is anything to draw. */
bool chart_has_points(const struct chart *chart);

/* `id` is made part of the identifiers in it. `is_alone`: a file, with a style sheet of its own. */
void chart_write_svg(const struct chart *chart, FILE *out, const char *id, bool is_alone);
/* The table behind the chart; rows beyond 200 are left out, and that is said. */
void chart_write_table(const struct chart *chart, FILE *out);
void chart_write_tsv(const struct chart *chart, FILE *out);
/* The colours and lines, for the page's style element. */
const char *chart_style(void);
