/* A lane with hosts is in one of the two queues, unless it has NAMES_PER_LANE_MAX look-ups in flight; then
 * lanes_end puts it back. A lane may become slow or quick while it is queued; lanes_pop then moves it to the
 * other queue. */
#include "engine/crawl/lanes.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "engine/crawl/limits.h"
#include "lockfree/container_of.h"

_Static_assert((NAMES_LANES & (NAMES_LANES - 1)) == 0, "a lane is found by the last bits of a hash");

void lanes_line_push(struct lanes_line *line, struct host *host)
{
    host->message.next = NULL;
    *(line->first ? &line->last->next : &line->first) = &host->message;
    line->last = &host->message;
}

struct host *lanes_line_pop(struct lanes_line *line)
{
    struct inbox_node *node = line->first;
    if (!node)
        return NULL;
    line->first = node->next;
    return container_of(node, struct host, message);
}

bool lanes_init(struct lanes *lanes)
{
    *lanes = (struct lanes){.lanes = calloc(NAMES_LANES, sizeof *lanes->lanes)};
    return lanes->lanes;
}

void lanes_fini(struct lanes *lanes)
{
    free(lanes->lanes);
}

static struct lane *lane_of(const struct lanes *lanes, const struct host *host)
{
    return &lanes->lanes[host->domain & (NAMES_LANES - 1)];
}

static bool is_slow(const struct lane *lane)
{
    return lane->overdue + lane->silent >= NAMES_SLOW_AT;
}

/* Appends the lane to the queue that suits it; no-op if it has no host or too many look-ups. */
static void enqueue(struct lanes *lanes, struct lane *lane)
{
    bool slow = is_slow(lane);
    lane->place = LANE_NOWHERE;
    if (!lane->hosts.first || (!slow && lane->in_flight >= NAMES_PER_LANE_MAX))
        return;
    struct lane_queue *queue = slow ? &lanes->slow : &lanes->quick;
    lane->place = slow ? LANE_SLOW : LANE_QUICK;
    lane->next = NULL;
    *(queue->first ? &queue->last->next : &queue->first) = lane;
    queue->last = lane;
}

void lanes_push(struct lanes *lanes, struct host *host)
{
    struct lane *lane = lane_of(lanes, host);
    lanes_line_push(&lane->hosts, host);
    if (lane->place == LANE_NOWHERE)
        enqueue(lanes, lane);
}

struct host *lanes_pop(struct lanes *lanes, bool from_slow)
{
    struct lane_queue *queue = from_slow ? &lanes->slow : &lanes->quick;
    struct lane *lane;
    while ((lane = queue->first)) {
        queue->first = lane->next;
        bool may = is_slow(lane) == from_slow && (from_slow || lane->in_flight < NAMES_PER_LANE_MAX);
        struct host *host = may ? lanes_line_pop(&lane->hosts) : NULL;
        enqueue(lanes, lane);
        if (host)
            return host;
    }
    return NULL;
}

void lanes_begin(struct lanes *lanes, const struct host *host)
{
    lane_of(lanes, host)->in_flight++;
}

void lanes_overdue(struct lanes *lanes, const struct host *host)
{
    lane_of(lanes, host)->overdue++;
}

void lanes_end(struct lanes *lanes, const struct host *host, struct lanes_end end)
{
    struct lane *lane = lane_of(lanes, host);
    assert(lane->in_flight > 0 && lane->overdue >= end.was_overdue);
    lane->in_flight--;
    lane->overdue -= end.was_overdue;
    if (!end.is_silent)
        lane->silent /= 2;
    else if (lane->silent < NAMES_SILENT_MAX)
        lane->silent++;
    if (lane->place == LANE_NOWHERE)
        enqueue(lanes, lane);
}

bool lanes_is_slow(const struct lanes *lanes, const struct host *host)
{
    return is_slow(lane_of(lanes, host));
}
