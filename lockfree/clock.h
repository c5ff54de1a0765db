/* Monotonic time in nanoseconds; the only clock that durations are taken from. */
#pragma once

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S  UINT64_C(1000000000)
#define CLOCK_NS_PER_MS UINT64_C(1000000)

static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}
