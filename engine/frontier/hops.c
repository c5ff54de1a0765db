#include "engine/frontier/hops.h"

#include <stdio.h>

size_t hops_write(char *to, struct hops hops)
{
    char number[8];
    size_t len = 0;
    unsigned shown = hops.count < HOPS_SHOWN ? hops.count : HOPS_SHOWN;
    if (hops.count > HOPS_SHOWN) {
        int digits = snprintf(number, sizeof number, "%u+", (unsigned)hops.count - HOPS_SHOWN);
        for (int i = 0; i < digits; i++)
            to[len++] = number[i];
    }
    for (unsigned i = shown; i-- > 0;)
        to[len++] = HOPS_LETTERS[hops.recent >> 3 * i & 7];
    if (hops.count == 0)
        to[len++] = '-';
    return len;
}
