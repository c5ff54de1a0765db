/* The manners of a client, judged from what the server saw.
 *
 * A visit is what the design calls one: requests to a host, each begun within the burst time from the start
 * of the first, connect included. The audit cannot see where a client thought that a visit began, so it takes
 * every request that comes after a sufficient rest for the beginning of a new one. That is never stricter
 * than the client's own count: a client that keeps the rule is never found guilty.
 *
 * Times are the server's. It sees a connect or a request a little later and the last byte a little earlier
 * than the client; the tolerance is for that, and for nothing else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lockfree/clock.h"
#include "tools/websim/journal.h"
#include "tools/websim/web.h"

/* X(name, what is said of it) */
#define WEBSIM_RULES(X)                                                                                      \
    X(HOST_CONNECTIONS, "connections to one host at a time")                                                 \
    X(ADDRESS_CONNECTIONS, "connections to one address at a time")                                           \
    X(HOST_IDLE, "rest of a host after a visit, by the ratio")                                               \
    X(ADDRESS_IDLE, "rest of an address after a visit, by the ratio")                                        \
    X(MIN_IDLE, "minimum idle time")                                                                         \
    X(DELAY, "fixed delay between two requests to a host")                                                   \
    X(CRAWL_DELAY, "Crawl-delay")                                                                            \
    X(RETRY_AFTER, "Retry-After")                                                                            \
    X(ROBOTS_FIRST, "robots.txt before anything else")                                                       \
    X(FORBIDDEN, "what robots.txt forbids")                                                                  \
    X(REPEATED, "each URL once")

#define WEBSIM_RULE_ENUM(name, text) WEBSIM_RULE_##name,
enum websim_rule { WEBSIM_RULES(WEBSIM_RULE_ENUM) WEBSIM_RULE_COUNT };
#undef WEBSIM_RULE_ENUM

/* A crawler that was killed and resumed. It knows what it had heard before the moment that its last commit covers; what it
 * heard between that and its death, its next process cannot know. By the clock of the journal. */
struct websim_audit_kill {
    uint64_t at_ns;    /* it was dead */
    uint64_t heard_ns; /* what it had heard by then was committed */
};

#define WEBSIM_AUDIT_KILLS_MAX 1024

/* Whatever a crawler commits: what it had heard so long before its death is not forgiven. */
#define WEBSIM_FORGOTTEN_NS_MAX (1 * CLOCK_NS_PER_S)

struct websim_audit_options {
    uint64_t ratio_ppm; /* fetching to idling; 0: not checked */
    uint64_t address_ratio_ppm;
    uint64_t burst_ns;
    uint64_t min_idle_ns;
    uint64_t address_min_idle_ns;
    uint64_t delay_ns; /* fixed-delay mode; 0: not checked */
    uint64_t connections_per_address;
    uint64_t tolerance_ns;
    const char *agent;
    uint64_t kills; /* of the crawler, of unknown moments: each may make it ask for a URL once more */
    struct websim_audit_kill killed[WEBSIM_AUDIT_KILLS_MAX]; /* of known moments */
    size_t killed_count;
    bool robots_known; /* robots.txt need not be fetched first */
};

/* One request. `start` is when the connection was accepted if it is the connection's first. */
struct websim_audit_request {
    uint64_t start, end;
    uint64_t url;
    uint32_t connection;
    uint32_t host, address;
    uint16_t status, retry_after_s;
    bool complete;
};

/* One connection that carried at least one request. */
struct websim_audit_connection {
    uint64_t open, close;
    uint32_t host, address;
};

struct websim_audit_case {
    uint64_t time_ns;   /* when */
    uint64_t excess_ns; /* by how much; 0 where that has no meaning */
    uint64_t url;       /* or UINT64_MAX */
    uint32_t host, address;
};

#define WEBSIM_AUDIT_WORST 5

struct websim_audit_finding {
    uint64_t checked, violations;
    struct websim_audit_case worst[WEBSIM_AUDIT_WORST]; /* the gravest first */
    unsigned worst_count;
};

struct websim_audit {
    struct websim_web web;
    struct websim_audit_options options;
    struct websim_audit_request *requests;
    size_t request_count;
    struct websim_audit_connection *connections;
    size_t connection_count;
    uint64_t unused_connections; /* without a request to a host of ours */
    uint64_t start_ns;
    uint64_t *visits_ns, *rests_ns, *visit_requests; /* for distributions */
    size_t visit_count, rest_count;
    struct websim_audit_finding findings[WEBSIM_RULE_COUNT];
};

/* Takes the journal's records, which it sorts, apart into requests and connections. */
void websim_audit_init(struct websim_audit *audit, struct websim_journal_contents *journal,
                       const struct websim_audit_options *options);
void websim_audit_fini(struct websim_audit *audit);
/* Applies all rules: the number of violations. In websim_rules.c. */
uint64_t websim_audit_judge(struct websim_audit *audit);
void websim_audit_print(struct websim_audit *audit, FILE *out);

const char *websim_rule_text(enum websim_rule rule);
