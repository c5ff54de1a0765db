/* All accesses are relaxed: paid_ns publishes no other memory. If two loops find it too far in the past, the
 * first moves it forward, and the second sees that and leaves it. */
#include "engine/crawl/bandwidth.h"

#include "engine/crawl/limits.h"
#include "lockfree/clock.h"

uint64_t bandwidth_charge(struct bandwidth *bandwidth, uint64_t rate, uint64_t bytes, uint64_t now_ns)
{
    if (rate == 0 || bytes == 0)
        return 0;
    uint64_t paid_ns = lf_load(&bandwidth->paid_ns, relaxed);
    uint64_t least_ns = now_ns > BANDWIDTH_CREDIT_NS ? now_ns - BANDWIDTH_CREDIT_NS : 0;
    if (paid_ns < least_ns)
        lf_cas(&bandwidth->paid_ns, &paid_ns, least_ns, relaxed, relaxed);
    uint64_t cost_ns = (uint64_t)((double)bytes * (double)CLOCK_NS_PER_S / (double)rate);
    lf_fetch_add(&bandwidth->paid_ns, cost_ns, relaxed);
    return cost_ns;
}

void bandwidth_refund(struct bandwidth *bandwidth, uint64_t cost_ns)
{
    if (cost_ns)
        lf_fetch_sub(&bandwidth->paid_ns, cost_ns, relaxed);
}
