/* What the operator wants of single hosts (holds.h) comes to them here. The housekeeper publishes a list; every loop
 * adopts it at its next turn and then goes through the records of its own hosts, some per turn:
 *
 *     HELD              placed again if it was released
 *     RESTING, READY    taken out of the heap of its address, then held, or its URLs dropped
 *     RESOLVING         its URLs in memory are dropped; the rest when its address is known
 *     AWAITING          likewise placed again if its URLs are to be dropped
 *     with somebody else, or on its way   its home has set host->orders: whoever visits it makes no further request, and
 *                       frontier_place_host does the rest
 *
 * A host that is made or changes its home meanwhile is looked up by frontier_place_host: host->obeyed tells which
 * list its home has seen. URLs that wait in the spill are looked up when they come from there (harvest.c). */
#include "engine/frontier/frontier_parts.h"
#include "lockfree/clock.h"

enum {
    RECORDS_PER_TURN = 512, /* two microseconds each at worst: the registrable domain of a name */
};
/* Of a turn, for hosts that have to be moved or emptied; one of them may take DROP_NS beyond it (loop.c). */
#define WORK_NS (2 * CLOCK_NS_PER_MS)

static void set_orders(struct host *host, unsigned orders)
{
    lf_store(&host->orders, (uint8_t)orders, relaxed);
}

void frontier_greet(struct frontier_loop *loop, struct host *host)
{
    const struct holds *list = loop->holds.list;
    if (!list)
        return;
    set_orders(host, holds_ask(list, host_key(host), host_name(host)).is_held ? HOST_ORDER_HOLD : 0);
    lf_store(&host->obeyed, list->number, relaxed);
}

void frontier_look_up(struct frontier_loop *loop, struct host *host)
{
    const struct holds *list = loop->holds.list;
    uint32_t obeyed = lf_load(&host->obeyed, relaxed);
    if (!list || obeyed >= list->number)
        return;
    struct holds_answer answer = holds_ask(list, host_key(host), host_name(host));
    unsigned orders = lf_load(&host->orders, relaxed) & ~(unsigned)HOST_ORDER_HOLD;
    orders |= answer.is_held ? HOST_ORDER_HOLD : 0;
    orders |= answer.dropped > obeyed ? HOST_ORDER_DROP : 0;
    set_orders(host, orders);
    lf_store(&host->obeyed, list->number, relaxed);
}

static void end_drop(struct host *host)
{
    set_orders(host, lf_load(&host->orders, relaxed) & ~(unsigned)HOST_ORDER_DROP);
}

bool frontier_drop(struct frontier_loop *loop, struct host *host)
{
    if (!loop->abandon(loop->owner, host)) {
        frontier_send_home(loop, host, HOST_ARRIVING);
        return false;
    }
    if (frontier_load_on(loop, host))
        return false;
    end_drop(host);
    return true;
}

/* The host cannot be moved: what it has in memory is dropped. */
static void drop_in_place(struct frontier_loop *loop, struct host *host)
{
    if (loop->abandon(loop->owner, host) && !host->tail && !slots_waiting(&host->stowed))
        end_drop(host);
}

/* Idle, or waiting for its robots.txt: it is nobody's. False: a push was faster, or it has just moved. */
static bool seize(struct frontier_loop *loop, struct host *host)
{
    if (!inbox_unpark(&host->incoming))
        return false;
    if (lf_load(&host->home, relaxed) == loop->index)
        return true;
    frontier_send_home(loop, host, HOST_ARRIVING);
    return false;
}

static void take_out(struct frontier_loop *loop, struct host *host)
{
    address_take_out(frontier_address(loop->frontier, host->address), host);
}

/* Brings a host at home to where its orders want it. False: nothing was to be done. */
static bool obey_at_home(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    unsigned orders = lf_load(&host->orders, relaxed);
    enum host_state state = host_state(host);
    bool is_scheduled = state == HOST_RESTING || state == HOST_READY;
    if (is_scheduled && orders)
        take_out(loop, host);
    if ((is_scheduled && orders) || (state == HOST_HELD && orders != HOST_ORDER_HOLD))
        frontier_place_host(loop, host, now_ns);
    else if (state == HOST_RESOLVING && orders & HOST_ORDER_DROP)
        drop_in_place(loop, host);
    else
        return false;
    return true;
}

static bool obey(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    frontier_look_up(loop, host);
    if (frontier_is_at_home(loop, host->id))
        return obey_at_home(loop, host, now_ns);
    bool must_wake = host_state(host) == HOST_AWAITING && lf_load(&host->orders, relaxed) & HOST_ORDER_DROP;
    if (!must_wake || !seize(loop, host))
        return false;
    frontier_place_host(loop, host, now_ns);
    return true;
}

static void walk(struct frontier_loop *loop, uint64_t now_ns)
{
    struct frontier_holds *holds = &loop->holds;
    const struct hosts *hosts = &loop->frontier->hosts;
    uint64_t until_ns = clock_now_ns() + WORK_NS;
    for (unsigned i = 0; i < RECORDS_PER_TURN; i++) {
        if (holds->next > lf_load(&hosts->begun, relaxed) || holds->next > hosts->count_max) {
            holds->next = 0;
            lf_store(&holds->done, holds->list->number, relaxed);
            return;
        }
        struct host *host = hosts_at(hosts, holds->next++);
        if (host && lf_load(&host->home, relaxed) == loop->index && obey(loop, host, now_ns) &&
            clock_now_ns() >= until_ns)
            return;
    }
}

void frontier_holds_turn(struct frontier_loop *loop, uint64_t now_ns)
{
    struct frontier_holds *holds = &loop->holds;
    const struct holds *list = lf_load(&loop->frontier->holds, acquire); /* A1 pairs with R1 in crawl_holds.c */
    if (list != holds->list) {
        holds->list = list;
        holds->next = 1;
        lf_store(&holds->adopted, list->number, release); /* R2 pairs with A2 in crawl_holds.c: older ones may be freed */
    }
    if (holds->next)
        walk(loop, now_ns);
}

/* Looks at single hosts. */

enum frontier_reach frontier_reach(struct frontier_loop *loop, struct host *host)
{
    if (frontier_is_at_home(loop, host->id) || lf_load(&host->holder, relaxed) == loop->index)
        return FRONTIER_IS_OURS;
    if (lf_load(&host->home, relaxed) == loop->index && seize(loop, host))
        return FRONTIER_WAS_SEIZED;
    return FRONTIER_IS_AWAY;
}

bool frontier_pin(struct frontier_loop *loop, struct host *host)
{
    enum host_state state = host_state(host);
    bool is_scheduled = state == HOST_RESTING || state == HOST_READY;
    if (!frontier_is_at_home(loop, host->id) || (!is_scheduled && state != HOST_HELD))
        return false;
    if (is_scheduled)
        take_out(loop, host);
    frontier_let_go(loop, host);
    frontier_set_state(loop, host, HOST_ARRIVING);
    return true;
}

void frontier_unpin(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    frontier_place_host(loop, host, now_ns);
}
