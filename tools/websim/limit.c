/* A slot belongs to a host as long as its count is above 0. A host may come to have two slots, when an
 * earlier one becomes free and is taken again while a later one is in use: its limit is then too generous
 * for a moment, never too strict. Counts stand alone, nothing is published through them: relaxed order is
 * enough. */
#include "tools/websim/limit.h"

#include "lockfree/atomic.h"
#include "tools/websim/random.h"

#define PROBES 16

uint32_t websim_limit_acquire(struct websim_limits *limits, uint32_t host, uint32_t *count)
{
    uint32_t first = (uint32_t)websim_mix(host);
    for (uint32_t probe = 0; probe < PROBES; probe++) {
        uint32_t slot = (first + probe) % WEBSIM_LIMIT_SLOTS;
        uint64_t seen = lf_load(&limits->slots[slot], relaxed);
        while ((uint32_t)seen == 0 || seen >> 32 == host) {
            uint64_t next = (uint64_t)host << 32 | ((uint32_t)seen + 1);
            if (lf_cas_weak(&limits->slots[slot], &seen, next, relaxed, relaxed)) {
                *count = (uint32_t)next;
                return slot;
            }
        }
    }
    *count = 0;
    return WEBSIM_LIMIT_NONE;
}

void websim_limit_release(struct websim_limits *limits, uint32_t slot)
{
    lf_fetch_sub(&limits->slots[slot], 1, relaxed);
}
