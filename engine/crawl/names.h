/* The names of one loop's hosts: which are looked up when, and what an answer means for the host.
 *
 *     frontier's resolve -> names_push -> a lane -> names_turn -> the resolver -> frontier_resolved
 *
 * One domain's dead names do not hold up the others (lanes.h). While no name server answers at all, nothing
 * counts against any host: names wait, and hosts keep the address they have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/crawl/lanes.h"
#include "engine/crawl/stats.h"
#include "engine/crawl/troubles.h"
#include "engine/frontier/frontier.h"
#include "engine/store/store.h"
#include "engine/tuning/tuning.h"
#include "net/conn.h"

struct lookup;

struct names {
    struct frontier_loop *frontier;
    struct conn_loop *conns;     /* has the resolver */
    const struct tuning *tuning; /* the owner may replace it */
    struct troubles *troubles;   /* records names without an address */
    struct stats *stats;         /* counts them */
    struct store *store;         /* keeps what name servers answer; NULL: nobody does */
    unsigned due_max;            /* enough addresses are ready to be visited */
    unsigned granted;            /* look-ups allowed beyond due_max: one for each visit that began */
    unsigned quick;              /* look-ups that are neither overdue nor of a slow lane */
    unsigned slow;               /* all others */
    unsigned begun;              /* look-ups from the lanes so far */
    uint64_t outage_since_ns;    /* since when no name server answers; 0: no outage */
    uint64_t outages;            /* so far */
    uint64_t probe_ns;           /* in an outage: the time of the next probe */
    struct lanes_line ready;     /* hosts that need no server, or are about to be visited */
    struct lanes lanes;          /* hosts without an address */
    struct lookup *pool;         /* NAMES_LOOKUPS_MAX of them */
    struct lookup *free;
    struct lookup *young, *youngest; /* look-ups that are not overdue, the oldest and the latest */
};

struct names_options {
    struct frontier_loop *frontier;
    struct conn_loop *conns;
    const struct tuning *tuning;
    struct troubles *troubles;
    struct stats *stats;
    struct store *store; /* may be NULL */
    unsigned visits_max; /* of the loop */
};

/* 0, or a negative errno; names_fini either way. */
int names_init(struct names *names, const struct names_options *options);
/* Called after the resolver was destroyed, when no look-up is in flight. */
void names_fini(struct names *names);

/* Queues the host for a look-up, which ends in frontier_resolved, never from within this call. */
void names_push(struct names *names, struct host *host);
/* Called when a visit begins: allows one more look-up. */
void names_grant(struct names *names);
/* Begins as many look-ups as allowed. Once per turn. */
void names_turn(struct names *names, uint64_t now_ns);
/* Whether names_turn would begin one. */
bool names_has_work(const struct names *names);

/* Whether a host waits for a name server. */
bool names_is_busy(const struct names *names);

/* Creates the resolver that the tuning file describes. NULL on failure; `message` says why. */
struct dns *names_create_dns(const struct tuning *tuning, char *message, size_t message_bytes);
/* Whether names_create_dns would succeed; if not, `message` says why. */
bool names_check(const struct tuning *tuning, char *message, size_t message_bytes);
