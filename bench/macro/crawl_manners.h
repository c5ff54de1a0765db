/* How much a crawl of a simulated web made of what the rules of politeness allow, and whether it broke any.
 *
 * A visit of length v is followed by a rest of the address for max(v / p, minimum), and by a longer one of
 * the host by the host's p. At best an address is at every moment either visited or in such a rest, unless it
 * has too few hosts for that: with h hosts it can be so for h * (v + rest of the address) / (v + rest of the
 * host) of the time. The best is the sum of this over all addresses. What was reached is computed from the
 * server's journal: the sum of all visits and rests of addresses within a window, which leaves out the first
 * third of the run, in which names are resolved and visits spread, and the last tenth.
 *
 * One host may stand apart: what it and its address do is not counted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "macro/crawl_web.h"

/* The rules: a burst of 1 s, a host rests ten times as long as it was visited, an address twice as long; nothing is
 * stored. */
extern const char crawl_manners_tuning[];

struct crawl_manners {
    double violations; /* by the audit */
    double rate;       /* pages per second */
    double share;      /* of the best */
    double visits, visit_s, pages_per_visit;
    double pages_apart; /* of the host that stands apart, in the whole run */
};

/* After the web was finished and kept. The audit's lines go to stderr. `apart` is what the URLs of a host begin with,
 * "http://h1.d0.sim:8080/", or NULL. False, with a message, if there is no journal that can be judged. */
bool crawl_manners_judge(const struct crawl_web *web, const char *apart, struct crawl_manners *manners);

struct crawl_manners_host {
    char name[64]; /* with a dot at its end */
    char address[16];
};

/* All hosts, in the order of addresses. */
struct crawl_manners_zone {
    struct crawl_manners_host *hosts; /* the caller frees them */
    size_t count;
};
bool crawl_manners_read_zone(const struct crawl_web *web, struct crawl_manners_zone *zone);

/* Whether an origin is one of a host with this name of a zone. */
bool crawl_manners_is_of(const char *origin, const char *name);
