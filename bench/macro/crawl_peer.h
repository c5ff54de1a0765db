/* The same web by programs that others wrote, measured the same way. Their names are resolved through a hosts
 * file that they see in place of /etc/hosts, in a mount namespace of their own; what they fetched is counted
 * by the server's journal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "macro/crawl_web.h"

enum crawl_peer { CRAWL_PEER_WGET2, CRAWL_PEER_HTTRACK, CRAWL_PEER_SCRAPY, CRAWL_PEER_COUNT };

struct crawl_peer_result {
    double pages;
    double seconds;
    double cpu_s;
    double received; /* bytes; 0: not known */
    uint64_t peak_bytes;
};

const char *crawl_peer_name(enum crawl_peer peer);
/* NULL, or why it cannot be run here. */
const char *crawl_peer_absent(enum crawl_peer peer);
/* Crawls for at most `seconds`. */
bool crawl_peer_run(enum crawl_peer peer, const struct crawl_web_options *options, double seconds,
                    struct crawl_peer_result *result);

/* wrk, one thread on processor 0, on one page of the server that has this port of 127.0.0.1. */
bool crawl_peer_wrk(uint16_t port, const char *url, double seconds, struct crawl_peer_result *result);
