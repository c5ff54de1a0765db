/* Bounds on processor time that hold on machines of any speed.
 *
 * Code on a loop may take 5 ms and no longer. Whether it does is a property of the code, but a processor that others share
 * was seen to take three times as long for the same instructions. So a bound is stretched by what a fixed piece of
 * work takes at the same moment: a test says how long something may take on the machine that the bound was made for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The instrumented program takes many times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PACE_IS_SANITIZED true
#else
#define PACE_IS_SANITIZED false
#endif

/* Processor time of this thread. */
uint64_t pace_thread_ns(void);
/* The nanoseconds that take the place of `ms` milliseconds here and now. Takes a few milliseconds itself. */
uint64_t pace_bound_ns(unsigned ms);
