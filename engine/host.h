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
 * A host that is READY and whose address is out of date is RESOLVING again before it is visited.
 *
 * Whoever takes the token has the host to itself; so has its home, the loop that schedules it, at all other
 * times. The rights move by hand-over (inboxes and rings, which order memory), so all members but the first
 * few are plain. What any loop may do at any time is push a URL and read the first few.
 *
 * Only path and query of a URL are kept: the host's key is the rest. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/heap.h"
#include "engine/pool.h"
#include "lockfree/inbox.h"
#include "lockfree/map.h"
#include "net/slice.h"

struct robots;

enum { HOST_BANDS = 4 };

enum host_state {
    HOST_IDLE,      /* no URL waits, the inbox is parked */
    HOST_ARRIVING,  /* on its way to its home, which is to schedule it */
    HOST_RESOLVING, /* its home asks for its address */
    HOST_RESTING,   /* waits in its address for its moment */
    HOST_READY,     /* waits in its address for a token */
    HOST_VISITING,  /* somebody has its token */
    HOST_RETURNING, /* on its way home after a visit */
    HOST_STATES,
};

/* How a URL was found: the letters of crawl.log's hop path. */
enum host_item_kind {
    HOST_ITEM_SEED = '-',
    HOST_ITEM_LINK = 'L',
    HOST_ITEM_EMBED = 'E',
    HOST_ITEM_REDIRECT = 'R',
    HOST_ITEM_SITEMAP = 'M',
    HOST_ITEM_ROBOTS = 'P', /* the robots.txt of another host, which redirects to here */
};

/* A URL that waits. 16 bytes and its path. */
struct host_item {
    struct inbox_node node;
    uint16_t len;
    uint16_t depth;
    uint8_t kind;      /* enum host_item_kind */
    uint8_t tries;     /* fetches that failed */
    uint8_t redirects; /* in a row that led here */
    uint8_t hops_off;  /* links since the scope's hosts were left */
    char path[]; /* path and query; not terminated. HOST_ITEM_ROBOTS: the id of the other host before it */
};

struct host {
    struct map_node node;
    struct inbox incoming; /* URLs pushed by any loop */
    const char *key;       /* "https://example.org:8443" */
    uint16_t key_len;
    uint16_t port;
    bool is_https;
    _Atomic(uint16_t) home; /* index of the loop that schedules it; changed by its home alone */

    uint32_t id;
    uint32_t address; /* id; 0 while not known */
    uint32_t counted; /* the address among whose hosts it was counted */
    uint8_t state;    /* enum host_state */
    uint8_t slot;     /* the token of its address that it holds */
    bool is_dead;     /* given up: what waits is dropped */
    uint8_t dead_why; /* enum fetch_outcome */
    bool is_preferred;
    uint8_t robots_redirects;            /* followed so far */
    bool awaits_robots;                  /* robots.txt redirects to another host, which has been asked */
    uint16_t failures;                   /* visits in a row that failed */
    uint32_t domain;                     /* index of its registrable domain's counter */
    struct inbox_node message;           /* its place in a loop's inbox while ARRIVING or RETURNING */
    struct heap_node wait;               /* its place in its address while RESTING or READY */
    uint64_t next_ns;                    /* the first moment at which it may be visited */
    uint64_t address_next_ns;            /* RETURNING: the first moment for the token that it brings back */
    uint64_t address_until_ns;           /* no visit after this without asking for its address again */
    struct host_item *bands[HOST_BANDS]; /* URLs taken from the inbox: the newest of a ring, by weight */
    struct host_item *errands;           /* likewise HOST_ITEM_ROBOTS: they go before all others */
    uint32_t waiting;                    /* URLs in bands and errands */
    uint32_t popped;                     /* URLs given out */

    struct robots *robots; /* NULL: not fetched */
    char *robots_path;     /* where its robots.txt redirects to on this same host; NULL: /robots.txt */
    _Atomic(struct robots *) robots_mail; /* rules that another host's visit has fetched for this one */
    uint64_t robots_until_ns;
    uint64_t crawl_delay_ns;
    uint64_t pages, bytes, spent_ns;
};

static inline struct slice host_key(const struct host *host)
{
    return (struct slice){host->key, host->key_len};
}

/* "example.org" of "https://example.org:8443". */
struct slice host_name(const struct host *host);
/* "example.org:8443". */
struct slice host_authority(const struct host *host);

/* A new item, or NULL if the pool is full. */
struct host_item *host_item_acquire(struct pool *pool, struct slice path);
void host_item_release(struct pool *pool, struct host_item *item);
static inline struct slice host_item_path(const struct host_item *item)
{
    return (struct slice){item->path, item->len};
}

/* How many URLs wait is not known before the inbox was taken; that something waits is. Holder or home. */
bool host_has_items(struct host *host);

/* The next URL, or NULL. With weights, URLs with fewer slashes and dots come first, but every
 * HOST_BAND_TURN-th is the oldest of the hindmost band: nothing starves. Holder or home. */
struct host_item *host_pop(struct host *host, bool weights);
/* Whether another host's robots.txt is to be asked for here, and that; NULL: none. Holder. */
bool host_has_errand(struct host *host, bool weights);
struct host_item *host_pop_errand(struct host *host);
/* A URL goes back to the front of the foremost band. */
void host_unpop(struct host *host, struct host_item *item);
/* A URL goes back behind those that wait, to be tried again. */
void host_push_back(struct host *host, struct host_item *item);
