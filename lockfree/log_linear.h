/* Buckets for values of any size: eight steps per doubling, so a bucket is exact to an eighth. */
#pragma once

#include <stdint.h>

#define LOG_LINEAR_STEPS_LOG2 3
#define LOG_LINEAR_STEPS      (1u << LOG_LINEAR_STEPS_LOG2)

/* How many buckets values of so many bits have. */
#define LOG_LINEAR_BUCKETS(bits) (((bits)-LOG_LINEAR_STEPS_LOG2 + 1) << LOG_LINEAR_STEPS_LOG2)

/* Values below LOG_LINEAR_STEPS have a bucket each; above, the top bit chooses the doubling and the next bits the
 * step. */
static inline unsigned log_linear_bucket(uint64_t value)
{
    if (value < LOG_LINEAR_STEPS)
        return (unsigned)value;
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    return ((top - LOG_LINEAR_STEPS_LOG2 + 1) << LOG_LINEAR_STEPS_LOG2) +
           (unsigned)(value >> (top - LOG_LINEAR_STEPS_LOG2) & (LOG_LINEAR_STEPS - 1));
}

/* The largest value of a bucket. */
static inline uint64_t log_linear_end(unsigned bucket)
{
    if (bucket < LOG_LINEAR_STEPS)
        return bucket;
    unsigned doubling = (bucket >> LOG_LINEAR_STEPS_LOG2) - 1;
    uint64_t step = bucket & (LOG_LINEAR_STEPS - 1);
    return ((LOG_LINEAR_STEPS + step + 1) << doubling) - 1;
}
