/* Shared by the chart*.c files only. */
#pragma once

#include "engine/report/chart.h"

/* In units of the SVG's own coordinates. */
enum {
    CHART_WIDTH = 480,
    CHART_HEIGHT = 282,
    CHART_LEFT = 68,
    CHART_RIGHT = 16,
    CHART_BOTTOM = 46,
    CHART_LEGEND_LINE = 20,
};

/* Where the axes are drawn. */
struct chart_frame {
    FILE *out;
    double left, top, width, height;
    struct axis x, y;
};

/* How many lines the legend takes; 0: one series needs none. */
unsigned chart_legend_lines(const struct chart *chart);
void chart_write_legend(const struct chart *chart, FILE *out);
void chart_write_bars(const struct chart *chart, FILE *out, double top);
double chart_bars_height(const struct chart *chart);
void chart_write_grid(const struct chart *chart, FILE *out);
double chart_grid_height(void);
/* Lines, areas and columns. */
void chart_write_plot(const struct chart *chart, FILE *out, double top);
