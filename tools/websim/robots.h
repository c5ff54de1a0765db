/* The robots.txt of each host, as a struct of rules from which both the text and the decision are made. The
 * decision is RFC 9309: the longest pattern wins, allow wins a tie, * and $ are special. */
#pragma once

#include "tools/websim/web.h"

enum websim_robots {
    WEBSIM_ROBOTS_ALLOWING,
    WEBSIM_ROBOTS_ABSENT,
    WEBSIM_ROBOTS_RULES,
    WEBSIM_ROBOTS_AGENT, /* a group for --agent and one for all others */
    WEBSIM_ROBOTS_DELAY, /* the rules, and a Crawl-delay */
    WEBSIM_ROBOTS_ERROR, /* 500: everything is forbidden */
    WEBSIM_ROBOTS_MOVED, /* redirects to the rules */
    WEBSIM_ROBOTS_CLOSED,
};

enum websim_robots websim_robots_of(const struct websim_web *web, uint32_t host);
bool websim_robots_has_sitemap(const struct websim_web *web, uint32_t host);
/* In milliseconds; 0 if there is none. */
uint32_t websim_robots_delay_ms(const struct websim_web *web, uint32_t host);

/* May this agent (a product name) fetch this path? robots.txt itself always. */
bool websim_robots_allows(const struct websim_web *web, uint32_t host, const char *agent, struct slice path);

/* The text, at most WEBSIM_ROBOTS_BYTES, without a terminator; returns its length. */
#define WEBSIM_ROBOTS_BYTES 1024
size_t websim_robots_write(const struct websim_web *web, uint32_t host, char *out);

/* Does the pattern match the beginning of the path? */
bool websim_robots_matches(const char *pattern, struct slice path);
