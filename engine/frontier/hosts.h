/* The table of hosts. They are found by their key in a lock-free map, created for the first URL of a host,
 * and retired when they are idle and the table is crowded, so that their records can be reused.
 *
 * Any loop may find and create hosts at any time, each with a hosts_loop of its own. A pointer to a host is
 * valid until the loop's next hosts_quiescent, and beyond that as long as a URL waits for the host or a
 * visit is open.
 *
 * Only the owner of a host can retire it:
 *
 *     unpark its inbox -> close it, if no URL came -> out of the map -> grace period -> the record is free
 *
 * A closed host is not found any more. A loop that found it earlier notices when its push fails. */
#pragma once

#include <stdint.h>

#include "engine/frontier/domains.h"
#include "engine/frontier/host.h"
#include "engine/frontier/pool.h"
#include "engine/frontier/rests.h"
#include "engine/frontier/retired.h"
#include "engine/tuning/tuning.h"
#include "engine/url/hash.h"
#include "engine/url/url.h"
#include "lockfree/arena.h"
#include "lockfree/id_stack.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"

/* Called before a host's record is reused, to clean up what the crawl attached to the host. */
typedef void hosts_forget(void *owner, struct host *host);

struct hosts {
    unsigned homes;
    const struct priority_tuning_fixed *priority;
    struct hash_key hash_key;
    struct arena arena;
    struct host *records; /* by id; 0 is not used */
    uint32_t count_max;
    struct map map;
    struct domains domains;
    struct retired retired;
    struct rests rests; /* by hosts_hash; of hosts that an earlier process has visited */
    struct pool_region names;
    struct id_stack free; /* released records */
    struct reclaim reclaim;
    LF_ISOLATED _Atomic(uint32_t) begun; /* records above this one were never used */
    LF_ISOLATED _Atomic(uint32_t) count; /* hosts in the table */
};

struct hosts_loop {
    struct hosts *hosts;
    const struct limits_tuning_live *limits; /* the owner may replace it */
    hosts_forget *forget;
    void *owner;
    struct pool names;
    struct map_thread map;
    struct backoff backoff;
    struct reclaim_thread *reader;
    struct inbox_node *spares; /* free records of this loop */
    unsigned spare_count;
    uint32_t hand; /* the next record to check for retirement */
};

struct hosts_options {
    uint32_t count_max;
    unsigned homes; /* loops among which the hosts are spread */
    const struct priority_tuning_fixed *priority;
};

/* 0, or a negative errno. */
int hosts_init(struct hosts *hosts, const struct hosts_options *options);
void hosts_fini(struct hosts *hosts);

struct hosts_loop_options {
    unsigned index;
    const struct limits_tuning_live *limits;
    hosts_forget *forget; /* NULL: nothing to clean up */
    void *owner;
};
void hosts_loop_init(struct hosts_loop *loop, struct hosts *hosts, const struct hosts_loop_options *options);
void hosts_loop_fini(struct hosts_loop *loop);

/* Declares that the loop keeps no pointer to a host that may be idle. Once per turn. */
void hosts_quiescent(struct hosts_loop *loop);

/* The hash of a URL's host, with a random key per run. */
static inline uint64_t hosts_hash(const struct hosts *hosts, const struct url *url)
{
    struct slice key = url_host_key(url);
    return hash_keyed(&hosts->hash_key, key.ptr, key.len);
}

/* NULL: not known. */
struct host *hosts_find(const struct hosts *hosts, const struct url *url, uint64_t hash);

/* The host with this id; NULL: the record is not in use, or only just coming into use or leaving it. */
static inline struct host *hosts_at(const struct hosts *hosts, uint32_t id)
{
    struct host *host = &hosts->records[id];
    return lf_load(&host->is_listed, acquire) ? host : NULL; /* A1 pairs with R1 in hosts_make */
}

/* Whether this loop can create `count` more hosts. */
bool hosts_reserve(struct hosts_loop *loop, unsigned count);
/* Creates the host of a URL that hosts_find did not find. If *is_new, the caller owns the host until it
 * parks its inbox; else another loop has created it meanwhile. NULL if the table is full. */
struct host *hosts_make(struct hosts_loop *loop, const struct url *url, uint64_t hash, bool *is_new);

/* More than three quarters of the table are in use: idle hosts without valuable state should be retired. */
bool hosts_is_crowded(const struct hosts *hosts);
/* More than seven eighths: all idle hosts should be retired. */
bool hosts_is_cramped(const struct hosts *hosts);
/* What is remembered of a host that has no record. */
struct hosts_past {
    uint64_t pages, bytes, spent_ns;
    uint8_t dead_why; /* enum fetch_outcome; 0: it is not given up */
};
/* Remembers it for the next time that the host with this hash is created. */
void hosts_remember(struct hosts_loop *loop, uint64_t hash, const struct hosts_past *past);
/* Retires an idle host of the caller. False if a URL has arrived; the caller still owns the host then. */
bool hosts_retire(struct hosts_loop *loop, struct host *host);
/* Steps to the next record, in use or not. */
struct host *hosts_next(struct hosts_loop *loop);
