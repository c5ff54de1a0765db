#include "engine/frontier/frontier_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/outcome/fetch_outcome.h"
#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "lockfree/power.h"

/* An id in the wheel is that of an address or, with this bit, of a host that must be resolved again. */
#define WHEEL_HOST (UINT32_C(1) << 31)

/* An address may also have outdated entries in the wheel, for earlier times. */
enum { WHEEL_ENTRIES_PER_HOST = 3 };

/* Tokens that a loop keeps in its ready ring for other loops to steal. */
enum { READY_OPEN = 32 };

struct address *frontier_address(struct frontier *frontier, uint32_t id)
{
    return addresses_at(&frontier->addresses, id);
}

int frontier_init(struct frontier *frontier, const struct tuning *tuning)
{
    *frontier = (struct frontier){.tuning = tuning, .loop_count = (unsigned)tuning->fixed.crawl.threads};
    struct hosts_options hosts = {.count_max = (uint32_t)tuning->fixed.memory.hosts_max,
                                  .homes = frontier->loop_count,
                                  .priority = &tuning->fixed.priority};
    struct addresses_options addresses = {.hosts_max = hosts.count_max,
                                          .homes = frontier->loop_count,
                                          .tokens =
                                              (unsigned)tuning->fixed.politeness.connections_per_address,
                                          .hash_key = &frontier->hosts.hash_key};
    int error = hosts_init(&frontier->hosts, &hosts);
    if (error)
        return error;
    error = addresses_init(&frontier->addresses, &addresses);
    if (error)
        goto no_addresses;
    lf_store(&frontier->share, UINT32_MAX, relaxed);
    error =
        pool_region_init(&frontier->urls, tuning->fixed.memory.frontier_bytes - frontier_slots_bytes(tuning));
    if (error)
        goto no_urls;
    return 0;
no_urls:
    addresses_fini(&frontier->addresses);
no_addresses:
    hosts_fini(&frontier->hosts);
    return error;
}

void frontier_fini(struct frontier *frontier)
{
    if (frontier->has_slots)
        slots_fini(&frontier->slots);
    pool_region_fini(&frontier->urls);
    addresses_fini(&frontier->addresses);
    hosts_fini(&frontier->hosts);
}

int frontier_loop_init(struct frontier_loop *loop, struct frontier *frontier,
                       const struct frontier_loop_options *options)
{
    *loop = (struct frontier_loop){.frontier = frontier,
                                   .tuning = frontier->tuning,
                                   .index = options->index,
                                   .resolve = options->resolve,
                                   .abandon = options->abandon,
                                   .wake = options->wake,
                                   .owner = options->owner};
    struct hosts_loop_options hosts = {.index = options->index,
                                       .limits = &frontier->tuning->live.limits,
                                       .forget = options->forget,
                                       .owner = options->owner};
    uint32_t chunks = wheel_chunks_for(WHEEL_ENTRIES_PER_HOST * frontier->hosts.count_max);
    size_t ring_bytes = ring_mpmc_bytes(FRONTIER_READY_RING);
    struct arena_options memory = {.bytes = wheel_bytes(chunks) + ring_bytes +
                                            frontier_stock_bytes(frontier) + 4096,
                                   .small_pages = true};
    int error = arena_init(&loop->arena, &memory);
    if (error)
        return error;
    struct wheel_options wheel = {
        .tick_ns = WHEEL_TICK_NS_DEFAULT, .now_ns = clock_now_ns(), .chunks_max = chunks};
    wheel_init(&loop->wheel, arena_take(&loop->arena, wheel_bytes(chunks), LF_CACHE_LINE), &wheel);
    ring_mpmc_init(&loop->ready, arena_take(&loop->arena, ring_bytes, LF_CACHE_LINE), FRONTIER_READY_RING);
    frontier_stock_init(loop);
    pool_init(&loop->urls, &frontier->urls, options->index + 1);
    hosts_loop_init(&loop->hosts, &frontier->hosts, &hosts);
    addresses_loop_init(&loop->addresses, &frontier->addresses, options->index);
    backoff_init(&loop->backoff, options->index + 1);
    inbox_init(&loop->inbox);
    inbox_take(&loop->inbox); /* a loop's inbox is never parked: every push wakes the loop */
    frontier->loops[options->index] = loop;
    return 0;
}

void frontier_loop_fini(struct frontier_loop *loop)
{
    hosts_loop_fini(&loop->hosts);
    addresses_loop_fini(&loop->addresses);
    arena_fini(&loop->arena);
}

void frontier_send_home(struct frontier_loop *loop, struct host *host, enum host_state state)
{
    frontier_set_state(loop, host, state);
    unsigned home = lf_load(&host->home, relaxed);
    /* Hand-over of the host to its home. */
    inbox_push_counted(&loop->frontier->loops[home]->inbox, &host->message, &loop->loop_inbox_losses);
    if (home != loop->index)
        loop->wake(loop->owner, home);
}

static uint64_t weight_ns(const void *owner, const struct host *host)
{
    const struct frontier *frontier = owner;
    const struct priority_tuning_fixed *priority = &frontier->tuning->fixed.priority;
    uint64_t weight = priority->preferred_suffixes[0] && !host->is_preferred ? priority->suffix_weight_ns : 0;
    if (priority->domain_weight_ns) {
        uint32_t pages = lf_load(&frontier->hosts.domains.counts[host->domain].pages, relaxed);
        weight += priority->domain_weight_ns * (unsigned)(32 - __builtin_clz(pages + 1));
    }
    return weight;
}

void frontier_count_page(struct frontier *frontier, const struct host *host)
{
    if (frontier->tuning->fixed.priority.domain_weight_ns)
        lf_fetch_add(&frontier->hosts.domains.counts[host->domain].pages, 1, relaxed);
}

/* Puts an address into the heap of due ones, or into the wheel for its next visit. */
static void schedule(struct frontier_loop *loop, struct address *address, uint64_t now_ns)
{
    struct address_weights weights = {weight_ns, loop->frontier};
    int64_t ripe = address_ripen(address, now_ns, &weights);
    frontier_gauge(loop, HOST_RESTING, -ripe);
    frontier_gauge(loop, HOST_READY, ripe);
    uint64_t next_ns = address_next_ns(address);
    if (address->is_due || next_ns == UINT64_MAX)
        return;
    if (next_ns > now_ns) {
        if (next_ns >= address->wheel_ns)
            return;
        if (wheel_insert(&loop->wheel, address->id, next_ns) == WHEEL_OK) {
            address->wheel_ns = next_ns;
            address->wheel_entries++;
            return;
        }
        /* No room in the wheel: it waits in the heap of due ones, and take_due checks its time. */
    }
    address->is_due = true;
    loop->due_count++;
    heap_insert(&loop->due, &address->due, address->ready.least ? address->ready.least->key : next_ns);
}

/* Drops the URLs of a dead host, until its inbox is parked and none can arrive unnoticed. Those on disk have to come to
 * memory for it. */
static void bury(struct frontier_loop *loop, struct host *host)
{
    frontier_set_state(loop, host, HOST_IDLE);
    do
        if (!loop->abandon(loop->owner, host)) {
            frontier_send_home(loop, host, HOST_ARRIVING);
            return;
        } else if (frontier_load(loop, host, 0)) {
            return;
        }
    while (!inbox_park(&host->incoming));
}

static void begin_resolve(struct frontier_loop *loop, struct host *host)
{
    frontier_set_state(loop, host, HOST_RESOLVING);
    frontier_keep(loop, host);
    loop->resolve(loop->owner, host);
}

/* Counts the host among those of its address; false if that has too many. */
static bool count_host(struct frontier_loop *loop, struct address *address, struct host *host)
{
    uint64_t hosts_max = loop->tuning->live.limits.hosts_per_address_max;
    if (host->counted == host->address)
        return true;
    if (hosts_max && address->hosts >= hosts_max)
        return false;
    address->hosts++;
    host->counted = host->address;
    return true;
}

void frontier_place_host(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    frontier_let_go(loop, host);
    frontier_look_up(loop, host);
    if (host->is_dead) {
        bury(loop, host);
        return;
    }
    if (lf_load(&host->orders, relaxed) & HOST_ORDER_DROP && !frontier_drop(loop, host))
        return;
    frontier_stow(loop, host);
    if (!host_has_items(host)) {
        frontier_set_state(loop, host, HOST_IDLE);
        if (inbox_park(&host->incoming))
            return; /* handed over: the next push sends it home again */
    }
    if (host_has_orders(host)) {
        frontier_set_state(loop, host, HOST_HELD);
        frontier_keep(loop, host);
        return;
    }
    while (host->awaits_robots && !host_has_errand(host, loop->tuning->fixed.priority.url_weights)) {
        frontier_set_state(loop, host, HOST_AWAITING);
        if (inbox_park(&host->incoming))
            return; /* likewise: the answer will be pushed */
    }
    if (frontier_load(loop, host, now_ns))
        return;
    if (host->address == 0 || host->wants_other_ip) {
        begin_resolve(loop, host);
        return;
    }
    struct address *address = frontier_address(loop->frontier, host->address);
    if (!count_host(loop, address, host)) {
        host->is_dead = true;
        host->dead_why = FETCH_ADDRESS_FULL;
        bury(loop, host);
        return;
    }
    frontier_set_state(loop, host, HOST_RESTING);
    frontier_keep(loop, host);
    address_rest(address, host);
    schedule(loop, address, now_ns);
}

/* Takes a host back after its visit. */
static void settle(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    struct address *address = frontier_address(loop->frontier, host->address);
    address_release(address, host, host->address_next_ns);
    frontier_place_host(loop, host, now_ns);
    schedule(loop, address, now_ns);
}

static void read_mail(struct frontier_loop *loop, uint64_t now_ns)
{
    struct inbox_node *node = inbox_has_some(&loop->inbox) ? inbox_take(&loop->inbox) : NULL;
    while (node) {
        struct host *host = container_of(node, struct host, message);
        node = node->next;
        assert(lf_load(&host->home, relaxed) == loop->index); /* only a host's home changes this */
        if (host_state(host) == HOST_RETURNING)
            settle(loop, host, now_ns);
        else
            frontier_place_host(loop, host, now_ns);
    }
}

void frontier_turn(struct frontier_loop *loop, uint64_t now_ns)
{
    uint32_t id;
    pool_collect(&loop->urls);
    loop->hosts.limits = &loop->tuning->live.limits;
    hosts_quiescent(&loop->hosts);
    reclaim_quiescent(loop->addresses.reader);
    frontier_holds_turn(loop, now_ns);
    frontier_retire_some(loop, now_ns);
    frontier_stock_turn(loop, now_ns);
    read_mail(loop, now_ns);
    while (wheel_pop(&loop->wheel, now_ns, &id)) {
        if (id & WHEEL_HOST) {
            begin_resolve(loop, frontier_host_by_id(loop->frontier, id & ~WHEEL_HOST));
            continue;
        }
        struct address *address = frontier_address(loop->frontier, id);
        address->wheel_entries--;
        if (address->wheel_ns > now_ns)
            continue; /* an outdated entry */
        address->wheel_ns = UINT64_MAX;
        schedule(loop, address, now_ns);
    }
}

bool frontier_has_mail(struct frontier_loop *loop)
{
    return inbox_has_some(&loop->inbox);
}

uint64_t frontier_next_ns(const struct frontier_loop *loop)
{
    return wheel_next_due(&loop->wheel);
}

/* The host is due, but its address has expired: resolve it again. Its token was not used. */
static void ask_again(struct frontier_loop *loop, struct address *address, struct host *host)
{
    address_release(address, host, address->token_next_ns[host->slot]);
    begin_resolve(loop, host);
}

/* The first due host of this loop, with its token; NULL: none. */
static struct host *take_due(struct frontier_loop *loop, uint64_t now_ns)
{
    while (loop->due.least) {
        struct heap_node *node = heap_pop(&loop->due);
        struct address *address = container_of(node, struct address, due);
        address->is_due = false;
        loop->due_count--;
        if (address_next_ns(address) > now_ns) {
            schedule(loop, address, now_ns);
            if (address->is_due)
                return NULL; /* put here for lack of room in the wheel; the others are due even later */
            continue;
        }
        struct address_weights weights = {weight_ns, loop->frontier};
        int64_t ripe = address_ripen(address, now_ns, &weights);
        frontier_gauge(loop, HOST_RESTING, -ripe);
        struct host *host = address_acquire(address, now_ns);
        frontier_let_go(loop, host);
        frontier_gauge(loop, HOST_READY, ripe - 1);
        frontier_gauge(loop, HOST_VISITING, 1);
        bool is_known = now_ns < host->address_until_ns;
        if (!is_known)
            ask_again(loop, address, host);
        schedule(loop, address, now_ns);
        if (is_known)
            return host;
    }
    return NULL;
}

/* Fills the ready ring, from which loops without work steal. */
static void fill_ring(struct frontier_loop *loop, uint64_t now_ns)
{
    for (size_t open = ring_mpmc_count(&loop->ready); open < READY_OPEN; open++) {
        struct host *host = take_due(loop, now_ns);
        if (!host)
            return;
        bool pushed = ring_mpmc_push(&loop->ready, host->id, &loop->backoff);
        assert(pushed); /* READY_OPEN is far below the ring's capacity, and only this loop pushes */
        (void)pushed;
    }
}

static struct host *steal(struct frontier_loop *loop)
{
    struct frontier *frontier = loop->frontier;
    uint64_t id;
    for (unsigned i = 1; i < frontier->loop_count; i++) {
        struct frontier_loop *other = frontier->loops[(loop->index + i) % frontier->loop_count];
        if (ring_mpmc_count(&other->ready) && ring_mpmc_pop(&other->ready, &id, &loop->backoff)) {
            lf_store(&loop->stolen, lf_load(&loop->stolen, relaxed) + 1, relaxed);
            return frontier_host_by_id(frontier, (uint32_t)id);
        }
    }
    return NULL;
}

/* Marks the loop as idle, so that a loop with too much work wakes it. A missed wake-up costs no more than one
 * sleep, after which the loop checks the other rings anyway. */
static void set_idle(struct frontier_loop *loop)
{
    uint64_t bit = UINT64_C(1) << loop->index;
    if (!(lf_load(&loop->frontier->idle_loops, relaxed) & bit))
        lf_fetch_or(&loop->frontier->idle_loops, bit, relaxed);
}

static void wake_idle(struct frontier_loop *loop)
{
    _Atomic(uint64_t) *idle_loops = &loop->frontier->idle_loops;
    uint64_t own = UINT64_C(1) << loop->index, idle = lf_load(idle_loops, relaxed);
    while (idle & ~own) {
        unsigned index = (unsigned)__builtin_ctzll(idle & ~own);
        if (lf_cas_weak(idle_loops, &idle, idle & ~(UINT64_C(1) << index), relaxed, relaxed)) {
            loop->wake(loop->owner, index);
            return;
        }
    }
}

struct host *frontier_take(struct frontier_loop *loop, uint64_t now_ns)
{
    uint64_t id;
    struct host *host;
    if (loop->frontier->loop_count == 1)
        host = take_due(loop, now_ns);
    else if (fill_ring(loop, now_ns), ring_mpmc_pop(&loop->ready, &id, &loop->backoff))
        host = frontier_host_by_id(loop->frontier, (uint32_t)id);
    else if (!(host = steal(loop)))
        set_idle(loop);
    if (host)
        lf_store(&host->holder, (uint16_t)loop->index, relaxed);
    return host;
}

void frontier_offer(struct frontier_loop *loop, uint64_t now_ns)
{
    if (loop->frontier->loop_count == 1)
        return;
    fill_ring(loop, now_ns);
    if (ring_mpmc_count(&loop->ready))
        wake_idle(loop);
}

static void bring_back(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    lf_store(&host->holder, HOST_NOBODY, relaxed);
    if (lf_load(&host->home, relaxed) == loop->index)
        settle(loop, host, now_ns);
    else
        frontier_send_home(loop, host, HOST_RETURNING);
}

struct frontier_rests frontier_rests(const struct frontier_loop *loop, const struct host *host,
                                     const struct politeness_visit *visit, uint64_t end_ns)
{
    const struct politeness_tuning_live *politeness = &loop->tuning->live.politeness;
    struct politeness_visit host_visit = *visit;
    if (host->wants_other_ip)
        host_visit.spent_ns = 0; /* no connection: the host was not kept busy */
    return (struct frontier_rests){.host_ns = end_ns + politeness_host_rest(politeness, &host_visit),
                                   .address_ns = end_ns + politeness_address_rest(politeness, visit)};
}

void frontier_return(struct frontier_loop *loop, struct host *host, const struct politeness_visit *visit,
                     uint64_t end_ns)
{
    struct frontier_rests rests = frontier_rests(loop, host, visit, end_ns);
    host->next_ns = rests.host_ns;
    host->address_next_ns = rests.address_ns;
    host_count(&host->spent_ns, visit->spent_ns);
    lf_store(&host->visits, lf_load(&host->visits, relaxed) + 1, relaxed);
    bring_back(loop, host, end_ns);
}

void frontier_give_back(struct frontier_loop *loop, struct host *host, uint64_t wait_ns, uint64_t now_ns)
{
    host->next_ns = now_ns + wait_ns;
    host->address_next_ns = 0; /* the token was available when it was taken, so it is now */
    bring_back(loop, host, now_ns);
}

/* Name servers rotate the addresses of a name, so the host keeps its present address if it can. NULL if
 * it has none and there is no answer, or no room for another address. */
static struct address *choose_address(struct frontier_loop *loop, struct host *host,
                                      const struct frontier_resolved *answer)
{
    if (!answer->count)
        return NULL;
    const struct ip *ip = host_choose_ip(host, answer->addresses, answer->count);
    struct ip unit = address_unit(ip);
    struct address *present = host->address ? frontier_address(loop->frontier, host->address) : NULL;
    bool stays = present && memcmp(&present->unit, &unit, sizeof unit) == 0;
    struct address *found = stays ? present : addresses_acquire(&loop->addresses, &unit);
    if (!found) /* the table of addresses is full */
        return present;
    host->ip = *ip;
    return found;
}

void frontier_discount_host(struct frontier_loop *loop, struct host *host)
{
    struct address *address = frontier_address(loop->frontier, host->counted);
    assert(address->home == loop->index && address->hosts);
    address->hosts--;
    host->counted = 0;
}

void frontier_resolved(struct frontier_loop *loop, struct host *host, const struct frontier_resolved *answer)
{
    struct address *address = choose_address(loop, host, answer);
    frontier_let_go(loop, host);
    host->address_until_ns = address ? answer->until_ns : 0;
    host->ip_count = (uint8_t)answer->count;
    host->wants_other_ip = false;
    if (answer->count && !address) {
        host->is_dead = true;
        host->dead_why = FETCH_FRONTIER_FULL;
    }
    if (!address) {
        if (host->is_dead)
            bury(loop, host);
        else if (wheel_insert(&loop->wheel, host->id | WHEEL_HOST, answer->until_ns) == WHEEL_OK)
            frontier_keep(loop, host);
        else
            frontier_send_home(loop, host, HOST_ARRIVING);
        return;
    }
    if (host->counted && host->counted != address->id)
        frontier_discount_host(loop, host);
    if (host->address && host->address != address->id)
        addresses_release(&loop->frontier->addresses, host->address);
    host->address = address->id;
    lf_store(&host->home, address->home, relaxed);
    if (address->home != loop->index)
        frontier_send_home(loop, host, HOST_ARRIVING);
    else
        frontier_place_host(loop, host, answer->now_ns);
}
