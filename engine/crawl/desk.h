/* Where the operator's questions come to a loop (inquiry.h). Each turn it deals with a few, and spends little time on each: a
 * question about all hosts, or about a long queue, takes many turns. A host whose queue is being written out is pinned
 * meanwhile (frontier_pin); it is visited a little later. */
#pragma once

#include "engine/crawl/inquiry.h"

struct desk {
    struct frontier_loop *frontier;
    struct desk *const *all;  /* the desks of all loops, by index */
    struct inbox inbox;       /* from the asker and from other desks */
    struct inquiry *open;     /* not answered yet */
};

void desk_init(struct desk *desk, struct frontier_loop *frontier, struct desk *const *all);
/* Once per turn, after frontier_turn. */
void desk_turn(struct desk *desk, uint64_t now_ns);

static inline bool desk_has_mail(struct desk *desk)
{
    return inbox_has_some(&desk->inbox);
}
/* Whether desk_turn has to be called again soon. */
static inline bool desk_is_busy(const struct desk *desk)
{
    return desk->open;
}
