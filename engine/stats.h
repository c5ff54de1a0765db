/* What a loop counts. Each loop writes its own, without an atomic read-modify-write; anybody may read, and
 * sums.
 *
 * The histograms are log-linear: eight steps per doubling, so that a percentile is right to an eighth. */
#pragma once

#include <stdint.h>

#include "engine/scope.h"
#include "lockfree/atomic.h"
#include "net/outcome.h"

enum { STATS_STEPS_LOG2 = 3, STATS_BUCKETS = (64 - STATS_STEPS_LOG2 + 1) << STATS_STEPS_LOG2 };

typedef _Atomic(uint64_t) stats_counter;

struct stats_histogram {
    stats_counter buckets[STATS_BUCKETS];
};

#define STATS_COUNTERS(X)                                                                                    \
    X(urls_in)      /* URLs that the sieve let out */                                                        \
    X(urls_out)     /* URLs that are done with: fetched, failed or dropped */                                \
    X(pages)        /* whole responses, robots.txt not counted */                                            \
    X(robots_files) /* answers to the question for robots.txt */                                             \
    X(visits)                                                                                                \
    X(requests)                                                                                              \
    X(retries)                                                                                               \
    X(bytes_received) /* from the sockets */                                                                 \
    X(bytes_body)     /* of bodies, as transferred */                                                        \
    X(bytes_decoded)  /* of bodies, content coding removed */                                                \
    X(links)          /* links found on pages */                                                             \
    X(links_bad)      /* that are no http or https URL */                                                    \
    X(links_nofollow)                                                                                        \
    X(links_out_of_scope)                                                                                    \
    X(links_known) /* that the sieve knew */                                                                 \
    X(links_lost)  /* the sieve or the frontier was full */                                                  \
    X(redirects)                                                                                             \
    X(truncated) /* bodies cut at the limit */                                                               \
    X(stored)    /* pages given to the store */                                                              \
    X(log_lost)  /* lines of crawl.log for which there was no room */                                        \
    X(stalls)    /* turns in which no visit could begin for want of store, memory or bandwidth */            \
    X(turns)                                                                                                 \
    X(ring_enters)                                                                                           \
    X(buffers_exhausted) /* receives that waited for a buffer */

/* Compare-and-swaps that failed, by what the loops share. */
#define STATS_RACES(X)                                                                                       \
    X(ready_rings)                                                                                           \
    X(host_inboxes)                                                                                          \
    X(loop_inboxes)                                                                                          \
    X(host_map)                                                                                              \
    X(address_map)                                                                                           \
    X(sieve)                                                                                                 \
    X(pools) /* of URLs and of hosts' names */

struct stats {
#define STATS_MEMBER(name) stats_counter name;
    STATS_COUNTERS(STATS_MEMBER)
    struct stats_races {
        STATS_RACES(STATS_MEMBER)
    } lost_races;
#undef STATS_MEMBER
    stats_counter outcomes[FETCH_OUTCOME_COUNT];
    stats_counter statuses[6]; /* 1xx to 5xx; 0: none */
    stats_counter scope[SCOPE_RULES];
    stats_counter connections; /* open at this moment */
    struct stats_histogram fetch_us;
    struct stats_histogram first_byte_us;
    struct stats_histogram body_bytes;
};

/* By the loop that owns it. */
static inline void stats_add(stats_counter *counter, uint64_t amount)
{
    lf_store(counter, lf_load(counter, relaxed) + amount, relaxed);
}

static inline void stats_set(stats_counter *counter, uint64_t value)
{
    lf_store(counter, value, relaxed);
}

static inline uint64_t stats_get(const stats_counter *counter)
{
    return lf_load(counter, relaxed);
}

void stats_record(struct stats_histogram *histogram, uint64_t value);

/* Adds what `part` has to `total`, which nobody else uses. Called for a still running loop, each counter is
 * right at some moment of the call; urls_out is read before urls_in, so that all is done if they are equal.
 */
void stats_sum(struct stats *total, const struct stats *part);

/* The value below which the share `quantile` (0 to 1) lies; 0 if nothing was recorded. */
uint64_t stats_quantile(const struct stats_histogram *histogram, double quantile);
