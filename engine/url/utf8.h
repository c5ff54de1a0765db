/* UTF-8 as decoders of the web read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

/* The length of the sequence that `bytes` (at least one, above 127) begin with. If it is ill-formed `good` is
 * false and the length is that of the part which a decoder replaces by one U+FFFD. */
static inline size_t utf8_length(struct slice bytes, bool *good)
{
    const uint8_t *b = (const uint8_t *)bytes.ptr;
    uint8_t low = 0x80, high = 0xbf;
    size_t need = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : 2;
    *good = false;
    if (b[0] < 0xc2 || b[0] > 0xf4)
        return 1;
    if (b[0] == 0xe0)
        low = 0xa0; /* shorter forms exist */
    else if (b[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (b[0] == 0xf0)
        low = 0x90;
    else if (b[0] == 0xf4)
        high = 0x8f; /* above U+10FFFF */
    for (size_t i = 1; i < need; i++) {
        if (i == bytes.len || b[i] < low || b[i] > high)
            return i;
        low = 0x80;
        high = 0xbf;
    }
    *good = true;
    return need;
}
