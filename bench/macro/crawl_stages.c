/* What each stage of a crawl costs. The rows of a round run one after another on the same web, so that a
 * noisy moment hits all of them. */
#include <stdio.h>
#include <string.h>

#include "macro/crawl_parts.h"

/* 10 KB pages with 20 links. */
#define PAGE_BYTES 10240

enum { WEB_PLAIN, WEB_GZIP, WEB_TLS, WEB_COUNT };

struct stage {
    const char *name;
    int web;
    const char *seeds;
    const char *tuning;
};

#define STORE_NONE "[store]\nkind = none\n"

static const struct stage stages[] = {
    {"fetch, every URL a seed", WEB_PLAIN, "urls", STORE_NONE "[limits]\nlinks-per-page = 0\n"},
    {"+ links, URLs, all known to sieve", WEB_PLAIN, "urls", STORE_NONE},
    {"whole crawl from root pages", WEB_PLAIN, "seeds", STORE_NONE},
    {"whole crawl, pages in gzip", WEB_GZIP, "seeds", STORE_NONE},
    {"whole crawl + WARC", WEB_PLAIN, "seeds", "[store]\ncompress = none\n"},
    {"whole crawl + WARC gzip", WEB_PLAIN, "seeds", "[store]\ncompress = gzip\n"},
    {"whole crawl + WARC zstd", WEB_PLAIN, "seeds", "[store]\ncompress = zstd\n"},
    {"whole crawl over TLS", WEB_TLS, "seeds", STORE_NONE},
};

struct webs {
    struct crawl_web web[WEB_COUNT];
    struct crawl_web_truth truth[WEB_COUNT];
    char hosts[16], pages[16];
    const char *options[WEB_COUNT][12];
    int open;
};

static bool open_webs(struct webs *webs, const struct crawl_settings *settings)
{
    static const char *const shares[WEB_COUNT][2] = {{NULL, NULL}, {"--gzip", "1"}, {"--https", "1"}};
    snprintf(webs->hosts, sizeof webs->hosts, "%u", settings->hosts);
    snprintf(webs->pages, sizeof webs->pages, "%u", settings->pages);
    for (; webs->open < WEB_COUNT; webs->open++) {
        const char *const options[] = {"--plain",
                                       "--hosts",
                                       webs->hosts,
                                       "--pages",
                                       webs->pages,
                                       shares[webs->open][0],
                                       shares[webs->open][1],
                                       NULL};
        struct crawl_web *web = &webs->web[webs->open];
        memcpy(webs->options[webs->open], options, sizeof options);
        struct crawl_web_options how = {.web = webs->options[webs->open]};
        if (!crawl_web_begin(web, &how) || !crawl_web_write_seeds(web) ||
            !crawl_web_write_truth(web, PAGE_BYTES, &webs->truth[webs->open]))
            return false;
    }
    return true;
}

static void close_webs(struct webs *webs)
{
    for (int i = 0; i < webs->open; i++)
        crawl_web_finish(&webs->web[i], false);
}

/* Set-up is measured by a crawl that ends after one page, and not counted. It runs twice, the first time for
 * nothing: memory that nobody has used for a while is slower to get, on a virtual machine ten times. */
static bool run_stage(const struct webs *webs, const struct stage *stage, struct crawl_report *report)
{
    char tuning[1024];
    struct crawl_run run, setup;
    snprintf(tuning, sizeof tuning, "%s%s", crawl_run_rude, stage->tuning);
    struct crawl_run_options options = {.tuning = tuning, .seeds = stage->seeds},
                             short_options = {.tuning = tuning, .seeds = stage->seeds, .pages_max = 1};
    const struct crawl_web *web = &webs->web[stage->web];
    if (!crawl_run(web, &short_options, &setup) || !crawl_run(web, &short_options, &setup) ||
        !crawl_run(web, &options, &run))
        return false;
    crawl_run_without(&run, &setup);
    if (run.pages != webs->truth[stage->web].pages)
        fprintf(stderr, "bench_crawl: %s: %llu pages of %llu\n", stage->name, (unsigned long long)run.pages,
                (unsigned long long)webs->truth[stage->web].pages);
    crawl_report_add_run(report, stage->name, &run);
    return run.pages == webs->truth[stage->web].pages;
}

static bool run_round(const struct webs *webs, const struct crawl_settings *settings,
                      struct crawl_report *report)
{
    struct crawl_peer_result result;
    if (!crawl_peer_wrk(webs->web[WEB_PLAIN].http_port, webs->truth[WEB_PLAIN].page, settings->seconds,
                        &result))
        return false;
    crawl_report_add_peer(report, "wrk on one page", &result);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        if (!run_stage(webs, &stages[i], report))
            return false;
    struct crawl_web_options options = {.web = webs->options[WEB_PLAIN]};
    for (int peer = 0; peer < CRAWL_PEER_COUNT && settings->peers; peer++) {
        const char *name = crawl_peer_name((enum crawl_peer)peer);
        const char *absent = crawl_peer_absent((enum crawl_peer)peer);
        if (absent)
            crawl_report_row(report, name)->note = absent;
        else if (crawl_peer_run((enum crawl_peer)peer, &options, settings->seconds * 2, &result))
            crawl_report_add_peer(report, name, &result);
        else
            crawl_report_row(report, name)->note = "fetched nothing";
    }
    return true;
}

bool crawl_stages(const struct crawl_settings *settings, struct crawl_report *report)
{
    static struct webs webs;
    report->title = "stages of a crawl: server on the last processor, crawler on the first, no politeness";
    bool good = open_webs(&webs, settings);
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = run_round(&webs, settings, report);
    close_webs(&webs);
    return good;
}
