/* A host (scheme + authority) and the URLs that wait for it.
 *
 *              push finds it parked             taken up by its home
 *      IDLE ------------------------> ARRIVING ----------------------> RESOLVING
 *       ^                                | address known                   | address found
 *       | nothing waits                  v                                 v
 *       +--------------------------- RESTING <-----------------------------+
 *       |                                | its moment has come
 *       |                                v              token taken
 *       |                              READY ------------------------> VISITING
 *       |                                                                  | token returns
 *       +------------------------------ RETURNING <------------------------+
 *
 * A host that has few URLs in memory and more on disk is LOADING before it is RESTING, until some have come.
 *
 * A host that the operator holds (holds.h) is HELD when it has URLs, instead of RESTING or READY, until it is released.
 *
 * A host whose robots.txt redirects to another host is AWAITING after its visit, until the answer or any
 * other push makes it ARRIVING. A READY host whose address has expired is RESOLVING again before it is
 * visited.
 *
 * Exactly one loop owns a host at any time: the one that holds its token, the "holder", during a visit, and
 * the loop that schedules it, its "home", otherwise. Ownership is handed over through inboxes and rings,
 * which order memory, so most members are plain. Any loop may at any time push a URL and read the members
 * before `key`.
 *
 * An IDLE host may be retired by its home (hosts.h), and its record reused for another host.
 *
 * Only path and query of a waiting URL are stored; the rest is the host's key.
 *
 * A host with more URLs than its share of the memory is a queue of four parts, each of them older than the next.
 * Only the first is ordered by weight:
 *
 *     bands (memory) <- stowed (disk, slots.h) <- tail (memory, until there is a buffer) <- incoming (any loop)
 *
 * URLs that are put back, and those too long for the disk, are always in the bands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockfree/heap.h"
#include "engine/frontier/hops.h"
#include "engine/frontier/pool.h"
#include "engine/frontier/slots.h"
#include "lockfree/inbox.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"
#include "net/ip.h"
#include "net/slice.h"

enum { HOST_BANDS = 4 };

enum host_state {
    HOST_IDLE,      /* no URL waits, the inbox is parked */
    HOST_ARRIVING,  /* in the inbox of its home, which will schedule it */
    HOST_RESOLVING, /* its home is looking up its address */
    HOST_LOADING,   /* its home is taking URLs of it from the disk */
    HOST_RESTING,   /* in its address's heap until next_ns */
    HOST_READY,     /* in its address's heap, waiting for a token */
    HOST_VISITING,  /* a loop holds its token */
    HOST_RETURNING, /* in the inbox of its home, after a visit */
    HOST_AWAITING,  /* waits for the robots.txt that another host was asked for; the inbox is parked */
    HOST_HELD,      /* at home: the operator lets nobody visit it */
    HOST_STATES,
};

/* What the operator wants of a host. As long as there is any, no request is made. */
enum host_order {
    HOST_ORDER_HOLD = 1,
    HOST_ORDER_DROP = 2, /* its URLs are to be dropped, those on disk too */
};

/* As host->holder: nobody. */
#define HOST_NOBODY UINT16_MAX

/* How a URL was found: the letters of crawl.log's hop path. */
enum host_item_kind {
    HOST_ITEM_SEED = '-',
    HOST_ITEM_LINK = 'L',
    HOST_ITEM_EMBED = 'E',
    HOST_ITEM_REDIRECT = 'R',
    HOST_ITEM_SITEMAP = 'M',
    HOST_ITEM_ROBOTS = 'P', /* the robots.txt of another host, which redirects to here: see errand.h */
    HOST_ITEM_ANSWER = 'A', /* what became of the host's own robots.txt, which redirects to another host */
};

/* A waiting URL: HOST_ITEM_BYTES, its path and, if that is logged, the page that led to it. */
struct host_item {
    struct inbox_node node;
    uint32_t recent_hops; /* the way from a seed: struct hops */
    uint32_t source;      /* which seed: its number in struct sources */
    uint16_t hop_count;
    uint16_t len;
    uint16_t via_len;
    uint16_t depth;           /* links from a seed */
    uint8_t kind;             /* enum host_item_kind */
    uint8_t tries : 5;        /* fetches that failed */
    uint8_t embed_hops : 3;   /* embeds and their redirects in a row; saturates */
    uint8_t redirects : 6;    /* redirects in a row that led here */
    uint8_t is_requisite : 1; /* in scope only because a page in scope embeds it */
    uint8_t hops_off;         /* links since the hosts in scope were left */
    char path[];              /* path and query, not terminated, then the page that led here. In an
                               * errand, the fields that errand.c describes come first */
};

enum { HOST_ITEM_BYTES = offsetof(struct host_item, path) };

/* Begins at a cache line, so that a visit's beginning and end touch as few as can be: what a queue consists of is in two. */
struct host {
    _Alignas(LF_CACHE_LINE) struct map_node node;
    struct inbox incoming;     /* URLs pushed by any loop; closed when the host is retired */
    _Atomic(uint16_t) home;    /* index of the loop that schedules it; changed by its home alone */
    _Atomic(uint8_t) orders;   /* enum host_order; written by its home */
    _Atomic(bool) is_listed;   /* the record is a host's that can be found; see hosts_at */
    _Atomic(uint32_t) spilled; /* URLs that wait on disk, as far as they were counted at this record */
    _Atomic(uint32_t) queued;  /* URLs waiting or being fetched */
    _Atomic(uint32_t) obeyed;  /* the list of holds that its home looked at last */
    const char *key;           /* "https://example.org:8443" */
    uint16_t key_len;
    uint16_t port;
    bool is_https;
    _Atomic(uint8_t) state;   /* enum host_state; written by the owner, read by any loop that has found the host */
    _Atomic(uint16_t) holder; /* likewise: index of the loop that visits it, written by that loop; HOST_NOBODY: none */

    uint32_t id;
    uint32_t address; /* id; 0: not known */
    uint32_t counted; /* the address that counts it among its hosts */
    uint8_t slot;     /* the token of its address that it holds */
    bool is_dead;     /* given up: waiting URLs are dropped */
    uint8_t dead_why; /* enum fetch_outcome */
    uint8_t trouble;  /* enum fetch_outcome of its last failure; FETCH_DONE: none */
    bool is_preferred;
    bool awaits_robots;        /* robots.txt redirects to another host, which has been asked */
    uint8_t ip_count;          /* addresses that its name has */
    uint8_t ips_failed;        /* of these, tried in a row without a connection */
    bool wants_other_ip;       /* `ip` could not be connected to */
    _Atomic(uint16_t) failures; /* visits in a row that failed; written by the owner, as are the counters below */
    uint32_t domain;           /* index of its registrable domain's counter */
    struct inbox_node message; /* its place in a loop's inbox while ARRIVING or RETURNING */
    union {
        struct heap_node wait;          /* its place in its address while RESTING or READY */
        struct reclaim_node retirement; /* after it was retired */
    };
    uint64_t failing_since_ns;           /* the first of these failures */
    uint64_t next_ns;                    /* not visited before this time */
    uint64_t address_next_ns;            /* RETURNING: its address is not visited before this time */
    uint64_t address_until_ns;           /* then its address expires and is looked up again */
    struct host_item *bands[HOST_BANDS]; /* URLs from the inbox, by weight: the newest of each ring */
    struct host_item *errands;           /* likewise, HOST_ITEM_ROBOTS: served before all others */
    struct host_item *answers;           /* likewise, HOST_ITEM_ANSWER */
    uint32_t waiting;                    /* items in all of these */
    uint32_t share;                      /* with so many, further URLs go to the disk; 0: no limit */
    struct host_item *tail;              /* URLs that wait for a place on the disk: likewise a ring */
    struct slots_queue stowed;           /* URLs on the disk */
    uint32_t popped;                     /* URLs popped so far */
    _Atomic(uint32_t) visits;

    uint64_t robots; /* handle of its rules in the robots_cache; 0: not fetched */
    uint64_t robots_until_ns;
    uint64_t crawl_delay_ns;
    _Atomic(uint64_t) pages, bytes, spent_ns;
    struct ip ip; /* where its connections go; many can belong to one `address` */
};

/* Begins to fetch the record of a host and one of its items to the processor's cache. */
static inline void host_prefetch(const struct host *host, const struct host_item *item)
{
    for (size_t at = 0; at < sizeof *host; at += LF_CACHE_LINE)
        __builtin_prefetch((const char *)host + at);
    __builtin_prefetch(item);
}

/* host_pop reads the newest item of a band and the oldest, to which only the newest leads. This begins to fetch the newest;
 * once it is here, host_first finds the oldest without a wait. */
static inline void host_prefetch_newest(const struct host *host)
{
    for (int i = 0; i < HOST_BANDS; i++)
        __builtin_prefetch(host->bands[i]);
}

/* Adds to one of the host's counters. By the owner; any loop may read them of a host that it has found. */
static inline void host_count(_Atomic(uint64_t) *counter, uint64_t amount)
{
    lf_store(counter, lf_load(counter, relaxed) + amount, relaxed);
}

static inline enum host_state host_state(const struct host *host)
{
    return (enum host_state)lf_load(&host->state, relaxed);
}

/* "idle", "resting", ... */
const char *host_state_name(enum host_state state);

/* Whether the operator wants no further request to the host. */
static inline bool host_has_orders(const struct host *host)
{
    return lf_load(&host->orders, relaxed);
}

/* The part that any loop may read at any time, even while the record is free or being initialised. */
enum { HOST_OPEN_BYTES = offsetof(struct host, key) };

static inline struct slice host_key(const struct host *host)
{
    return (struct slice){host->key, host->key_len};
}

/* "example.org" of "https://example.org:8443". */
struct slice host_name(const struct host *host);
/* "example.org:8443". */
struct slice host_authority(const struct host *host);

/* Called when a connection failed. True if the host has another address that was not tried since the last
 * successful connection; the host is then looked up again and uses that address. By the holder. */
bool host_leave_ip(struct host *host);
/* Called when a connection succeeded. By the holder. */
void host_keep_ip(struct host *host);
/* Chooses one of the addresses of the host's name: the present one if it works and is among them, else the
 * next one in the order of their bytes, cyclically. By the home. */
const struct ip *host_choose_ip(const struct host *host, const struct ip *ips, unsigned count);

/* A new item, or NULL if the pool is full. `via` may be empty; it is left out if both do not fit a block. */
struct host_item *host_item_acquire_via(struct pool *pool, struct slice path, struct slice via);
static inline struct host_item *host_item_acquire(struct pool *pool, struct slice path)
{
    return host_item_acquire_via(pool, path, (struct slice){path.ptr, 0});
}
void host_item_release(struct pool *pool, struct host_item *item);
static inline struct slice host_item_path(const struct host_item *item)
{
    return (struct slice){item->path, item->len};
}
/* The URL of the page that led here, or only its path and query if it is on the same host, or empty. */
static inline struct slice host_item_via(const struct host_item *item)
{
    return (struct slice){item->path + item->len, item->via_len};
}
static inline struct hops host_item_hops(const struct host_item *item)
{
    return (struct hops){.recent = item->recent_hops, .count = item->hop_count};
}

/* Whether anything waits, in memory or on disk. By the holder or the home. */
bool host_has_items(struct host *host);

/* One of the URLs that were taken from the inbox and wait longest; NULL: there is none. Holder or home. */
const struct host_item *host_first(const struct host *host);

/* The next URL in memory, or NULL. With weights, URLs with fewer slashes and dots come first, but every
 * HOST_BAND_TURN-th one is the oldest of the last band, so that none starves. By the holder or the home. */
struct host_item *host_pop(struct host *host, bool weights);
/* The next URL in memory that is one of the crawl, and no errand; NULL: there is none. By the home. */
struct host_item *host_pop_url(struct host *host, bool weights);
/* Goes through the URLs in memory in about their order, errands left out. It begins with an empty cursor; the queue must not
 * change meanwhile. NULL: that was the last one. By the holder or the home. */
struct host_cursor {
    unsigned ring;
    const struct host_item *last; /* NULL: none of this ring yet */
};
const struct host_item *host_walk(const struct host *host, struct host_cursor *cursor);
/* Whether a robots.txt has to be fetched here for another host, or the answer for this host's own has
 * arrived. By the holder or the home. */
bool host_has_errand(struct host *host, bool weights);
/* The next errand or answer, or NULL. By the holder. */
struct host_item *host_pop_errand(struct host *host, bool weights);
struct host_item *host_pop_answer(struct host *host, bool weights);
/* Puts a URL back at the front of the first band. */
void host_unpop(struct host *host, struct host_item *item);
/* Puts a URL back behind all others in memory, to be tried again. */
void host_push_back(struct host *host, struct host_item *item);

/* What it takes to move URLs between memory and disk. */
struct host_mover {
    struct slots_loop *slots;
    struct pool *pool;
    bool weights;
};
/* Moves URLs beyond the host's share to the disk, so many at most that it takes less than a millisecond. False:
 * there is no buffer for them; they wait in memory. By the holder or the home. */
bool host_stow(struct host *host, const struct host_mover *mover);
/* Takes the URLs of a batch into memory. False: there is no room for all of them; to be called again with what is
 * left of the batch. By the home, before slots_accept. */
bool host_unstow(struct host *host, const struct host_mover *mover, struct slots_buffer *batch);
