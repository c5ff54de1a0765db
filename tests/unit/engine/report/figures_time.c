#include <math.h>
#include <stdlib.h>

#include "engine/report/figures_parts.h"
#include "tests/support/check.h"

static struct survey survey, other;
static struct figures figures;
static struct figure figure;

/* A crawl whose log begins in the middle of the first of `slots` seconds, and ends at the end of the last. */
static void begin(size_t slots)
{
    survey = (struct survey){.name = "crawl", .urls = 1, .first_ms = 1000500, .last_ms = 1000000 + 1000 * slots};
    survey.timeline.slot_ms = TIMELINE_SLOT_MS;
    survey.timeline.first = 1000;
    survey.timeline.count = slots;
    samples_init(&survey.samples);
    figures = (struct figures){.crawls = {&survey, &other}, .count = 1};
    figure = (struct figure){.is_missing = false};
}

static void take_samples(const char *const *lines)
{
    for (; *lines; lines++)
        samples_take(&survey.samples, slice_of(*lines));
}

static void check_points(size_t series, const double (*points)[2], size_t count)
{
    CHECK(series < figure.chart.series_count);
    CHECK_INT(figure.chart.series[series].count, count);
    for (size_t i = 0; i < count; i++) {
        const struct chart_point *point = &figure.chart.series[series].points[i];
        if (fabs(point->x - points[i][0]) > 1e-9 || fabs(point->y - points[i][1]) > 1e-9)
            check_failed(__FILE__, __LINE__, "point %zu is (%g, %g)", i, point->x, point->y);
    }
}

TEST(sums_and_rates_come_from_the_log_if_there_is_nothing_else)
{
    begin(3);
    survey.timeline.slots[0].pages = 4;
    survey.timeline.slots[2].pages = 2;
    survey.pages = 6;
    figures_make_pages(&figures, &figure);
    check_points(0, (const double[][2]){{0, 0}, {0.5, 4}, {1.5, 4}, {2.5, 6}}, 4);
    CHECK(strstr(figure.caption, "6 after 2.5 s."));
    CHECK(strstr(figure.caption, "From the moments in crawl.log"));
    figure = (struct figure){.is_missing = false};
    figures_make_speed(&figures, &figure);
    check_points(0, (const double[][2]){{0.25, 8}, {1, 0}, {2, 2}}, 3);
    CHECK(strstr(figure.caption, "2.4 per second"));
}

TEST(bytes_are_counted_as_pages_are)
{
    begin(2);
    survey.timeline.slots[1].bytes = 3000;
    survey.bytes = 3000;
    figures_make_data(&figures, &figure);
    check_points(0, (const double[][2]){{0, 0}, {0.5, 0}, {1.5, 3000}}, 3);
    figure = (struct figure){.is_missing = false};
    figures_make_bandwidth(&figures, &figure);
    check_points(0, (const double[][2]){{0.25, 0}, {1, 3000}}, 2);
}

/* However long the crawl, nothing is lost between the points. */
TEST(a_long_crawl_has_fewer_points_and_the_same_sum)
{
    for (size_t slots = 100; slots < 1000; slots += 7) {
        begin(slots);
        for (size_t i = 0; i < slots; i++)
            survey.timeline.slots[i].pages = 1;
        figures_make_pages(&figures, &figure);
        const struct chart_series *series = &figure.chart.series[0];
        CHECK(series->count <= 121 && series->count > 60);
        CHECK(series->points[series->count - 1].y == (double)slots);
        CHECK(series->points[series->count - 1].x == (double)slots - 0.5);
    }
}

TEST(the_last_point_is_at_the_end_of_the_log)
{
    begin(2);
    survey.last_ms -= 250;
    survey.timeline.slots[1].pages = 3;
    figures_make_pages(&figures, &figure);
    check_points(0, (const double[][2]){{0, 0}, {0.5, 0}, {1.25, 3}}, 3);
    figure = (struct figure){.is_missing = false};
    figures_make_speed(&figures, &figure);
    check_points(0, (const double[][2]){{0.25, 0}, {0.875, 4}}, 2);
}

static const char *const sampled[] = {"wall_ms\trunning_ms\tpages\turls_in\turls_out\tqueued",
                                      "5000\t1000\t10\t100\t20\t80",
                                      "9000\t2000\t30\t150\t40\t110",
                                      "13000\t4000\t20\t160\t160\t0",
                                      NULL};

/* A counter that falls has lost what was not committed: its rate is 0. */
TEST(samples_count_by_the_time_that_the_crawl_ran)
{
    begin(3);
    survey.timeline.slots[0].pages = 4;
    take_samples(sampled);
    figures_make_pages(&figures, &figure);
    check_points(0, (const double[][2]){{0, 0}, {1, 10}, {2, 30}, {4, 20}}, 4);
    CHECK(strstr(figure.caption, "From progress.tsv"));
    figure = (struct figure){.is_missing = false};
    figures_make_speed(&figures, &figure);
    check_points(0, (const double[][2]){{1.5, 20}, {3, 0}}, 2);
}

TEST(found_and_done_need_samples)
{
    begin(3);
    figures_make_found(&figures, &figure);
    CHECK(figure.is_missing && strstr(figure.caption, "progress.tsv"));
    begin(3);
    take_samples(sampled);
    figures_make_found(&figures, &figure);
    CHECK(!figure.is_missing);
    CHECK_INT(figure.chart.series_count, 3);
    check_points(0, (const double[][2]){{1, 100}, {2, 150}, {4, 160}}, 3);
    check_points(1, (const double[][2]){{1, 20}, {2, 40}, {4, 160}}, 3);
    check_points(2, (const double[][2]){{1, 80}, {2, 110}, {4, 0}}, 3);
}

TEST(limits_are_shares_and_the_largest_is_named)
{
    static const char *const lines[] = {"wall_ms\trunning_ms\tlimited_work_ms\tlimited_politeness_ms\tlimited_names_ms",
                                        "1000\t1000\t0\t0\t7", "2000\t2000\t250\t750\t7",
                                        "3000\t3000\t750\t1250\t7", NULL};
    begin(3);
    figures_make_limits(&figures, &figure);
    CHECK(figure.is_missing);
    begin(3);
    take_samples(lines);
    figures_make_limits(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 2); /* what never limited it is not drawn */
    CHECK_STR(figure.chart.series[0].name, "work");
    CHECK_STR(figure.chart.series[1].name, "politeness");
    check_points(0, (const double[][2]){{1.5, 25}, {2.5, 50}}, 2);
    check_points(1, (const double[][2]){{1.5, 75}, {2.5, 50}}, 2);
    CHECK(strstr(figure.caption, "<i>politeness</i>: 62"));
}

/* 1970 began on a Thursday; the week begins on Monday. */
TEST(an_hour_of_the_week_is_divided_by_what_the_log_covers_of_it)
{
    begin(1);
    survey.first_ms = 0;
    survey.last_ms = 3600000 + 1800000;
    survey.week_bytes[72] = 3600000;
    survey.week_bytes[73] = 1800000;
    figures_make_week(&figures, &figure);
    const struct chart_series *series = &figure.chart.series[0];
    CHECK_INT(series->count, 168);
    CHECK(series->points[72].y == 1000 && series->points[73].y == 1000);
    CHECK(series->points[71].y == -1 && series->points[74].y == -1);
    begin(1);
    survey.first_ms = 0;
    survey.last_ms = UINT64_C(3600000) * (2 * 168 + 1) - 1; /* the first hour comes a third time */
    survey.week_bytes[72] = 3 * 3600000 - 1;
    survey.week_bytes[71] = 2 * 3600000;
    figures_make_week(&figures, &figure);
    series = &figure.chart.series[0];
    CHECK(series->points[72].y == 1000 && series->points[71].y == 1000);
    CHECK(series->points[0].y == 0);
}

TEST(a_line_is_fitted_to_the_links_per_page)
{
    begin(3);
    survey.first_ms = 1000000;
    figures_make_outlinks(&figures, &figure);
    CHECK(figure.is_missing);
    for (size_t i = 0; i < 3; i++) {
        survey.timeline.slots[i].linked = i + 1;
        survey.timeline.slots[i].outlinks = (i + 1) * (2 * i + 2);
    }
    figure = (struct figure){.is_missing = false};
    figures_make_outlinks(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 2);
    check_points(0, (const double[][2]){{0.5, 2}, {1.5, 4}, {2.5, 6}}, 3);
    check_points(1, (const double[][2]){{0.5, 2}, {2.5, 6}}, 2);
    CHECK(figure.chart.series[1].is_dashed);
    CHECK(strstr(figure.caption, "goes from 1 to 6 links per page"));
}

/* There is no line through one moment. */
TEST(one_moment_has_no_trend)
{
    begin(1);
    survey.timeline.slots[0].linked = 5;
    survey.timeline.slots[0].outlinks = 10;
    figures_make_outlinks(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 1);
}

TEST(repeats_are_shares_of_the_pages_of_their_time)
{
    begin(2);
    survey.pages = 14;
    survey.timeline.slots[0].pages = 10;
    survey.timeline.slots[0].redirects = 1;
    survey.timeline.slots[0].duplicates = 2;
    survey.timeline.slots[1].pages = 4;
    survey.timeline.slots[1].near_duplicates = 1;
    figures_make_repeats(&figures, &figure);
    CHECK_INT(figure.chart.series_count, 3);
    check_points(0, (const double[][2]){{0.25, 10}, {1, 0}}, 2);
    check_points(1, (const double[][2]){{0.25, 20}, {1, 0}}, 2);
    check_points(2, (const double[][2]){{0.25, 0}, {1, 25}}, 2);
}
