#include "engine/frontier.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/domain.h"
#include "engine/hash.h"
#include "engine/power.h"
#include "lockfree/clock.h"
#include "net/outcome.h"

/* In the wheel an id is an address's, or with this bit a host's that is to be resolved again. */
#define WHEEL_HOST (UINT32_C(1) << 31)

/* Names of hosts are 20 to 30 bytes long; the pool rounds up and keeps free blocks per size. */
enum { KEY_BYTES_MEAN = 64 };

/* An address may be in the wheel for an earlier moment than the one it is wanted for now. */
enum { WHEEL_ENTRIES_PER_HOST = 3 };

/* How many tokens lie open for other loops to take. */
enum { READY_OPEN = 32 };

static bool host_matches(const struct list_node *node, const void *wanted)
{
    const struct host *host = (const struct host *)node;
    return slice_equals(host_key(host), *(const struct slice *)wanted);
}

static bool address_matches(const struct list_node *node, const void *wanted)
{
    const struct address *address = (const struct address *)node;
    return memcmp(&address->key, wanted, sizeof address->key) == 0;
}

struct address *frontier_address(struct frontier *frontier, uint32_t id)
{
    return (struct address *)(frontier->addresses + id * frontier->address_bytes);
}

static void make_map(struct frontier *frontier, struct map *map, list_match *match)
{
    size_t buckets = power_of_two(frontier->hosts_max);
    struct map_options options = {
        .buckets = arena_take(&frontier->arena, buckets * sizeof(struct list_node), LF_CACHE_LINE),
        .buckets_max = buckets,
        .buckets_initial = buckets < 1024 ? buckets : 1024,
        .match = match,
    };
    map_init(map, &options);
}

int frontier_init(struct frontier *frontier, const struct tuning *tuning)
{
    *frontier = (struct frontier){.tuning = tuning, .loop_count = (unsigned)tuning->threads};
    frontier->hosts_max = (uint32_t)tuning->hosts_max;
    frontier->address_bytes = (address_bytes((unsigned)tuning->connections_per_address) + 63) / 64 * 64;
    frontier->addresses_max = 2 * frontier->hosts_max + 1; /* names move to other addresses in a long crawl */
    size_t ids = (size_t)frontier->hosts_max + 1, buckets = power_of_two(frontier->hosts_max);
    size_t domains = tuning->domain_weight_ns ? FRONTIER_DOMAINS * sizeof(uint32_t) : 0;
    size_t bytes = ids * sizeof(struct host)                           /* hosts */
                   + frontier->addresses_max * frontier->address_bytes /* addresses */
                   + 2 * buckets * sizeof(struct list_node)            /* buckets of both maps */
                   + domains                                           /* counters of domains */
                   + 8 * 128;                                          /* alignment */
    int error = arena_init(&frontier->arena, &(struct arena_options){.bytes = bytes, .small_pages = true});
    if (error)
        return error;
    frontier->hosts = arena_take(&frontier->arena, ids * sizeof(struct host), 128);
    frontier->addresses =
        arena_take(&frontier->arena, frontier->addresses_max * frontier->address_bytes, 128);
    make_map(frontier, &frontier->host_map, host_matches);
    make_map(frontier, &frontier->address_map, address_matches);
    frontier->domain_pages = domains ? arena_take(&frontier->arena, domains, LF_CACHE_LINE) : NULL;
    error = pool_region_init(&frontier->urls, tuning->frontier_bytes);
    if (error)
        goto no_urls;
    error = pool_region_init(&frontier->keys, ids * KEY_BYTES_MEAN + (1 << 20));
    if (error)
        goto no_keys;
    return 0;
no_keys:
    pool_region_fini(&frontier->urls);
no_urls:
    arena_fini(&frontier->arena);
    return error;
}

void frontier_fini(struct frontier *frontier)
{
    pool_region_fini(&frontier->keys);
    pool_region_fini(&frontier->urls);
    arena_fini(&frontier->arena);
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
    uint32_t chunks = wheel_chunks_for(WHEEL_ENTRIES_PER_HOST * frontier->hosts_max);
    size_t ring_bytes = ring_mpmc_bytes(FRONTIER_READY_RING);
    struct arena_options memory = {.bytes = wheel_bytes(chunks) + ring_bytes + 4096, .small_pages = true};
    int error = arena_init(&loop->arena, &memory);
    if (error)
        return error;
    struct wheel_options wheel = {
        .tick_ns = WHEEL_TICK_NS_DEFAULT, .now_ns = clock_now_ns(), .chunks_max = chunks};
    wheel_init(&loop->wheel, arena_take(&loop->arena, wheel_bytes(chunks), LF_CACHE_LINE), &wheel);
    ring_mpmc_init(&loop->ready, arena_take(&loop->arena, ring_bytes, LF_CACHE_LINE), FRONTIER_READY_RING);
    pool_init(&loop->urls, &frontier->urls);
    pool_init(&loop->keys, &frontier->keys);
    map_thread_init(&loop->host_map, &frontier->host_map, options->index * 2 + 1);
    map_thread_init(&loop->address_map, &frontier->address_map, options->index * 2 + 2);
    backoff_init(&loop->backoff, options->index + 1);
    inbox_init(&loop->inbox);
    inbox_take(&loop->inbox); /* a loop's inbox is never parked: whoever pushes wakes the loop */
    frontier->loops[options->index] = loop;
    return 0;
}

void frontier_loop_fini(struct frontier_loop *loop)
{
    arena_fini(&loop->arena);
}

static void gauge_add(struct frontier_loop *loop, enum host_state state, int64_t change)
{
    lf_store(&loop->states[state], lf_load(&loop->states[state], relaxed) + change, relaxed);
}

static void set_state(struct frontier_loop *loop, struct host *host, enum host_state state)
{
    gauge_add(loop, (enum host_state)host->state, -1);
    gauge_add(loop, state, 1);
    host->state = (uint8_t)state;
}

static void send_home(struct frontier_loop *loop, struct host *host, enum host_state state)
{
    set_state(loop, host, state);
    unsigned home = lf_load(&host->home, relaxed);
    /* Hand-over: the host is its home's from here on. */
    inbox_push_counted(&loop->frontier->loops[home]->inbox, &host->message, &loop->loop_inbox_losses);
    if (home != loop->index)
        loop->wake(loop->owner, home);
}

static bool is_preferred(const struct tuning *tuning, struct slice name)
{
    struct slice rest = slice_of(tuning->preferred_suffixes), suffix;
    while (tuning_next_item(&rest, &suffix))
        if (name.len >= suffix.len && slice_equals(slice_skip(name, name.len - suffix.len), suffix))
            return true;
    return false;
}

/* Fills in a fresh record; false if there is no room for its name. */
static bool describe_host(struct frontier_loop *loop, struct host *host, const struct url *url, uint64_t hash)
{
    struct slice key = url_host_key(url);
    char *copy = pool_acquire(&loop->keys, key.len);
    if (!copy)
        return false;
    memcpy(copy, key.ptr, key.len);
    uint32_t id = host->id;
    *host = (struct host){.id = id, .key = copy, .key_len = (uint16_t)key.len, .port = url->port};
    host->is_https = url_is_https(url);
    inbox_init(&host->incoming);
    struct slice name = url_host(url);
    host->is_preferred = is_preferred(loop->frontier->tuning, name);
    if (loop->frontier->domain_pages)
        host->domain = (uint32_t)(hash_slice(domain_registrable(name)) % FRONTIER_DOMAINS);
    lf_store(&host->home, (uint16_t)(hash % loop->frontier->loop_count), relaxed);
    return true;
}

static struct host *fresh_host(struct frontier_loop *loop)
{
    struct frontier *frontier = loop->frontier;
    if (loop->spare) {
        struct host *host = loop->spare;
        loop->spare = NULL;
        return host;
    }
    uint32_t id = lf_fetch_add(&frontier->host_count, 1, relaxed) + 1;
    if (id > frontier->hosts_max) {
        lf_fetch_sub(&frontier->host_count, 1, relaxed);
        return NULL;
    }
    frontier->hosts[id].id = id;
    return &frontier->hosts[id];
}

uint64_t frontier_hash(const struct url *url)
{
    return hash_slice(url_host_key(url));
}

void frontier_prefetch(const struct frontier_loop *loop, uint64_t hash)
{
    map_prefetch(&loop->frontier->host_map, hash);
}

struct host *frontier_host(struct frontier_loop *loop, const struct url *url, uint64_t hash)
{
    struct slice key = url_host_key(url);
    struct map_node *known = map_find(&loop->frontier->host_map, hash, &key);
    if (known)
        return (struct host *)known;
    struct host *host = fresh_host(loop);
    if (!host)
        return NULL;
    if (!describe_host(loop, host, url, hash)) {
        loop->spare = host;
        return NULL;
    }
    known = map_insert(&loop->host_map, &host->node, hash, &key);
    if (known) {
        char *name = (char *)(uintptr_t)host->key;
        pool_release(&loop->keys, name, host->key_len);
        loop->spare = host;
        return (struct host *)known;
    }
    gauge_add(loop, HOST_IDLE, 1);
    return host;
}

void frontier_push(struct frontier_loop *loop, struct host *host, struct host_item *item)
{
    /* Hand-over of the item; of the host too, if nobody had it. */
    if (inbox_push_counted(&host->incoming, &item->node, &loop->host_inbox_losses))
        send_home(loop, host, HOST_ARRIVING);
}

static uint64_t weight_ns(const void *owner, const struct host *host)
{
    const struct frontier *frontier = owner;
    const struct tuning *tuning = frontier->tuning;
    uint64_t weight = tuning->preferred_suffixes[0] && !host->is_preferred ? tuning->suffix_weight_ns : 0;
    if (frontier->domain_pages) {
        uint32_t pages = lf_load(&frontier->domain_pages[host->domain], relaxed);
        weight += tuning->domain_weight_ns * (unsigned)(32 - __builtin_clz(pages + 1));
    }
    return weight;
}

void frontier_count_page(struct frontier *frontier, const struct host *host)
{
    if (frontier->domain_pages)
        lf_fetch_add(&frontier->domain_pages[host->domain], 1, relaxed);
}

/* Puts an address where its next moment finds it: among the due, or in the wheel. */
static void schedule(struct frontier_loop *loop, struct address *address, uint64_t now_ns)
{
    struct address_weights weights = {weight_ns, loop->frontier};
    int64_t ripe = address_ripen(address, now_ns, &weights);
    gauge_add(loop, HOST_RESTING, -ripe);
    gauge_add(loop, HOST_READY, ripe);
    uint64_t next_ns = address_next_ns(address);
    if (address->is_due || next_ns == UINT64_MAX)
        return;
    if (next_ns > now_ns) {
        if (next_ns >= address->wheel_ns)
            return;
        if (wheel_insert(&loop->wheel, address->id, next_ns) == WHEEL_OK) {
            address->wheel_ns = next_ns;
            return;
        }
        /* No room in the wheel: it waits among the due, where frontier_take looks at its moment again. */
    }
    address->is_due = true;
    loop->due_count++;
    heap_insert(&loop->due, &address->due, address->ready.least ? address->ready.least->key : next_ns);
}

/* The host is this loop's and dead: drop its URLs until none can come unseen. */
static void bury(struct frontier_loop *loop, struct host *host)
{
    set_state(loop, host, HOST_IDLE);
    do
        if (!loop->abandon(loop->owner, host)) {
            send_home(loop, host, HOST_ARRIVING);
            return;
        }
    while (!inbox_park(&host->incoming));
}

static void begin_resolve(struct frontier_loop *loop, struct host *host)
{
    set_state(loop, host, HOST_RESOLVING);
    loop->resolve(loop->owner, host);
}

/* Counts the host among those of its address; false if there are too many. */
static bool count_host(struct frontier_loop *loop, struct address *address, struct host *host)
{
    uint64_t hosts_max = loop->tuning->hosts_per_address_max;
    if (host->counted == host->address)
        return true;
    if (hosts_max && address->hosts >= hosts_max)
        return false;
    address->hosts++;
    host->counted = host->address;
    return true;
}

/* The host is at home and nobody visits it: what next? */
static void place(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    if (host->is_dead) {
        bury(loop, host);
        return;
    }
    if (!host_has_items(host)) {
        set_state(loop, host, HOST_IDLE);
        if (inbox_park(&host->incoming))
            return; /* not ours any more: the next push sends it home again */
    }
    if (host->address == 0) {
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
    set_state(loop, host, HOST_RESTING);
    address_rest(address, host);
    schedule(loop, address, now_ns);
}

/* A visit has ended: its token is back. */
static void settle(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    struct address *address = frontier_address(loop->frontier, host->address);
    address_release(address, host, host->address_next_ns);
    place(loop, host, now_ns);
    schedule(loop, address, now_ns);
}

static void read_mail(struct frontier_loop *loop, uint64_t now_ns)
{
    struct inbox_node *node = inbox_has_some(&loop->inbox) ? inbox_take(&loop->inbox) : NULL;
    while (node) {
        struct host *host = (struct host *)((char *)node - offsetof(struct host, message));
        node = node->next;
        assert(lf_load(&host->home, relaxed) ==
               loop->index); /* only its home changes that, not the way there */
        if (host->state == HOST_RETURNING)
            settle(loop, host, now_ns);
        else
            place(loop, host, now_ns);
    }
}

void frontier_turn(struct frontier_loop *loop, uint64_t now_ns)
{
    uint32_t id;
    read_mail(loop, now_ns);
    while (wheel_pop(&loop->wheel, now_ns, &id)) {
        if (id & WHEEL_HOST) {
            begin_resolve(loop, frontier_host_by_id(loop->frontier, id & ~WHEEL_HOST));
            continue;
        }
        struct address *address = frontier_address(loop->frontier, id);
        if (address->wheel_ns > now_ns)
            continue; /* an entry for an earlier moment that was given up */
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

/* The host's turn has come and its address is out of date: it may have moved. The token was not used. */
static void ask_again(struct frontier_loop *loop, struct address *address, struct host *host)
{
    address_release(address, host, address->token_next_ns[host->slot]);
    begin_resolve(loop, host);
}

/* The foremost host of those that are due here, its token taken; NULL: none. */
static struct host *take_due(struct frontier_loop *loop, uint64_t now_ns)
{
    while (loop->due.least) {
        struct heap_node *node = heap_pop(&loop->due);
        struct address *address = (struct address *)((char *)node - offsetof(struct address, due));
        address->is_due = false;
        loop->due_count--;
        if (address_next_ns(address) > now_ns) {
            schedule(loop, address, now_ns);
            if (address->is_due)
                return NULL; /* no room in the wheel: the others are no earlier */
            continue;
        }
        struct address_weights weights = {weight_ns, loop->frontier};
        int64_t ripe = address_ripen(address, now_ns, &weights);
        gauge_add(loop, HOST_RESTING, -ripe);
        struct host *host = address_acquire(address, now_ns);
        gauge_add(loop, HOST_READY, ripe - 1);
        gauge_add(loop, HOST_VISITING, 1);
        bool is_known = now_ns < host->address_until_ns;
        if (!is_known)
            ask_again(loop, address, host);
        schedule(loop, address, now_ns);
        if (is_known)
            return host;
    }
    return NULL;
}

/* Lays tokens open, so that a loop with nothing to do finds some. */
static void fill_ring(struct frontier_loop *loop, uint64_t now_ns)
{
    for (size_t open = ring_mpmc_count(&loop->ready); open < READY_OPEN; open++) {
        struct host *host = take_due(loop, now_ns);
        if (!host)
            return;
        bool pushed = ring_mpmc_push(&loop->ready, host->id, &loop->backoff);
        assert(pushed); /* READY_OPEN is far below the ring's capacity and only we push */
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

struct host *frontier_take(struct frontier_loop *loop, uint64_t now_ns)
{
    uint64_t id;
    if (loop->frontier->loop_count == 1)
        return take_due(loop, now_ns);
    fill_ring(loop, now_ns);
    if (ring_mpmc_pop(&loop->ready, &id, &loop->backoff))
        return frontier_host_by_id(loop->frontier, (uint32_t)id);
    return steal(loop);
}

void frontier_return(struct frontier_loop *loop, struct host *host, const struct politeness_visit *visit,
                     uint64_t end_ns)
{
    host->next_ns = end_ns + politeness_host_rest(loop->tuning, visit);
    host->address_next_ns = end_ns + politeness_address_rest(loop->tuning, visit);
    host->spent_ns += visit->spent_ns;
    if (lf_load(&host->home, relaxed) != loop->index) {
        send_home(loop, host, HOST_RETURNING);
        return;
    }
    settle(loop, host, end_ns);
}

/* 0: there is no room for another address. */
static uint32_t fresh_address(struct frontier_loop *loop)
{
    struct frontier *frontier = loop->frontier;
    uint32_t id = loop->spare_address;
    loop->spare_address = 0;
    if (id)
        return id;
    id = lf_fetch_add(&frontier->address_count, 1, relaxed) + 1;
    if (id < frontier->addresses_max)
        return id;
    lf_fetch_sub(&frontier->address_count, 1, relaxed);
    return 0;
}

static struct address *find_address(struct frontier_loop *loop, const struct address_key *key)
{
    struct frontier *frontier = loop->frontier;
    uint64_t hash = hash_bytes(key, sizeof *key);
    struct map_node *known = map_find(&frontier->address_map, hash, key);
    if (known)
        return (struct address *)known;
    uint32_t id = fresh_address(loop);
    if (!id)
        return NULL;
    struct address *address = frontier_address(frontier, id);
    address_init(address, key, (unsigned)frontier->tuning->connections_per_address);
    address->id = id;
    address->home = (uint16_t)(hash % frontier->loop_count);
    known = map_insert(&loop->address_map, &address->node, hash, key);
    if (!known)
        return address;
    loop->spare_address = id;
    return (struct address *)known;
}

/* Names of several addresses are answered with any of them first: the host stays where it is if it may, and
 * also if there is no room for another address. NULL: none can be had. */
static struct address *choose_address(struct frontier_loop *loop, const struct host *host,
                                      const struct frontier_resolved *answer)
{
    struct address *present = host->address ? frontier_address(loop->frontier, host->address) : NULL;
    for (unsigned i = 0; present && i < answer->count; i++)
        if (memcmp(&present->key, &answer->keys[i], sizeof present->key) == 0)
            return present;
    struct address *found = answer->count ? find_address(loop, &answer->keys[0]) : NULL;
    return found || !answer->count ? found : present;
}

/* The host leaves the address among whose hosts it was counted, which is this loop's. */
static void discount_host(struct frontier_loop *loop, struct host *host)
{
    struct address *address = frontier_address(loop->frontier, host->counted);
    assert(address->home == loop->index && address->hosts);
    address->hosts--;
    host->counted = 0;
}

void frontier_resolved(struct frontier_loop *loop, struct host *host, const struct frontier_resolved *answer)
{
    struct address *address = choose_address(loop, host, answer);
    host->address_until_ns = address ? answer->until_ns : 0;
    if (answer->count && !address) {
        host->is_dead = true;
        host->dead_why = FETCH_FRONTIER_FULL;
    }
    if (!address) {
        if (host->is_dead)
            bury(loop, host);
        else if (wheel_insert(&loop->wheel, host->id | WHEEL_HOST, answer->until_ns) != WHEEL_OK)
            send_home(loop, host, HOST_ARRIVING);
        return;
    }
    if (host->counted && host->counted != address->id)
        discount_host(loop, host);
    host->address = address->id;
    lf_store(&host->home, address->home, relaxed);
    if (address->home != loop->index)
        send_home(loop, host, HOST_ARRIVING);
    else
        place(loop, host, answer->now_ns);
}
