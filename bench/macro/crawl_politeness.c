/* With politeness on, how much of what its rules allow does the scheduler use? crawl_manners.h says what is counted. */
#include <stdio.h>

#include "macro/crawl_manners.h"
#include "macro/crawl_parts.h"

static const struct crawl_report_column columns[] = {
    {"pages/s", "pages_per_s", "%.0f"},
    {"at best", "pages_per_s_at_best", "%.0f"},
    {"share", "share_of_best", "%.3f"},
    {"violations", "violations", "%.0f"},
    {"visits", "visits", "%.0f"},
    {"visit ms", "visit_ms", "%.0f"},
    {"pages/visit", "pages_per_visit", "%.1f"},
    {"cpu s/1k", "cpu_s_per_1000", "%.4f"},
};

static bool judge(const struct crawl_web *web, const struct crawl_run *run, struct crawl_report *report,
                  double *violations)
{
    struct crawl_manners manners;
    if (!crawl_manners_judge(web, NULL, &manners))
        return false;
    crawl_report_add(report, "burst 1 s, host 1:10, address 1:2",
                     (const double[]){manners.rate, manners.rate / manners.share, manners.share, manners.violations,
                                      manners.visits, manners.visit_s * 1000, manners.pages_per_visit,
                                      (run->user_s + run->system_s) * 1000 / (double)run->pages});
    *violations += manners.violations;
    return true;
}

bool crawl_politeness(const struct crawl_settings *settings, struct crawl_report *report)
{
    const char *hosts = settings->is_quick ? "50" : "10000", *addresses = settings->is_quick ? "10" : "2000";
    const char *const options[] = {"--plain", "--hosts",  hosts,     "--addresses", addresses,
                                   "--pages", "3000",     "--depth", "4",           "--think-ms",
                                   "200",     "--rtt-ms", "20",      NULL};
    report->title = "politeness: latencies of 200 ms, share of what the rules allow at best";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    bool good = true;
    double violations = 0;
    for (unsigned i = 0; i < settings->repeats && good; i++) {
        struct crawl_web web;
        struct crawl_run run;
        struct crawl_run_options how = {
            .tuning = crawl_manners_tuning, .seeds = "seeds", .seconds_max = (unsigned)settings->seconds * 8};
        if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options, .journal = true}))
            return false;
        good = crawl_web_write_seeds(&web) && crawl_run(&web, &how, &run);
        crawl_web_finish(&web, true);
        good = good && judge(&web, &run, report, &violations);
        crawl_web_finish(&web, false);
    }
    if (violations > 0)
        fprintf(stderr, "bench_crawl: politeness: the audit found %.0f violations in all rounds\n",
                violations);
    return good && violations == 0;
}
