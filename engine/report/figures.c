#include "engine/report/figures.h"

#include <stdarg.h>
#include <string.h>

#include "engine/report/figures_parts.h"

const struct chart_axis figures_time_axis = {"time since the start", "seconds", AXIS_SECONDS, false};

/* In the order of the page. */
static const struct {
    const char *id, *title, *section;
    void (*make)(const struct figures *figures, struct figure *figure);
} list[] = {
    {"pages-over-time", "Pages over time", "Progress", figures_make_pages},
    {"data-over-time", "Downloaded data over time", NULL, figures_make_data},
    {"speed", "Speed in pages", NULL, figures_make_speed},
    {"bandwidth", "Speed in bytes", NULL, figures_make_bandwidth},
    {"found-and-done", "Found and done", NULL, figures_make_found},
    {"limits", "What limited the crawl", NULL, figures_make_limits},
    {"politeness", "Politeness", NULL, figures_make_politeness},
    {"week", "Bandwidth by hour of the week", NULL, figures_make_week},
    {"outlinks", "Links per page over time", NULL, figures_make_outlinks},
    {"repeats", "Redirects and duplicates over time", NULL, figures_make_repeats},
    {"level-1-pages", "Level-1 pages per task", "Tasks and pages", figures_make_later_pages},
    {"task-time", "Mean time per task", NULL, figures_make_task_time},
    {"task-size", "Mean size per task", NULL, figures_make_task_size},
    {"page-time", "Time of single pages", NULL, figures_make_page_time},
    {"page-size", "Size of single pages", NULL, figures_make_page_size},
    {"url-weight", "URL weight of level-0 pages", NULL, figures_make_weights},
    {"depth", "Depth", NULL, figures_make_depth},
    {"host-sizes", "Sizes of hosts", NULL, figures_make_hosts},
    {"status-codes", "Status codes", "What came back", figures_make_codes},
    {"outcomes", "Outcomes", NULL, figures_make_outcomes},
    {"mime-types", "MIME types", NULL, figures_make_mimes},
    {"top-level-domains", "Top-level domains", NULL, figures_make_domains},
};

int figures_init(struct figures *figures, const struct survey *const *crawls, size_t count)
{
    memset(figures, 0, sizeof *figures);
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        figures->crawls[i] = crawls[i];
        figures->count = i + 1;
        error = figures_count_codes(&figures->codes[i], crawls[i]);
        error = error ? error : figures_count_domains(&figures->domains[i], crawls[i]);
    }
    if (error)
        figures_fini(figures);
    return error;
}

void figures_fini(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        roster_fini(&figures->codes[i]);
        roster_fini(&figures->domains[i]);
    }
}

size_t figures_count(void)
{
    return sizeof list / sizeof list[0];
}

void figures_make(const struct figures *figures, size_t index, struct figure *figure)
{
    figure->id = list[index].id;
    figure->title = list[index].title;
    figure->section = list[index].section;
    figure->is_missing = false;
    figure->caption[0] = '\0';
    figure->chart.series_count = 0;
    list[index].make(figures, figure);
    if (!figure->is_missing && !chart_has_points(&figure->chart))
        figures_miss(figure, "Not drawn: no page was fetched.");
}

void figures_say(struct figure *figure, const char *format, ...)
{
    va_list arguments;
    size_t len = strlen(figure->caption);
    va_start(arguments, format);
    vsnprintf(figure->caption + len, sizeof figure->caption - len, format, arguments);
    va_end(arguments);
}

void figures_miss(struct figure *figure, const char *why)
{
    figure->is_missing = true;
    figure->chart.series_count = 0;
    snprintf(figure->caption, sizeof figure->caption, "%s", why);
}

struct chart_series *figures_series(const struct figures *figures, struct chart *chart, size_t crawl,
                                    const char *what)
{
    char name[CHART_NAME_BYTES];
    bool has_two = figures->count > 1;
    if (!has_two)
        snprintf(name, sizeof name, "%s", what ? what : figures->crawls[crawl]->name);
    else
        snprintf(name, sizeof name, "%.28s%s%s", figures->crawls[crawl]->name, what ? ": " : "",
                 what ? what : "");
    struct chart_series *series = chart_add(chart, name);
    if (!what)
        series->colour = (unsigned)crawl;
    series->is_dashed = crawl > 0;
    return series;
}
