/* Figures about tasks and single pages: histograms. */
#include <stdio.h>

#include "engine/report/figures_parts.h"

/* Above this the histogram has eight steps per doubling; two are put together. */
enum { FINE_BUCKETS = 2 * LOG_LINEAR_STEPS };

static const struct chart_axis share_of_pages = {"share of pages", "percent", AXIS_PERCENT, false};
static const struct chart_axis share_of_tasks = {"share of tasks", "percent", AXIS_PERCENT, false};

static void push_column(struct chart_series *series, const double *range, uint64_t count, uint64_t all)
{
    if (series->count == CHART_POINTS_MAX)
        return;
    series->points[series->count++] = (struct chart_point){
        .x = range[0], .x_end = range[1], .count = count, .y = all ? 100 * (double)count / (double)all : 0};
}

/* From the first value that occurs to the last. */
static void add_spread(struct chart_series *series, const struct spread *spread)
{
    unsigned last = 0;
    for (unsigned i = 0; i < SPREAD_BUCKETS; i++)
        last = spread->buckets[i] ? i : last;
    for (unsigned i = 0; i <= last && spread->count; i++) {
        uint64_t count = spread->buckets[i];
        double range[2] = {i ? (double)log_linear_end(i - 1) + 1 : 0};
        if (i >= FINE_BUCKETS)
            count += spread->buckets[++i];
        range[1] = (double)log_linear_end(i) + 1;
        if (count || series->count)
            push_column(series, range, count, spread->count);
    }
}

/* Mean, deviation and what is cut off, in words. */
static void say_spread(struct figure *figure, const struct spread *spread, const char *of,
                       enum axis_unit unit)
{
    char mean[AXIS_TEXT_BYTES], deviation[AXIS_TEXT_BYTES], count[AXIS_TEXT_BYTES];
    if (spread->count)
        figures_say(figure, " %s: mean %s, deviation %s (%s).", of,
                    axis_value(unit, spread_mean(spread), mean),
                    axis_value(unit, spread_deviation(spread), deviation),
                    axis_number((double)spread->count, 0, count));
}

static double share_beyond(const struct spread *spread, double cut)
{
    uint64_t beyond = 0;
    for (unsigned i = 1; i < SPREAD_BUCKETS; i++)
        if ((double)log_linear_end(i - 1) + 1 > cut)
            beyond += spread->buckets[i];
    return spread->count ? 100 * (double)beyond / (double)spread->count : 0;
}

/* The chart ends at the 99th percentile of the widest series; the caption says what lies beyond. */
struct cut {
    double at;
    const struct spread *of;
};

static void widen_cut(struct cut *cut, const struct spread *spread)
{
    double p99 = (double)spread_quantile(spread, 0.99);
    if (spread->count && p99 >= cut->at) {
        cut->at = p99;
        cut->of = spread;
    }
}

static void say_cut(struct figure *figure, const struct cut *cut, enum axis_unit unit)
{
    char at[AXIS_TEXT_BYTES], share[AXIS_TEXT_BYTES];
    double beyond = cut->of ? share_beyond(cut->of, cut->at) : 0;
    figure->chart.x_max = cut->at > 0 ? cut->at : 0;
    if (beyond > 0)
        figures_say(figure, " Cut at %s, beyond which %s lie.", axis_value(unit, cut->at, at),
                    axis_value(AXIS_PERCENT, beyond, share));
}

static void say_task(const struct figures *figures, struct figure *figure)
{
    const struct survey *survey = figures->crawls[0];
    if (survey_has_visits(survey))
        figures_say(figure, " A task is a visit: the pages fetched from a host in one polite burst.");
    else if (survey->task == SURVEY_TASK_HOST)
        figures_say(figure, " A task is a host, as asked for.");
    else
        figures_say(figure, " A task is a host here, since the log does not tell visits.");
    figures_say(figure, " Its first page has level 0, the others level 1.");
}

/* One spread per crawl. */
struct per_task {
    const char *what;
    enum axis_unit unit;
    size_t offset; /* of the spread in struct tasks */
    bool is_cut;   /* at the 99th percentile */
    struct chart_axis axis;
};

static const struct spread *spread_of(const struct survey *survey, const struct per_task *kind)
{
    return (const struct spread *)((const char *)&survey->tasks + kind->offset);
}

static void make_per_task(const struct figures *figures, struct figure *figure, const struct per_task *kind)
{
    struct cut cut = {0};
    chart_init(&figure->chart, CHART_COLUMNS, &kind->axis, &share_of_tasks);
    figures_say(figure, "%s", kind->what);
    for (size_t i = 0; i < figures->count; i++) {
        const struct spread *spread = spread_of(figures->crawls[i], kind);
        if (spread->count)
            add_spread(figures_series(figures, &figure->chart, i, NULL), spread);
        widen_cut(&cut, spread);
        say_spread(figure, spread, i ? "Second crawl" : "All tasks", kind->unit);
    }
    if (kind->is_cut)
        say_cut(figure, &cut, kind->unit);
    say_task(figures, figure);
}

void figures_make_later_pages(const struct figures *figures, struct figure *figure)
{
    static const struct per_task kind = {
        "How many pages of level 1 a task had; the leftmost column is for none. Both axes are logarithmic.",
        AXIS_COUNT,
        offsetof(struct tasks, later_pages),
        false,
        {"level-1 pages of a task", "pages", AXIS_COUNT, true}};
    make_per_task(figures, figure, &kind);
    figure->chart.y.is_log = true;
}

void figures_make_task_time(const struct figures *figures, struct figure *figure)
{
    static const struct per_task kind = {
        "The mean time of a task's pages, from the request to the last byte.",
        AXIS_MS,
        offsetof(struct tasks, took_ms),
        true,
        {"mean time of a page (log)", "ms", AXIS_MS, true}};
    make_per_task(figures, figure, &kind);
}

void figures_make_task_size(const struct figures *figures, struct figure *figure)
{
    static const struct per_task kind = {"The mean size of a task's pages: bytes of the body as transferred.",
                                         AXIS_BYTES,
                                         offsetof(struct tasks, bytes),
                                         true,
                                         {"mean size of a page (log)", "bytes", AXIS_BYTES, true}};
    make_per_task(figures, figure, &kind);
}

/* A spread per crawl and level. */
static void make_per_page(const struct figures *figures, struct figure *figure, const struct chart_axis *axis)
{
    static const char *const levels[] = {"level 0", "level 1"};
    struct cut cut = {0};
    chart_init(&figure->chart, CHART_COLUMNS, axis, &share_of_pages);
    for (size_t i = 0; i < figures->count; i++)
        for (size_t level = 0; level < SURVEY_LEVELS; level++) {
            const struct survey *survey = figures->crawls[i];
            const struct spread *spread =
                axis->unit == AXIS_MS ? &survey->took_ms[level] : &survey->size[level];
            char of[CHART_NAME_BYTES];
            if (!spread->count)
                continue;
            struct chart_series *series = figures_series(figures, &figure->chart, i, levels[level]);
            series->colour = (unsigned)(level + 2 * i);
            add_spread(series, spread);
            widen_cut(&cut, spread);
            snprintf(of, sizeof of, "%s%s", i ? "Second crawl, level " : "Level ", level ? "1" : "0");
            say_spread(figure, spread, of, axis->unit);
        }
    say_cut(figure, &cut, axis->unit);
    say_task(figures, figure);
}

void figures_make_page_time(const struct figures *figures, struct figure *figure)
{
    figures_say(figure, "How long single pages took, from the request to the last byte, level 0 and 1 apart; "
                        "each adds up to 100%%.");
    make_per_page(figures, figure, &(struct chart_axis){"time of a page (log)", "ms", AXIS_MS, true});
}

void figures_make_page_size(const struct figures *figures, struct figure *figure)
{
    figures_say(figure, "How large the bodies of single pages were as transferred, level 0 and 1 apart; each "
                        "adds up to 100%%. The leftmost column "
                        "is for empty ones.");
    make_per_page(figures, figure, &(struct chart_axis){"size of a page (log)", "bytes", AXIS_BYTES, true});
}

/* Columns of width 1, up to the last that is not empty. */
static void add_array(struct chart_series *series, const uint64_t *counts, size_t size)
{
    uint64_t all = 0;
    size_t last = 0;
    for (size_t i = 0; i < size; i++) {
        all += counts[i];
        last = counts[i] ? i : last;
    }
    for (size_t i = 0; i <= last && all; i++)
        push_column(series, (double[]){(double)i, (double)i + 1}, counts[i], all);
}

void figures_make_weights(const struct figures *figures, struct figure *figure)
{
    chart_init(&figure->chart, CHART_COLUMNS,
               &(struct chart_axis){"slashes and dots in the URL", "weight", AXIS_COUNT, false},
               &share_of_pages);
    for (size_t i = 0; i < figures->count; i++)
        if (figures->crawls[i]->pages)
            add_array(figures_series(figures, &figure->chart, i, NULL), figures->crawls[i]->weights,
                      SURVEY_WEIGHTS);
    figures_say(figure, "The weight of a URL is the number of slashes and dots behind its scheme: "
                        "http://www.example.org/ has 3. Of the "
                        "first page of each task; a column begins at its weight.");
    say_task(figures, figure);
}

void figures_make_depth(const struct figures *figures, struct figure *figure)
{
    chart_init(&figure->chart, CHART_COLUMNS,
               &(struct chart_axis){"hops from a seed", "hops", AXIS_COUNT, false},
               &(struct chart_axis){"share of URLs", "percent", AXIS_PERCENT, false});
    for (size_t i = 0; i < figures->count; i++)
        if (figures->crawls[i]->urls)
            add_array(figures_series(figures, &figure->chart, i, NULL), figures->crawls[i]->depths,
                      SURVEY_DEPTHS);
    figures_say(figure,
                "How many hops (links, redirects, embedded files) each URL in the log is away from a seed; "
                "seeds have 0. A column begins at "
                "its depth; the last one takes all that are %d and more away.",
                SURVEY_DEPTHS - 1);
}
