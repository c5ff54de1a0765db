/* Sizes that are indexed with a mask. */
#pragma once

#include <stddef.h>

/* The smallest power of two that is at least this, and at least 2. */
static inline size_t power_of_two(size_t at_least)
{
    size_t power = 2;
    while (power < at_least)
        power *= 2;
    return power;
}
