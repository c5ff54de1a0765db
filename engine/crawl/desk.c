#include "engine/crawl/desk.h"

#include <string.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"

/* What became of a question in this turn. */
enum progress { DONE, LATER, FORWARDED };

void desk_init(struct desk *desk, struct frontier_loop *frontier, struct desk *const *all)
{
    *desk = (struct desk){.frontier = frontier, .all = all};
    inbox_init_open(&desk->inbox); /* never parked: a loop looks at least every 50 ms */
}

/* What can be told of a host by any loop. */
static void tell_row(struct inquiry_row *row, const struct host *host)
{
    unsigned orders = lf_load(&host->orders, relaxed);
    struct slice key = host_key(host);
    row->state = host_state(host);
    row->is_held = orders & HOST_ORDER_HOLD;
    row->is_dropping = orders & HOST_ORDER_DROP;
    row->queued = lf_load(&host->queued, relaxed);
    row->spilled = lf_load(&host->spilled, relaxed);
    row->visits = lf_load(&host->visits, relaxed);
    row->failures = lf_load(&host->failures, relaxed);
    row->pages = lf_load(&host->pages, relaxed);
    row->bytes = lf_load(&host->bytes, relaxed);
    row->spent_ms = lf_load(&host->spent_ns, relaxed) / CLOCK_NS_PER_MS;
    row->key_len = (uint16_t)(key.len < sizeof row->key ? key.len : sizeof row->key);
    memcpy(row->key, key.ptr, row->key_len);
}

static int64_t ms_until(uint64_t then_ns, uint64_t now_ns)
{
    return then_ns > now_ns ? (int64_t)((then_ns - now_ns) / CLOCK_NS_PER_MS) : 0;
}

/* When it may be visited, and why not before. */
static void tell_moment(struct inquiry_host *told, struct frontier_loop *loop, const struct host *host, uint64_t now_ns)
{
    const struct address *address = frontier_address(loop->frontier, host->address);
    uint64_t token_ns = address_token_ns(address);
    bool is_late = host->next_ns > now_ns;
    if (token_ns > now_ns && token_ns > host->next_ns)
        told->why = INQUIRY_WHY_ADDRESS;
    else if (is_late)
        told->why = lf_load(&host->failures, relaxed) ? INQUIRY_WHY_FAILURES : INQUIRY_WHY_REST;
    else
        told->why = INQUIRY_WHY_TURN;
    uint64_t then_ns = token_ns > host->next_ns ? token_ns : host->next_ns;
    told->wait_ms = then_ns == UINT64_MAX ? -1 : ms_until(then_ns, now_ns);
}

static void tell_why(struct inquiry_host *told, struct frontier_loop *loop, const struct host *host, uint64_t now_ns)
{
    static const enum inquiry_why by_state[HOST_STATES] = {
        [HOST_IDLE] = INQUIRY_WHY_NOTHING,     [HOST_ARRIVING] = INQUIRY_WHY_COMING,
        [HOST_RESOLVING] = INQUIRY_WHY_NAME,   [HOST_LOADING] = INQUIRY_WHY_LOADING,
        [HOST_VISITING] = INQUIRY_WHY_VISITED, [HOST_RETURNING] = INQUIRY_WHY_COMING,
        [HOST_AWAITING] = INQUIRY_WHY_ROBOTS,  [HOST_HELD] = INQUIRY_WHY_HELD,
        [HOST_RESTING] = INQUIRY_WHY_REST,     [HOST_READY] = INQUIRY_WHY_TURN};
    enum host_state state = told->row.state;
    told->wait_ms = -1;
    told->why = by_state[state];
    if (!told->is_whole)
        return;
    if (host->is_dead)
        told->why = INQUIRY_WHY_GIVEN_UP;
    else if (state == HOST_RESTING || state == HOST_READY)
        tell_moment(told, loop, host, now_ns);
}

/* What only a loop that has the host can tell. */
static void tell_all(struct inquiry_host *told, struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    uint64_t fresh_ns = loop->tuning->live.robots.fresh_ns;
    bool has_rules = host->robots && host->robots_until_ns > now_ns;
    told->has_ip = host->address;
    told->ip = host->ip;
    told->neighbours = host->address && lf_load(&host->home, relaxed) == loop->index
                           ? frontier_address(loop->frontier, host->address)->hosts
                           : 0;
    told->robots_age_ms = has_rules ? ms_until(now_ns + fresh_ns, host->robots_until_ns) : -1;
    told->crawl_delay_ms = host->crawl_delay_ns / CLOCK_NS_PER_MS;
    host_has_errand(host, loop->tuning->fixed.priority.url_weights); /* takes up what has come */
    told->on_disk = slots_waiting(&host->stowed);
    told->in_memory = host->waiting;
    told->given_up = host->is_dead ? (enum fetch_outcome)host->dead_why : FETCH_DONE;
    told->trouble = (enum fetch_outcome)host->trouble;
    told->is_whole = true;
}

/* Writes URLs until the room is used up, or max of them, or the time is over. True: that were all. */
static bool write_urls(struct inquiry *inquiry, const struct host *host, uint32_t max, uint64_t until_ns)
{
    struct slice key = host_key(host);
    for (;;) {
        struct host_cursor before = inquiry->cursor;
        bool is_full = inquiry->len + URL_BYTES_MAX + 1 > INQUIRY_TEXT_BYTES || inquiry->url_count >= max ||
                       (inquiry->url_count % DESK_URLS_PER_LOOK == DESK_URLS_PER_LOOK - 1 &&
                        clock_now_ns() >= until_ns);
        const struct host_item *item = host_walk(host, &inquiry->cursor);
        if (!item)
            return true;
        if (is_full) {
            inquiry->cursor = before;
            return false;
        }
        struct slice url = url_join_text(key, host_item_path(item), inquiry->text + inquiry->len, URL_BYTES_MAX);
        inquiry->len += url.len;
        inquiry->text[inquiry->len++] = '\n';
        inquiry->url_count++;
    }
}

/* Where in the host's queue this path is, from 1 on; 0: not among the first. */
static uint32_t place_of(const struct host *host, struct slice path)
{
    struct host_cursor cursor = {0};
    const struct host_item *item;
    for (uint32_t place = 1; place <= DESK_PLACES_MAX && (item = host_walk(host, &cursor)); place++)
        if (slice_equals(host_item_path(item), path))
            return place;
    return 0;
}

static void let_go(struct desk *desk, struct inquiry *inquiry, uint64_t now_ns)
{
    if (inquiry->pinned)
        frontier_unpin(desk->frontier, inquiry->pinned, now_ns);
    inquiry->pinned = NULL;
    inquiry->has_more = false;
}

static enum progress answer(struct desk *desk, struct inquiry *inquiry, uint64_t now_ns)
{
    int asked = INQUIRY_ASKED;
    /* Hand-over to the asker: R1 pairs with A1 in inquiry.c. If he has left (A2 pairs with R2), it is free: R3 pairs
     * with A3 in inquiry_begin. */
    if (lf_cas(&inquiry->state, &asked, INQUIRY_ANSWERED, acq_rel, acquire))
        return DONE;
    let_go(desk, inquiry, now_ns);
    lf_store(&inquiry->state, INQUIRY_FREE, release);
    return DONE;
}

/* Gives it to the loop that may have the host. False: that is this one, or nobody knows. */
static bool forward(struct desk *desk, struct inquiry *inquiry, const struct host *host)
{
    unsigned home = lf_load(&host->home, relaxed), holder = lf_load(&host->holder, relaxed);
    unsigned to = holder < desk->frontier->frontier->loop_count && inquiry->kind == INQUIRY_HOST ? holder : home;
    if (to == desk->frontier->index)
        return false;
    inbox_push(&desk->all[to]->inbox, &inquiry->node); /* hand-over */
    desk->frontier->wake(desk->frontier->owner, to);
    return true;
}

static struct host *find(struct desk *desk, const struct inquiry *inquiry)
{
    char text[HOLDS_NAME_BYTES + 2];
    struct url url;
    url_init(&url, text, sizeof text);
    bool fits = url_join(&url, (struct slice){inquiry->target.name, inquiry->target.len}, SLICE("/"));
    uint64_t hash = fits ? frontier_hash(desk->frontier, &url) : 0;
    return fits ? hosts_find(&desk->frontier->frontier->hosts, &url, hash) : NULL;
}

static enum progress finish(struct desk *desk, struct inquiry *inquiry, struct host *host, uint64_t now_ns)
{
    tell_why(&inquiry->host, desk->frontier, host, now_ns);
    return answer(desk, inquiry, now_ns);
}

static enum progress answer_host(struct desk *desk, struct inquiry *inquiry, struct host *host, uint64_t now_ns)
{
    struct frontier_loop *loop = desk->frontier;
    tell_row(&inquiry->host.row, host); /* before it is seized, as which it would be in no state */
    enum frontier_reach reach = frontier_reach(loop, host);
    if (reach == FRONTIER_IS_AWAY) {
        if (now_ns >= inquiry->until_ns)
            return finish(desk, inquiry, host, now_ns);
        return forward(desk, inquiry, host) ? FORWARDED : LATER;
    }
    tell_all(&inquiry->host, loop, host, now_ns);
    if (inquiry->path_len)
        inquiry->place = place_of(host, (struct slice){inquiry->path, inquiry->path_len});
    else
        write_urls(inquiry, host, INQUIRY_URLS_MAX, UINT64_MAX);
    if (reach == FRONTIER_WAS_SEIZED)
        frontier_unpin(loop, host, now_ns);
    return finish(desk, inquiry, host, now_ns);
}

/* The next piece of the queue of a host that is pinned. */
static enum progress write_piece(struct desk *desk, struct inquiry *inquiry, uint64_t now_ns)
{
    if (lf_load(&inquiry->state, relaxed) == INQUIRY_LEFT)
        return answer(desk, inquiry, now_ns);
    if (inquiry->has_more) /* the last piece was read */
        inquiry->len = inquiry->url_count = 0;
    inquiry->has_more = false;
    bool is_all = write_urls(inquiry, inquiry->pinned, UINT32_MAX, clock_now_ns() + DESK_WORK_NS);
    if (!is_all && inquiry->len + URL_BYTES_MAX + 1 <= INQUIRY_TEXT_BYTES)
        return LATER; /* its time is over for this turn */
    inquiry->has_more = !is_all;
    if (is_all)
        let_go(desk, inquiry, now_ns);
    return answer(desk, inquiry, now_ns);
}

static enum progress answer_queue(struct desk *desk, struct inquiry *inquiry, struct host *host, uint64_t now_ns)
{
    struct frontier_loop *loop = desk->frontier;
    tell_row(&inquiry->host.row, host);
    enum frontier_reach reach = FRONTIER_IS_AWAY;
    if (lf_load(&host->home, relaxed) == loop->index)
        reach = frontier_pin(loop, host) ? FRONTIER_WAS_SEIZED : frontier_reach(loop, host);
    if (reach != FRONTIER_WAS_SEIZED) {
        if (now_ns < inquiry->until_ns)
            return forward(desk, inquiry, host) ? FORWARDED : LATER;
        inquiry->is_refused = true;
        return finish(desk, inquiry, host, now_ns);
    }
    inquiry->pinned = host;
    tell_all(&inquiry->host, loop, host, now_ns);
    return write_piece(desk, inquiry, now_ns);
}

static uint64_t value_of(const struct host *host, enum inquiry_by by)
{
    switch (by) {
    case INQUIRY_BY_QUEUE:
        return (uint64_t)lf_load(&host->queued, relaxed) + lf_load(&host->spilled, relaxed);
    case INQUIRY_BY_FAILURES:
        return lf_load(&host->failures, relaxed);
    case INQUIRY_BY_TIME:
        return lf_load(&host->spent_ns, relaxed) / CLOCK_NS_PER_MS;
    case INQUIRY_BY_BYTES:
        return lf_load(&host->bytes, relaxed);
    }
    return 0;
}

/* Keeps the rows in order, the most first. */
static void rank(struct inquiry *inquiry, const struct host *host)
{
    uint64_t value = value_of(host, inquiry->by);
    unsigned at = inquiry->row_count;
    if (!value || (at == INQUIRY_ROWS_MAX && value <= inquiry->rows[at - 1].value))
        return;
    while (at > 0 && inquiry->rows[at - 1].value < value)
        at--;
    inquiry->row_count += inquiry->row_count < INQUIRY_ROWS_MAX;
    memmove(inquiry->rows + at + 1, inquiry->rows + at, (inquiry->row_count - 1 - at) * sizeof inquiry->rows[0]);
    tell_row(&inquiry->rows[at], host);
    inquiry->rows[at].value = value;
}

/* Any loop can go through all records: what it reads of them is atomic, and none is reused before its next turn. */
static enum progress answer_top(struct desk *desk, struct inquiry *inquiry, uint64_t now_ns)
{
    const struct hosts *hosts = &desk->frontier->frontier->hosts;
    uint32_t end = lf_load(&hosts->begun, relaxed);
    end = end < hosts->count_max ? end : hosts->count_max;
    for (unsigned i = 0; i < DESK_RECORDS_PER_TURN && inquiry->record < end; i++) {
        const struct host *host = hosts_at(hosts, ++inquiry->record);
        if (host)
            rank(inquiry, host);
    }
    return inquiry->record < end ? LATER : answer(desk, inquiry, now_ns);
}

static enum progress deal_with(struct desk *desk, struct inquiry *inquiry, uint64_t now_ns)
{
    inquiry->desk = desk;
    if (!inquiry->until_ns)
        inquiry->until_ns = now_ns + DESK_PATIENCE_NS;
    if (inquiry->kind == INQUIRY_TOP)
        return answer_top(desk, inquiry, now_ns);
    if (inquiry->pinned)
        return write_piece(desk, inquiry, now_ns);
    struct host *host = find(desk, inquiry);
    inquiry->is_known = host;
    if (!host)
        return answer(desk, inquiry, now_ns);
    return inquiry->kind == INQUIRY_HOST ? answer_host(desk, inquiry, host, now_ns)
                                         : answer_queue(desk, inquiry, host, now_ns);
}

void desk_turn(struct desk *desk, uint64_t now_ns)
{
    struct inbox_node *node = inbox_has_some(&desk->inbox) ? inbox_take(&desk->inbox) : NULL;
    while (node) {
        struct inquiry *inquiry = container_of(node, struct inquiry, node);
        node = node->next;
        inquiry->next = desk->open;
        desk->open = inquiry;
    }
    struct inquiry *inquiry = desk->open;
    desk->open = NULL;
    while (inquiry) {
        struct inquiry *next = inquiry->next;
        if (deal_with(desk, inquiry, now_ns) == LATER) {
            inquiry->next = desk->open;
            desk->open = inquiry;
        }
        inquiry = next;
    }
}
