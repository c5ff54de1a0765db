/* Charts without axes: a bar per name, and a week of hours. */
#include <math.h>
#include <string.h>

#include "engine/report/chart_parts.h"
#include "engine/report/markup.h"

enum {
    ROW = 34,
    BAR = 8,
    BAR_GAP = 3,
    NAME_CHARS = 34,
    CELL_LEFT = 48,
    CELL_TOP = 26,
    CELL_HEIGHT = 24,
    DAYS = 7,
    HOURS = 24
};

static double row_height(const struct chart *chart)
{
    return ROW + (chart->series_count > 1 ? (double)(BAR + BAR_GAP) : 0);
}

double chart_bars_height(const struct chart *chart)
{
    return 24 + row_height(chart) * (double)chart->name_count;
}

static double largest(const struct chart *chart)
{
    double most = 0;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            most = chart->series[s].points[i].y > most ? chart->series[s].points[i].y : most;
    return most > 0 ? most : 1;
}

/* "1,234" or "1,234 / 56" for two crawls. */
static void write_values(const struct chart *chart, FILE *out, size_t row)
{
    char text[AXIS_TEXT_BYTES];
    for (size_t s = 0; s < chart->series_count; s++)
        fprintf(out, "%s%s", s ? " / " : "",
                axis_value(chart->y.unit, row < chart->series[s].count ? chart->series[s].points[row].y : 0,
                           text));
}

void chart_write_bars(const struct chart *chart, FILE *out, double top)
{
    double most = largest(chart), room = CHART_WIDTH - 8;
    fprintf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", CHART_WIDTH - 4, top + 14,
            chart->y.title);
    for (size_t i = 0; i < chart->name_count; i++) {
        double y = top + 24 + row_height(chart) * (double)i;
        fprintf(out, "<text class=\"name\" x=\"4\" y=\"%.0f\">", y + 13);
        markup_text(out, chart->names[i], NAME_CHARS);
        fprintf(out, "</text><text class=\"number\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">",
                CHART_WIDTH - 4, y + 13);
        write_values(chart, out, i);
        fprintf(out, "</text>");
        for (size_t s = 0; s < chart->series_count; s++) {
            double value = i < chart->series[s].count ? chart->series[s].points[i].y : 0;
            double at = y + 19 + (double)(s * (BAR + BAR_GAP));
            fprintf(out, "<rect class=\"empty\" x=\"4\" y=\"%.0f\" width=\"%.0f\" height=\"%d\" rx=\"2\"/>",
                    at, room, BAR);
            fprintf(out,
                    "<rect class=\"bar c%u\" x=\"4\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                    chart->series[s].colour, at, value > 0 ? fmax(1, room * value / most) : 0, BAR);
        }
    }
}

double chart_grid_height(void)
{
    return CELL_TOP + DAYS * CELL_HEIGHT + 54;
}

static void write_grid_names(FILE *out, double width)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    for (int day = 0; day < DAYS; day++)
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", CELL_LEFT - 8,
                CELL_TOP + day * CELL_HEIGHT + 16, days[day]);
    for (int hour = 0; hour <= HOURS; hour += 6)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", CELL_LEFT + hour * width,
                CELL_TOP + DAYS * CELL_HEIGHT + 18, hour);
}

static void write_cell(const struct chart_series *series, FILE *out, size_t i, double most)
{
    double width = (double)(CHART_WIDTH - CELL_LEFT - CHART_RIGHT) / HOURS, value = series->points[i].y;
    double x = CELL_LEFT + (double)(i % HOURS) * width, y = CELL_TOP + (double)(i / HOURS) * CELL_HEIGHT;
    char text[AXIS_TEXT_BYTES];
    if (value < 0)
        fprintf(out, "<rect class=\"empty\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", x + 1,
                y + 1, width - 2, CELL_HEIGHT - 2);
    else
        fprintf(out,
                "<rect class=\"cell c0\" fill-opacity=\"%.3f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%d\"><title>%s</title></rect>\n",
                0.12 + 0.88 * value / most, x + 1, y + 1, width - 2, CELL_HEIGHT - 2,
                axis_value(AXIS_BYTES_PER_S, value, text));
}

void chart_write_grid(const struct chart *chart, FILE *out)
{
    double width = (double)(CHART_WIDTH - CELL_LEFT - CHART_RIGHT) / HOURS, most = largest(chart);
    const struct chart_series *series = &chart->series[0];
    char text[AXIS_TEXT_BYTES];
    fprintf(
        out,
        "<text x=\"4\" y=\"14\">%s</text><text x=\"%d\" y=\"14\" text-anchor=\"end\">darkest: %s</text>\n",
        chart->y.title, CHART_WIDTH - CHART_RIGHT, axis_value(chart->y.unit, most, text));
    for (size_t i = 0; chart->series_count && i < series->count && i < DAYS * HOURS; i++)
        write_cell(series, out, i, most);
    write_grid_names(out, width);
    fprintf(out, "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
            CELL_LEFT + (CHART_WIDTH - CELL_LEFT - CHART_RIGHT) / 2.0, CELL_TOP + DAYS * CELL_HEIGHT + 40,
            chart->x.title);
}
