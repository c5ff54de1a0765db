/* Hash map over one sorted list.
 *
 * O. Shalev and N. Shavit, "Split-ordered lists: lock-free extensible hash tables" (2006). Theirs chooses the
 * bucket by the low bits of the hash and sorts the list by the hash with its bits reversed. Here the top bits
 * choose the bucket, so that the list is in the order of the hash itself and nothing has to be reversed. With
 * 2^b buckets, the bucket of the prefix p (the top b bits) begins at the hash p * 2^(64-b), where its fence
 * is. Doubling splits it into the prefixes 2p, which begins at the same place and keeps the fence, and 2p+1,
 * which gets a new one in the middle.
 *
 * A fence's place in the array must not depend on b. Written with a leading 1 (to keep its length), a prefix
 * ends in zeros that say nothing new: 1p1000 with b+3 bits is the same place as 1p1 with b. Cutting them off,
 * and the 1 before them, leaves 1p: a number that is different for each place, 0 for the first, and below 2^b
 * for all that b bits can name. So the array is filled from the front, each doubling adds a segment as long
 * as all that was before, and no segment is looked at before the map has grown to it.
 *
 * A fence that is not in place yet (its link is 0, or pending) is no obstacle: clearing the lowest 1 of the
 * prefix gives the bucket it was split from, and a search from there sees the same list, only from further
 * ahead. The first bucket is always in place. So a thread stopped while it puts a fence in place only costs
 * the others some steps.
 *
 * A search within a bucket ends at the next fence without touching it, which saves a cache miss. This is
 * right if the fence is that of the next bucket, and wrong if it belongs to a finer division than the search
 * began with. A thread that puts a fence in place has read the new number of bits before it, and the search
 * that meets the fence synchronises with that (R1 -> A1 in list.c); so if the number has not changed when the
 * search reads it again, the fence is the end of the bucket. If it has, the search begins anew. An insert
 * needs no more: if the map grows after that check, either the fence of the finer bucket comes to the same
 * link first, and the insert's compare-and-swap fails; or it comes later, and finds its place by the keys. */
#include "lockfree/map.h"

#include <assert.h>

#define HASH_BITS 64

static inline size_t bucket_index(uint64_t prefix, unsigned bits)
{
    uint64_t with_one = prefix | UINT64_C(1) << bits;
    return with_one >> (__builtin_ctzll(with_one) + 1);
}

static struct list_node *bucket_of(const struct map *map, uint64_t prefix, unsigned bits)
{
    return &map->buckets[bucket_index(prefix, bits)];
}

static uint64_t bucket_key(uint64_t prefix, unsigned bits)
{
    return prefix << (HASH_BITS - bits);
}

/* The list's nodes are the first members of the map's. */
_Static_assert(offsetof(struct map_node, link) == 0, "a map node begins with its list node");

void map_init(struct map *map, const struct map_options *options)
{
    assert(__builtin_popcountll(options->buckets_max) == 1);
    assert(__builtin_popcountll(options->buckets_initial) == 1);
    assert(options->buckets_initial >= 2 && options->buckets_initial <= options->buckets_max);
    unsigned bits = (unsigned)__builtin_ctzll(options->buckets_initial);
    map->buckets = options->buckets;
    map->match = options->match;
    map->bits_max = (uint32_t)__builtin_ctzll(options->buckets_max);
    lf_store(&map->bits, bits, relaxed);
    lf_store(&map->count, 0, relaxed);
    for (uint64_t prefix = 0; prefix < options->buckets_initial; prefix++) {
        struct list_node *fence = bucket_of(map, prefix, bits);
        uintptr_t next = LIST_END;
        if (prefix + 1 < options->buckets_initial)
            next = (uintptr_t)bucket_of(map, prefix + 1, bits) | LIST_FENCE;
        lf_plain_write(fence->key, bucket_key(prefix, bits));
        lf_store(&fence->next, next, relaxed);
    }
}

void map_thread_init(struct map_thread *self, struct map *map, uint64_t seed)
{
    self->map = map;
    self->uncounted = 0;
    backoff_init(&self->backoff, seed);
}

/* Doubles the map if that many nodes are too many for it. */
static void grow_for(struct map *map, int64_t count)
{
    uint32_t bits = lf_load(&map->bits, relaxed);
    if (bits < map->bits_max && count > (int64_t)MAP_LOAD_MAX << bits)
        lf_cas(&map->bits, &bits, bits + 1, relaxed, relaxed);
}

static void hand_in_count(struct map_thread *self)
{
    int64_t count = lf_fetch_add(&self->map->count, self->uncounted, relaxed) + self->uncounted;
    self->uncounted = 0;
    grow_for(self->map, count);
}

void map_thread_fini(struct map_thread *self)
{
    hand_in_count(self);
}

static void count_one(struct map_thread *self, int64_t change)
{
    self->uncounted += change;
    if (self->uncounted == MAP_UNCOUNTED_MAX || self->uncounted == -MAP_UNCOUNTED_MAX)
        hand_in_count(self);
}

/* Where a search begins. */
struct start {
    struct list_node *fence;
    uintptr_t link; /* the fence's */
    unsigned bits;  /* as the map had when the fence was chosen */
    bool own;       /* the fence is that of the hash's bucket, not one further ahead */
};

/* The nearest fence in place at or before `prefix`. */
static inline struct start nearest_start(const struct map *map, uint64_t prefix, unsigned bits)
{
    for (uint64_t at = prefix;; at &= at - 1) {
        struct list_node *fence = bucket_of(map, at, bits);
        uintptr_t link = lf_load(&fence->next, acquire); /* A1, pairs with R1, R2, R3 in list.c */
        if (list_fence_is_ready(link))
            return (struct start){.fence = fence, .link = link, .bits = bits, .own = at == prefix};
    }
}

/* The same for one who may write: puts the bucket's fence in place if nobody else is about it. */
static struct start writer_start(struct map_thread *self, uint64_t hash)
{
    struct map *map = self->map;
    unsigned bits = lf_load(&map->bits, relaxed);
    uint64_t prefix = hash >> (HASH_BITS - bits);
    struct start start = nearest_start(map, prefix, bits);
    if (start.own)
        return start;
    list_fence_insert(start.fence, bucket_of(map, prefix, bits), bucket_key(prefix, bits), &self->backoff);
    return nearest_start(map, prefix, bits);
}

static struct list_query query_for(const struct map *map, uint64_t hash, const void *wanted, bool within)
{
    return (struct list_query){.key = hash, .wanted = wanted, .match = map->match, .within = within};
}

/* Whether a search that ended with `link` may have ended too early. */
static bool is_cut_short(const struct map *map, const struct start *start, uintptr_t link)
{
    return start->own && (link & LIST_FENCE) &&
           LF_BUG(map_no_second_look, lf_load(&map->bits, relaxed) != start->bits, false);
}

struct map_node *map_insert(struct map_thread *self, struct map_node *node, uint64_t hash, const void *wanted)
{
    lf_plain_write(node->link.key, hash);
    for (;;) {
        struct start start = writer_start(self, hash);
        struct list_query query = query_for(self->map, hash, wanted, start.own);
        struct list_place place = list_search(start.fence, &query, &self->backoff);
        if (place.found)
            return (struct map_node *)list_node_of(place.link);
        if (is_cut_short(self->map, &start, place.link))
            continue;
        if (list_try_insert(&place, &node->link, &self->backoff))
            break;
    }
    backoff_won(&self->backoff);
    count_one(self, 1);
    return NULL;
}

struct map_node *map_remove(struct map_thread *self, uint64_t hash, const void *wanted)
{
    for (;;) {
        struct start start = writer_start(self, hash);
        struct list_query query = query_for(self->map, hash, wanted, start.own);
        struct list_place place = list_search(start.fence, &query, &self->backoff);
        if (!place.found && is_cut_short(self->map, &start, place.link))
            continue;
        if (!place.found)
            return NULL;
        if (list_try_remove(start.fence, &place, hash, &self->backoff)) {
            backoff_won(&self->backoff);
            count_one(self, -1);
            return (struct map_node *)list_node_of(place.link);
        }
    }
}

struct map_node *map_find(const struct map *map, uint64_t hash, const void *wanted)
{
    for (;;) {
        unsigned bits = lf_load(&map->bits, relaxed);
        struct start start = nearest_start(map, hash >> (HASH_BITS - bits), bits);
        struct list_query query = query_for(map, hash, wanted, start.own);
        uintptr_t end;
        struct list_node *node = list_find_from(start.link, &query, &end);
        if (node || !is_cut_short(map, &start, end))
            return (struct map_node *)node;
    }
}

void map_prefetch(const struct map *map, uint64_t hash)
{
    unsigned bits = lf_load(&map->bits, relaxed);
    __builtin_prefetch(bucket_of(map, hash >> (HASH_BITS - bits), bits));
}

struct map_node *map_first(const struct map *map)
{
    return (struct map_node *)list_next(&map->buckets[0]);
}

struct map_node *map_next(const struct map_node *node)
{
    return (struct map_node *)list_next(&node->link);
}

size_t map_count(const struct map *map)
{
    int64_t count = lf_load(&map->count, relaxed);
    return count > 0 ? (size_t)count : 0;
}

size_t map_bucket_count(const struct map *map)
{
    return (size_t)1 << lf_load(&map->bits, relaxed);
}
