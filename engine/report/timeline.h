/* Counts over time, in at most TIMELINE_SLOTS slots of equal length. A slot is a second at first; when the time that is
 * covered outgrows the slots, two become one. */
#pragma once

#include <stdint.h>

enum { TIMELINE_SLOTS = 1024, TIMELINE_SLOT_MS = 1000 };

struct timeline_slot {
    uint64_t urls;
    uint64_t pages;
    uint64_t bytes;
    uint64_t failed;
    uint64_t linked; /* pages of which the number of links is known */
    uint64_t outlinks;
    uint64_t redirects;
    uint64_t duplicates;
    uint64_t near_duplicates;
};

struct timeline {
    uint64_t slot_ms;
    uint64_t first; /* the number of the first slot, counted from 1970 */
    uint64_t count; /* slots in use; 0: nothing came yet */
    struct timeline_slot slots[TIMELINE_SLOTS];
};

void timeline_init(struct timeline *timeline);
/* The slot of a moment in milliseconds since 1970. Valid until the next call. */
struct timeline_slot *timeline_at(struct timeline *timeline, uint64_t ms);
