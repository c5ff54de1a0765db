#include "engine/crawl/health.h"

#include "engine/frontier/politeness.h"
#include "lockfree/clock.h"

/* Whether the next try would come after retry.host-time has passed since the first failure. */
static bool is_out_of_time(const struct host *host, enum fetch_outcome why, const struct tuning_live *tuning)
{
    uint64_t wait_ns = politeness_failure_wait(&tuning->retry, host->failures);
    if (why == FETCH_ROBOTS_UNREACHABLE && wait_ns < tuning->robots.retry_ns)
        wait_ns = tuning->robots.retry_ns;
    uint64_t spent_ns = clock_now_ns() - host->failing_since_ns;
    return tuning->retry.host_time_max_ns && spent_ns + wait_ns > tuning->retry.host_time_max_ns;
}

void health_fail(struct host *host, enum fetch_outcome why, const struct tuning_live *tuning,
                 struct stats *stats)
{
    unsigned failures = lf_load(&host->failures, relaxed);
    bool is_first = failures == 0;
    if (is_first)
        host->failing_since_ns = clock_now_ns();
    failures += failures < UINT16_MAX;
    lf_store(&host->failures, (uint16_t)failures, relaxed);
    bool is_over =
        failures >= tuning->retry.host_failures_max || (!is_first && is_out_of_time(host, why, tuning));
    if (!is_over || host->is_dead)
        return;
    host->is_dead = true;
    host->dead_why = (uint8_t)why;
    stats_add(&stats->hosts_given_up, 1);
}
