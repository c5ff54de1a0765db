#include "engine/report/timeline.h"

#include <string.h>

void timeline_init(struct timeline *timeline)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->slot_ms = TIMELINE_SLOT_MS;
}

static void add(struct timeline_slot *to, const struct timeline_slot *from)
{
    to->urls += from->urls;
    to->pages += from->pages;
    to->bytes += from->bytes;
    to->failed += from->failed;
    to->linked += from->linked;
    to->outlinks += from->outlinks;
    to->redirects += from->redirects;
    to->duplicates += from->duplicates;
    to->near_duplicates += from->near_duplicates;
}

/* Slots begin at multiples of their length, so that pairs are the same whatever came first. */
static void halve(struct timeline *timeline)
{
    struct timeline_slot old[TIMELINE_SLOTS];
    uint64_t first = timeline->first / 2, last = (timeline->first + timeline->count - 1) / 2;
    memcpy(old, timeline->slots, sizeof old);
    memset(timeline->slots, 0, sizeof timeline->slots);
    for (uint64_t i = 0; i < timeline->count; i++)
        add(&timeline->slots[(timeline->first + i) / 2 - first], &old[i]);
    timeline->slot_ms *= 2;
    timeline->first = first;
    timeline->count = last - first + 1;
}

/* Makes room in front for moments that come late. */
static void shift(struct timeline *timeline, uint64_t by)
{
    memmove(timeline->slots + by, timeline->slots, timeline->count * sizeof timeline->slots[0]);
    memset(timeline->slots, 0, by * sizeof timeline->slots[0]);
    timeline->first -= by;
    timeline->count += by;
}

struct timeline_slot *timeline_at(struct timeline *timeline, uint64_t ms)
{
    uint64_t at = ms / timeline->slot_ms;
    if (timeline->count == 0) {
        timeline->first = at;
        timeline->count = 1;
    }
    while (at >= timeline->first + TIMELINE_SLOTS ||
           at + TIMELINE_SLOTS < timeline->first + timeline->count) {
        halve(timeline);
        at = ms / timeline->slot_ms;
    }
    if (at < timeline->first)
        shift(timeline, timeline->first - at);
    if (at >= timeline->first + timeline->count)
        timeline->count = at - timeline->first + 1;
    return &timeline->slots[at - timeline->first];
}
