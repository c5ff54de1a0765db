/* Compiled robots.txt of many hosts, within a budget. A host keeps a handle, not a pointer: rules that were
 * not used recently are evicted, and the robots.txt is fetched again when it is needed. Equal rules are
 * stored once. A host that is retired need not release its rules: they are evicted when unused.
 *
 * | call                     | by whom                     | at the same time as |
 * |--------------------------|-----------------------------|---------------------|
 * | acquire, release         | any thread                  | anything but init   |
 * | add                      | the robots_cache_loop's own | anything but init   |
 * | init, fini               | one thread                  | nothing             |
 *
 * Progress: acquire, release and add are lock-free; add looks at no more than ROBOTS_CACHE_STEPS_MAX slots.
 * Ownership: rules are not evicted between acquire and release, however full the cache is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/robots/robots.h"
#include "lockfree/atomic.h"

/* Identifies a set of rules. Never reused for other rules. */
typedef uint64_t robots_handle;

/* Handles that need no memory and are never evicted. */
enum { ROBOTS_NONE, ROBOTS_ALL_ALLOWED, ROBOTS_ALL_DENIED, ROBOTS_HANDLE_FIRST };

struct robots_cache_slot {
    _Atomic(uint64_t) word; /* generation, state and number of readers: see robots_cache.c */
    struct robots *rules;
};

struct robots_cache {
    size_t bytes_max;
    uint32_t slots_max;
    struct robots_cache_slot *slots;
    LF_ISOLATED _Atomic(size_t) bytes_used;
    LF_ISOLATED _Atomic(uint32_t) slots_begun; /* slots above this one were never used */
    _Atomic(uint32_t) hand;                    /* where the search for unused rules continues */
    _Atomic(uint64_t) evicted;                 /* sets of rules evicted so far */
};

/* A thread's part: the rules that it added recently, to find equal ones. */
struct robots_cache_loop {
    struct robots_cache *cache;
    struct robots_cache_recent {
        uint64_t digest;
        robots_handle handle;
    } recent[1024];
};

/* False: no memory. `bytes_max` is at least ROBOTS_CACHE_BYTES_MIN. */
bool robots_cache_init(struct robots_cache *cache, size_t bytes_max);
/* Also for a zeroed cache. */
void robots_cache_fini(struct robots_cache *cache);
void robots_cache_loop_init(struct robots_cache_loop *loop, struct robots_cache *cache);

/* Copies `rules` without their sitemaps. ROBOTS_NONE if there is no memory, or no room because too many
 * others are being read. Empty rules are ROBOTS_ALL_ALLOWED. */
robots_handle robots_cache_add(struct robots_cache_loop *loop, const struct robots *rules);

/* NULL if the rules were evicted, or the handle is ROBOTS_NONE. */
const struct robots *robots_cache_acquire(struct robots_cache *cache, robots_handle handle);
/* Once for each acquire that did not return NULL. */
void robots_cache_release(struct robots_cache *cache, robots_handle handle);
