/* Why a host has only one record. The map's comparison skips closed hosts, so closing is what removes a
 * host; the removal from the list follows later and only unlinks the record. Closing is final. Of two
 * inserts of one key the later finds the earlier: a search that skips the closed record inserts behind it,
 * at the same link as any other insert of that key. */
#include "engine/frontier/hosts.h"

#include <string.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "lockfree/power.h"

/* Host names with their scheme are 20 to 30 bytes long; the rest is reserve. */
enum { NAME_BYTES_MEAN = 64 };

/* Chunks that must be free for the names of a batch of hosts. */
enum { NAME_CHUNKS_MIN = 4 };

enum { READERS_MAX = 64 };

/* Records of a loop that are retired and still in their grace period, one turn of every loop. */
enum { LIMBO_MAX = 4096 };

struct wanted {
    struct slice key;
    const struct host *exactly; /* NULL: any record of the key that is not closed */
};

static bool host_matches(const struct list_node *node, const void *argument)
{
    const struct host *host = (const struct host *)node;
    const struct wanted *wanted = argument;
    if (wanted->exactly)
        return host == wanted->exactly;
    return !inbox_is_closed(&host->incoming) && slice_equals(host_key(host), wanted->key);
}

static void make_map(struct hosts *hosts)
{
    size_t buckets = power_of_two(hosts->count_max);
    struct map_options options = {
        .buckets = arena_take(&hosts->arena, buckets * sizeof(struct list_node), LF_CACHE_LINE),
        .buckets_max = buckets,
        .buckets_initial = buckets < 1024 ? buckets : 1024,
        .match = host_matches,
    };
    map_init(&hosts->map, &options);
}

static void take_memory(struct hosts *hosts, size_t ids)
{
    struct arena *arena = &hosts->arena;
    hosts->records = arena_take(arena, ids * sizeof(struct host), 128);
    _Atomic(uint32_t) *below = arena_take(arena, ids * sizeof *below, LF_CACHE_LINE);
    struct reclaim_thread *readers = arena_take(arena, READERS_MAX * sizeof *readers, 128);
    id_stack_init(&hosts->free, below);
    reclaim_init(&hosts->reclaim, readers, READERS_MAX, LIMBO_MAX);
    make_map(hosts);
    domains_init(&hosts->domains, arena, hosts->count_max);
    retired_init(&hosts->retired, arena, hosts->count_max);
}

int hosts_init(struct hosts *hosts, const struct hosts_options *options)
{
    *hosts = (struct hosts){
        .homes = options->homes, .priority = options->priority, .count_max = options->count_max};
    size_t ids = (size_t)hosts->count_max + 1;
    size_t bytes = ids * (sizeof(struct host) + sizeof(uint32_t))              /* records, free ones */
                   + power_of_two(hosts->count_max) * sizeof(struct list_node) /* buckets of the map */
                   + domains_bytes(hosts->count_max)                           /* counters of domains */
                   + retired_bytes(hosts->count_max)                           /* memory of retired hosts */
                   + READERS_MAX * sizeof(struct reclaim_thread)               /* readers */
                   + 8 * (size_t)128;                                          /* alignment */
    int error = hash_key_init(&hosts->hash_key);
    if (error)
        return error;
    error = arena_init(&hosts->arena, &(struct arena_options){.bytes = bytes, .small_pages = true});
    if (error)
        return error;
    take_memory(hosts, ids);
    error = pool_region_init(&hosts->names, ids * NAME_BYTES_MEAN + (1 << 20));
    if (error)
        arena_fini(&hosts->arena);
    return error;
}

void hosts_fini(struct hosts *hosts)
{
    rests_fini(&hosts->rests);
    pool_region_fini(&hosts->names);
    arena_fini(&hosts->arena);
}

void hosts_loop_init(struct hosts_loop *loop, struct hosts *hosts, const struct hosts_loop_options *options)
{
    *loop = (struct hosts_loop){
        .hosts = hosts, .limits = options->limits, .forget = options->forget, .owner = options->owner};
    pool_init(&loop->names, &hosts->names, options->index + 1);
    map_thread_init(&loop->map, &hosts->map, options->index * 2 + 1);
    backoff_init(&loop->backoff, options->index + 1);
    loop->reader = reclaim_claim(&hosts->reclaim, loop);
    reclaim_online(loop->reader);
}

void hosts_loop_fini(struct hosts_loop *loop)
{
    if (!loop->reader)
        return;
    reclaim_offline(loop->reader);
    reclaim_leave(loop->reader);
}

struct host *hosts_find(const struct hosts *hosts, const struct url *url, uint64_t hash)
{
    struct wanted wanted = {.key = url_host_key(url)};
    return (struct host *)map_find(&hosts->map, hash, &wanted);
}

static bool is_preferred(const struct priority_tuning_fixed *priority, struct slice name)
{
    struct slice rest = slice_of(priority->preferred_suffixes), suffix;
    while (tuning_next_item(&rest, &suffix))
        if (name.len >= suffix.len && slice_equals(slice_skip(name, name.len - suffix.len), suffix))
            return true;
    return false;
}

/* Restores what was remembered of the host when it was retired, or by an earlier process. */
static void remember(const struct hosts_loop *loop, struct host *host, uint64_t hash)
{
    const struct limits_tuning_live *limits = loop->limits;
    struct retired_host past = retired_get(&loop->hosts->retired, hash);
    host->is_dead = past.dead_why;
    host->dead_why = past.dead_why;
    host->pages = retired_used(past.share, limits->pages_per_host_max);
    host->bytes = retired_used(past.share, limits->bytes_per_host_max);
    host->spent_ns = retired_used(past.share, limits->time_per_host_max_ns);
    struct rest rest = rests_get(&loop->hosts->rests, hash);
    host->next_ns = rest.next_ns;
    host->failures = rest.failures;
    host->failing_since_ns = rest.failures ? clock_now_ns() : 0; /* the journal does not say since when */
}

/* Fills in a free record; false if there is no room for its name. The caller parks its inbox. */
static bool describe(struct hosts_loop *loop, struct host *host, const struct url *url, uint64_t hash)
{
    struct hosts *hosts = loop->hosts;
    struct slice key = url_host_key(url), name = url_host(url);
    char *copy = pool_acquire(&loop->names, key.len);
    if (!copy)
        return false;
    memcpy(copy, key.ptr, key.len);
    /* Other loops may read the first members of any record at any time. */
    memset((char *)host + HOST_OPEN_BYTES, 0, sizeof *host - HOST_OPEN_BYTES);
    lf_store(&host->home, (uint16_t)(hash % hosts->homes), relaxed);
    lf_store(&host->spilled, 0, relaxed);
    lf_store(&host->queued, 0, relaxed);
    lf_store(&host->holder, HOST_NOBODY, relaxed);
    lf_store(&host->orders, 0, relaxed);
    lf_store(&host->obeyed, 0, relaxed);
    host->id = host->stowed.host = (uint32_t)(host - hosts->records);
    host->key = copy;
    host->key_len = (uint16_t)key.len;
    host->port = url->port;
    host->is_https = url_is_https(url);
    host->is_preferred = is_preferred(hosts->priority, name);
    host->domain = domains_place(&hosts->domains, &hosts->hash_key, name);
    remember(loop, host, hash);
    inbox_init_open(&host->incoming);
    return true;
}

static void keep_spare(struct hosts_loop *loop, struct host *host)
{
    host->message.next = loop->spares;
    loop->spares = &host->message;
    loop->spare_count++;
}

static struct host *take_spare(struct hosts_loop *loop)
{
    struct inbox_node *node = loop->spares;
    loop->spares = node->next;
    loop->spare_count--;
    return container_of(node, struct host, message);
}

/* 0 if all records are in use. */
static uint32_t free_record(struct hosts_loop *loop)
{
    struct hosts *hosts = loop->hosts;
    uint32_t id = id_stack_pop(&hosts->free, &loop->backoff);
    if (id || lf_load(&hosts->begun, relaxed) >= hosts->count_max)
        return id;
    id = lf_fetch_add(&hosts->begun, 1, relaxed) + 1;
    if (id <= hosts->count_max)
        return id;
    lf_fetch_sub(&hosts->begun, 1, relaxed);
    return 0;
}

/* Other loops may wait for the last records: a loop keeps none that it does not need. */
static void give_spares_back(struct hosts_loop *loop)
{
    struct hosts *hosts = loop->hosts;
    if (lf_load(&hosts->begun, relaxed) < hosts->count_max)
        return; /* there are more */
    while (loop->spares)
        id_stack_push(&hosts->free, (uint32_t)(take_spare(loop) - hosts->records), &loop->backoff);
}

void hosts_quiescent(struct hosts_loop *loop)
{
    pool_collect(&loop->names);
    give_spares_back(loop);
    reclaim_quiescent(loop->reader);
}

bool hosts_reserve(struct hosts_loop *loop, unsigned count)
{
    uint32_t id;
    while (loop->spare_count < count && (id = free_record(loop)))
        keep_spare(loop, &loop->hosts->records[id]);
    return loop->spare_count >= count && pool_has_chunks(&loop->names, NAME_CHUNKS_MIN);
}

struct host *hosts_make(struct hosts_loop *loop, const struct url *url, uint64_t hash, bool *is_new)
{
    struct wanted wanted = {.key = url_host_key(url)};
    *is_new = false;
    if (!hosts_reserve(loop, 1))
        return NULL;
    struct host *host = take_spare(loop);
    if (!describe(loop, host, url, hash)) {
        keep_spare(loop, host);
        return NULL;
    }
    struct map_node *known = map_insert(&loop->map, &host->node, hash, &wanted);
    if (known) {
        pool_release(&loop->names, (char *)(uintptr_t)host->key, host->key_len);
        keep_spare(loop, host);
        return (struct host *)known;
    }
    lf_store(&host->is_listed, true, release); /* R1 pairs with A1 in hosts_at */
    lf_fetch_add(&loop->hosts->count, 1, relaxed);
    lf_fetch_add(&loop->hosts->domains.counts[host->domain].hosts, 1, relaxed);
    *is_new = true;
    return host;
}

bool hosts_is_crowded(const struct hosts *hosts)
{
    return lf_load(&hosts->count, relaxed) > hosts->count_max / 4 * 3;
}

bool hosts_is_cramped(const struct hosts *hosts)
{
    return lf_load(&hosts->count, relaxed) > hosts->count_max / 8 * 7;
}

struct host *hosts_next(struct hosts_loop *loop)
{
    const struct hosts *hosts = loop->hosts;
    bool is_last = loop->hand >= lf_load(&hosts->begun, relaxed) || loop->hand >= hosts->count_max;
    loop->hand = is_last ? 1 : loop->hand + 1;
    return &hosts->records[loop->hand];
}

/* The grace period is over, so no loop has a pointer to the host: its record is free. */
static void on_release(struct reclaim_node *node, void *context)
{
    struct hosts_loop *loop = context;
    struct hosts *hosts = loop->hosts;
    struct host *host = container_of(node, struct host, retirement);
    if (loop->forget)
        loop->forget(loop->owner, host);
    pool_release(&loop->names, (char *)(uintptr_t)host->key, host->key_len);
    /* Hand-over: any loop may use the record. */
    id_stack_push(&hosts->free, host->id, &loop->backoff);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

void hosts_remember(struct hosts_loop *loop, uint64_t hash, const struct hosts_past *past)
{
    const struct limits_tuning_live *limits = loop->limits;
    uint32_t share = retired_share(past->pages, limits->pages_per_host_max);
    share = larger(share, retired_share(past->bytes, limits->bytes_per_host_max));
    share = larger(share, retired_share(past->spent_ns, limits->time_per_host_max_ns));
    struct retired_host retired = {.dead_why = past->dead_why, .share = share};
    if (retired.dead_why || retired.share)
        retired_put(&loop->hosts->retired, hash, retired);
}

bool hosts_retire(struct hosts_loop *loop, struct host *host)
{
    struct wanted wanted = {.exactly = host};
    if (!reclaim_has_room(loop->reader, 1))
        return false;
    struct hosts_past past = {.pages = host->pages,
                              .bytes = host->bytes,
                              .spent_ns = host->spent_ns,
                              .dead_why = host->is_dead ? host->dead_why : 0};
    /* before it is closed: whoever then creates the host again finds this */
    hosts_remember(loop, host->node.link.key, &past);
    rests_forget(&loop->hosts->rests, host->node.link.key);
    if (!inbox_close(&host->incoming))
        return false;
    lf_store(&host->is_listed, false, relaxed); /* who has seen it listed is online: the record waits for them */
    map_remove(&loop->map, host->node.link.key, &wanted);
    lf_fetch_sub(&loop->hosts->domains.counts[host->domain].hosts, 1, relaxed);
    lf_fetch_sub(&loop->hosts->count, 1, relaxed);
    reclaim_retire(loop->reader, &host->retirement, on_release);
    return true;
}
