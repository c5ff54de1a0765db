/* Figures about names: status codes, outcomes, MIME types, top-level domains, hosts. */
#include <stdio.h>
#include <string.h>

#include "engine/report/figures_parts.h"

enum { CODES_MAX = 2048, DOMAINS_MAX = 4096, BARS = 12, BARS_OF_FIRST = 10, RANKS_PER_DOUBLING = 12 };

static const char *phrase_of(int code)
{
    static const struct {
        int code;
        const char *phrase;
    } phrases[] = {{200, "OK"},
                   {204, "no content"},
                   {206, "partial content"},
                   {301, "moved permanently"},
                   {302, "found"},
                   {303, "see other"},
                   {304, "not modified"},
                   {307, "temporary redirect"},
                   {308, "permanent redirect"},
                   {400, "bad request"},
                   {401, "unauthorized"},
                   {403, "forbidden"},
                   {404, "not found"},
                   {405, "method not allowed"},
                   {406, "not acceptable"},
                   {408, "request timeout"},
                   {410, "gone"},
                   {429, "too many requests"},
                   {451, "legal reasons"},
                   {500, "internal server error"},
                   {502, "bad gateway"},
                   {503, "service unavailable"},
                   {504, "gateway timeout"}};
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (phrases[i].code == code)
            return phrases[i].phrase;
    return code < 0 ? "no response" : "";
}

int figures_count_codes(struct roster *codes, const struct survey *survey)
{
    int error = roster_init(codes, CODES_MAX);
    for (int i = 0; i < SURVEY_CODES && !error; i++) {
        const struct survey_count *count = &survey->codes[i];
        char name[CHART_NAME_BYTES];
        if (!count->urls)
            continue;
        snprintf(name, sizeof name, "%d %s", i + SURVEY_CODE_MIN, phrase_of(i + SURVEY_CODE_MIN));
        struct roster_entry *entry = roster_find(codes, slice_trim(slice_of(name)));
        entry->pages += count->urls;
        entry->bytes += count->bytes;
    }
    if (!error)
        roster_sort(codes);
    return error;
}

/* "org" of "http://example.org:8080". */
static struct slice top_of(struct slice host)
{
    const char *slashes = memmem(host.ptr, host.len, "//", 2);
    if (slashes)
        host = slice_between(slashes + 2, host.ptr + host.len);
    const char *user = memrchr(host.ptr, '@', host.len);
    if (user)
        host = slice_between(user + 1, host.ptr + host.len);
    if (host.len && host.ptr[0] == '[')
        return SLICE("(IP address)");
    const char *port = memchr(host.ptr, ':', host.len);
    host.len = port ? (size_t)(port - host.ptr) : host.len;
    const char *dot = memrchr(host.ptr, '.', host.len);
    struct slice top = dot ? slice_between(dot + 1, host.ptr + host.len) : host;
    if (top.len && top.ptr[0] >= '0' && top.ptr[0] <= '9')
        return SLICE("(IP address)");
    return top.len ? top : SLICE("(none)");
}

int figures_count_domains(struct roster *domains, const struct survey *survey)
{
    int error = roster_init(domains, DOMAINS_MAX);
    for (size_t i = 0; i < survey->hosts.count && !error; i++) {
        const struct roster_entry *host = &survey->hosts.entries[i];
        if (!host->pages)
            continue;
        struct roster_entry *entry = roster_find(domains, top_of(roster_name(host)));
        entry->urls++; /* hosts */
        entry->pages += host->pages;
        entry->bytes += host->bytes;
    }
    if (!error) {
        domains->others.pages += survey->hosts.others.pages;
        roster_sort(domains);
    }
    return error;
}

static uint64_t pages_of(const struct roster *roster, struct slice name)
{
    for (size_t i = 0; i < roster->count; i++)
        if (slice_equals(roster_name(&roster->entries[i]), name))
            return roster->entries[i].pages;
    return 0;
}

static bool is_listed(const struct chart *chart, struct slice name)
{
    for (size_t i = 0; i < chart->name_count; i++)
        if (slice_equals(chart->names[i], name))
            return true;
    return false;
}

static void list_names(struct chart *chart, const struct roster *roster, size_t upto)
{
    for (size_t i = 0; i < roster->count && chart->name_count < upto; i++)
        if (roster->entries[i].pages && !is_listed(chart, roster_name(&roster->entries[i])))
            chart->names[chart->name_count++] = roster_name(&roster->entries[i]);
}

static uint64_t all_of(const struct roster *roster)
{
    uint64_t all = roster->others.pages;
    for (size_t i = 0; i < roster->count; i++)
        all += roster->entries[i].pages;
    return all;
}

/* The most frequent names of the first crawl, then those of the second, then all others. */
static void make_bars(const struct figures *figures, struct figure *figure,
                      const struct roster *const *rosters)
{
    struct chart *chart = &figure->chart;
    uint64_t others = 0;
    list_names(chart, rosters[0], figures->count > 1 ? BARS_OF_FIRST : BARS);
    if (figures->count > 1)
        list_names(chart, rosters[1], BARS);
    for (size_t i = 0; i < figures->count && chart->name_count; i++) {
        uint64_t left = all_of(rosters[i]);
        struct chart_series *series = figures_series(figures, chart, i, NULL);
        for (size_t j = 0; j < chart->name_count; j++) {
            uint64_t pages = pages_of(rosters[i], chart->names[j]);
            chart_push(series, (double)j, (double)pages);
            left -= pages;
        }
        chart_push(series, (double)series->count, (double)left);
        others += left;
    }
    if (others)
        chart->names[chart->name_count++] = SLICE("all others");
    for (size_t i = 0; i < chart->series_count && !others; i++)
        chart->series[i].count--;
}

void figures_make_codes(const struct figures *figures, struct figure *figure)
{
    chart_init(&figure->chart, CHART_BARS, &(struct chart_axis){"code", "code", AXIS_COUNT, false},
               &(struct chart_axis){"URLs", "urls", AXIS_COUNT, false});
    make_bars(figures, figure, (const struct roster *const[]){&figures->codes[0], &figures->codes[1]});
    figures_say(
        figure,
        "URLs by the status of their response. Codes below 0 are Heritrix's, for URLs without a response: "
        "-9998 is forbidden by robots.txt, -2 is no connection.");
}

void figures_make_outcomes(const struct figures *figures, struct figure *figure)
{
    char failed[AXIS_TEXT_BYTES];
    const struct roster *rosters[FIGURES_CRAWLS_MAX] = {0};
    for (size_t i = 0; i < figures->count; i++)
        rosters[i] = &figures->crawls[i]->outcomes;
    chart_init(&figure->chart, CHART_BARS, &(struct chart_axis){"outcome", "outcome", AXIS_COUNT, false},
               &(struct chart_axis){"URLs", "urls", AXIS_COUNT, false});
    make_bars(figures, figure, rosters);
    figures_say(figure,
                "What became of each URL in the log. <i>done</i> is a whole response, whatever its status; "
                "the others are the causes that "
                "crawl.log names in its annotations, or Heritrix's codes in words. %s URLs had no response.",
                axis_number((double)figures->crawls[0]->failed, 0, failed));
}

void figures_make_mimes(const struct figures *figures, struct figure *figure)
{
    const struct roster *rosters[FIGURES_CRAWLS_MAX] = {0};
    for (size_t i = 0; i < figures->count; i++)
        rosters[i] = &figures->crawls[i]->mimes;
    chart_init(&figure->chart, CHART_BARS, &(struct chart_axis){"MIME type", "mime_type", AXIS_COUNT, false},
               &(struct chart_axis){"pages", "pages", AXIS_COUNT, false});
    make_bars(figures, figure, rosters);
    figures_say(figure,
                "Pages by the type that their servers declared, without its parameters; \"-\" is none.");
}

void figures_make_domains(const struct figures *figures, struct figure *figure)
{
    char hosts[AXIS_TEXT_BYTES];
    const struct roster *domains = &figures->domains[0];
    uint64_t count = 0;
    for (size_t i = 0; i < domains->count; i++)
        count += domains->entries[i].urls;
    chart_init(&figure->chart, CHART_BARS,
               &(struct chart_axis){"top-level domain", "domain", AXIS_COUNT, false},
               &(struct chart_axis){"pages", "pages", AXIS_COUNT, false});
    make_bars(figures, figure, (const struct roster *const[]){&figures->domains[0], &figures->domains[1]});
    figures_say(figure, "Pages by the last label of their host's name. %s hosts had a page.",
                axis_number((double)count, 0, hosts));
}

/* Every rank at first, then ever fewer: what a logarithmic axis can show. The last one is always there. */
static void add_ranks(struct chart_series *series, const struct roster *hosts)
{
    size_t count = hosts->count;
    while (count && !hosts->entries[count - 1].pages)
        count--;
    for (size_t rank = 1; rank < count; rank += 1 + rank / RANKS_PER_DOUBLING)
        chart_push(series, (double)rank, (double)hosts->entries[rank - 1].pages);
    if (count)
        chart_push(series, (double)count, (double)hosts->entries[count - 1].pages);
}

void figures_make_hosts(const struct figures *figures, struct figure *figure)
{
    char first[AXIS_TEXT_BYTES], missed[AXIS_TEXT_BYTES];
    const struct roster *hosts = &figures->crawls[0]->hosts;
    chart_init(&figure->chart, CHART_LINES,
               &(struct chart_axis){"rank of the host (log)", "rank", AXIS_COUNT, true},
               &(struct chart_axis){"pages of the host (log)", "pages", AXIS_COUNT, true});
    for (size_t i = 0; i < figures->count; i++)
        if (figures->crawls[i]->pages)
            add_ranks(figures_series(figures, &figure->chart, i, NULL), &figures->crawls[i]->hosts);
    figures_say(figure,
                "Hosts by the number of their pages, the largest first (%s pages). A straight line is a "
                "power law, as the sizes of "
                "web sites usually follow.",
                axis_number(hosts->count ? (double)hosts->entries[0].pages : 0, 0, first));
    if (hosts->names_missed)
        figures_say(figure, " %s URLs of hosts beyond the first %zu are left out.",
                    axis_number((double)hosts->names_missed, 0, missed), hosts->max);
}
