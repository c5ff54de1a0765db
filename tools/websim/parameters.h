/* Everything that the web is a function of. The same parameters give the same web on any machine; a journal
 * carries them in its head, so that the audit needs no second copy. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "tools/websim/fault.h"
#include "tools/websim/options.h"

/* Host numbers have 24 bits in a packed URL. */
#define WEBSIM_HOSTS_MAX (1u << 24)
/* 127.16.0.0 to 127.255.255.254. */
#define WEBSIM_ADDRESS_FIRST 0x7f100000u
#define WEBSIM_ADDRESSES_MAX (0x7fffffffu - WEBSIM_ADDRESS_FIRST)
#define WEBSIM_AGENT_BYTES   32

/* X(field, option, type, default, value with --plain, smallest, largest, help) */
/* clang-format off */
#define WEBSIM_PARAMETERS_SHAPE(X)                                                                                \
    X(seed, "seed", COUNT, 1, 1, 0, UINT64_MAX, "number that the web grows from")                                 \
    X(hosts, "hosts", COUNT, 1000, 1000, 1, WEBSIM_HOSTS_MAX, "hosts")                                            \
    X(addresses, "addresses", COUNT, 0, 0, 0, WEBSIM_ADDRESSES_MAX, "IP addresses; 0: one for ten hosts")         \
    X(pages, "pages", COUNT, 100, 100, 1, 1000000, "pages per host, mean of a power law")                         \
    X(depth, "depth", COUNT, 8, 8, 1, 24, "clicks from a host's root to any of its pages, at most")               \
    X(links, "links", COUNT, 20, 20, 1, 10000, "links per page, mean of a log-normal")                            \
    X(external, "external", SHARE, 200000, 200000, 0, 1000000, "share of links that leave the host")              \
    X(size, "size", BYTES, 10240, 10240, 256, 16 << 20, "bytes per page, mean of a log-normal")                   \
    X(size_max, "size-max", BYTES, 4 << 20, 4 << 20, 256, 64 << 20, "largest page, unless its links need more")   \
    X(size_spread, "size-spread", COUNT, 75, 75, 0, 300, "deviation of the logarithm of the size, in hundredths") \
    X(redirects, "redirects", SHARE, 20000, 20000, 0, 1000000, "share of leaf pages that redirect")               \
    X(duplicates, "duplicates", SHARE, 30000, 30000, 0, 1000000, "share of leaf pages that repeat another")       \
    X(near, "near-duplicates", SHARE, 30000, 30000, 0, 1000000, "share that repeat another but for a sentence")   \
    X(meta, "meta-nofollow", SHARE, 5000, 5000, 0, 1000000, "share of leaf pages with a robots meta nofollow")    \
    X(gone, "gone", SHARE, 10000, 10000, 0, 1000000, "share of links that lead to a 404")                         \
    X(sessions, "sessions", SHARE, 10000, 10000, 0, 1000000, "share of links with a session id")                  \
    X(nofollow, "nofollow", SHARE, 20000, 20000, 0, 1000000, "share of links with rel=nofollow")                  \
    X(base, "base", SHARE, 50000, 50000, 0, 1000000, "share of pages with a base href")                           \
    X(https, "https", SHARE, 0, 0, 0, 1000000, "share of hosts that are https")                                   \
    X(port, "port", COUNT, 8080, 8080, 0, 65535, "port of http; serve: 0 picks a free one")                       \
    X(tls_port, "tls-port", COUNT, 8443, 8443, 0, 65535, "port of https; serve: 0 picks a free one")              \
    X(refuse_port, "refuse-port", COUNT, 8079, 8079, 0, 65535, "port on which connections are refused")

#define WEBSIM_PARAMETERS_MANNERS(X)                                                                              \
    X(rtt_ms, "rtt-ms", COUNT, 10, 0, 0, 60000, "delay of a connection's first answer, mean over hosts")          \
    X(think_ms, "think-ms", COUNT, 5, 0, 0, 60000, "delay of every answer, mean over hosts")                      \
    X(bandwidth, "bandwidth", BYTES, 4 << 20, 0, 0, UINT64_C(1) << 40, "bytes per second, mean over hosts; 0: any") \
    X(chunked, "chunked", SHARE, 300000, 0, 0, 1000000, "share of hosts that send chunks")                        \
    X(gzip, "gzip", SHARE, 400000, 0, 0, 1000000, "share of hosts that compress with gzip")                       \
    X(brotli, "brotli", SHARE, 100000, 0, 0, 1000000, "share of hosts that compress with brotli")                 \
    X(zstd, "zstd", SHARE, 50000, 0, 0, 1000000, "share of hosts that compress with zstd")                        \
    X(limited, "connection-limit", SHARE, 50000, 0, 0, 1000000, "share of hosts that answer 503 beyond 2-4 connections") \
    X(closing, "close-after", SHARE, 200000, 0, 0, 1000000, "share of hosts that close after 1-64 requests")      \
    X(robots_absent, "robots-absent", SHARE, 300000, 1000000, 0, 1000000, "share of hosts whose robots.txt is 404") \
    X(robots_rules, "robots-rules", SHARE, 250000, 0, 0, 1000000, "share with rules for all")                     \
    X(robots_agent, "robots-agent", SHARE, 100000, 0, 0, 1000000, "share with rules for --agent and for others")  \
    X(robots_delay, "robots-delay", SHARE, 20000, 0, 0, 1000000, "share with a Crawl-delay")                      \
    X(robots_error, "robots-error", SHARE, 10000, 0, 0, 1000000, "share whose robots.txt is a 500")               \
    X(robots_moved, "robots-moved", SHARE, 40000, 0, 0, 1000000, "share whose robots.txt redirects to rules")     \
    X(robots_closed, "robots-closed", SHARE, 20000, 0, 0, 1000000, "share that forbid everything")                \
    X(crawl_delay_ms, "crawl-delay-ms", COUNT, 1000, 1000, 1, 600000, "the largest Crawl-delay")                  \
    X(sitemaps, "sitemaps", SHARE, 300000, 0, 0, 1000000, "share of hosts with a sitemap")                        \
    X(throttled, "throttled", SHARE, 10000, 0, 0, 1000000, "share of hosts that answer 429 now and then")         \
    X(spells, "spells", SHARE, 10000, 0, 0, 1000000, "share of hosts that answer 503 one second in eight")        \
    X(retry_s, "retry-s", COUNT, 1, 1, 1, 3600, "Retry-After of a 429")                                           \
    X(bomb_size, "bomb-size", BYTES, 64 << 20, 64 << 20, 4096, UINT64_C(1) << 32, "what a gzip bomb unpacks to")  \
    X(head_size, "head-size", BYTES, 256 << 10, 256 << 10, 4096, 64 << 20, "an oversized head")                   \
    X(drip_ms, "drip-ms", COUNT, 100, 100, 1, 60000, "time between two bytes of a slow drip")

/* clang-format on */
#define WEBSIM_PARAMETERS(X) WEBSIM_PARAMETERS_SHAPE(X) WEBSIM_PARAMETERS_MANNERS(X)

struct websim_parameters {
#define WEBSIM_FIELD(field, ...) uint64_t field;
    WEBSIM_PARAMETERS(WEBSIM_FIELD)
#undef WEBSIM_FIELD
    uint64_t faults[WEBSIM_FAULT_COUNT];
    char agent[WEBSIM_AGENT_BYTES];
    bool plain;
};

#define WEBSIM_PARAMETERS_ROWS_MAX 64

/* The defaults: those of --plain if it is among the arguments. */
void websim_parameters_default(struct websim_parameters *parameters, int argc, char **argv);
/* The options that set them, for a command's table: at most WEBSIM_PARAMETERS_ROWS_MAX rows. */
size_t websim_parameters_rows(struct websim_parameters *parameters, struct websim_option *rows);
/* After the options were read: fills what depends on others, and looks for what cannot be. 0, or
 * WEBSIM_EXIT_USAGE after one line on stderr. */
int websim_parameters_settle(struct websim_parameters *parameters, const char *command);
