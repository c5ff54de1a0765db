#include "engine/host.h"

#include <assert.h>
#include <string.h>

/* Every so many pops one comes from the hindmost band. */
enum { HOST_BAND_TURN = 8 };

struct slice host_authority(const struct host *host)
{
    return slice_skip(host_key(host), host->is_https ? 8 : 7);
}

struct slice host_name(const struct host *host)
{
    struct slice name = host_authority(host);
    const char *end = name.ptr[0] == '[' ? memchr(name.ptr, ']', name.len) : NULL;
    struct slice after = end ? slice_between(end, name.ptr + name.len) : name;
    const char *colon = memchr(after.ptr, ':', after.len);
    return colon ? slice_between(name.ptr, colon) : name;
}

struct host_item *host_item_acquire(struct pool *pool, struct slice path)
{
    struct host_item *item = pool_acquire(pool, sizeof *item + path.len);
    if (!item)
        return NULL;
    *item = (struct host_item){.len = (uint16_t)path.len};
    memcpy(item->path, path.ptr, path.len);
    return item;
}

void host_item_release(struct pool *pool, struct host_item *item)
{
    pool_release(pool, item, sizeof *item + item->len);
}

static unsigned band_of(const struct host_item *item, bool weights)
{
    unsigned marks = 0;
    if (!weights)
        return 0;
    for (size_t i = 1; i < item->len; i++)
        marks += item->path[i] == '/' || item->path[i] == '.' || item->path[i] == '?';
    return marks < 2 ? 0 : marks < 4 ? 1 : marks < 7 ? 2 : 3;
}

/* A band is a ring: its newest item points to its oldest. */
static void band_append(struct host_item **band, struct host_item *item)
{
    struct host_item *newest = *band;
    if (newest) {
        item->node.next = newest->node.next;
        newest->node.next = &item->node;
    } else {
        item->node.next = &item->node;
    }
    *band = item;
}

static struct host_item *band_pop(struct host_item **band)
{
    struct host_item *newest = *band, *oldest = (struct host_item *)newest->node.next;
    if (oldest == newest)
        *band = NULL;
    else
        newest->node.next = oldest->node.next;
    return oldest;
}

static void take_incoming(struct host *host, bool weights)
{
    struct inbox_node *node = inbox_take(&host->incoming);
    while (node) {
        struct host_item *item = (struct host_item *)node;
        node = node->next;
        bool is_errand = item->kind == HOST_ITEM_ROBOTS;
        band_append(is_errand ? &host->errands : &host->bands[band_of(item, weights)], item);
        host->waiting++;
    }
}

bool host_has_items(struct host *host)
{
    return host->waiting || inbox_has_some(&host->incoming);
}

bool host_has_errand(struct host *host, bool weights)
{
    if (inbox_has_some(&host->incoming))
        take_incoming(host, weights);
    return host->errands;
}

struct host_item *host_pop_errand(struct host *host)
{
    if (!host->errands)
        return NULL;
    host->waiting--;
    return band_pop(&host->errands);
}

struct host_item *host_pop(struct host *host, bool weights)
{
    if (inbox_has_some(&host->incoming) && (weights || !host->waiting))
        take_incoming(host, weights);
    if (!host->waiting)
        return NULL;
    if (host->errands)
        return host_pop_errand(host);
    bool from_behind = ++host->popped % HOST_BAND_TURN == 0;
    host->waiting--;
    for (int i = 0; i < HOST_BANDS; i++) {
        struct host_item **band = &host->bands[from_behind ? HOST_BANDS - 1 - i : i];
        if (*band)
            return band_pop(band);
    }
    assert(!"an item that waits is in a band");
    return NULL;
}

void host_unpop(struct host *host, struct host_item *item)
{
    struct host_item **band = item->kind == HOST_ITEM_ROBOTS ? &host->errands : &host->bands[0];
    struct host_item *newest = *band;
    if (newest) {
        item->node.next = newest->node.next;
        newest->node.next = &item->node;
    } else {
        item->node.next = &item->node;
        *band = item;
    }
    host->waiting++;
}

void host_push_back(struct host *host, struct host_item *item)
{
    band_append(&host->bands[HOST_BANDS - 1], item);
    host->waiting++;
}
