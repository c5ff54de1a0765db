#include "engine/frontier/politeness.h"

/* Longer than any crawl, and small enough not to overflow when added to a clock. */
#define REST_NS_MAX (UINT64_C(1) << 60)

/* A request reaches the server late: after the rest of the loop's turn, the network and the server's own
 * queue. So a visit stops making requests after nine tenths of its burst time. */
enum { MARGIN_DIVISOR = 10 };

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Rounded up, because a rest must never be too short. */
static uint64_t rest_by_ratio(uint64_t spent_ns, double ratio)
{
    double rest = (double)spent_ns / ratio;
    return rest >= (double)REST_NS_MAX ? REST_NS_MAX : (uint64_t)rest + 1;
}

uint64_t politeness_host_rest(const struct politeness_tuning_live *tuning,
                              const struct politeness_visit *visit)
{
    uint64_t rest =
        tuning->mode == TUNING_POLITENESS_DELAY
            ? tuning->delay_ns
            : longer(rest_by_ratio(visit->spent_ns, tuning->host_ratio), tuning->host_min_idle_ns);
    rest = longer(rest, shorter(visit->crawl_delay_ns, tuning->crawl_delay_max_ns));
    rest = longer(rest, shorter(visit->retry_after_ns, tuning->retry_after_max_ns));
    return longer(rest, visit->failure_wait_ns);
}

uint64_t politeness_address_rest(const struct politeness_tuning_live *tuning,
                                 const struct politeness_visit *visit)
{
    if (tuning->mode == TUNING_POLITENESS_DELAY)
        return tuning->address_delay_ns;
    return longer(rest_by_ratio(visit->spent_ns, tuning->address_ratio), tuning->address_min_idle_ns);
}

bool politeness_may_request(const struct politeness_tuning_live *tuning, const struct politeness_visit *visit)
{
    if (tuning->mode == TUNING_POLITENESS_DELAY || visit->crawl_delay_ns || visit->retry_after_ns)
        return false;
    return visit->spent_ns + tuning->burst_ns / MARGIN_DIVISOR < tuning->burst_ns;
}

uint64_t politeness_failure_wait(const struct retry_tuning_live *retry, unsigned failures)
{
    uint64_t wait = retry->wait_ns;
    for (unsigned i = 1; i < failures && wait < retry->wait_max_ns; i++)
        wait *= 2;
    return shorter(wait, retry->wait_max_ns);
}
