/* What is to be visited, and when: the hosts, their addresses, and the tokens.
 *
 * A host and its address are scheduled by one loop, their home, with plain memory: a wheel of the addresses
 * by the moment of their next visit, and a heap of those whose moment has come. What crosses loops crosses
 * through lock-free structures: URLs go to a host's inbox, hosts to a loop's inbox, and hosts that are ready
 * to a small ring per loop, from which a loop that has nothing to do takes from one that has too much.
 *
 * The frontier knows nothing of sockets and names: the loop gives it a function that begins to resolve a
 * host, and answers with frontier_resolved.
 *
 * Hosts and addresses are never removed while a crawl runs: what a look-up returns stays good. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/address.h"
#include "engine/host.h"
#include "engine/politeness.h"
#include "engine/pool.h"
#include "engine/tuning.h"
#include "engine/url.h"
#include "lockfree/arena.h"
#include "lockfree/backoff.h"
#include "lockfree/inbox.h"
#include "lockfree/map.h"
#include "lockfree/ring_mpmc.h"
#include "lockfree/wheel.h"

enum { FRONTIER_LOOPS_MAX = 64, FRONTIER_READY_RING = 256, FRONTIER_DOMAINS = 1 << 20 };

struct frontier_loop;

/* Begins to find the address of a host; ends in frontier_resolved, at once or later. */
typedef void frontier_resolve(void *owner, struct host *host);
/* Takes the URLs of a host that is dead (host_pop) and records that they will not be fetched. False: there
 * are more, and it wants to be asked again. */
typedef bool frontier_abandon(void *owner, struct host *host);
/* Ends the sleep of the loop with this index. Called after something was put in its inbox. */
typedef void frontier_wake(void *owner, unsigned loop);

struct frontier {
    const struct tuning *tuning;
    struct arena arena;
    struct host *hosts; /* by id; 0 is not used */
    char *addresses;    /* by id, address_bytes(tokens) apart; 0 is not used */
    size_t address_bytes;
    uint32_t hosts_max;
    uint32_t addresses_max;
    struct map host_map;
    struct map address_map;
    struct pool_region urls;
    struct pool_region keys;         /* names of hosts */
    _Atomic(uint32_t) *domain_pages; /* pages taken per registrable domain, by hash; NULL: no weights */
    unsigned loop_count;
    struct frontier_loop *loops[FRONTIER_LOOPS_MAX];
    LF_ISOLATED _Atomic(uint32_t) host_count;
    LF_ISOLATED _Atomic(uint32_t) address_count;
};

/* One loop's part. The counters are read by others. */
struct frontier_loop {
    struct frontier *frontier;
    const struct tuning *tuning; /* the owner's to change: rests and limits go by it from then on */
    unsigned index;
    frontier_resolve *resolve;
    frontier_abandon *abandon;
    frontier_wake *wake;
    void *owner;
    struct pool urls;
    struct pool keys;
    struct map_thread host_map;
    struct map_thread address_map;
    struct backoff backoff;     /* of the ready rings */
    uint64_t host_inbox_losses; /* races lost by pushes of this loop */
    uint64_t loop_inbox_losses;
    struct wheel wheel;
    struct heap due;    /* addresses that can be visited now */
    unsigned due_count; /* of them */
    struct arena arena; /* of the wheel and the ring */
    struct host *spare; /* a host that lost the race to be inserted */
    uint32_t spare_address;
    struct ring_mpmc ready;               /* ids of hosts that hold a token */
    _Atomic(int64_t) states[HOST_STATES]; /* hosts in each state, as this loop changed them: to be summed */
    _Atomic(uint64_t) stolen;             /* tokens taken from other loops */
    LF_ISOLATED struct inbox inbox;
};

/* 0, or a negative errno. */
int frontier_init(struct frontier *frontier, const struct tuning *tuning);
void frontier_fini(struct frontier *frontier);

struct frontier_loop_options {
    unsigned index;
    frontier_resolve *resolve;
    frontier_abandon *abandon;
    frontier_wake *wake;
    void *owner;
};

int frontier_loop_init(struct frontier_loop *loop, struct frontier *frontier,
                       const struct frontier_loop_options *options);
void frontier_loop_fini(struct frontier_loop *loop);

/* What frontier_host looks a URL's host up by. */
uint64_t frontier_hash(const struct url *url);
/* Asks for the memory that frontier_host begins with; for callers that have several URLs at hand. */
void frontier_prefetch(const struct frontier_loop *loop, uint64_t hash);
/* The host of a URL, made if it is not known; NULL if there is no room for another host. */
struct host *frontier_host(struct frontier_loop *loop, const struct url *url, uint64_t hash);
static inline struct host *frontier_host_by_id(struct frontier *frontier, uint32_t id)
{
    return &frontier->hosts[id];
}
struct address *frontier_address(struct frontier *frontier, uint32_t id);

/* Hands an item over to its host. */
void frontier_push(struct frontier_loop *loop, struct host *host, struct host_item *item);

/* Takes what has arrived and what is due. Once per turn. */
void frontier_turn(struct frontier_loop *loop, uint64_t now_ns);
/* True if frontier_turn would find something in the inbox. */
bool frontier_has_mail(struct frontier_loop *loop);
/* When frontier_turn has to be called next, if nothing arrives. WHEEL_NEVER: no need. */
uint64_t frontier_next_ns(const struct frontier_loop *loop);

/* A host that may be visited now, by this loop alone until frontier_return; NULL: there is none. */
struct host *frontier_take(struct frontier_loop *loop, uint64_t now_ns);

/* The visit is over: it ended at end_ns, and the rests are counted from there. */
void frontier_return(struct frontier_loop *loop, struct host *host, const struct politeness_visit *visit,
                     uint64_t end_ns);

struct frontier_resolved {
    const struct address_key *keys; /* the first is taken, unless the host's present address is among them */
    unsigned count;                 /* 0: no address was found */
    uint64_t until_ns;              /* when to ask again: no visit begins after it */
    uint64_t now_ns;
};

/* Answer to frontier_resolve. Without an address the host is resolved anew at until_ns, unless the caller has
 * set host->is_dead. */
void frontier_resolved(struct frontier_loop *loop, struct host *host, const struct frontier_resolved *answer);

/* Pages were taken from the host's domain: for the weights. */
void frontier_count_page(struct frontier *frontier, const struct host *host);
