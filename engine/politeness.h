/* How long a host and an address rest after a visit. Pure arithmetic: the promise of the crawl in one place.
 *
 * Mode ratio. With p the ratio of fetching to idling and s' the time that the visit really took, from the
 * start of its first request (connect included) to the last byte, the rest is at least s'/p, and at least the
 * minimum idle. Requests follow one another within a visit until s' reaches the burst time.
 *
 * Mode delay. One request per visit, then a fixed wait from its end.
 *
 * Crawl-delay and Retry-After only ever make a rest longer. A host with a Crawl-delay gets one request per
 * visit in either mode: the delay is meant between requests. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/tuning.h"

struct politeness_visit {
    uint64_t spent_ns;
    uint64_t crawl_delay_ns;  /* 0: none */
    uint64_t retry_after_ns;  /* 0: none */
    uint64_t failure_wait_ns; /* 0: the visit did not fail */
};

uint64_t politeness_host_rest(const struct tuning *tuning, const struct politeness_visit *visit);
uint64_t politeness_address_rest(const struct tuning *tuning, const struct politeness_visit *visit);

/* Whether a visit that has spent so much may start another request. Keeps a margin before the end of the
 * burst, so that the request is in time as the server sees it, too. */
bool politeness_may_request(const struct tuning *tuning, const struct politeness_visit *visit);

/* The rest after the n-th failure in a row (n from 1): doubles up to the maximum. */
uint64_t politeness_failure_wait(const struct tuning *tuning, unsigned failures);
