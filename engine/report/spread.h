/* How a value is spread over many things: a log-linear histogram (log_linear.h) with mean and deviation. The sums are
 * integers, so the result does not depend on the order. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "lockfree/log_linear.h"

/* Values below 2^48: milliseconds or bytes of anything that a crawl can see. */
enum { SPREAD_BITS = 48, SPREAD_BUCKETS = LOG_LINEAR_BUCKETS(SPREAD_BITS) };

struct spread {
    uint64_t count;
    uint64_t sum;
    unsigned __int128 squares;
    uint64_t max;
    uint64_t buckets[SPREAD_BUCKETS];
};

static inline void spread_add(struct spread *spread, uint64_t value)
{
    value = value < UINT64_C(1) << SPREAD_BITS ? value : (UINT64_C(1) << SPREAD_BITS) - 1;
    spread->count++;
    spread->sum += value;
    spread->squares += (unsigned __int128)value * value;
    spread->max = value > spread->max ? value : spread->max;
    spread->buckets[log_linear_bucket(value)]++;
}

static inline double spread_mean(const struct spread *spread)
{
    return spread->count ? (double)spread->sum / (double)spread->count : 0;
}

/* The standard deviation of all values, not of a sample. */
static inline double spread_deviation(const struct spread *spread)
{
    double mean = spread_mean(spread);
    double variance = spread->count ? (double)spread->squares / (double)spread->count - mean * mean : 0;
    return variance > 0 ? sqrt(variance) : 0;
}

/* The smallest end of a bucket below which at least this share (0 to 1) of the values lies. */
static inline uint64_t spread_quantile(const struct spread *spread, double share)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < SPREAD_BUCKETS && spread->count; i++) {
        seen += spread->buckets[i];
        if (seen && (double)seen >= share * (double)spread->count) {
            uint64_t end = log_linear_end(i);
            return end < spread->max ? end : spread->max;
        }
    }
    return 0;
}
