#include "engine/report/chart.h"

#include <string.h>

#include "engine/report/chart_parts.h"
#include "engine/report/markup.h"

enum { TABLE_ROWS_MAX = 200, LEGEND_CHAR = 9, LEGEND_GAP = 34 };

void chart_init(struct chart *chart, enum chart_kind kind, const struct chart_axis *x,
                const struct chart_axis *y)
{
    chart->kind = kind;
    chart->x = *x;
    chart->y = *y;
    chart->x_max = 0;
    chart->series_count = chart->name_count = 0;
}

struct chart_series *chart_add(struct chart *chart, const char *name)
{
    size_t place = chart->series_count < CHART_SERIES_MAX ? chart->series_count++ : CHART_SERIES_MAX - 1;
    struct chart_series *series = &chart->series[place];
    snprintf(series->name, sizeof series->name, "%s", name);
    series->colour = (unsigned)place % CHART_COLOURS;
    series->is_dashed = series->is_dots = false;
    series->count = 0;
    return series;
}

void chart_push(struct chart_series *series, double x, double y)
{
    if (series->count < CHART_POINTS_MAX)
        series->points[series->count++] = (struct chart_point){.x = x, .y = y};
}

bool chart_has_points(const struct chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (chart->series[i].count)
            return true;
    return false;
}

const char *chart_style(void)
{
    return ":root{--c0:#2f6db0;--c1:#d1762c;--c2:#2f8f7b;--c3:#8465ab;--c4:#b9504c;--c5:#a38a2a;--c6:#5f8fc9;"
           "--c7:#7a8591;"
           "--c8:#c47aa5;--c9:#9aa6b2;--ink:#1d2329;--soft:#5c6670;--rule:#d9dee3;--paper:#fff}\n"
           "@media(prefers-color-scheme:dark){:root{--c0:#6ba4e0;--c1:#e69a5b;--c2:#5dbda6;--c3:#ad92d6;--c4:"
           "#e0837d;"
           "--c5:#cdb75a;--c6:#9cc0ea;--c7:#98a3ae;--c8:#dfa3c6;--c9:#6d7884;--ink:#e4e8ec;--soft:#9aa5b0;--"
           "rule:#343c45;"
           "--paper:#181c20}}\n"
           "svg{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
           "svg text{fill:var(--soft)}svg .name{fill:var(--ink)}svg "
           ".number{fill:var(--ink);font-variant-numeric:tabular-nums}\n"
           "svg .rule{stroke:var(--rule);stroke-width:1;fill:none}svg "
           ".base{stroke:var(--soft);stroke-width:1;fill:none}\n"
           "svg .line{fill:none;stroke-width:1.8;stroke-linejoin:round}svg .dashed{stroke-dasharray:5 4}\n"
           "svg .area{stroke:none;fill-opacity:.85}svg .column{stroke-width:1.2;fill-opacity:.28}svg "
           ".empty{fill:var(--rule);"
           "fill-opacity:.45}svg .dot{stroke:none}\n"
           "svg .c0{stroke:var(--c0);fill:var(--c0)}svg .c1{stroke:var(--c1);fill:var(--c1)}svg "
           ".c2{stroke:var(--c2);fill:var(--c2)}"
           "svg .c3{stroke:var(--c3);fill:var(--c3)}svg .c4{stroke:var(--c4);fill:var(--c4)}\n"
           "svg .c5{stroke:var(--c5);fill:var(--c5)}svg .c6{stroke:var(--c6);fill:var(--c6)}svg "
           ".c7{stroke:var(--c7);fill:var(--c7)}"
           "svg .c8{stroke:var(--c8);fill:var(--c8)}svg .c9{stroke:var(--c9);fill:var(--c9)}\n"
           "svg .line.c0,svg .line.c1,svg .line.c2,svg .line.c3,svg .line.c4,svg .line.c5,svg .line.c6,svg "
           ".line.c7,"
           "svg .line.c8,svg .line.c9{fill:none}svg .bar{stroke:none}svg .cell{stroke:none}\n";
}

static double legend_width(const struct chart_series *series)
{
    return LEGEND_GAP + LEGEND_CHAR * (double)strlen(series->name);
}

unsigned chart_legend_lines(const struct chart *chart)
{
    double at = 0;
    unsigned lines = 1;
    if (chart->series_count < 2 || chart->kind == CHART_GRID)
        return 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        double width = legend_width(&chart->series[i]);
        if (at + width > CHART_WIDTH && at > 0) {
            lines++;
            at = 0;
        }
        at += width;
    }
    return lines;
}

/* Lines are shown as they are drawn, all else as a patch. */
static void write_key(const struct chart *chart, FILE *out, const struct chart_series *series,
                      const double *place)
{
    if (chart->kind == CHART_LINES)
        fprintf(out, "<path class=\"line c%u%s\" d=\"M%.0f %.0fh18\"/>", series->colour,
                series->is_dashed ? " dashed" : "", place[0], place[1] - 4);
    else
        fprintf(out, "<rect class=\"%s c%u%s\" x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"10\"/>",
                chart->kind == CHART_COLUMNS ? "column" : "bar", series->colour,
                series->is_dashed ? " dashed" : "", place[0] + 2, place[1] - 9);
}

void chart_write_legend(const struct chart *chart, FILE *out)
{
    double place[2] = {4, 14};
    if (!chart_legend_lines(chart))
        return;
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct chart_series *series = &chart->series[i];
        double width = legend_width(series);
        if (place[0] + width - 4 > CHART_WIDTH && place[0] > 4) {
            place[0] = 4;
            place[1] += CHART_LEGEND_LINE;
        }
        write_key(chart, out, series, place);
        fprintf(out, "<text class=\"name\" x=\"%.0f\" y=\"%.0f\">", place[0] + 23, place[1]);
        markup_text(out, slice_of(series->name), CHART_NAME_BYTES);
        fprintf(out, "</text>\n");
        place[0] += width;
    }
}

static double height_of(const struct chart *chart)
{
    switch (chart->kind) {
    case CHART_BARS:
        return chart_bars_height(chart);
    case CHART_GRID:
        return chart_grid_height();
    case CHART_LINES:
    case CHART_AREAS:
    case CHART_COLUMNS:
        break;
    }
    return CHART_HEIGHT;
}

void chart_write_svg(const struct chart *chart, FILE *out, const char *id, bool is_alone)
{
    double top = CHART_LEGEND_LINE * chart_legend_lines(chart);
    fprintf(out, "<svg%s viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"%s-title\">\n",
            is_alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", CHART_WIDTH, height_of(chart) + top, id);
    if (is_alone)
        fprintf(out, "<style>%ssvg{background:var(--paper)}</style>\n", chart_style());
    fprintf(out, "<title id=\"%s-title\">%s%s%s</title>\n", id, chart->y.title,
            chart->x.title[0] ? " by " : "", chart->x.title);
    chart_write_legend(chart, out);
    switch (chart->kind) {
    case CHART_BARS:
        chart_write_bars(chart, out, top);
        break;
    case CHART_GRID:
        chart_write_grid(chart, out);
        break;
    case CHART_LINES:
    case CHART_AREAS:
    case CHART_COLUMNS:
        chart_write_plot(chart, out, top);
        break;
    }
    fprintf(out, "</svg>\n");
}

/* A row per point: what the columns are depends on the kind. `cell` begins a field, `end` ends a row. */
struct rows {
    FILE *out;
    const char *cell, *next, *end;
    bool is_html;
};

static void write_name(const struct rows *rows, struct slice name)
{
    if (rows->is_html)
        markup_text(rows->out, name, 120);
    else
        markup_field(rows->out, name);
}

static void write_row(const struct chart *chart, const struct rows *rows, const struct chart_series *series,
                      size_t i)
{
    static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
    const struct chart_point *point = &series->points[i];
    FILE *out = rows->out;
    fputs(rows->cell, out);
    write_name(rows, slice_of(series->name));
    fputs(rows->next, out);
    switch (chart->kind) {
    case CHART_BARS:
        write_name(rows, i < chart->name_count ? chart->names[i] : SLICE(""));
        fprintf(out, "%s%.15g", rows->next, point->y);
        break;
    case CHART_GRID:
        fprintf(out, "%s%s%zu%s%.15g", days[i / 24 % 7], rows->next, i % 24, rows->next,
                point->y < 0 ? 0 : point->y);
        break;
    case CHART_COLUMNS:
        fprintf(out, "%.15g%s%.15g%s%llu%s%.6g", point->x, rows->next, point->x_end, rows->next,
                (unsigned long long)point->count, rows->next, point->y);
        break;
    case CHART_LINES:
    case CHART_AREAS:
        fprintf(out, "%.15g%s%.15g", point->x, rows->next, point->y);
        break;
    }
    fputs(rows->end, out);
}

static void write_header(const struct chart *chart, const struct rows *rows)
{
    FILE *out = rows->out;
    fprintf(out, "%sseries%s", rows->cell, rows->next);
    if (chart->kind == CHART_GRID)
        fprintf(out, "day%shour%s%s", rows->next, rows->next, chart->y.name);
    else if (chart->kind == CHART_COLUMNS)
        fprintf(out, "%s_from%s%s_to%scount%s%s", chart->x.name, rows->next, chart->x.name, rows->next,
                rows->next, chart->y.name);
    else
        fprintf(out, "%s%s%s", chart->x.name, rows->next, chart->y.name);
    fputs(rows->end, out);
}

void chart_write_table(const struct chart *chart, FILE *out)
{
    struct rows head = {out, "<tr><th>", "</th><th>", "</th></tr>\n", true};
    struct rows rows = {out, "<tr><td>", "</td><td>", "</td></tr>\n", true};
    size_t written = 0, all = 0;
    fprintf(out, "<table>\n");
    write_header(chart, &head);
    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++, all++)
            if (written < TABLE_ROWS_MAX) {
                write_row(chart, &rows, &chart->series[i], j);
                written++;
            }
    fprintf(out, "</table>\n");
    if (written < all)
        fprintf(out, "<p>The first %zu of %zu rows; <code>--data</code> writes them all.</p>\n", written,
                all);
}

void chart_write_tsv(const struct chart *chart, FILE *out)
{
    struct rows rows = {out, "", "\t", "\n", false};
    write_header(chart, &rows);
    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t j = 0; j < chart->series[i].count; j++)
            write_row(chart, &rows, &chart->series[i], j);
}
