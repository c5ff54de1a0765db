#include "engine/crawl/stats.h"

void stats_record(struct stats_histogram *histogram, uint64_t value)
{
    stats_add(&histogram->sum, value);
    stats_add(&histogram->buckets[log_linear_bucket(value)], 1);
}

static void sum_histogram(struct stats_histogram *total, const struct stats_histogram *part)
{
    stats_add(&total->sum, stats_get(&part->sum));
    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        stats_add(&total->buckets[i], stats_get(&part->buckets[i]));
}

void stats_sum(struct stats *total, const struct stats *part)
{
    /* A1 pairs with R1 in stats_count_out: the links of every finished URL have been counted as admitted. */
    uint64_t urls_out = lf_load(&part->urls_out, acquire), urls_known = lf_load(&part->urls_known, acquire);
    stats_add(&total->urls_out, urls_out);
    stats_add(&total->urls_known, urls_known);
#define STATS_SUM(name)                                                                                      \
    if (&total->name != &total->urls_out && &total->name != &total->urls_known)                                                                    \
        stats_add(&total->name, stats_get(&part->name));
    STATS_COUNTERS(STATS_SUM)
#undef STATS_SUM
#define STATS_SUM(name) stats_add(&total->lost_races.name, stats_get(&part->lost_races.name));
    STATS_RACES(STATS_SUM)
#undef STATS_SUM
    for (unsigned i = 0; i < FETCH_OUTCOME_COUNT; i++) {
        stats_add(&total->outcomes[i], stats_get(&part->outcomes[i]));
        stats_add(&total->tries_failed[i], stats_get(&part->tries_failed[i]));
    }
    for (unsigned i = 0; i < STATS_STATUSES; i++)
        stats_add(&total->statuses[i], stats_get(&part->statuses[i]));
    for (unsigned i = 0; i < STATS_CODES; i++)
        stats_add(&total->codes[i], stats_get(&part->codes[i]));
    for (unsigned i = 0; i < STATS_LOOKUPS; i++)
        stats_add(&total->lookups[i], stats_get(&part->lookups[i]));
    for (unsigned i = 0; i < SCOPE_RULES; i++)
        stats_add(&total->scope[i], stats_get(&part->scope[i]));
    for (unsigned i = 0; i < LIMITED_COUNT; i++)
        stats_add(&total->limited_ns[i], stats_get(&part->limited_ns[i]));
    stats_add(&total->asked, stats_get(&part->asked));
    stats_add(&total->looking_up, stats_get(&part->looking_up));
    stats_add(&total->connections, stats_get(&part->connections));
    stats_add(&total->page_bytes, stats_get(&part->page_bytes));
    stats_add(&total->frontier_bytes, stats_get(&part->frontier_bytes));
    sum_histogram(&total->fetch_us, &part->fetch_us);
    sum_histogram(&total->first_byte_us, &part->first_byte_us);
    sum_histogram(&total->body_bytes, &part->body_bytes);
    sum_histogram(&total->rest_us, &part->rest_us);
    sum_histogram(&total->dns_us, &part->dns_us);
}

uint64_t stats_quantile(const struct stats_histogram *histogram, double quantile)
{
    uint64_t count = 0, seen = 0;
    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        count += stats_get(&histogram->buckets[i]);
    for (unsigned i = 0; i < STATS_BUCKETS && count; i++) {
        seen += stats_get(&histogram->buckets[i]);
        if (seen > 0 && (double)seen >= quantile * (double)count)
            return log_linear_end(i);
    }
    return 0;
}
