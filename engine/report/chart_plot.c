/* Charts with two axes: lines, areas on top of each other, and histograms. */
#include <math.h>
#include <string.h>

#include "engine/report/chart_parts.h"

enum { TITLE_LINE = 34, X_TICKS = 6, Y_TICKS = 5 };

/* Log axes show nothing below this; a histogram's first column, for 0, begins here. */
#define LOG_FLOOR 0.5

static double floor_of(const struct chart_axis *axis, double value)
{
    return axis->is_log && value < LOG_FLOOR ? LOG_FLOOR : value;
}

struct extent {
    double low, high;
};

static void widen(struct extent *extent, double value)
{
    extent->low = value < extent->low ? value : extent->low;
    extent->high = value > extent->high ? value : extent->high;
}

static double stacked(const struct chart *chart, size_t upto, size_t i)
{
    double sum = 0;
    for (size_t s = 0; s <= upto; s++)
        sum += i < chart->series[s].count ? chart->series[s].points[i].y : 0;
    return sum;
}

/* Columns beyond the range that is drawn; all that follow are so, too. */
static bool is_cut(const struct chart *chart, const struct chart_point *point)
{
    return chart->x_max > 0 && point->x > chart->x_max;
}

static void measure(const struct chart *chart, struct extent *x, struct extent *y)
{
    *x = *y = (struct extent){INFINITY, -INFINITY};
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            const struct chart_point *point = &chart->series[s].points[i];
            if (is_cut(chart, point))
                break;
            widen(x, floor_of(&chart->x, point->x));
            if (chart->kind == CHART_COLUMNS)
                widen(x, floor_of(&chart->x, point->x_end));
            if (!chart->y.is_log || point->y > 0)
                widen(y, chart->kind == CHART_AREAS ? stacked(chart, s, i) : point->y);
        }
    if (!chart->y.is_log)
        widen(y, 0);
}

static double place_x(const struct chart_frame *frame, double value)
{
    return frame->left + frame->width * axis_place(&frame->x, value);
}

static double place_y(const struct chart_frame *frame, double value)
{
    return frame->top + frame->height * (1 - axis_place(&frame->y, value));
}

/* "pages per second", or "downloaded, GB". */
static void write_title(FILE *out, const struct chart_axis *title, const struct axis *axis)
{
    fputs(title->title, out);
    if (!axis->is_log && axis->suffix[0] && axis->unit != AXIS_PERCENT)
        fprintf(out, ", %s", axis->suffix);
}

static void write_axes(const struct chart *chart, const struct chart_frame *frame)
{
    FILE *out = frame->out;
    char label[AXIS_TEXT_BYTES];
    double bottom = frame->top + frame->height;
    for (size_t i = 0; i < frame->y.tick_count; i++) {
        double y = place_y(frame, frame->y.ticks[i]);
        fprintf(out, "<path class=\"rule\" d=\"M%.1f %.1fh%.1f\"/>", frame->left, y, frame->width);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s%s</text>\n", frame->left - 7, y + 4,
                axis_label(&frame->y, frame->y.ticks[i], label),
                frame->y.unit == AXIS_PERCENT && !frame->y.is_log ? "%" : "");
    }
    for (size_t i = 0; i < frame->x.tick_count; i++) {
        double x = place_x(frame, frame->x.ticks[i]);
        fprintf(out, "<path class=\"base\" d=\"M%.1f %.1fv5\"/>", x, bottom);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, bottom + 19,
                axis_label(&frame->x, frame->x.ticks[i], label));
    }
    fprintf(out, "<path class=\"base\" d=\"M%.1f %.1fh%.1f\"/>\n", frame->left, bottom, frame->width);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", frame->left + frame->width / 2,
            bottom + 38);
    write_title(out, &chart->x, &frame->x);
    fprintf(out, "</text>\n<text x=\"4\" y=\"%.1f\">", frame->top - 18);
    write_title(out, &chart->y, &frame->y);
    fprintf(out, "</text>\n");
}

static void write_line(const struct chart_frame *frame, const struct chart *chart,
                       const struct chart_series *series)
{
    FILE *out = frame->out;
    const char *move = "M";
    if (series->count > 1) {
        fprintf(out, "<path class=\"line c%u%s\" d=\"", series->colour, series->is_dashed ? " dashed" : "");
        for (size_t i = 0; i < series->count; i++) {
            const struct chart_point *point = &series->points[i];
            if (chart->y.is_log && point->y <= 0)
                continue;
            fprintf(out, "%s%.1f %.1f", move, place_x(frame, floor_of(&chart->x, point->x)),
                    place_y(frame, point->y));
            move = "L";
        }
        fprintf(out, "\"/>\n");
    }
    for (size_t i = 0; i < series->count && (series->is_dots || series->count == 1); i++)
        if (!chart->y.is_log || series->points[i].y > 0)
            fprintf(out, "<circle class=\"dot c%u\" r=\"2.2\" cx=\"%.1f\" cy=\"%.1f\"/>\n", series->colour,
                    place_x(frame, floor_of(&chart->x, series->points[i].x)),
                    place_y(frame, series->points[i].y));
}

/* The band of one series: along its top, and back along that of the series below. */
static void write_area(const struct chart_frame *frame, const struct chart *chart, size_t s)
{
    const struct chart_series *series = &chart->series[s];
    FILE *out = frame->out;
    fprintf(out, "<path class=\"area c%u\" d=\"", series->colour);
    for (size_t i = 0; i < series->count; i++)
        fprintf(out, "%s%.1f %.1f", i ? "L" : "M", place_x(frame, series->points[i].x),
                place_y(frame, stacked(chart, s, i)));
    for (size_t i = series->count; i-- > 0;)
        fprintf(out, "L%.1f %.1f", place_x(frame, series->points[i].x),
                place_y(frame, s ? stacked(chart, s - 1, i) : 0));
    fprintf(out, "Z\"/>\n");
}

/* One outline for all columns of a series, so that two series over each other can be told apart. */
static void write_columns(const struct chart_frame *frame, const struct chart *chart,
                          const struct chart_series *series)
{
    FILE *out = frame->out;
    double base = frame->top + frame->height, last = -1;
    if (!series->count)
        return;
    fprintf(out, "<path class=\"column c%u%s\" d=\"", series->colour, series->is_dashed ? " dashed" : "");
    for (size_t i = 0; i < series->count; i++) {
        const struct chart_point *point = &series->points[i];
        if (is_cut(chart, point))
            break;
        double left = place_x(frame, floor_of(&chart->x, point->x));
        double right = place_x(frame, floor_of(&chart->x, point->x_end));
        double y = point->y > 0 ? place_y(frame, point->y) : base;
        if (i == 0 || left > last + 0.05)
            fprintf(out, "%s%.1f %.1f", i ? "V" : "M", i ? base : left, base);
        if (i && left > last + 0.05)
            fprintf(out, "M%.1f %.1f", left, base);
        fprintf(out, "V%.1fH%.1f", y, right);
        last = right;
    }
    fprintf(out, "V%.1fZ\"/>\n", base);
}

void chart_write_plot(const struct chart *chart, FILE *out, double top)
{
    struct extent x, y;
    struct chart_frame frame = {.out = out,
                                .left = CHART_LEFT,
                                .top = top + TITLE_LINE,
                                .width = CHART_WIDTH - CHART_LEFT - CHART_RIGHT,
                                .height = CHART_HEIGHT - TITLE_LINE - CHART_BOTTOM};
    measure(chart, &x, &y);
    axis_init(&frame.x, &(struct axis_range){x.low, x.high, chart->x.is_log, chart->x.unit, X_TICKS, true});
    axis_init(&frame.y, &(struct axis_range){y.low, y.high, chart->y.is_log, chart->y.unit, Y_TICKS, false});
    write_axes(chart, &frame);
    for (size_t s = 0; s < chart->series_count; s++) {
        if (chart->kind == CHART_AREAS)
            write_area(&frame, chart, s);
        else if (chart->kind == CHART_COLUMNS)
            write_columns(&frame, chart, &chart->series[s]);
        else
            write_line(&frame, chart, &chart->series[s]);
    }
}
