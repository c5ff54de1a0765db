/* A crawl at one moment, as a row of numbers, for progress.tsv and the console's charts. A resumed crawl goes on
 * counting where the last one stopped. So a rate is the difference of any two samples, even if samples between them
 * are missing. */
#pragma once

#include <stdint.h>

#include "engine/crawl/limited.h"

struct stats;
struct status;

/* Counters of struct stats that the journal does not bring back: a resumed crawl takes them from the last sample. */
#define SAMPLE_COUNTERS(X)                                                                                   \
    X(requests)                                                                                              \
    X(visits)                                                                                                \
    X(retries)                                                                                               \
    X(robots_files)                                                                                          \
    X(bytes_received)                                                                                        \
    X(bytes_decoded)                                                                                         \
    X(links)                                                                                                 \
    X(links_known)                                                                                           \
    X(links_out_of_scope)                                                                                    \
    X(links_lost)                                                                                            \
    X(redirects)                                                                                             \
    X(duplicates)                                                                                            \
    X(near_duplicates)
/* Counters of struct stats that the journal brings back. */
#define SAMPLE_JOURNALED(X)                                                                                  \
    X(pages)                                                                                                 \
    X(bytes_body)                                                                                            \
    X(stored)                                                                                                \
    X(urls_in)                                                                                               \
    X(urls_out)                                                                                              \
    X(urls_known)
/* Values that may rise and fall. */
#define SAMPLE_GAUGES(X)                                                                                     \
    X(wall_ms)    /* since 1970 */                                                                           \
    X(running_ms) /* how long the crawl ran: pauses and the time between two processes left out */           \
    X(failed)                                                                                                \
    X(queued)                                                                                                \
    X(hosts)                                                                                                 \
    X(addresses)                                                                                             \
    X(hosts_ready)                                                                                           \
    X(hosts_resting)                                                                                         \
    X(hosts_unresolved)                                                                                      \
    X(hosts_visiting)                                                                                        \
    X(hosts_failing)                                                                                         \
    X(connections)                                                                                           \
    X(looking_up)   /* names */                                                                              \
    X(fetch_p50_us) /* of the fetches since the status was last renewed */                                   \
    X(fetch_p90_us)                                                                                          \
    X(fetch_p99_us)                                                                                          \
    X(written_bytes) /* of pages, by this process */                                                         \
    X(unwritten_bytes)

enum sample_value {
#define SAMPLE_MEMBER(name) SAMPLE_##name,
    SAMPLE_GAUGES(SAMPLE_MEMBER) SAMPLE_JOURNALED(SAMPLE_MEMBER) SAMPLE_COUNTERS(SAMPLE_MEMBER)
#undef SAMPLE_MEMBER
    SAMPLE_limited_ms,                                    /* of each reason, in the order of enum limited_by */
    SAMPLE_COUNT = SAMPLE_limited_ms + LIMITED_COUNT,
};

struct sample {
    uint64_t values[SAMPLE_COUNT];
};

enum { SAMPLE_NAME_BYTES = 32 };
/* "pages", "limited_names_ms": the name of a column, in `buffer` or static. */
const char *sample_name(unsigned value, char buffer[SAMPLE_NAME_BYTES]);

void sample_take(struct sample *sample, const struct status *status, uint64_t wall_ms);
/* The counters of an earlier process, for stats_sum. */
void sample_restore(const struct sample *sample, struct stats *before);
