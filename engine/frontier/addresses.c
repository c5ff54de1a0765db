/* Why nobody uses a closed address: taking a reference is a compare-and-swap from a count other than
 * ADDRESS_CLOSED, closing is one from ADDRESS_UNUSED. Both are on the same word, so the second of them
 * fails. As with hosts, a search skips closed records, so that the address is created again. */
#include "engine/frontier/addresses.h"

#include <string.h>

#include "lockfree/container_of.h"
#include "lockfree/power.h"

enum { READERS_MAX = 64 };
/* Records of a loop that are retired and still in their grace period. */
enum { LIMBO_MAX = 4096 };

struct wanted {
    const struct ip *unit;
    const struct address *exactly; /* NULL: any record of the unit that is not closed */
};

static bool address_matches(const struct list_node *node, const void *argument)
{
    const struct address *address = (const struct address *)node;
    const struct wanted *wanted = argument;
    if (wanted->exactly)
        return address == wanted->exactly;
    /* A1 pairs with R2 in retire. */
    return lf_load(&address->references, acquire) != ADDRESS_CLOSED &&
           memcmp(&address->unit, wanted->unit, sizeof address->unit) == 0;
}

static void make_map(struct addresses *addresses, size_t buckets)
{
    struct map_options options = {
        .buckets = arena_take(&addresses->arena, buckets * sizeof(struct list_node), LF_CACHE_LINE),
        .buckets_max = buckets,
        .buckets_initial = buckets < 1024 ? buckets : 1024,
        .match = address_matches,
    };
    map_init(&addresses->map, &options);
}

int addresses_init(struct addresses *addresses, const struct addresses_options *options)
{
    size_t record_bytes = (address_bytes(options->tokens) + 63) / 64 * 64;
    *addresses = (struct addresses){.homes = options->homes,
                                    .tokens = options->tokens,
                                    .hash_key = options->hash_key,
                                    .record_bytes = record_bytes};
    /* One for each host, and as many again that have lost their hosts but still owe a rest. */
    addresses->count_max = 2 * options->hosts_max;
    size_t ids = (size_t)addresses->count_max + 1, buckets = power_of_two(options->hosts_max);
    size_t bytes = ids * (record_bytes + sizeof(uint32_t))       /* records, free ones */
                   + buckets * sizeof(struct list_node)          /* buckets of the map */
                   + READERS_MAX * sizeof(struct reclaim_thread) /* readers */
                   + 4 * (size_t)128;                            /* alignment */
    int error = arena_init(&addresses->arena, &(struct arena_options){.bytes = bytes, .small_pages = true});
    if (error)
        return error;
    addresses->records = arena_take(&addresses->arena, ids * record_bytes, 128);
    _Atomic(uint32_t) *below = arena_take(&addresses->arena, ids * sizeof *below, LF_CACHE_LINE);
    struct reclaim_thread *readers = arena_take(&addresses->arena, READERS_MAX * sizeof *readers, 128);
    id_stack_init(&addresses->free, below);
    reclaim_init(&addresses->reclaim, readers, READERS_MAX, LIMBO_MAX);
    make_map(addresses, buckets);
    return 0;
}

void addresses_fini(struct addresses *addresses)
{
    rests_fini(&addresses->rests);
    arena_fini(&addresses->arena);
}

void addresses_loop_init(struct addresses_loop *loop, struct addresses *addresses, unsigned index)
{
    *loop = (struct addresses_loop){.addresses = addresses};
    map_thread_init(&loop->map, &addresses->map, index * 2 + 2);
    backoff_init(&loop->backoff, index + 1);
    loop->reader = reclaim_claim(&addresses->reclaim, loop);
    reclaim_online(loop->reader);
}

void addresses_loop_fini(struct addresses_loop *loop)
{
    if (!loop->reader)
        return;
    reclaim_offline(loop->reader);
    reclaim_leave(loop->reader);
}

/* 0 if the table is full. */
static uint32_t free_record(struct addresses_loop *loop)
{
    struct addresses *addresses = loop->addresses;
    uint32_t id = loop->spare;
    loop->spare = 0;
    id = id ? id : id_stack_pop(&addresses->free, &loop->backoff);
    if (id || lf_load(&addresses->begun, relaxed) >= addresses->count_max)
        return id;
    id = lf_fetch_add(&addresses->begun, 1, relaxed) + 1;
    if (id <= addresses->count_max)
        return id;
    lf_fetch_sub(&addresses->begun, 1, relaxed);
    return 0;
}

static bool take_reference(struct address *address)
{
    uint32_t seen = lf_load(&address->references, relaxed);
    while (seen != ADDRESS_CLOSED)
        if (lf_cas_weak(&address->references, &seen, seen + 1, relaxed, relaxed))
            return true;
    return false;
}

static uint64_t hash_of(const struct addresses *addresses, const struct ip *unit)
{
    return hash_keyed(addresses->hash_key, unit, sizeof *unit);
}

bool addresses_owe(struct addresses *addresses, const struct ip *unit, uint64_t next_ns)
{
    return rests_put(&addresses->rests, hash_of(addresses, unit), (struct rest){.next_ns = next_ns});
}

/* Fills in a free record. */
static struct address *describe(const struct addresses *addresses, uint32_t id, const struct ip *unit,
                                uint64_t hash)
{
    struct address *address = addresses_at(addresses, id);
    address_init(address, unit, addresses->tokens);
    address->id = id;
    address->home = (uint16_t)(hash % addresses->homes);
    for (unsigned i = 0; i < address->tokens; i++)
        address->token_next_ns[i] = rests_get(&addresses->rests, hash).next_ns;
    return address;
}

/* Finds the address, or creates it with one reference. NULL if the table is full. */
static struct address *find_or_make(struct addresses_loop *loop, const struct ip *unit, bool *is_new)
{
    struct addresses *addresses = loop->addresses;
    struct wanted wanted = {.unit = unit};
    uint64_t hash = hash_of(addresses, unit);
    struct map_node *known = map_find(&addresses->map, hash, &wanted);
    *is_new = false;
    if (known)
        return (struct address *)known;
    uint32_t id = free_record(loop);
    if (!id)
        return NULL;
    struct address *address = describe(addresses, id, unit, hash);
    known = map_insert(&loop->map, &address->node, hash, &wanted);
    if (known) {
        loop->spare = id;
        return (struct address *)known;
    }
    lf_fetch_add(&addresses->count, 1, relaxed);
    *is_new = true;
    return address;
}

struct address *addresses_acquire(struct addresses_loop *loop, const struct ip *unit)
{
    struct address *address;
    bool is_new;
    do
        address = find_or_make(loop, unit, &is_new);
    while (address && !is_new && !take_reference(address));
    return address;
}

void addresses_release(struct addresses *addresses, uint32_t id)
{
    /* R1 pairs with A2 in addresses_next_unused: orders the host's use of the address before its
     * retirement. */
    lf_fetch_sub(&addresses_at(addresses, id)->references, 1, release);
}

bool addresses_is_crowded(const struct addresses *addresses)
{
    return lf_load(&addresses->count, relaxed) > addresses->count_max / 4 * 3;
}

struct address *addresses_next_unused(struct addresses_loop *loop, unsigned home)
{
    const struct addresses *addresses = loop->addresses;
    bool is_last = loop->hand >= lf_load(&addresses->begun, relaxed) || loop->hand >= addresses->count_max;
    loop->hand = is_last ? 1 : loop->hand + 1;
    struct address *address = addresses_at(addresses, loop->hand);
    /* A2 pairs with R1 in addresses_release. */
    bool is_unused = lf_load(&address->references, acquire) == ADDRESS_UNUSED;
    return is_unused && address->home == home ? address : NULL;
}

static void on_release(struct reclaim_node *node, void *context)
{
    struct addresses_loop *loop = context;
    struct address *address = container_of(node, struct address, retirement);
    /* Hand-over: any loop may use the record. */
    id_stack_push(&loop->addresses->free, address->id, &loop->backoff);
}

bool addresses_retire(struct addresses_loop *loop, struct address *address)
{
    struct wanted wanted = {.exactly = address};
    uint32_t unused = ADDRESS_UNUSED;
    if (!reclaim_has_room(loop->reader, 1))
        return false;
    /* R2 pairs with A1 in address_matches. */
    if (!lf_cas(&address->references, &unused, ADDRESS_CLOSED, acq_rel, relaxed))
        return false;
    map_remove(&loop->map, address->node.link.key, &wanted);
    lf_fetch_sub(&loop->addresses->count, 1, relaxed);
    reclaim_retire(loop->reader, &address->retirement, on_release);
    return true;
}
