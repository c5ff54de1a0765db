/* How far a crawl is and when it will end: by crawl.max-pages and crawl.max-time, or because the queue shrinks.
 *
 * Rates are means over about a minute, so that the time left does not jump. Moments are in running time: a pause changes
 * nothing. */
#pragma once

#include <stdint.h>

enum outlook_by {
    OUTLOOK_UNKNOWN, /* there is no goal, and the queue grows */
    OUTLOOK_PAGES,   /* crawl.max-pages */
    OUTLOOK_TIME,    /* crawl.max-time */
    OUTLOOK_QUEUE,   /* no URL will be left */
};

/* The crawl at one moment. */
struct outlook_facts {
    double running_s;
    uint64_t pages;
    uint64_t found;  /* URLs */
    uint64_t queued; /* of them, those that are not done */
    uint64_t pages_max; /* 0: no limit */
    double time_max_s;  /* likewise */
};

struct outlook {
    enum outlook_by by; /* what will end it */
    double share;       /* of the way there, 0 to 1; below 0: unknown */
    double left_s;      /* until then; below 0: unknown */

    struct outlook_facts last;
    double observed_s; /* how long the rates were */
    double pages_per_s, queued_per_s;
};

/* An outlook that is all zero begins anew. */
void outlook_update(struct outlook *outlook, const struct outlook_facts *now);
/* "max-pages", "max-time", "queue", "unknown" */
const char *outlook_name(enum outlook_by by);
