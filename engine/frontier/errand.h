/* Errands: if the robots.txt of a host, the origin, redirects to another host, that host fetches it.
 *
 * An errand is an item in the other host's queue, served before its pages. The same item then carries the
 * answer to the origin's queue, so that answering needs no memory and cannot fail. A host that awaits an
 * answer is not scheduled (HOST_AWAITING) until something is pushed to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/frontier.h"

/* Has the origin's robots.txt fetched from another URL. False if there is no room. The origin must have set
 * awaits_robots before, so that it is not retired until the answer comes. */
struct errand_order {
    uint32_t origin;      /* id of a host */
    const struct url *to; /* the URL to request */
    struct slice via;     /* the URL that redirects there */
    struct hops hops;     /* the hops to it, and the seed at their beginning: as in struct host_item */
    uint32_t source;
    unsigned redirects;
};
bool errand_send(struct frontier_loop *loop, const struct errand_order *order);

/* The origin's id. The item must be a HOST_ITEM_ROBOTS or a HOST_ITEM_ANSWER. */
uint32_t errand_origin(const struct host_item *item);
struct slice errand_path(const struct host_item *item);
uint64_t errand_rules(const struct host_item *item);

/* Sends the item, which was popped at `host`, back to its origin with `rules` as the answer. */
void errand_answer(struct frontier_loop *loop, struct host *host, struct host_item *item, uint64_t rules);
/* Gives all errands that wait at a host the same answer. By the holder. */
void errand_answer_all(struct frontier_loop *loop, struct host *host, uint64_t rules);
