/* One host with very many seeds in a whole crawl with politeness: do the others get less?
 *
 * Two crawls of the same web by turns. One begins with the root pages of all hosts. The other has, after them, the many
 * seeds of a host that is alone at its address. The web answers these with 404, so that they lead nowhere and the rows
 * differ in nothing else. What the other hosts got is computed from the server's journal (crawl_manners.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macro/crawl_manners.h"
#include "macro/crawl_parts.h"

static const struct crawl_report_column columns[] = {
    {"pages/s", "pages_per_s_of_others", "%.0f"},
    {"share", "share_of_best_of_others", "%.3f"},
    {"of without", "share_by_pairs", "%.4f"}, /* the share by that without the seeds, in the same round */
    {"violations", "violations", "%.0f"},
    {"its pages", "pages_of_the_whale", "%.0f"},
    {"on disk", "share_on_disk", "%.3f"},
    {"peak MB", "peak_megabytes", "%.0f"},
};

struct whale {
    const struct crawl_settings *settings;
    struct crawl_report *report;
    const char *const *options; /* of the web */
    double share;               /* of the others without it, in this round */
    double violations;
};

/* "http://NAME:PORT/" of a host that is alone at its address. */
static bool find_whale(const struct crawl_web *web, char origin[128])
{
    struct crawl_manners_zone zone;
    bool found = false;
    if (!crawl_manners_read_zone(web, &zone))
        return false;
    for (size_t i = 0; i < zone.count && !found; i++) {
        const struct crawl_manners_host *host = &zone.hosts[i];
        found = (i == 0 || strcmp(host[-1].address, host->address) != 0) &&
                (i + 1 == zone.count || strcmp(host[1].address, host->address) != 0);
        if (found)
            snprintf(origin, 128, "http://%.*s:%u/", (int)strlen(host->name) - 1, host->name, web->http_port);
    }
    free(zone.hosts);
    if (!found)
        fprintf(stderr, "bench_crawl: whale: no host of the web is alone at its address\n");
    return found;
}

static bool write_seeds(const struct crawl_web *web, const char *origin, uint64_t count)
{
    char path[CRAWL_WEB_PATH_BYTES];
    if (!crawl_web_write_seeds(web))
        return false;
    FILE *file = fopen(crawl_web_path(web, "seeds", path), "ae");
    for (uint64_t i = 0; file && i < count; i++)
        fprintf(file, "%scalendar/month-%llu\n", origin, (unsigned long long)i);
    return file && fclose(file) == 0;
}

static bool run_row(struct whale *whale, const char *name, uint64_t count)
{
    char origin[128], tuning[1024];
    struct crawl_web web;
    struct crawl_run run;
    struct crawl_manners manners;
    snprintf(tuning, sizeof tuning, "%s[memory]\nfrontier = 256MiB\n[log]\nsource = no\n", crawl_manners_tuning);
    struct crawl_run_options how = {
        .tuning = tuning, .seeds = "seeds", .seconds_max = (unsigned)whale->settings->seconds * 8};
    if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = whale->options, .journal = true}))
        return false;
    bool good = find_whale(&web, origin) && write_seeds(&web, origin, count) && crawl_run(&web, &how, &run);
    crawl_web_finish(&web, true);
    good = good && crawl_manners_judge(&web, origin, &manners);
    crawl_web_finish(&web, false);
    if (!good)
        return false;
    whale->violations += manners.violations;
    whale->share = count ? whale->share : manners.share;
    crawl_report_add(whale->report, name,
                     (const double[]){manners.rate, manners.share, manners.share / whale->share, manners.violations,
                                      manners.pages_apart, run.on_disk / run.urls_in, (double)run.peak_bytes / 1e6});
    return true;
}

bool crawl_whale(const struct crawl_settings *settings, struct crawl_report *report)
{
    const char *hosts = settings->is_quick ? "100" : "10001", *addresses = settings->is_quick ? "60" : "2000";
    const char *const options[] = {"--plain", "--hosts", hosts,        "--addresses", addresses,  "--pages", "3000",
                                   "--depth", "4",       "--think-ms", "200",         "--rtt-ms", "20",      NULL};
    struct whale whale = {.settings = settings, .report = report, .options = options};
    char beside[64];
    snprintf(beside, sizeof beside, "beside %llu seeds of one host", (unsigned long long)settings->whale);
    report->title = "whale: the other hosts of a polite crawl, without and beside very many seeds of one host";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    report->spread_columns = 3;
    bool good = true;
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = run_row(&whale, "without", 0) && run_row(&whale, beside, settings->whale);
    if (whale.violations > 0)
        fprintf(stderr, "bench_crawl: whale: the audit found %.0f violations in all rounds\n", whale.violations);
    return good && whale.violations == 0;
}
