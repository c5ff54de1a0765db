/* Figures over time. The crawl's own samples (progress.tsv) are used if there are any, by the time that the crawl ran; else the
 * moments in crawl.log. */
#include <math.h>
#include <stdio.h>

#include "engine/report/figures_parts.h"

/* Says where the numbers over time come from. */
static void say_source(const struct figures *figures, struct figure *figure, enum samples_column column)
{
    bool is_sampled = samples_have(&figures->crawls[0]->samples, column);
    figures_say(
        figure,
        is_sampled ? " From progress.tsv: time is the time that the crawl ran, without pauses."
                   : " From the moments in crawl.log, since there is no progress.tsv: pauses count as time.");
}

static double slot_value(const struct timeline_slot *slot, enum samples_column column)
{
    return (double)(column == SAMPLES_pages ? slot->pages : slot->bytes);
}

/* From the first line of the log to the end of a slot, or of the log. */
static double slot_end_s(const struct survey *survey, size_t slot)
{
    uint64_t end_ms = (survey->timeline.first + slot + 1) * survey->timeline.slot_ms;
    end_ms = end_ms < survey->last_ms ? end_ms : survey->last_ms;
    return (double)(end_ms - survey->first_ms) / 1000;
}

static void add_sum(const struct figures *figures, struct chart *chart, size_t crawl,
                    enum samples_column column)
{
    const struct survey *survey = figures->crawls[crawl];
    if (!survey->urls && !survey->samples.count)
        return;
    struct chart_series *series = figures_series(figures, chart, crawl, NULL);
    chart_push(series, 0, 0);
    if (samples_have(&survey->samples, column)) {
        size_t count = survey->samples.count, stride = figures_stride(count);
        for (size_t i = 0; i < count; i += i + stride < count || i + 1 == count ? stride : count - 1 - i)
            chart_push(series, figures_sample_s(survey, i), (double)figures_sample(survey, i, column));
        return;
    }
    double sum = 0;
    size_t count = survey->timeline.count, stride = figures_stride(count);
    for (size_t i = 0; i < count; i++) {
        sum += slot_value(&survey->timeline.slots[i], column);
        if ((i + 1) % stride == 0 || i + 1 == count)
            chart_push(series, slot_end_s(survey, i), sum);
    }
}

static void add_rate(const struct figures *figures, struct chart *chart, size_t crawl,
                     enum samples_column column)
{
    const struct survey *survey = figures->crawls[crawl];
    if (!survey->urls && !survey->samples.count)
        return;
    struct chart_series *series = figures_series(figures, chart, crawl, NULL);
    if (samples_have(&survey->samples, column)) {
        size_t count = survey->samples.count, stride = figures_stride(count);
        for (size_t i = 0; i + 1 < count; i += stride) {
            size_t to = i + stride < count ? i + stride : count - 1;
            double from_s = figures_sample_s(survey, i), to_s = figures_sample_s(survey, to);
            if (to_s > from_s)
                chart_push(series, (from_s + to_s) / 2, figures_growth(survey, i, to, column) / (to_s - from_s));
        }
        return;
    }
    size_t count = survey->timeline.count, stride = figures_stride(count);
    double from_s = 0;
    for (size_t i = 0; i < count; i += stride) {
        double sum = 0;
        size_t to = i + stride < count ? i + stride : count;
        for (size_t j = i; j < to; j++)
            sum += slot_value(&survey->timeline.slots[j], column);
        double to_s = slot_end_s(survey, to - 1);
        if (to_s > from_s)
            chart_push(series, (from_s + to_s) / 2, sum / (to_s - from_s));
        from_s = to_s;
    }
}

static double duration_s(const struct survey *survey)
{
    size_t count = survey->samples.count;
    if (samples_have(&survey->samples, SAMPLES_pages))
        return figures_sample_s(survey, count - 1);
    return (double)(survey->last_ms - survey->first_ms) / 1000;
}

void figures_make_pages(const struct figures *figures, struct figure *figure)
{
    char pages[AXIS_TEXT_BYTES], time[AXIS_TEXT_BYTES];
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"pages", "pages", AXIS_COUNT, false});
    for (size_t i = 0; i < figures->count; i++)
        add_sum(figures, &figure->chart, i, SAMPLES_pages);
    const struct survey *survey = figures->crawls[0];
    figures_say(figure,
                "Pages fetched since the start: %s after %s. A page is a URL that had a response, whatever "
                "its status; "
                "robots.txt does not count.",
                axis_number((double)survey->pages, 0, pages),
                axis_value(AXIS_SECONDS, duration_s(survey), time));
    say_source(figures, figure, SAMPLES_pages);
}

void figures_make_data(const struct figures *figures, struct figure *figure)
{
    char bytes[AXIS_TEXT_BYTES];
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"bodies downloaded", "bytes", AXIS_BYTES, false});
    for (size_t i = 0; i < figures->count; i++)
        add_sum(figures, &figure->chart, i, SAMPLES_bytes_body);
    figures_say(figure,
                "Bodies of all pages together, as they were transferred: %s in the log. 1 GB is "
                "10<sup>9</sup> bytes.",
                axis_value(AXIS_BYTES, (double)figures->crawls[0]->bytes, bytes));
    say_source(figures, figure, SAMPLES_bytes_body);
}

void figures_make_speed(const struct figures *figures, struct figure *figure)
{
    char mean[AXIS_TEXT_BYTES];
    const struct survey *survey = figures->crawls[0];
    double seconds = duration_s(survey);
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"pages per second", "pages_per_s", AXIS_COUNT, false});
    for (size_t i = 0; i < figures->count; i++)
        add_rate(figures, &figure->chart, i, SAMPLES_pages);
    figures_say(figure,
                "Pages per second, each point the mean over its stretch of time. Over the whole crawl: %s "
                "per second.",
                axis_value(AXIS_COUNT, seconds > 0 ? (double)survey->pages / seconds : 0, mean));
    say_source(figures, figure, SAMPLES_pages);
}

void figures_make_bandwidth(const struct figures *figures, struct figure *figure)
{
    char mean[AXIS_TEXT_BYTES];
    const struct survey *survey = figures->crawls[0];
    double seconds = duration_s(survey);
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"bytes of bodies per second", "bytes_per_s", AXIS_BYTES_PER_S, false});
    for (size_t i = 0; i < figures->count; i++)
        add_rate(figures, &figure->chart, i, SAMPLES_bytes_body);
    figures_say(
        figure,
        "Bytes of bodies per second, each point the mean over its stretch of time. Over the whole crawl: %s.",
        axis_value(AXIS_BYTES_PER_S, seconds > 0 ? (double)survey->bytes / seconds : 0, mean));
    say_source(figures, figure, SAMPLES_bytes_body);
}

void figures_make_found(const struct figures *figures, struct figure *figure)
{
    static const struct {
        const char *name;
        enum samples_column column;
    } lines[] = {{"found", SAMPLES_urls_in}, {"done", SAMPLES_urls_out}, {"waiting", SAMPLES_queued}};
    if (!samples_have(&figures->crawls[0]->samples, SAMPLES_urls_in)) {
        figures_miss(figure, "Not drawn: crawl.log tells only of URLs that are done, and there is no "
                             "progress.tsv that counts the others.");
        return;
    }
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"URLs", "urls", AXIS_COUNT, false});
    for (size_t i = 0; i < figures->count; i++)
        for (size_t j = 0; j < 3; j++) {
            const struct survey *survey = figures->crawls[i];
            size_t count = samples_have(&survey->samples, lines[j].column) ? survey->samples.count : 0;
            struct chart_series *series =
                count ? figures_series(figures, &figure->chart, i, lines[j].name) : NULL;
            if (series)
                series->colour = (unsigned)j;
            for (size_t k = 0; k < count; k += figures_stride(count))
                chart_push(series, figures_sample_s(survey, k), (double)figures_sample(survey, k, lines[j].column));
        }
    figures_say(figure, "URLs that were found and belong to the crawl, those that are done (fetched, failed "
                        "or dropped), and those "
                        "that waited at that moment. Where found and done meet, the crawl is complete.");
}

/* Least squares, each point weighted by its pages. */
struct fit {
    double weight, x, y, xx, xy;
};

static void fit_add(struct fit *fit, double weight, double x, double y)
{
    fit->weight += weight;
    fit->x += weight * x;
    fit->y += weight * y;
    fit->xx += weight * x * x;
    fit->xy += weight * x * y;
}

/* False: there is no line through fewer than two moments. */
static bool fit_line(const struct fit *fit, double *slope, double *start)
{
    double spread = fit->weight * fit->xx - fit->x * fit->x;
    if (fit->weight <= 0 || spread <= 1e-9 * fit->weight * fit->xx)
        return false;
    *slope = (fit->weight * fit->xy - fit->x * fit->y) / spread;
    *start = (fit->y - *slope * fit->x) / fit->weight;
    return true;
}

static void add_trend(struct figure *figure, struct chart_series *series, const struct fit *fit)
{
    double slope, start, end = series->count ? series->points[series->count - 1].x : 0;
    char from[AXIS_TEXT_BYTES], to[AXIS_TEXT_BYTES];
    char name[2 * CHART_NAME_BYTES];
    if (!fit_line(fit, &slope, &start))
        return;
    snprintf(name, sizeof name, "%.40s, trend", series->name);
    struct chart_series *trend = chart_add(&figure->chart, name);
    trend->colour = series->colour ? series->colour + 2 : 1;
    trend->is_dashed = true;
    chart_push(trend, series->points[0].x, start + slope * series->points[0].x);
    chart_push(trend, end, start + slope * end);
    figures_say(figure, " The fitted line of %s goes from %s to %s links per page.",
                series->colour ? "the second crawl" : "the crawl", axis_value(AXIS_COUNT, start, from),
                axis_value(AXIS_COUNT, start + slope * end, to));
}

static void add_outlinks(const struct figures *figures, struct figure *figure, size_t crawl)
{
    const struct survey *survey = figures->crawls[crawl];
    size_t count = survey->timeline.count, stride = figures_stride(count);
    struct fit fit = {0};
    struct chart_series *series =
        figures_series(figures, &figure->chart, crawl, figures->count > 1 ? NULL : "links per page");
    series->is_dashed = false;
    series->colour = (unsigned)crawl;
    for (size_t i = 0; i < count; i += stride) {
        uint64_t pages = 0, links = 0;
        size_t to = i + stride < count ? i + stride : count;
        for (size_t j = i; j < to; j++) {
            pages += survey->timeline.slots[j].linked;
            links += survey->timeline.slots[j].outlinks;
        }
        double x = ((i ? slot_end_s(survey, i - 1) : 0) + slot_end_s(survey, to - 1)) / 2;
        if (!pages)
            continue;
        chart_push(series, x, (double)links / (double)pages);
        fit_add(&fit, (double)pages, x, (double)links / (double)pages);
    }
    add_trend(figure, series, &fit);
}

static uint64_t linked_pages(const struct survey *survey)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < survey->timeline.count; i++)
        pages += survey->timeline.slots[i].linked;
    return pages;
}

void figures_make_outlinks(const struct figures *figures, struct figure *figure)
{
    char links[AXIS_TEXT_BYTES], mean[AXIS_TEXT_BYTES];
    const struct survey *survey = figures->crawls[0];
    uint64_t pages = linked_pages(survey);
    if (!pages) {
        figures_miss(figure, "Not drawn: no line of crawl.log tells how many links a page had (column 13; "
                             "log.extra in the tuning file).");
        return;
    }
    chart_init(&figure->chart, CHART_LINES, &figures_time_axis,
               &(struct chart_axis){"links per page", "links_per_page", AXIS_COUNT, false});
    figures_say(figure,
                "Links found on the pages that were read for links, whether they were followed or not: the "
                "mean over each stretch of "
                "time, with a line fitted by least squares. In all %s links, %s per page.",
                axis_number((double)survey->outlinks, 0, links),
                axis_value(AXIS_COUNT, (double)survey->outlinks / (double)pages, mean));
    for (size_t i = 0; i < figures->count; i++)
        if (linked_pages(figures->crawls[i]))
            add_outlinks(figures, figure, i);
}

static uint64_t repeats_in(const struct timeline_slot *slot, size_t kind)
{
    return kind == 0 ? slot->redirects : kind == 1 ? slot->duplicates : slot->near_duplicates;
}

static void add_repeats(const struct figures *figures, struct chart *chart, size_t crawl, size_t kind)
{
    static const char *const names[] = {"redirects", "duplicates", "near-duplicates"};
    const struct survey *survey = figures->crawls[crawl];
    size_t count = survey->timeline.count, stride = figures_stride(count);
    struct chart_series *series = figures_series(figures, chart, crawl, names[kind]);
    series->colour = (unsigned)kind;
    for (size_t i = 0; i < count; i += stride) {
        uint64_t pages = 0, repeats = 0;
        size_t to = i + stride < count ? i + stride : count;
        for (size_t j = i; j < to; j++) {
            pages += survey->timeline.slots[j].pages;
            repeats += repeats_in(&survey->timeline.slots[j], kind);
        }
        double x = ((i ? slot_end_s(survey, i - 1) : 0) + slot_end_s(survey, to - 1)) / 2;
        if (pages)
            chart_push(series, x, 100 * (double)repeats / (double)pages);
    }
}

void figures_make_repeats(const struct figures *figures, struct figure *figure)
{
    char redirects[AXIS_TEXT_BYTES], duplicates[AXIS_TEXT_BYTES], near[AXIS_TEXT_BYTES];
    const struct survey *survey = figures->crawls[0];
    chart_init(&figure->chart, figures->count > 1 ? CHART_LINES : CHART_AREAS, &figures_time_axis,
               &(struct chart_axis){"share of pages", "percent", AXIS_PERCENT, false});
    for (size_t i = 0; i < figures->count; i++)
        for (size_t kind = 0; kind < 3 && figures->crawls[i]->pages; kind++)
            add_repeats(figures, &figure->chart, i, kind);
    figures_say(figure,
                "Share of pages that are redirects (status 3xx but 304), that have the same body as an "
                "earlier page (duplicates), and "
                "whose text is nearly that of an earlier one. The shares are stacked unless two crawls are compared. In all %s redirects, "
                "%s duplicates, %s near-duplicates.",
                axis_number((double)survey->redirects, 0, redirects),
                axis_number((double)survey->duplicates, 0, duplicates),
                axis_number((double)survey->near_duplicates, 0, near));
}
