#include "engine/crawl/sample.h"

#include <stdio.h>

#include "engine/crawl/status.h"
#include "lockfree/clock.h"

const char *sample_name(unsigned value, char buffer[SAMPLE_NAME_BYTES])
{
    static const char *const names[SAMPLE_limited_ms] = {
#define SAMPLE_NAME(name) [SAMPLE_##name] = #name,
        SAMPLE_GAUGES(SAMPLE_NAME) SAMPLE_JOURNALED(SAMPLE_NAME) SAMPLE_COUNTERS(SAMPLE_NAME)
#undef SAMPLE_NAME
    };
    if (value < SAMPLE_limited_ms)
        return names[value];
    snprintf(buffer, SAMPLE_NAME_BYTES, "limited_%s_ms", limited_name((enum limited_by)(value - SAMPLE_limited_ms)));
    return buffer;
}

/* A gauge that is summed over loops may be below 0 for a moment. */
static uint64_t not_below_0(int64_t count)
{
    return count > 0 ? (uint64_t)count : 0;
}

void sample_take(struct sample *sample, const struct status *status, uint64_t wall_ms)
{
    const struct stats *now = &status->now;
    uint64_t *values = sample->values;
    values[SAMPLE_wall_ms] = wall_ms;
    values[SAMPLE_running_ms] = (uint64_t)(status->running_s * 1e3);
    values[SAMPLE_failed] = status->failed;
    values[SAMPLE_queued] = status->queued;
    values[SAMPLE_hosts] = status->host_count;
    values[SAMPLE_addresses] = status->address_count;
    values[SAMPLE_hosts_ready] = not_below_0(status->hosts[HOST_READY]);
    values[SAMPLE_hosts_resting] = not_below_0(status->hosts[HOST_RESTING] + status->hosts[HOST_LOADING]);
    values[SAMPLE_hosts_unresolved] = not_below_0(status->hosts[HOST_RESOLVING] + status->hosts[HOST_ARRIVING]);
    values[SAMPLE_hosts_visiting] = not_below_0(status->hosts[HOST_VISITING]);
    values[SAMPLE_hosts_failing] = not_below_0(status->failing_count);
    values[SAMPLE_connections] = stats_get(&now->connections);
    values[SAMPLE_looking_up] = stats_get(&now->looking_up);
    values[SAMPLE_fetch_p50_us] = status->fetch_us[0];
    values[SAMPLE_fetch_p90_us] = status->fetch_us[1];
    values[SAMPLE_fetch_p99_us] = status->fetch_us[2];
    values[SAMPLE_written_bytes] = status->written.store;
    values[SAMPLE_unwritten_bytes] = status->unwritten_bytes;
#define SAMPLE_TAKE(name) values[SAMPLE_##name] = stats_get(&now->name);
    SAMPLE_JOURNALED(SAMPLE_TAKE)
    SAMPLE_COUNTERS(SAMPLE_TAKE)
#undef SAMPLE_TAKE
    for (int by = 0; by < LIMITED_COUNT; by++)
        values[SAMPLE_limited_ms + by] = stats_get(&now->limited_ns[by]) / CLOCK_NS_PER_MS;
}

void sample_restore(const struct sample *sample, struct stats *before)
{
#define SAMPLE_RESTORE(name) stats_set(&before->name, sample->values[SAMPLE_##name]);
    SAMPLE_COUNTERS(SAMPLE_RESTORE)
#undef SAMPLE_RESTORE
    for (int by = 0; by < LIMITED_COUNT; by++)
        stats_set(&before->limited_ns[by], sample->values[SAMPLE_limited_ms + by] * CLOCK_NS_PER_MS);
}
