/* The counters of a loop. Each loop writes only its own, without atomic read-modify-writes; any thread may
 * read and sum them.
 *
 * The histograms are log-linear (log_linear.h), so a percentile is exact to an eighth. */
#pragma once

#include <stdint.h>

#include "engine/crawl/limited.h"
#include "engine/frontier/scope.h"
#include "engine/outcome/fetch_outcome.h"
#include "lockfree/atomic.h"
#include "lockfree/log_linear.h"
#include "net/dns_answer.h"

enum { STATS_BUCKETS = LOG_LINEAR_BUCKETS(64) };

/* By the first digit of the status, 1 to 9: some servers send 6xx to 9xx. */
enum { STATS_STATUSES = 10 };
/* And by the whole status. The journal does not bring these back: they count from the beginning of the process. */
enum { STATS_CODES = 1000 };
/* Look-ups of names by what they ended in: an enum dns_error, of which DNS_OK came from a name server; or memory had it. */
enum { STATS_LOOKUP_REMEMBERED = DNS_ERROR_COUNT, STATS_LOOKUPS };

typedef _Atomic(uint64_t) stats_counter;

struct stats_histogram {
    stats_counter sum; /* of the values */
    stats_counter buckets[STATS_BUCKETS];
};

#define STATS_COUNTERS(X)                                                                                    \
    X(urls_in)      /* URLs admitted: the sieve had not seen them */                                         \
    X(urls_out)     /* URLs finished: fetched, failed or dropped */                                          \
    X(urls_known)   /* URLs admitted of which the sieve on disk said later that they were known */           \
    X(urls_spilled) /* of them, those that had to wait on disk for lack of memory */                         \
    X(urls_stowed)  /* likewise, because their host had its share of the memory */                           \
    X(pages)        /* complete responses without robots.txt */                                              \
    X(robots_files) /* responses to requests for robots.txt */                                               \
    X(visits)                                                                                                \
    X(requests)                                                                                              \
    X(retries)                                                                                               \
    X(hosts_given_up)                                                                                        \
    X(bytes_received) /* from the sockets */                                                                 \
    X(bytes_body)     /* of bodies, as transferred */                                                        \
    X(bytes_decoded)  /* of bodies, content coding removed */                                                \
    X(links)          /* links found on pages */                                                             \
    X(links_bad)      /* not an http or https URL */                                                         \
    X(links_nofollow)                                                                                        \
    X(links_out_of_scope)                                                                                    \
    X(links_undecided) /* of these, for which scope.exclude or scope.include took too long */                \
    X(links_known) /* known to the sieve */                                                                  \
    X(links_lost)  /* the sieve or the frontier was full, or the page had too many */                        \
    X(links_cut)   /* of these, beyond limits.links-per-page or links-per-sitemap */                         \
    X(redirects)                                                                                             \
    X(truncated)       /* bodies truncated at the limit */                                                   \
    X(stored)          /* pages given to the store */                                                        \
    X(duplicates)      /* pages whose body is that of an earlier page */                                     \
    X(near_duplicates) /* pages whose text is nearly that of an earlier page */                              \
    X(robots_lost)     /* robots.txt files that the store or crawl.log had no room for */                    \
    X(stalls)          /* turns without a new visit for lack of store, memory or bandwidth */                \
    X(names_outages)   /* outages of all name servers, summed over the loops */                              \
    X(turns)                                                                                                 \
    X(ring_enters)                                                                                           \
    X(buffers_exhausted) /* receives that waited for a buffer */                                             \
    X(tls_handshakes)                                                                                        \
    X(tls_resumed) /* of these, resumed from a session of an earlier visit */

/* Failed compare-and-swaps, by shared structure. */
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
    stats_counter tries_failed[FETCH_OUTCOME_COUNT];  /* including those that are tried again */
    stats_counter hosts_failing[FETCH_OUTCOME_COUNT]; /* now, by their last failure; sum over all loops */
    stats_counter statuses[STATS_STATUSES];           /* by their first digit */
    stats_counter codes[STATS_CODES];
    stats_counter lookups[STATS_LOOKUPS];
    stats_counter scope[SCOPE_RULES];
    stats_counter limited_ns[LIMITED_COUNT]; /* time of the loop, by what limited it */
    stats_counter asked;          /* URLs that wait for the answer of the sieve on disk */
    stats_counter connections;    /* open at this moment */
    stats_counter looking_up;     /* names, at this moment */
    stats_counter page_bytes;     /* memory of the pages in flight */
    stats_counter frontier_bytes; /* waiting URLs, acquired minus released by this loop; sum over all loops */
    stats_counter next_due_ns; /* the first moment at which a host may be visited; UINT64_MAX: none is known. Not summed */
    stats_counter names_out_since_ns; /* no name server answers; 0: one does. Not summed */
    struct stats_histogram fetch_us;
    struct stats_histogram first_byte_us;
    struct stats_histogram body_bytes;
    struct stats_histogram rest_us; /* of hosts after visits */
    struct stats_histogram dns_us;  /* look-ups that name servers were asked for */
};

/* By the loop that owns it. */
static inline void stats_add(stats_counter *counter, uint64_t amount)
{
    lf_store(counter, lf_load(counter, relaxed) + amount, relaxed);
}

/* Counts a URL as finished, after its links were counted as admitted. R1 pairs with A1 in end_is_complete
 * and in stats_sum: whoever sees the URL finished sees its links admitted. */
static inline void stats_count_out(struct stats *stats)
{
    lf_store(&stats->urls_out, lf_load(&stats->urls_out, relaxed) + 1, release);
}

/* Likewise, of a URL that was admitted and turned out to be known. R2 pairs with A2 in end_is_complete. */
static inline void stats_count_known(struct stats *stats)
{
    lf_store(&stats->urls_known, lf_load(&stats->urls_known, relaxed) + 1, release);
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

/* Adds the counters of `part` to `total`, which only the caller uses. While the loop runs, each counter is
 * the value of some moment during the call; urls_out is read before urls_in, so the crawl is complete if
 * they are equal. */
void stats_sum(struct stats *total, const struct stats *part);

/* The value below which this share (0 to 1) of the samples lies; 0 if there are none. */
uint64_t stats_quantile(const struct stats_histogram *histogram, double quantile);
