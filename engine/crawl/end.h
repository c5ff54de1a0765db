/* When a crawl ends, and why: decided here and nowhere else. No I/O, no clock: the caller brings the facts.
 *
 *     PAUSED <-- told to pause, or to go on --> RUNNING; while it is paused, max-time does not pass
 *
 *     RUNNING -- told to stop, out of time or pages, idle --> STOPPING
 *        |                                                       |
 *        | complete, or the disk or a loop failed                | nothing is in flight, stop-within is over,
 *        |                                                       | told to stop again, or a failure
 *        +----------------------> ENDING <-----------------------+
 *
 * The first reason stands, unless a failure of the disk lost what was crawled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/gate.h"
#include "engine/tuning/tuning.h"

struct loop;

enum crawl_end {
    CRAWL_END_NONE,
    CRAWL_END_COMPLETE, /* nothing is left to fetch */
    CRAWL_END_NOTHING,  /* nothing is left to fetch, and not one page was fetched */
    CRAWL_END_PAGES,
    CRAWL_END_TIME,
    CRAWL_END_IDLE,   /* the hosts that are left may not be visited for too long */
    CRAWL_END_SIGNAL, /* crawl_stop */
    CRAWL_END_DISK_FULL,
    CRAWL_END_FAILED,
    CRAWL_END_BAD_TUNING, /* never begun: a value in the tuning file cannot be used */
};

/* The time between two looks that are further apart, say because the disk held up the caller, counts as this much. */
enum { END_LOOK_NS = 100 * 1000 * 1000 };

struct end_facts {
    uint64_t now_ns;
    uint64_t begin_ns; /* of the crawl */
    uint64_t pages;
    uint64_t visits; /* begun so far */
    uint64_t visits_open;
    unsigned stops;   /* how often the crawl was told to stop */
    int disk_error;   /* negative errno; 0: none */
    bool is_disk_low; /* less than state.reserve is left */
    bool has_failed;  /* a loop could not go on */
    bool is_paused;   /* it was told to pause */
    bool is_complete;
    bool is_out_of_names; /* no name server answers: the crawl waits for that, however long */
    bool hosts_held;      /* the operator holds hosts that have URLs: likewise */
};

struct end {
    enum crawl_phase phase;
    enum crawl_end why;
    uint64_t stop_by_ns; /* STOPPING: when what is in flight is cut off */
    uint64_t idle_ns;    /* for how long no visit was open */
    uint64_t visits;     /* begun, at the last look */
    uint64_t look_ns;    /* the last call of end_decide */
    uint64_t paused_ns;  /* how long the crawl was paused, in all */
};

/* Looks at the facts and moves the phase on. To be called every END_LOOK_NS or so. */
void end_decide(struct end *end, const struct end_facts *facts, const struct crawl_tuning_live *tuning);

/* Whether every URL that was admitted is finished. Called while the loops run. */
bool end_is_complete(const struct loop *loops, unsigned count);

/* Whether an error of the disk, a negative errno, says that it is full. */
bool end_is_disk_full(int disk_error);

/* "complete", "nothing", "pages", "time", "idle", "signal", "disk-full", "failed" */
const char *end_name(enum crawl_end why);
