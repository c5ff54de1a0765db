/* The parts of bench_crawl. Each prints its table, adds its report to the JSON and returns false if a run
 * failed. */
#pragma once

#include <stdbool.h>

#include "macro/crawl_report.h"

struct crawl_settings {
    unsigned repeats;
    unsigned hosts; /* of the web */
    unsigned pages; /* per host, mean */
    uint64_t known; /* URLs of the part of that name */
    double seconds; /* of a run that has no end of its own */
    bool peers;
    bool is_quick; /* smallest sizes: to see that it works */
};

/* The server of the web beside nginx. */
bool crawl_server(const struct crawl_settings *settings, struct crawl_report *report);
/* Stages of a crawl one after another, beside wrk and other crawlers. */
bool crawl_stages(const struct crawl_settings *settings, struct crawl_report *report);
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
/* 200 million URLs of long queues in fixed memory, and one such queue beside short ones. */
bool crawl_disk(const struct crawl_settings *settings, struct crawl_report *report);
/* A crawl that was resumed with many URLs that are done, by kind of sieve. */
bool crawl_known(const struct crawl_settings *settings, struct crawl_report *report);
/* The share of what the rules of politeness allow, and the audit. */
bool crawl_politeness(const struct crawl_settings *settings, struct crawl_report *report);
