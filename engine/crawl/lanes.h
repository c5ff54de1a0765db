/* Hosts whose names wait to be looked up, so that one domain's names never hold up the others.
 *
 *     lanes_push -> a lane, by registrable domain -> lanes_pop, lanes by turns -> look-up -> lanes_end
 *
 * A lane is slow if its recent look-ups got no answer. Slow lanes have a queue of their own and get only a
 * share of the look-ups. Domains are assigned to lanes by a hash with a random key per run, so that no site
 * can choose with whom it shares a lane.
 *
 * The number of lanes is fixed, hosts are linked intrusively, every operation is O(1). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/host.h"

/* A queue of hosts, linked by a member that is unused while they are RESOLVING. */
struct lanes_line {
    struct inbox_node *first, *last;
};

void lanes_line_push(struct lanes_line *line, struct host *host);
/* NULL: none. */
struct host *lanes_line_pop(struct lanes_line *line);

enum lane_place {
    LANE_NOWHERE, /* no host waits in it, or it has as many look-ups as it may have at a time */
    LANE_QUICK,
    LANE_SLOW,
};

struct lane {
    struct lanes_line hosts;
    struct lane *next;  /* in its queue */
    uint16_t in_flight; /* look-ups */
    uint16_t overdue;   /* of these, without an answer for NAMES_OVERDUE_MS */
    uint8_t silent;     /* recent look-ups without an answer; each answer halves it */
    uint8_t place;      /* enum lane_place: the queue it is in */
};

struct lane_queue {
    struct lane *first, *last;
};

struct lanes {
    struct lane *lanes; /* NAMES_LANES of them */
    struct lane_queue quick;
    struct lane_queue slow;
};

/* False: no memory. */
bool lanes_init(struct lanes *lanes);
void lanes_fini(struct lanes *lanes);

void lanes_push(struct lanes *lanes, struct host *host);
/* The first host of the next slow or quick lane. NULL if there is none, or if that lane has just changed
 * queues. */
struct host *lanes_pop(struct lanes *lanes, bool from_slow);

/* To be called for every look-up, whether its host came from lanes_pop or not. */
void lanes_begin(struct lanes *lanes, const struct host *host);
void lanes_overdue(struct lanes *lanes, const struct host *host);
struct lanes_end {
    bool was_overdue;
    bool is_silent; /* there was no answer */
};
void lanes_end(struct lanes *lanes, const struct host *host, struct lanes_end end);

/* Whether the lane of the host is slow. */
bool lanes_is_slow(const struct lanes *lanes, const struct host *host);
