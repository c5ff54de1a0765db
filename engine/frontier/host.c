#include "engine/frontier/host.h"

#include <assert.h>
#include <string.h>

/* One pop in this many comes from the last band. */
enum { HOST_BAND_TURN = 8 };

/* URLs that one call of host_stow moves: some hundred microseconds. */
enum { HOST_STOW_MAX = 2048 };

/* On disk a URL is its item without what links it to others. */
enum { LINK_BYTES = offsetof(struct host_item, recent_hops) };

const char *host_state_name(enum host_state state)
{
    static const char *const names[HOST_STATES] = {
        [HOST_IDLE] = "idle",         [HOST_ARRIVING] = "arriving",   [HOST_RESOLVING] = "resolving",
        [HOST_LOADING] = "loading",   [HOST_RESTING] = "resting",     [HOST_READY] = "ready",
        [HOST_VISITING] = "visiting", [HOST_RETURNING] = "returning", [HOST_AWAITING] = "awaiting",
        [HOST_HELD] = "held"};
    return names[state];
}

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

struct host_item *host_item_acquire_via(struct pool *pool, struct slice path, struct slice via)
{
    if (HOST_ITEM_BYTES + path.len + via.len > POOL_BLOCK_BYTES_MAX)
        via.len = 0;
    struct host_item *item = pool_acquire(pool, HOST_ITEM_BYTES + path.len + via.len);
    if (!item)
        return NULL;
    memset(item, 0, HOST_ITEM_BYTES); /* the struct may end behind the path, and behind the block */
    item->len = (uint16_t)path.len;
    item->via_len = (uint16_t)via.len;
    memcpy(item->path, path.ptr, path.len);
    if (via.len)
        memcpy(item->path + path.len, via.ptr, via.len);
    return item;
}

void host_item_release(struct pool *pool, struct host_item *item)
{
    pool_release(pool, item, HOST_ITEM_BYTES + item->len + item->via_len);
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
static void band_prepend(struct host_item **band, struct host_item *item)
{
    struct host_item *newest = *band;
    if (newest) {
        item->node.next = newest->node.next;
        newest->node.next = &item->node;
    } else {
        item->node.next = &item->node;
        *band = item;
    }
}

static void band_append(struct host_item **band, struct host_item *item)
{
    band_prepend(band, item);
    *band = item; /* between the newest and the oldest: which of the two it is, is the band's to say */
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

static struct host_item **band_for(struct host *host, const struct host_item *item, bool weights)
{
    if (item->kind == HOST_ITEM_ROBOTS)
        return &host->errands;
    return item->kind == HOST_ITEM_ANSWER ? &host->answers : &host->bands[band_of(item, weights)];
}

static void wait_in_memory(struct host *host, struct host_item *item, bool weights)
{
    band_append(band_for(host, item, weights), item);
    host->waiting++;
}

/* Whether the oldest URL of the tail may wait in the bands. The URLs of a dead host have no order any more. */
static bool may_wait_in_memory(const struct host *host)
{
    bool is_next = !slots_waiting(&host->stowed) && (!host->share || host->waiting < host->share);
    return is_next || host->is_dead;
}

static struct slice record_of(const struct host_item *item)
{
    size_t text = (size_t)item->len + item->via_len;
    return (struct slice){(const char *)item + LINK_BYTES, HOST_ITEM_BYTES - LINK_BYTES + text};
}

static bool belongs_behind(const struct host *host, const struct host_item *item)
{
    bool is_url = item->kind != HOST_ITEM_ROBOTS && item->kind != HOST_ITEM_ANSWER;
    return is_url && record_of(item).len <= SLOTS_RECORD_BYTES_SMALL &&
           (host->tail || !may_wait_in_memory(host));
}

static void take_incoming(struct host *host, bool weights)
{
    while (host->tail && may_wait_in_memory(host))
        wait_in_memory(host, band_pop(&host->tail), weights);
    struct inbox_node *node = inbox_has_some(&host->incoming) ? inbox_take(&host->incoming) : NULL;
    while (node) {
        struct host_item *item = (struct host_item *)node;
        node = node->next;
        if (belongs_behind(host, item))
            band_append(&host->tail, item);
        else
            wait_in_memory(host, item, weights);
    }
}

bool host_stow(struct host *host, const struct host_mover *mover)
{
    take_incoming(host, mover->weights);
    for (unsigned i = 0; i < HOST_STOW_MAX && host->tail; i++) {
        struct host_item *oldest = (struct host_item *)host->tail->node.next;
        if (!slots_push(mover->slots, &host->stowed, record_of(oldest)))
            return false;
        host_item_release(mover->pool, band_pop(&host->tail));
    }
    return true;
}

/* The item that was stowed as this record; NULL: no memory. */
static struct host_item *item_of(struct pool *pool, struct slice record)
{
    size_t text = record.len - (HOST_ITEM_BYTES - LINK_BYTES);
    struct host_item *item = pool_acquire(pool, LINK_BYTES + record.len);
    if (!item)
        return NULL;
    item->node.next = NULL;
    memcpy((char *)item + LINK_BYTES, record.ptr, record.len);
    assert((size_t)item->len + item->via_len == text);
    (void)text;
    return item;
}

bool host_unstow(struct host *host, const struct host_mover *mover, struct slots_buffer *batch)
{
    struct slice record;
    for (uint32_t at = batch->read_at; slots_next(batch, &record); at = batch->read_at) {
        struct host_item *item = item_of(mover->pool, record);
        if (!item) {
            batch->read_at = at; /* it is the next one again */
            return false;
        }
        wait_in_memory(host, item, mover->weights);
    }
    return true;
}

bool host_has_items(struct host *host)
{
    return host->waiting || host->tail || slots_waiting(&host->stowed) || inbox_has_some(&host->incoming);
}

const struct host_item *host_first(const struct host *host)
{
    for (int i = 0; i < HOST_BANDS; i++)
        if (host->bands[i])
            return (const struct host_item *)host->bands[i]->node.next;
    return NULL;
}

bool host_has_errand(struct host *host, bool weights)
{
    take_incoming(host, weights);
    return host->errands || host->answers;
}

/* Pops from a band that may be empty. */
static struct host_item *pop_from(struct host *host, struct host_item **band)
{
    if (!*band)
        return NULL;
    host->waiting--;
    return band_pop(band);
}

struct host_item *host_pop_errand(struct host *host, bool weights)
{
    take_incoming(host, weights);
    return pop_from(host, &host->errands);
}

struct host_item *host_pop_answer(struct host *host, bool weights)
{
    take_incoming(host, weights);
    return pop_from(host, &host->answers);
}

struct host_item *host_pop_url(struct host *host, bool weights)
{
    take_incoming(host, weights);
    for (int i = 0; i < HOST_BANDS; i++)
        if (host->bands[i])
            return pop_from(host, &host->bands[i]);
    return NULL;
}

const struct host_item *host_walk(const struct host *host, struct host_cursor *cursor)
{
    for (; cursor->ring <= HOST_BANDS; cursor->ring++, cursor->last = NULL) {
        const struct host_item *newest = cursor->ring < HOST_BANDS ? host->bands[cursor->ring] : host->tail;
        const struct host_item *last = cursor->last ? cursor->last : newest;
        if (newest && cursor->last != newest)
            return cursor->last = (const struct host_item *)last->node.next;
    }
    return NULL;
}

struct host_item *host_pop(struct host *host, bool weights)
{
    take_incoming(host, weights); /* an errand may be among them */
    if (!host->waiting)
        return NULL;
    if (host->errands)
        return pop_from(host, &host->errands);
    bool from_behind = ++host->popped % HOST_BAND_TURN == 0;
    for (int i = 0; i < HOST_BANDS; i++) {
        struct host_item **band = &host->bands[from_behind ? HOST_BANDS - 1 - i : i];
        if (*band)
            return pop_from(host, band);
    }
    return NULL; /* only answers are left */
}

void host_unpop(struct host *host, struct host_item *item)
{
    band_prepend(item->kind == HOST_ITEM_ROBOTS ? &host->errands : &host->bands[0], item);
    host->waiting++;
}

void host_push_back(struct host *host, struct host_item *item)
{
    band_append(&host->bands[HOST_BANDS - 1], item);
    host->waiting++;
}

bool host_leave_ip(struct host *host)
{
    host->wants_other_ip = host->ip_count > 1;
    host->ips_failed++;
    if (host->ips_failed < host->ip_count)
        return true;
    host->ips_failed = 0;
    return false;
}

void host_keep_ip(struct host *host)
{
    host->ips_failed = 0;
}

const struct ip *host_choose_ip(const struct host *host, const struct ip *ips, unsigned count)
{
    const struct ip *next = NULL, *least = &ips[0];
    if (host->address == 0)
        return &ips[0];
    for (unsigned i = 0; i < count; i++) {
        int order = memcmp(&ips[i], &host->ip, sizeof host->ip);
        if (order == 0 && !host->wants_other_ip)
            return &ips[i];
        if (order > 0 && (!next || memcmp(&ips[i], next, sizeof *next) < 0))
            next = &ips[i];
        if (memcmp(&ips[i], least, sizeof *least) < 0)
            least = &ips[i];
    }
    return !host->wants_other_ip ? &ips[0] : next ? next : least;
}
