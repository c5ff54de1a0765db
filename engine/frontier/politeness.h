/* How long a host and an address rest after a visit: the politeness of the crawl in one place. Pure
 * arithmetic.
 *
 * Mode ratio. With p the ratio of fetching to idling and s' the time that the visit really took, from the
 * start of its first request (connect included) to the last byte, the rest is at least s'/p, and at least the
 * minimum idle. Requests follow one another within a visit until s' reaches the burst time.
 *
 * Mode delay. One request per visit, then a fixed rest that begins at the end of the visit.
 *
 * Crawl-delay and Retry-After can only make a rest longer. A host with a Crawl-delay gets one request per
 * visit in either mode, because the delay is meant between requests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/tuning/tuning.h"

struct politeness_visit {
    uint64_t spent_ns;
    uint64_t crawl_delay_ns;  /* 0: none */
    uint64_t retry_after_ns;  /* 0: none */
    uint64_t failure_wait_ns; /* 0: the visit did not fail */
};

uint64_t politeness_host_rest(const struct politeness_tuning_live *tuning,
                              const struct politeness_visit *visit);
uint64_t politeness_address_rest(const struct politeness_tuning_live *tuning,
                                 const struct politeness_visit *visit);

/* Whether a visit that has taken so long may make another request. Keeps a margin before the end of the
 * burst, so that the server, too, sees the request in time. */
bool politeness_may_request(const struct politeness_tuning_live *tuning,
                            const struct politeness_visit *visit);

/* The back-off after the n-th failure in a row, from 1 on: it doubles up to the maximum. */
uint64_t politeness_failure_wait(const struct retry_tuning_live *retry, unsigned failures);
