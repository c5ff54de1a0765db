/* What each stage of a crawl costs, and what the ways to keep pages and to survive do. */
#include "macro/crawl_rounds.h"

#define STORE_NONE "[store]\nkind = none\n"
#define STORE_GZIP "[store]\ncompress = gzip\n"
#define NO_INDEX   "[store]\nindex = no\n"
#define NO_JOURNAL "[state]\njournal = no\n"
#define NEAR       "[duplicates]\nkind = near\n"
/* So little that nearly all URLs wait on disk, if they are known from the beginning. */
#define SPILLED "[memory]\nfrontier = 1MiB\nhosts = 64\n"

static const struct crawl_rounds_row stages[] = {
    {.name = "fetch, every URL a seed", .seeds = "urls", .tuning = STORE_NONE "[limits]\nlinks-per-page = 0\n"},
    {.name = "+ links, URLs, all known to sieve", .seeds = "urls", .tuning = STORE_NONE},
    {.name = "whole crawl from root pages", .seeds = "seeds", .tuning = STORE_NONE},
    {.name = "whole crawl, pages in gzip", .web = CRAWL_ROUNDS_GZIP, .seeds = "seeds", .tuning = STORE_NONE},
    {.name = "whole crawl + WARC", .seeds = "seeds", .tuning = "[store]\ncompress = none\n"},
    {.name = "whole crawl + WARC gzip", .seeds = "seeds", .tuning = STORE_GZIP},
    {.name = "whole crawl + WARC zstd",
     .seeds = "seeds",
     .tuning = "[store]\ncompress = zstd\n",
     .needs = "[store]\ncompress = zstd\n"},
    {.name = "whole crawl over TLS", .web = CRAWL_ROUNDS_TLS, .seeds = "seeds", .tuning = STORE_NONE},
};

/* Beside the first rows: one thing more, or less, in each. */
static const struct crawl_rounds_row production[] = {
    {.name = "store none", .seeds = "seeds", .tuning = STORE_NONE},
    {.name = "store none, no journal", .seeds = "seeds", .tuning = STORE_NONE NO_JOURNAL, .of = "store none"},
    {.name = "store none, near-duplicates",
     .seeds = "seeds",
     .tuning = STORE_NONE NEAR,
     .needs = NEAR,
     .of = "store none"},
    {.name = "WARC plain", .seeds = "seeds", .tuning = "[store]\ncompress = none\n", .of = "store none"},
    {.name = "WARC gzip", .seeds = "seeds", .tuning = STORE_GZIP, .of = "store none"},
    {.name = "WARC gzip, no index", .seeds = "seeds", .tuning = STORE_GZIP NO_INDEX, .of = "WARC gzip"},
    {.name = "WARC gzip, no journal", .seeds = "seeds", .tuning = STORE_GZIP NO_JOURNAL, .of = "WARC gzip"},
    {.name = "WARC gzip, near-duplicates",
     .seeds = "seeds",
     .tuning = STORE_GZIP NEAR,
     .needs = NEAR,
     .of = "WARC gzip"},
    {.name = "WARC zstd",
     .seeds = "seeds",
     .tuning = "[store]\ncompress = zstd\n",
     .needs = "[store]\ncompress = zstd\n",
     .of = "WARC gzip"},
    {.name = "every URL a seed, in memory", .seeds = "urls", .tuning = STORE_NONE},
    {.name = "every URL a seed, on disk",
     .seeds = "urls",
     .tuning = STORE_NONE SPILLED,
     .needs = "[state]\nspill = yes\n",
     .of = "every URL a seed, in memory"},
};

bool crawl_stages(const struct crawl_settings *settings, struct crawl_report *report)
{
    static struct crawl_report pairs;
    const struct crawl_rounds rounds = {
        .rows = stages, .count = sizeof stages / sizeof stages[0], .with_peers = true, .pairs = &pairs};
    report->title = "stages of a crawl: server on the last processor, crawler on the first, no politeness";
    return crawl_rounds_run(&rounds, settings, report);
}

bool crawl_production(const struct crawl_settings *settings, struct crawl_report *report)
{
    static struct crawl_report pairs;
    const struct crawl_rounds rounds = {
        .rows = production, .count = sizeof production / sizeof production[0], .pairs = &pairs};
    report->title = "whole crawls that keep their pages and can be resumed, or not; as stages";
    return crawl_rounds_run(&rounds, settings, report);
}
