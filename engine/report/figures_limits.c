/* Figures of what held the crawl up: what limited its loops, its politeness, the hours of the week. */
#include <stdio.h>
#include <string.h>

#include "engine/report/figures_parts.h"

enum { HOUR_MS = 3600000, WEEK_HOURS = 168 };

/* "politeness" of "limited_politeness_ms". */
static struct slice limit_name(enum samples_column column)
{
    const char *from = samples_name(column) + sizeof "limited_" - 1;
    return slice_between(from, strchr(from, '_'));
}

static double limited(const struct survey *survey, size_t from, size_t to)
{
    double all = 0;
    for (int c = SAMPLES_LIMITED_FIRST; c <= SAMPLES_LIMITED_LAST; c++)
        all += figures_growth(survey, from, to, (enum samples_column)c);
    return all;
}

static void add_limit(const struct survey *survey, struct chart *chart, enum samples_column column)
{
    char name[CHART_NAME_BYTES];
    size_t count = survey->samples.count, stride = figures_stride(count);
    struct slice reason = limit_name(column);
    snprintf(name, sizeof name, "%.*s", (int)reason.len, reason.ptr);
    struct chart_series *series = chart_add(chart, name);
    series->colour = (unsigned)(column - SAMPLES_LIMITED_FIRST) % CHART_COLOURS;
    for (size_t i = 0; i + 1 < count; i += stride) {
        size_t to = i + stride < count ? i + stride : count - 1;
        double all = limited(survey, i, to);
        chart_push(series, (figures_sample_s(survey, i) + figures_sample_s(survey, to)) / 2,
                   all > 0 ? 100 * figures_growth(survey, i, to, column) / all : 0);
    }
}

/* All of the loops' time that the samples tell of; 0: they tell of none. */
static double limited_in_all(const struct survey *survey)
{
    return samples_have(&survey->samples, SAMPLES_limited_work_ms) ? limited(survey, 0, survey->samples.count - 1) : 0;
}

static double share_of(const struct survey *survey, enum samples_column column)
{
    double all = limited_in_all(survey);
    return all > 0 ? 100 * figures_growth(survey, 0, survey->samples.count - 1, column) / all : 0;
}

/* Two crawls side by side: their whole time, by reason. */
static void compare_limits(const struct figures *figures, struct chart *chart)
{
    for (int c = SAMPLES_LIMITED_FIRST; c <= SAMPLES_LIMITED_LAST; c++)
        if (share_of(figures->crawls[0], (enum samples_column)c) > 0 || share_of(figures->crawls[1], (enum samples_column)c) > 0)
            chart->names[chart->name_count++] = limit_name((enum samples_column)c);
    for (size_t i = 0; i < figures->count; i++) {
        struct chart_series *series = figures_series(figures, chart, i, NULL);
        for (int c = SAMPLES_LIMITED_FIRST; c <= SAMPLES_LIMITED_LAST; c++)
            if (share_of(figures->crawls[0], (enum samples_column)c) > 0 ||
                share_of(figures->crawls[1], (enum samples_column)c) > 0)
                chart_push(series, (double)series->count, share_of(figures->crawls[i], (enum samples_column)c));
    }
}

static enum samples_column main_limit(const struct survey *survey)
{
    enum samples_column most = SAMPLES_limited_work_ms;
    for (int c = SAMPLES_LIMITED_FIRST; c <= SAMPLES_LIMITED_LAST; c++)
        if (share_of(survey, (enum samples_column)c) > share_of(survey, most))
            most = (enum samples_column)c;
    return most;
}

void figures_make_limits(const struct figures *figures, struct figure *figure)
{
    const struct survey *survey = figures->crawls[0];
    bool has_two = figures->count > 1 && limited_in_all(figures->crawls[1]) > 0;
    char share[AXIS_TEXT_BYTES];
    if (limited_in_all(survey) <= 0) {
        figures_miss(figure, "Not drawn: what a crawl waits for is told by progress.tsv alone, and there is "
                             "none with such columns.");
        return;
    }
    struct chart_axis y = {"share of the loops' time", "percent", AXIS_PERCENT, false};
    if (has_two) {
        chart_init(&figure->chart, CHART_BARS, &(struct chart_axis){"reason", "by", AXIS_COUNT, false}, &y);
        compare_limits(figures, &figure->chart);
    } else {
        chart_init(&figure->chart, CHART_AREAS, &figures_time_axis, &y);
        for (int c = SAMPLES_LIMITED_FIRST; c <= SAMPLES_LIMITED_LAST; c++)
            if (share_of(survey, (enum samples_column)c) > 0)
                add_limit(survey, &figure->chart, (enum samples_column)c);
    }
    enum samples_column most = main_limit(survey);
    struct slice name = limit_name(most);
    figures_say(figure,
                "What kept the loops from beginning more visits, by share of their time%s; <i>work</i> is time "
                "in which visits were begun. Most of the time it was <i>%.*s</i>: %s.%s",
                has_two ? " over the whole crawl" : "", (int)name.len, name.ptr,
                axis_value(AXIS_PERCENT, share_of(survey, most), share),
                figures->count > 1 && !has_two ? " Of the second crawl nothing is known." : "");
}

static const struct {
    const char *name;
    enum samples_column column;
} host_states[] = {{"visited", SAMPLES_hosts_visiting}, {"due", SAMPLES_hosts_ready}, {"resting", SAMPLES_hosts_resting}};

/* Of the hosts whose rest is over, the share that was visited; below 0: there was none. */
static double efficiency(const struct survey *survey)
{
    double visited = 0, due = 0;
    for (size_t i = 0; i < survey->samples.count; i++) {
        visited += (double)figures_sample(survey, i, SAMPLES_hosts_visiting);
        due += (double)figures_sample(survey, i, SAMPLES_hosts_ready);
    }
    return visited + due > 0 ? 100 * visited / (visited + due) : -1;
}

static void add_hosts(const struct figures *figures, struct chart *chart, size_t crawl, size_t state)
{
    const struct survey *survey = figures->crawls[crawl];
    size_t count = survey->samples.count;
    struct chart_series *series = figures_series(figures, chart, crawl, host_states[state].name);
    series->colour = (unsigned)state;
    for (size_t i = 0; i < count; i += figures_stride(count))
        chart_push(series, figures_sample_s(survey, i), (double)figures_sample(survey, i, host_states[state].column));
}

void figures_make_politeness(const struct figures *figures, struct figure *figure)
{
    char share[AXIS_TEXT_BYTES];
    if (!samples_have(&figures->crawls[0]->samples, SAMPLES_hosts_ready)) {
        figures_miss(figure, "Not drawn: how many hosts were visited, due and resting is told by progress.tsv alone.");
        return;
    }
    chart_init(&figure->chart, figures->count > 1 ? CHART_LINES : CHART_AREAS, &figures_time_axis,
               &(struct chart_axis){"hosts with URLs", "hosts", AXIS_COUNT, false});
    figures_say(figure, "Hosts with URLs at each moment: those that were visited, those that were due, because their own rest was "
                        "over, and waited for their address or for the crawler, and those that rested.");
    for (size_t i = 0; i < figures->count; i++) {
        if (!samples_have(&figures->crawls[i]->samples, SAMPLES_hosts_ready))
            continue;
        for (size_t state = 0; state < sizeof host_states / sizeof host_states[0]; state++)
            add_hosts(figures, &figure->chart, i, state);
        if (efficiency(figures->crawls[i]) >= 0)
            figures_say(figure, " Politeness efficiency of %s: %s of the hosts that their rests allowed to visit were visited.",
                        i ? "the second crawl" : "the crawl", axis_value(AXIS_PERCENT, efficiency(figures->crawls[i]), share));
    }
}

/* How long the log covers an hour of the week, in milliseconds. */
static void cover_week(const struct survey *survey, uint64_t covered[WEEK_HOURS])
{
    uint64_t first = survey->first_ms / HOUR_MS, last = survey->last_ms / HOUR_MS,
             weeks = (last - first) / WEEK_HOURS;
    for (uint64_t hour = 0; hour < WEEK_HOURS; hour++)
        covered[hour] = weeks * HOUR_MS;
    for (uint64_t hour = first + weeks * WEEK_HOURS; hour <= last; hour++) {
        uint64_t begin = hour * HOUR_MS, end = begin + HOUR_MS;
        begin = hour == first ? survey->first_ms : begin;
        end = hour == last ? survey->last_ms : end;
        covered[(hour + 3 * 24) % WEEK_HOURS] += end > begin ? end - begin : 1;
    }
}

/* In a grid every hour has its place; a line has points where something is known. */
static void add_week(const struct figures *figures, struct chart *chart, size_t crawl)
{
    const struct survey *survey = figures->crawls[crawl];
    uint64_t covered[WEEK_HOURS];
    if (!survey->urls)
        return;
    struct chart_series *series = figures_series(figures, chart, crawl, NULL);
    series->is_dots = chart->kind == CHART_LINES;
    cover_week(survey, covered);
    for (size_t i = 0; i < WEEK_HOURS; i++)
        if (covered[i] || chart->kind == CHART_GRID)
            chart_push(series, (double)i, covered[i] ? (double)survey->week_bytes[i] * 1000 / (double)covered[i] : -1);
}

void figures_make_week(const struct figures *figures, struct figure *figure)
{
    static const struct chart_axis hours = {"hour of the day, UTC", "hour", AXIS_COUNT, false};
    static const struct chart_axis week = {"hours since Monday, 0:00 UTC", "hour_of_week", AXIS_COUNT, false};
    bool has_two = figures->count > 1;
    chart_init(&figure->chart, has_two ? CHART_LINES : CHART_GRID, has_two ? &week : &hours,
               &(struct chart_axis){"bytes of bodies per second", "bytes_per_s", AXIS_BYTES_PER_S, false});
    for (size_t i = 0; i < figures->count; i++)
        add_week(figures, &figure->chart, i);
    if (figure->chart.series_count)
        figures_say(figure,
                    "Mean bandwidth in each hour of the week: bytes of bodies whose end crawl.log has in that hour, divided by "
                    "the time that the log covers of it. %s",
                    has_two ? "Hours without a point are not covered." : "Grey hours are not covered.");
}
