/* A cap on the bytes received per second, shared by all loops.
 *
 * Each charge moves a point in time, paid_ns, forward by the time that the bytes take at the allowed rate. A
 * request may be made once paid_ns has passed. The size of a response is unknown when its request is made,
 * so an average page is charged in advance and refunded at the end of the response; the bytes that really
 * arrive are charged as they arrive. Idle time earns no more than BANDWIDTH_CREDIT_NS of credit, so that no
 * burst follows a pause.
 *
 * Any thread may call any function at any time; all of them are wait-free. The caller
 * supplies clock and rate; the rate may change between calls. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lockfree/atomic.h"

struct bandwidth {
    LF_ISOLATED _Atomic(uint64_t) paid_ns; /* the bandwidth is used up until then */
};

/* Whether a request may be made now. rate: bytes per second; 0: no cap. */
static inline bool bandwidth_allows(const struct bandwidth *bandwidth, uint64_t rate, uint64_t now_ns)
{
    return rate == 0 || lf_load(&bandwidth->paid_ns, relaxed) <= now_ns;
}

/* The earliest time for the next request, if nothing else is charged. */
static inline uint64_t bandwidth_next_ns(const struct bandwidth *bandwidth, uint64_t rate)
{
    return rate == 0 ? 0 : lf_load(&bandwidth->paid_ns, relaxed);
}

/* Charges for bytes; returns their cost, for bandwidth_refund. */
uint64_t bandwidth_charge(struct bandwidth *bandwidth, uint64_t rate, uint64_t bytes, uint64_t now_ns);
/* Takes a charge back. */
void bandwidth_refund(struct bandwidth *bandwidth, uint64_t cost_ns);
