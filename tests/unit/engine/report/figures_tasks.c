#include <stdlib.h>

#include "engine/report/figures_parts.h"
#include "tests/support/check.h"

static struct survey first, second;
static struct figures figures;
static struct figure figure;

static void begin(size_t crawls)
{
    first = (struct survey){.name = "first", .task = SURVEY_TASK_VISIT};
    second = (struct survey){.name = "second"};
    figures = (struct figures){.crawls = {&first, &second}, .count = crawls};
    figure = (struct figure){.is_missing = false};
}

static const struct chart_point *point(size_t series, size_t index)
{
    CHECK(series < figure.chart.series_count && index < figure.chart.series[series].count);
    return &figure.chart.series[series].points[index];
}

TEST(depths_are_columns_of_one_hop_up_to_the_last)
{
    begin(1);
    first.urls = first.depths[0] = 1;
    first.urls += first.depths[2] = 3;
    figures_make_depth(&figures, &figure);
    CHECK_INT(figure.chart.series[0].count, 3);
    CHECK(point(0, 0)->y == 25 && point(0, 1)->y == 0 && point(0, 2)->y == 75);
    CHECK(point(0, 2)->x == 2 && point(0, 2)->x_end == 3 && point(0, 2)->count == 3);
}

TEST(a_crawl_without_pages_has_no_columns)
{
    begin(2);
    second.pages = second.weights[3] = 5;
    figures_make_weights(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 1);
    CHECK_STR(figure.chart.series[0].name, "second");
    CHECK_INT(figure.chart.series[0].count, 4);
    CHECK(point(0, 3)->y == 100);
}

/* Small values have a column each; above, two of the eight steps per doubling are put together. */
TEST(a_histogram_goes_from_the_first_value_to_the_last)
{
    begin(1);
    for (int i = 0; i < 3; i++)
        spread_add(&first.took_ms[0], 10);
    spread_add(&first.took_ms[0], 12);
    for (int i = 0; i < 4; i++)
        spread_add(&first.took_ms[1], 100 + (uint64_t)i * 8);
    figures_make_page_time(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 2);
    CHECK_STR(figure.chart.series[0].name, "level 0");
    CHECK_INT(figure.chart.series[0].count, 3);
    CHECK(point(0, 0)->x == 10 && point(0, 0)->x_end == 11 && point(0, 0)->y == 75);
    CHECK(point(0, 1)->y == 0 && point(0, 2)->y == 25);
    double share = 0;
    for (size_t i = 0; i < figure.chart.series[1].count; i++) {
        share += point(1, i)->y;
        CHECK(point(1, i)->x_end - point(1, i)->x == 16);
        CHECK(i == 0 || point(1, i)->x == point(1, i - 1)->x_end);
    }
    CHECK(share == 100);
    CHECK(strstr(figure.caption, " Level 0: mean 10"));
    CHECK(strstr(figure.caption, "(4)"));
}

TEST(the_chart_ends_where_ninety_nine_percent_lie)
{
    begin(1);
    for (int i = 0; i < 99; i++)
        spread_add(&first.tasks.took_ms, 10);
    figures_make_task_time(&figures, &figure);
    CHECK(!strstr(figure.caption, "Cut at")); /* nothing lies beyond */
    begin(1);
    for (int i = 0; i < 99; i++)
        spread_add(&first.tasks.took_ms, 10);
    spread_add(&first.tasks.took_ms, 100000);
    figures_make_task_time(&figures, &figure);
    CHECK(figure.chart.x_max == 10);
    CHECK(strstr(figure.caption, " Cut at 10 ms, beyond which 1% lie."));
    begin(1);
    spread_add(&first.tasks.later_pages, 0);
    spread_add(&first.tasks.later_pages, 100000);
    figures_make_later_pages(&figures, &figure);
    CHECK(figure.chart.x_max == 0 && !strstr(figure.caption, "Cut at")); /* all of it is shown */
    CHECK(figure.chart.y.is_log);
}

/* The widest series decides, of whichever crawl. */
TEST(two_crawls_are_cut_at_the_same_place)
{
    begin(2);
    for (int i = 0; i < 100; i++) {
        spread_add(&first.tasks.bytes, 10);
        spread_add(&second.tasks.bytes, 14);
    }
    figures_make_task_size(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 2);
    CHECK(figure.chart.x_max == 14);
    CHECK(strstr(figure.caption, " All tasks: mean 10 B"));
    CHECK(strstr(figure.caption, " Second crawl: mean 14 B"));
}

TEST(the_caption_says_what_a_task_is)
{
    begin(1);
    figures_make_page_size(&figures, &figure);
    CHECK(strstr(figure.caption, "A task is a host here, since the log does not tell visits."));
    begin(1);
    first.visited = 1;
    figures_make_page_size(&figures, &figure);
    CHECK(strstr(figure.caption, "A task is a visit:"));
    begin(1);
    first.task = SURVEY_TASK_HOST;
    figures_make_page_size(&figures, &figure);
    CHECK(strstr(figure.caption, "A task is a host, as asked for."));
}
