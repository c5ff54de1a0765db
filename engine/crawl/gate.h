/* Asked before each request: whether the crawl still runs, whether the disk keeps up and, with max-pages, whether another
 * page may be fetched. Any thread may ask; only the watch changes the phase.
 *
 * Who asks compares the last commit with the time that it has itself. So a process that stood still, or whose watch does, asks
 * for nothing that a resume would not expect: of a loop that is stopped within a turn, at most what it began in that turn
 * comes later. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lockfree/atomic.h"

enum crawl_phase {
    CRAWL_RUNNING,
    CRAWL_PAUSED,   /* no new requests, until it goes on; what is in flight may finish */
    CRAWL_STOPPING, /* no new requests; what is in flight may finish */
    CRAWL_ENDING,   /* what is in flight is cut off */
};

/* "running", "paused", "stopping", "ending" */
const char *gate_phase_name(enum crawl_phase phase);

/* How far the disk is behind: what was not committed when the process dies is fetched again, so there is a bound. */
enum gate_lag {
    GATE_LAG_NONE,
    GATE_LAG_HOLD, /* no new requests */
    GATE_LAG_CUT,  /* what is in flight is cut off, and goes back to its host */
};

struct gate {
    LF_ISOLATED _Atomic(int) phase; /* enum crawl_phase */
    /* Fixed before the loops run: */
    uint64_t opens_ns;   /* a resumed crawl: no visit before this moment */
    uint64_t lag_max_ns; /* 0: what is committed does not matter */
    const _Atomic(uint64_t) *committed_ns; /* when the last commit was made */
    LF_ISOLATED _Atomic(uint64_t) pages_reserved; /* with max-pages: requests that may become a page */
};

static inline enum crawl_phase gate_phase(const struct gate *gate)
{
    return (enum crawl_phase)lf_load(&gate->phase, relaxed);
}

static inline void gate_set_phase(struct gate *gate, enum crawl_phase phase)
{
    lf_store(&gate->phase, (int)phase, relaxed);
}

/* Relaxed: a moment, with which nothing else is handed over. */
static inline enum gate_lag gate_lag(const struct gate *gate, uint64_t now_ns)
{
    if (!gate->lag_max_ns)
        return GATE_LAG_NONE;
    uint64_t last_ns = lf_load(gate->committed_ns, relaxed), lag_ns = now_ns > last_ns ? now_ns - last_ns : 0;
    if (lag_ns < gate->lag_max_ns / 2)
        return GATE_LAG_NONE;
    return lag_ns < gate->lag_max_ns ? GATE_LAG_HOLD : GATE_LAG_CUT;
}

static inline bool gate_is_open(const struct gate *gate, uint64_t now_ns)
{
    return gate_phase(gate) == CRAWL_RUNNING && gate_lag(gate, now_ns) == GATE_LAG_NONE;
}

/* Whether gate_reserve_page could succeed. pages_max 0: no limit. */
static inline bool gate_has_pages(const struct gate *gate, uint64_t pages_max)
{
    return pages_max == 0 || lf_load(&gate->pages_reserved, relaxed) < pages_max;
}

/* Reserves a page before it is requested, so that max-pages is never exceeded. False if none is left. */
static inline bool gate_reserve_page(struct gate *gate, uint64_t pages_max)
{
    if (lf_fetch_add(&gate->pages_reserved, 1, relaxed) < pages_max)
        return true;
    lf_fetch_sub(&gate->pages_reserved, 1, relaxed);
    return false;
}

static inline void gate_release_page(struct gate *gate)
{
    lf_fetch_sub(&gate->pages_reserved, 1, relaxed);
}
