/* Bytes of a block put together, for CPUs that have no instruction for it. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "engine/content/simhash_parts.h"

static inline void simhash_copy_folded(char *out, const char *from)
{
    uint64_t bytes;
    memcpy(&bytes, from, sizeof(bytes));
    bytes |= SIMHASH_FOLD * UINT64_C(0x0101010101010101);
    memcpy(out, &bytes, sizeof(bytes));
}

/* Copies these bytes, in lower case. Returns which of the copies begin a word. Up to 16 more are read and written. */
__attribute__((always_inline)) static inline uint64_t simhash_append(char *out, const char *block,
                                                                     struct simhash_letters letters)
{
    unsigned count = 0;
    uint64_t starts = 0;
    for (uint64_t mask = letters.all, rest; mask; mask = rest) {
        rest = mask & (mask + (mask & -mask)); /* the carry ends behind the lowest run of ones */
        unsigned begin = (unsigned)__builtin_ctzll(mask), end = 64 - (unsigned)__builtin_clzll(mask ^ rest);
        starts |= (letters.starts >> begin & 1) << count;
        simhash_copy_folded(out + count, block + begin);
        for (unsigned at = begin + 8; at < end; at += 8)
            simhash_copy_folded(out + count + (at - begin), block + at);
        count += end - begin;
    }
    return starts;
}
