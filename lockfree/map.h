/* Hash map that grows while it is used: Shalev and Shavit's split-ordered list, in the order of the hash.
 *
 * All nodes are in one Harris list, sorted by their 64-bit hash. The top bits of a hash choose a bucket, and
 * a bucket is a fence in that list: a shortcut to where its stretch begins. Growing doubles the number of
 * buckets and moves no node: the fences of the new buckets are put in between, each by the first insert or
 * remove that wants it.
 *
 * | may run at the same time as       | insert | remove | find, first, next |
 * |-----------------------------------|--------|--------|-------------------|
 * | insert, remove (and growth)       |  yes   |  yes   |  yes              |
 * | find, first, next, count          |  yes   |  yes   |  yes              |
 *
 * Each thread has its own struct map_thread for insert and remove. init is called by one thread, alone.
 *
 * Progress: insert and remove are lock-free. find is lock-free, never writes, and repeats itself only when
 * the map has grown meanwhile, at most log2(buckets_max) times in all.
 *
 * Nodes are as in list.h: callers are online in one reclaim domain; insert takes over the node; what remove
 * returns goes to reclaim_retire() and is not reused before it is released. What find returns is good until
 * the caller's next quiescent state.
 *
 * The hash must be well mixed in its top bits. With match == NULL the hash is the key; else nodes of equal
 * hash are told apart by match, which is called for those alone. */
#pragma once

#include "lockfree/atomic.h"
#include "lockfree/backoff.h"
#include "lockfree/list.h"

struct map_node {
    struct list_node link; /* link.key is the hash */
};

struct map {
    LF_ISOLATED struct list_node *buckets;
    list_match *match;
    _Atomic uint32_t bits; /* log2 of the number of buckets in use */
    uint32_t bits_max;
    LF_ISOLATED _Atomic int64_t count; /* without what the threads hold back */
};

/* One thread's way to change the map. */
struct map_thread {
    struct map *map;
    int64_t uncounted; /* inserts less removes, not yet added to map->count */
    struct backoff backoff;
};

struct map_options {
    /* buckets_max zeroed buckets, aligned to LF_CACHE_LINE; they live as long as the map. Memory fresh from
     * the system will do and costs nothing where the map has not grown to. */
    struct list_node *buckets;
    size_t buckets_max; /* a power of two, at least 2 */
    /* A power of two, at least 2: these are in place from the start. Twice the number of nodes expected makes
     * most finds touch two lines, the bucket's and the node's. */
    size_t buckets_initial;
    list_match *match; /* is given the link of a map node whose hash is the wanted one */
};

/* The map doubles when it holds this many nodes per bucket. */
#define MAP_LOAD_MAX 1
/* A thread adds its inserts to the shared count when this many have come together. */
#define MAP_UNCOUNTED_MAX LF_SCALE(32, 1)

void map_init(struct map *map, const struct map_options *options);

void map_thread_init(struct map_thread *self, struct map *map, uint64_t seed);
/* Hands in what the thread has not yet counted. */
void map_thread_fini(struct map_thread *self);

/* NULL: `node` is in. Otherwise the node that was there already, and `node` is still the caller's. */
struct map_node *map_insert(struct map_thread *self, struct map_node *node, uint64_t hash,
                            const void *wanted);
/* The removed node, to be retired by the caller; NULL if there was none. */
struct map_node *map_remove(struct map_thread *self, uint64_t hash, const void *wanted);
/* NULL if there is none. */
struct map_node *map_find(const struct map *map, uint64_t hash, const void *wanted);
/* Asks for the line that a find of this hash begins with; for callers that have several hashes at hand. */
void map_prefetch(const struct map *map, uint64_t hash);

/* In the order of the hash; a walk sees what a list's walk sees. */
struct map_node *map_first(const struct map *map);
struct map_node *map_next(const struct map_node *node);

/* Nodes in the map, less at most MAP_UNCOUNTED_MAX - 1 either way per thread. */
size_t map_count(const struct map *map);
size_t map_bucket_count(const struct map *map);
