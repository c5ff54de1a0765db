/* How a crawl grows: connections, hosts, loops. Politeness is off throughout. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "macro/crawl_parts.h"

/* Latency of every answer. */
#define THINK_MS "200"
/* Descriptors of one ring come out of a table as large as the limit of open files. This many a loop keeps for
 * connections that are being closed. */
#define DESCRIPTORS_SPARE 64

static unsigned loops_for(unsigned connections)
{
    unsigned limit = (unsigned)sysconf(_SC_OPEN_MAX), processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    unsigned loops = (connections + limit - 1) / (limit - DESCRIPTORS_SPARE);
    return loops < 1 ? 1 : loops > processors ? processors : loops;
}

/* As many as the limit of open files lets the loops have. */
static unsigned possible(unsigned connections, unsigned loops)
{
    unsigned limit = loops * ((unsigned)sysconf(_SC_OPEN_MAX) - DESCRIPTORS_SPARE);
    return connections < limit ? connections : limit;
}

static bool run_connections(const struct crawl_web *web, unsigned connections, unsigned loops,
                            const struct crawl_settings *settings, struct crawl_report *report)
{
    char tuning[1024], name[64];
    struct crawl_run run;
    snprintf(tuning, sizeof tuning, "%s[store]\nkind = none\n[net]\nconnections = %u\ndns-timeout = 5s\n",
             crawl_run_rude, connections);
    struct crawl_run_options options = {
        .tuning = tuning, .seeds = "seeds", .threads = loops, .seconds_max = (unsigned)settings->seconds * 4};
    if (!crawl_run(web, &options, &run))
        return false;
    snprintf(name, sizeof name, "%u connections, %u loops", connections, loops);
    /* The first half is spent on names and connections. */
    run.seconds = run.late_rate > 0 ? (double)run.pages / run.late_rate : run.seconds;
    crawl_report_add_run(report, name, &run);
    return true;
}

bool crawl_connections(const struct crawl_settings *settings, struct crawl_report *report)
{
    static const unsigned counts[] = {1000, 100, 10000, 40000};
    const char *hosts = settings->is_quick ? "200" : "50000";
    const char *const options[] = {"--plain", "--hosts", hosts, "--think-ms",
                                   THINK_MS,  "--pages", "200", NULL};
    const char *const serve[] = {"--threads", "3", "--no-pin", "--connections", "16384", NULL};
    struct crawl_web web;
    report->title = "connections: every answer takes " THINK_MS " ms; rates of the second half of the run";
    if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options, .serve = serve}))
        return false;
    bool good = crawl_web_write_seeds(&web);
    unsigned last = settings->is_quick ? 2 : sizeof counts / sizeof counts[0];
    /* As many loops for few connections as for many: the rows differ in one thing. */
    unsigned loops = loops_for(counts[last - 1]);
    for (unsigned i = 0; i < settings->repeats && good; i++)
        for (unsigned c = 0; c < last && good; c++)
            good = run_connections(&web, possible(counts[c], loops), loops, settings, report);
    crawl_web_finish(&web, false);
    return good;
}

/* Without what it took to read the seeds and to set up: a crawl of one page, the second of two. */
static bool run_hosts(const struct crawl_web *web, const char *hosts, const struct crawl_settings *settings,
                      struct crawl_report *report)
{
    char tuning[1024], name[64];
    struct crawl_run run, setup;
    /* No more connections with many hosts than with few: the rows differ in one thing. */
    snprintf(tuning, sizeof tuning, "%s[store]\nkind = none\n[net]\nconnections = 256\n", crawl_run_rude);
    struct crawl_run_options options = {
        .tuning = tuning, .seeds = "seeds", .seconds_max = (unsigned)settings->seconds * 4};
    struct crawl_run_options short_options = options;
    short_options.pages_max = 1;
    if (!crawl_run(web, &short_options, &setup) || !crawl_run(web, &short_options, &setup) ||
        !crawl_run(web, &options, &run))
        return false;
    crawl_run_without(&run, &setup);
    snprintf(name, sizeof name, "%s hosts", hosts);
    crawl_report_add_run(report, name, &run);
    return true;
}

bool crawl_hosts(const struct crawl_settings *settings, struct crawl_report *report)
{
    /* Some 400,000 pages each; of the last, as many as time allows. */
    static const char *const counts[] = {"1000", "30000", "1000000"}, *const pages[] = {"400", "14", "10"};
    bool good = true;
    report->title = "hosts: all root pages are seeds, 256 connections, set-up not counted";
    for (unsigned c = 0; c < (settings->is_quick ? 1 : 3) && good; c++) {
        const char *const options[] = {"--plain", "--hosts", counts[c], "--pages", pages[c], NULL};
        struct crawl_web web;
        if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options}))
            return false;
        good = crawl_web_write_seeds(&web);
        for (unsigned i = 0; i < settings->repeats && good; i++)
            good = run_hosts(&web, counts[c], settings, report);
        crawl_web_finish(&web, false);
    }
    return good;
}

static const struct crawl_report_column race_columns[] = {
    {"all", "lost_races", "%.0f"},
    {"ready rings", "ready_rings", "%.0f"},
    {"host inbox", "host_inboxes", "%.0f"},
    {"loop inbox", "loop_inboxes", "%.0f"},
    {"host map", "host_map", "%.0f"},
    {"address map", "address_map", "%.0f"},
    {"sieve", "sieve", "%.0f"},
    {"pools", "pools", "%.0f"},
};
_Static_assert(sizeof race_columns / sizeof race_columns[0] == 1 + CRAWL_RUN_SHARED, "one each and the sum");

static void add_races(struct crawl_report *races, const char *name, const struct crawl_run *run)
{
    double values[1 + CRAWL_RUN_SHARED] = {run->lost_races};
    memcpy(values + 1, run->lost_races_by, sizeof run->lost_races_by);
    crawl_report_add(races, name, values);
}

bool crawl_loops(const struct crawl_settings *settings, struct crawl_report *report)
{
    char hosts[16], pages[16], tuning[1024], threads[16];
    const char *const options[] = {"--plain", "--hosts", hosts, "--pages", pages, NULL};
    /* A server on one processor would have half of it beside a loop there, and be what is measured. */
    const char *const serve[] = {"--threads", threads, "--no-pin", NULL};
    static struct crawl_report races = {.title =
                                            "loops: compare-and-swaps that failed, by what the loops share",
                                        .columns = race_columns,
                                        .column_count = 1 + CRAWL_RUN_SHARED};
    struct crawl_web web;
    struct crawl_web_truth truth;
    unsigned most = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    report->title = "loops: on all processors, which a server with as many threads shares";
    report->below = &races;
    snprintf(threads, sizeof threads, "%u", most);
    snprintf(hosts, sizeof hosts, "%u", settings->hosts);
    snprintf(pages, sizeof pages, "%u", settings->pages);
    snprintf(tuning, sizeof tuning, "%s[store]\nkind = none\n", crawl_run_rude);
    if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options, .serve = serve}))
        return false;
    bool good = crawl_web_write_seeds(&web) && crawl_web_write_truth(&web, 10240, &truth);
    for (unsigned i = 0; i < settings->repeats && good; i++)
        for (unsigned loops = 1; loops <= most && loops <= 64 && good; loops *= 2) {
            struct crawl_run run;
            char name[32];
            struct crawl_run_options how = {.tuning = tuning, .seeds = "seeds", .threads = loops};
            good = crawl_run(&web, &how, &run) && run.pages == truth.pages;
            if (!good)
                fprintf(stderr, "bench_crawl: %u loops lost pages\n", loops);
            snprintf(name, sizeof name, "%u loops", loops);
            crawl_report_add_run(report, name, &run);
            add_races(&races, name, &run);
        }
    crawl_web_finish(&web, false);
    return good;
}
