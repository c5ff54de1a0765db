/* The parts of bench_crawl. Each prints its table, adds its report to the JSON and returns false if a run
 * failed. */
#pragma once

#include <stdbool.h>

#include "macro/crawl_build.h"
#include "macro/crawl_filter.h"
#include "macro/crawl_report.h"

struct crawl_settings {
    unsigned repeats;
    unsigned hosts; /* of the web */
    unsigned pages; /* per host, mean */
    uint64_t known; /* URLs of the part of that name */
    uint64_t urls;  /* of the largest row of disk */
    uint64_t whale; /* seeds of the largest host of the part of that name */
    double seconds; /* of a run that has no end of its own */
    bool peers;
    bool is_quick; /* smallest sizes: to see that it works */
    struct crawl_filter filter;
    const struct crawl_build *other; /* crawls the rows of stages and production as well; NULL: none */
};

/* The server of the web beside nginx. */
bool crawl_server(const struct crawl_settings *settings, struct crawl_report *report);
/* Stages of a crawl one after another, beside wrk and other crawlers. */
bool crawl_stages(const struct crawl_settings *settings, struct crawl_report *report);
/* Pages stored or not, journal or not, near-duplicates, URLs on disk: one thing more in each row. */
bool crawl_production(const struct crawl_settings *settings, struct crawl_report *report);
/* 100 to 40,000 connections to servers that take their time. */
bool crawl_connections(const struct crawl_settings *settings, struct crawl_report *report);
/* 1,000 to 1,000,000 hosts. */
bool crawl_hosts(const struct crawl_settings *settings, struct crawl_report *report);
/* One loop, two, and so on. */
bool crawl_loops(const struct crawl_settings *settings, struct crawl_report *report);
/* Up to 50 million URLs in the frontier. */
bool crawl_queue(const struct crawl_settings *settings, struct crawl_report *report);
/* 20 million URLs in queues on disk. */
bool crawl_slots(const struct crawl_settings *settings, struct crawl_report *report);
/* 200 million URLs of long queues in fixed memory, one such queue beside short ones, and more hosts than memory holds. */
bool crawl_disk(const struct crawl_settings *settings, struct crawl_report *report);
/* A crawl that was resumed with many URLs that are done, by kind of sieve. */
bool crawl_known(const struct crawl_settings *settings, struct crawl_report *report);
/* One host with very many seeds beside 10,000 small ones, politeness on. */
bool crawl_whale(const struct crawl_settings *settings, struct crawl_report *report);
/* The share of what the rules of politeness allow, and the audit. */
bool crawl_politeness(const struct crawl_settings *settings, struct crawl_report *report);
