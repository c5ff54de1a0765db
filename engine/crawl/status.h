/* The progress of a crawl: the sums of its loops' counters at one moment. Nothing is printed here. */
#pragma once

#include <stdint.h>

#include "engine/crawl/census.h"
#include "engine/crawl/gate.h"
#include "engine/crawl/outlook.h"
#include "engine/crawl/stats.h"
#include "engine/crawl/troubles.h"
#include "engine/frontier/host.h"
#include "engine/tuning/tuning.h"

struct crawl;

enum { STATUS_WAITING_MAX = 3, STATUS_QUANTILES = 3 };

/* What became of the seeds before the crawl began. */
struct status_seeds {
    uint64_t count;
    uint64_t queued;
    uint64_t out_of_scope;
    uint64_t lost;               /* the sieve or the frontier was full */
    uint64_t scope[SCOPE_RULES]; /* those out of scope, by the rule that decided */
};

/* One loop. */
struct status_loop {
    uint64_t work_ns; /* processor time */
    uint64_t all_ns;
    uint64_t turns;
    double busy; /* the share of work since the last update */
};

/* What this process has handed over to be written: pages, crawl.log, the journal. */
struct status_written {
    uint64_t store, log, journal;
    uint64_t store_waits; /* of `store`: not written yet */
};

struct status {
    struct stats now;
    const char *directory;
    enum crawl_phase phase;
    double seconds;             /* since the crawl began */
    double running_s;           /* how long it ran, pauses left out, with what went before a resume */
    uint64_t unwritten_bytes;   /* handed over but not written yet */
    struct status_written written;
    int64_t hosts[HOST_STATES]; /* hosts in each state */
    uint64_t host_count;
    uint64_t address_count;
    uint64_t queued;                   /* URLs admitted but not finished */
    uint64_t pages_per_s, bytes_per_s; /* since the last update */
    uint64_t now_ns;
    uint64_t fetch_us[STATUS_QUANTILES]; /* of fetches since the last update: 50, 90 and 99%; 0 if there was none */
    double limited[LIMITED_COUNT]; /* the share of each reason since the last update; together 1, or 0 if nothing is known */
    struct outlook outlook; /* how far it is, and when it will end */
    struct status_loop loops[TUNING_THREADS_MAX];
    unsigned loop_count;
    double next_due_s;     /* until the next host may be visited; below 0: none is known */
    double names_outage_s; /* seconds since the last answer of any name server; 0: no outage */

    int fold_trouble;        /* why the journal is not folded though it should be: negative errno; 0: all is well */
    bool fold_trouble_stays; /* this process does not try again */

    struct status_seeds seeds;
    uint64_t failed;                      /* URLs without a response, robots.txt not counted */
    uint64_t tries_failed;                /* also of URLs and hosts that are tried again */
    uint64_t lost;                        /* URLs that the sieve or the frontier had no room for */
    int64_t failing[FETCH_OUTCOME_COUNT]; /* hosts whose last visit failed, by outcome */
    int64_t failing_count;                /* of them */
    int64_t waiting_count;                /* hosts with URLs that are not being visited now */
    struct troubles_host
        waiting[STATUS_WAITING_MAX]; /* failed hosts, the soonest next try first; id 0: none */
};

/* Sums the counters of all loops and computes the rates since the last call. */
void status_update(struct status *status, const struct crawl *crawl);
/* Fills in `waiting` with what the loops reported after the last call, and asks them again. By the watch. */
void status_update_waiting(struct status *status, struct crawl *crawl, uint64_t now_ns);

/* The counters of this process alone, without those of the crawl before it was resumed. */
void status_count_own(struct stats *own, const struct crawl *crawl);
/* Adds the MIME types and top-level domains of the pages of this process to *types and *domains. */
void status_count_kinds(struct census *types, struct census *domains, const struct crawl *crawl);
/* How often a loop has turned in this process. */
uint64_t status_turns(const struct crawl *crawl, unsigned index);
