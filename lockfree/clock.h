/* The clocks: monotonic time in nanoseconds, from which all durations are taken; the time of day, for dates; and the
 * processor time of a thread or of the process, for work that must not depend on what else the machine does. */
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

/* Processor time that this thread has used. A system call: some 300 ns. */
static inline uint64_t clock_thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The same of all threads of the process, those that have ended included. */
static inline uint64_t clock_process_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Microseconds since 1970. The operator may set this clock at any time. */
static inline uint64_t clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
