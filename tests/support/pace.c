#include "tests/support/pace.h"

#include <time.h>

/* What the work takes on the machine that bounds are made for: an EPYC with nothing else to do. */
#define WORK_NS UINT64_C(1600000)
/* What a sanitizer adds: ASan two to fifteen times, by the code. */
#define SANITIZED_TIMES 20
#define WORK_BYTES      (1u << 21)

uint64_t pace_thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Four chains of loads and multiplications side by side keep the processor as busy as a parser does: code that mostly waits
 * for itself would not notice a neighbour that shares the core. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static uint64_t work(unsigned char *bytes)
{
    uint64_t hash[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < WORK_BYTES; i += 4)
        for (unsigned j = 0; j < 4; j++) {
            hash[j] = (hash[j] ^ bytes[i + j]) * UINT64_C(0x100000001b3);
            bytes[i + j] = (unsigned char)(hash[j] >> 56);
        }
    return hash[0] ^ hash[1] ^ hash[2] ^ hash[3];
}

uint64_t pace_bound_ns(unsigned ms)
{
    static unsigned char bytes[WORK_BYTES];
    static volatile uint64_t sink;
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < 3; round++) {
        uint64_t begin = pace_thread_ns();
        sink = work(bytes);
        uint64_t spent = pace_thread_ns() - begin;
        least = spent < least ? spent : least;
    }
    (void)sink;
    uint64_t slower = least > WORK_NS ? least : WORK_NS;
    return ms * UINT64_C(1000000) * (PACE_IS_SANITIZED ? SANITIZED_TIMES : 1) / 100 * (slower * 100 / WORK_NS);
}
