#include "macro/crawl_seeds.h"

#include <stdio.h>

/* The crawl ends after so many pages: its memory does not grow after the seeds were read. */
enum { PAGES_MAX = 20000 };

static const struct crawl_report_column columns[] = {
    {"anon MB", "anonymous_megabytes", "%.1f"},
    {"of first", "by_first_row", "%.3f"}, /* in the same round */
    {"peak MB", "peak_megabytes", "%.1f"},
    {"on disk", "share_on_disk", "%.4f"},
    {"pages", "pages", "%.0f"},
};

struct row {
    const char *name, *seeds, *hosts; /* as many as seeds */
    const char *memory_hosts;
    unsigned pages_max;
};

static bool run_row(const struct row *row, struct crawl_report *report)
{
    const char *const options[] = {"--plain", "--hosts", row->hosts, "--pages", "1", NULL};
    char tuning[1024];
    struct crawl_web web;
    struct crawl_run run;
    snprintf(tuning, sizeof tuning, "%s[store]\nkind = none\n[log]\nsource = no\n[memory]\nhosts = %s\n", crawl_run_rude,
             row->memory_hosts);
    struct crawl_run_options how = {
        .tuning = tuning, .seeds = "seeds", .pages_max = row->pages_max, .watches_memory = true};
    if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options}))
        return false;
    bool good = crawl_web_ask(&web, (const char *const[]){"seeds", "--count", row->seeds, NULL}, "seeds") &&
                crawl_run(&web, &how, &run);
    crawl_web_finish(&web, false);
    if (!good)
        return false;
    double anonymous = (double)run.anonymous_bytes / 1e6;
    if (report->count == 0 || crawl_report_row(report, row->name) == &report->rows[0])
        report->first_rate = anonymous;
    crawl_report_add(report, row->name,
                     (const double[]){anonymous, anonymous / report->first_rate, (double)run.peak_bytes / 1e6,
                                      run.on_disk / run.urls_in, (double)run.pages});
    return true;
}

bool crawl_seeds(const struct crawl_settings *settings, struct crawl_report *report)
{
    static const struct row rows[] = {{"1 million hosts, room for 10,000", "1000000", "1000000", "10K", PAGES_MAX},
                                      {"10 million hosts, room for 10,000", "10000000", "10000000", "10K", PAGES_MAX}};
    static const struct row quick[] = {{"2,000 hosts, room for 200", "2000", "2000", "200", 1000},
                                       {"20,000 hosts, room for 200", "20000", "20000", "200", 1000}};
    bool good = true;
    report->title = "A seed on each of very many hosts, whole crawls that end soon";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    report->spread_columns = 2;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0] && good; r++) {
        const struct row *row = settings->is_quick ? &quick[r] : &rows[r];
        if (crawl_filter_wants(&settings->filter, row->name))
            good = run_row(row, report);
    }
    return good;
}
