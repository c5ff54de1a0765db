#include "engine/report/chart.h"

#include <stdlib.h>

#include "tests/support/check.h"

static struct chart chart;

static char *written(void (*write)(const struct chart *chart, FILE *out))
{
    static char *text;
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    write(&chart, out);
    fclose(out);
    return text;
}

static void write_svg(const struct chart *it, FILE *out)
{
    chart_write_svg(it, out, "x", true);
}

TEST(lines_as_tsv_and_svg)
{
    chart_init(&chart, CHART_LINES, &(struct chart_axis){"time", "seconds", AXIS_SECONDS, false},
               &(struct chart_axis){"pages", "pages", AXIS_COUNT, false});
    CHECK(!chart_has_points(&chart));
    struct chart_series *series = chart_add(&chart, "a\tb");
    chart_push(series, 0, 0);
    chart_push(series, 2.5, 1234567);
    CHECK(chart_has_points(&chart));
    CHECK_STR(written(chart_write_tsv), "series\tseconds\tpages\na\\u0009b\t0\t0\na\\u0009b\t2.5\t1234567\n");
    CHECK(strstr(written(write_svg), "d=\"M68.0 236.0L464.0 "));
    CHECK(strstr(written(write_svg), ">1,000,000</text>"));
}

TEST(bars_as_tsv_svg_and_table)
{
    chart_init(&chart, CHART_BARS, &(struct chart_axis){"code", "code", AXIS_COUNT, false},
               &(struct chart_axis){"URLs", "urls", AXIS_COUNT, false});
    chart.names[0] = SLICE("<200>");
    chart.name_count = 1;
    chart_push(chart_add(&chart, "a"), 0, 5);
    chart_push(chart_add(&chart, "b"), 0, 10);
    CHECK_STR(written(chart_write_tsv), "series\tcode\turls\na\t<200>\t5\nb\t<200>\t10\n");
    CHECK(strstr(written(write_svg), ">&lt;200&gt;</text>"));
    CHECK(strstr(written(write_svg), ">5 / 10</text>"));
    CHECK(strstr(written(chart_write_table), "<td>&lt;200&gt;</td><td>5</td>"));
}

TEST(more_points_than_there_is_room_for_are_dropped)
{
    chart_init(&chart, CHART_LINES, &(struct chart_axis){"x", "x", AXIS_COUNT, false},
               &(struct chart_axis){"y", "y", AXIS_COUNT, false});
    struct chart_series *series = chart_add(&chart, "a");
    for (unsigned i = 0; i < 2 * CHART_POINTS_MAX; i++)
        chart_push(series, i, 1);
    CHECK_INT(series->count, CHART_POINTS_MAX);
}
