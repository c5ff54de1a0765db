#include "engine/frontier/errand.h"

#include <assert.h>
#include <string.h>

/* The fields before the path of an errand. */
struct errand {
    uint64_t rules;
    uint32_t origin;
};

static struct errand read_errand(const struct host_item *item)
{
    struct errand errand;
    assert(item->kind == HOST_ITEM_ROBOTS || item->kind == HOST_ITEM_ANSWER);
    memcpy(&errand, item->path, sizeof errand);
    return errand;
}

bool errand_send(struct frontier_loop *loop, const struct errand_order *order)
{
    struct errand errand = {.origin = order->origin};
    char text[sizeof errand + URL_BYTES_MAX];
    struct slice path = url_path_query(order->to);
    struct frontier_place place = {.url = order->to, .hash = frontier_hash(loop, order->to)};
    memset(text, 0, sizeof errand);
    memcpy(text, &errand, sizeof errand);
    memcpy(text + sizeof errand, path.ptr, path.len);
    struct slice all = {text, sizeof errand + path.len};
    struct host_item *item = host_item_acquire_via(&loop->urls, all, order->via);
    if (!item)
        return false;
    item->kind = HOST_ITEM_ROBOTS;
    item->redirects = order->redirects & 63;
    item->recent_hops = order->hops.recent;
    item->hop_count = order->hops.count;
    item->source = order->source;
    if (frontier_push(loop, &place, item))
        return true;
    host_item_release(&loop->urls, item);
    return false;
}

uint32_t errand_origin(const struct host_item *item)
{
    return read_errand(item).origin;
}

struct slice errand_path(const struct host_item *item)
{
    return slice_skip(host_item_path(item), sizeof(struct errand));
}

uint64_t errand_rules(const struct host_item *item)
{
    return read_errand(item).rules;
}

void errand_answer(struct frontier_loop *loop, struct host *host, struct host_item *item, uint64_t rules)
{
    struct errand errand = read_errand(item);
    errand.rules = rules;
    memcpy(item->path, &errand, sizeof errand);
    item->kind = HOST_ITEM_ANSWER;
    frontier_forward(loop, host, frontier_host_by_id(loop->frontier, errand.origin), item);
}

void errand_answer_all(struct frontier_loop *loop, struct host *host, uint64_t rules)
{
    struct host_item *item;
    while ((item = host_pop_errand(host, loop->tuning->fixed.priority.url_weights)))
        errand_answer(loop, host, item, rules);
}
