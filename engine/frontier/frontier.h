/* The frontier decides which host is visited when: hosts, their addresses, and the tokens.
 *
 * One loop, the home, schedules a host and its address with plain memory: a wheel of addresses by the time
 * of their next visit, and a heap of those that are due. Everything between loops goes through lock-free
 * structures: URLs to a host's inbox, hosts to a loop's inbox, and ready hosts to a small ring per loop,
 * from which loops without work steal.
 *
 * The frontier knows neither sockets nor DNS: it calls the loop's resolve function for a host, and the loop
 * answers with frontier_resolved.
 *
 * A pointer to a host is valid until the loop's next frontier_turn, and beyond that as long as a URL waits
 * for the host or a visit is open. After that the host may be retired (hosts.h), and so may its address. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/addresses.h"
#include "engine/frontier/holds.h"
#include "engine/frontier/hosts.h"
#include "engine/frontier/politeness.h"
#include "engine/frontier/pool.h"
#include "engine/frontier/slots.h"
#include "engine/outcome/fetch_outcome.h"
#include "engine/tuning/tuning.h"
#include "engine/url/url.h"
#include "lockfree/arena.h"
#include "lockfree/backoff.h"
#include "lockfree/inbox.h"
#include "lockfree/map.h"
#include "lockfree/ring_mpmc.h"
#include "lockfree/wheel.h"

enum { FRONTIER_LOOPS_MAX = 64, FRONTIER_READY_RING = 256 };

struct frontier_loop;

/* Begins to look up the address of a host; ends in frontier_resolved, at once or later. */
typedef void frontier_resolve(void *owner, struct host *host);
/* Pops the URLs of a dead host, or of one that is not dead and whose URLs the operator has dropped, and logs that they will
 * not be fetched. False if there are more: it is then called again. */
typedef bool frontier_abandon(void *owner, struct host *host);
/* Wakes the loop with this index. Called after a push to its inbox. */
typedef void frontier_wake(void *owner, unsigned loop);

struct frontier {
    const struct tuning *tuning;
    struct hosts hosts;
    struct addresses addresses;
    struct pool_region urls;
    struct slots slots; /* URLs beyond their host's share of the memory */
    bool has_slots;
    _Atomic(const struct holds *) holds; /* what the operator wants; NULL: he never said anything */
    _Atomic(uint32_t) share; /* URLs that each host may have in memory; UINT32_MAX: all */
    unsigned loop_count;
    struct frontier_loop *loops[FRONTIER_LOOPS_MAX];
    LF_ISOLATED _Atomic(uint64_t) idle_loops; /* a bit for each loop that found no host to visit */
};

/* A loop's part in what waits on disk: frontier_slots.c. */
struct frontier_stock {
    struct slots_loop *slots;                /* NULL: all URLs wait in memory */
    uint64_t *at_home;                       /* a bit for each host that is this loop's alone, by id */
    uint32_t words;                          /* of them */
    uint32_t hand;                           /* where the search for unfinished buffers goes on */
    bool lacks_buffers;                      /* URLs found none */
    uint64_t stowed;                         /* URLs that this loop has moved to the disk */
    unsigned loading;                        /* hosts that are LOADING */
    struct inbox_node *hungry, *last_hungry; /* of these, the ones whose batch is not asked for yet */
    struct slots_buffer *unfinished;         /* batches for which there was too little memory */
    uint64_t share_next_ns;                  /* when the share is computed again */
    struct ring_mpmc nudges;                 /* from all loops: ids of hosts with long queues */
};

/* A loop's part in what the operator wants: frontier_holds.c. */
struct frontier_holds {
    const struct holds *list;   /* adopted; NULL: none */
    uint32_t next;              /* the record that is looked at next; 0: all were */
    _Atomic(uint32_t) adopted;  /* its number, for whoever frees older ones */
    _Atomic(uint32_t) done;     /* the number of the last one for which all records were looked at */
};

/* One loop's part. Other threads read the atomic counters. */
struct frontier_loop {
    struct frontier *frontier;
    const struct tuning *tuning; /* the owner may replace it; holds for rests and limits from then on */
    unsigned index;
    frontier_resolve *resolve;
    frontier_abandon *abandon;
    frontier_wake *wake;
    void *owner;
    struct pool urls;
    struct hosts_loop hosts;
    struct addresses_loop addresses;
    struct backoff backoff;     /* of the ready rings */
    uint64_t host_inbox_losses; /* races lost by pushes of this loop */
    uint64_t loop_inbox_losses;
    struct wheel wheel;
    struct heap due;         /* addresses that are due */
    unsigned due_count;      /* in that heap */
    uint64_t retire_next_ns; /* the next search for hosts to retire */
    struct frontier_stock stock;
    struct frontier_holds holds;
    struct arena arena;                   /* of the wheel, the rings and the bits */
    struct ring_mpmc ready;               /* ids of hosts that hold a token */
    _Atomic(int64_t) states[HOST_STATES]; /* hosts in each state; only the sum over all loops is meaningful */
    _Atomic(uint64_t) stolen;             /* hosts stolen from other loops */
    LF_ISOLATED struct inbox inbox;
};

/* 0, or a negative errno. */
int frontier_init(struct frontier *frontier, const struct tuning *tuning);
void frontier_fini(struct frontier *frontier);
/* Lets URLs wait on disk, in a scratch file, from now on. Before the first frontier_loop_init. 0 or a negative errno. The
 * housekeeper calls slots_serve for frontier->slots. */
int frontier_open_slots(struct frontier *frontier, const struct disk *disk, const char *path);

struct frontier_loop_options {
    unsigned index;
    frontier_resolve *resolve;
    frontier_abandon *abandon;
    frontier_wake *wake;
    hosts_forget *forget; /* NULL: nothing to clean up */
    void *owner;
};

int frontier_loop_init(struct frontier_loop *loop, struct frontier *frontier,
                       const struct frontier_loop_options *options);
void frontier_loop_fini(struct frontier_loop *loop);

/* The hash of a URL's host, with a random key per run. */
uint64_t frontier_hash(const struct frontier_loop *loop, const struct url *url);
/* Prefetches memory for frontier_host, for callers with several URLs. */
void frontier_prefetch(const struct frontier_loop *loop, uint64_t hash);
/* Finds or creates the host of a URL; NULL if the table of hosts is full. */
struct host *frontier_host(struct frontier_loop *loop, const struct url *url, uint64_t hash);
static inline struct host *frontier_host_by_id(struct frontier *frontier, uint32_t id)
{
    return &frontier->hosts.records[id];
}
struct address *frontier_address(struct frontier *frontier, uint32_t id);

/* A URL and its host. */
struct frontier_place {
    const struct url *url;
    uint64_t hash;     /* frontier_hash of it */
    struct host *host; /* NULL: not looked up, or not known */
};

/* Whether there is room for the URL: FETCH_DONE, or what is full. Ask before the sieve, which remembers
 * every URL it is asked for. Looks the host up, but does not create it. `ahead`: how many URLs of the same
 * batch need a new host, too. Does not check memory for the URL itself: see frontier_is_ample. */
enum fetch_outcome frontier_room(struct frontier_loop *loop, struct frontier_place *place, unsigned ahead);
/* Whether there is memory for a whole batch of URLs, however long they are. */
bool frontier_is_ample(const struct frontier_loop *loop);
/* Whether at least a quarter of the memory is free, so that URLs can come back from the disk. */
bool frontier_is_roomy(const struct frontier_loop *loop);

/* Hands an item over to its host, which is created if necessary. False if the table of hosts is full; the
 * caller keeps the item then. */
bool frontier_push(struct frontier_loop *loop, struct frontier_place *place, struct host_item *item);
/* Hands an item that was popped at `from` over to another host, which must not be retired meanwhile. */
void frontier_forward(struct frontier_loop *loop, struct host *from, struct host *to, struct host_item *item);
/* Releases the item of a finished URL. */
void frontier_done(struct frontier_loop *loop, struct host *host, struct host_item *item);

/* Moves URLs beyond the host's share of the memory to the disk. By the holder, now and then during a visit. */
void frontier_stow(struct frontier_loop *loop, struct host *host);

/* Takes hosts from the inbox and finds those that are due. Once per turn. */
void frontier_turn(struct frontier_loop *loop, uint64_t now_ns);
/* True if frontier_turn would find something in the inbox. */
bool frontier_has_mail(struct frontier_loop *loop);
/* True if URLs are on their way from the disk: frontier_turn should be called again soon. */
static inline bool frontier_is_loading(const struct frontier_loop *loop)
{
    return loop->stock.loading;
}
/* True if an order of the operator is being carried out: likewise. */
static inline bool frontier_is_obeying(const struct frontier_loop *loop)
{
    return loop->holds.next;
}
/* When frontier_turn has to be called next. WHEEL_NEVER: not before something arrives. */
uint64_t frontier_next_ns(const struct frontier_loop *loop);

/* Takes a host that may be visited now. The caller holds it until frontier_return; NULL: there is none. */
struct host *frontier_take(struct frontier_loop *loop, uint64_t now_ns);

/* Offers due hosts that this loop will not visit itself to the others, and wakes an idle loop. Once per
 * turn, after the last frontier_take, even if nothing could be taken. */
void frontier_offer(struct frontier_loop *loop, uint64_t now_ns);

/* The first moments at which a host and its address may be visited again. */
struct frontier_rests {
    uint64_t host_ns;
    uint64_t address_ns;
};
/* Computes what frontier_return will set for a visit that ended at end_ns. */
struct frontier_rests frontier_rests(const struct frontier_loop *loop, const struct host *host,
                                     const struct politeness_visit *visit, uint64_t end_ns);

/* Returns a host after its visit. The rests begin at end_ns. */
void frontier_return(struct frontier_loop *loop, struct host *host, const struct politeness_visit *visit,
                     uint64_t end_ns);

/* Returns a host without a visit: its address need not rest. The host itself can be taken again after
 * wait_ns. */
void frontier_give_back(struct frontier_loop *loop, struct host *host, uint64_t wait_ns, uint64_t now_ns);

struct frontier_resolved {
    const struct ip *addresses; /* the first is used, unless the present one is among them and works */
    unsigned count;             /* 0: no address was found */
    uint64_t until_ns;          /* then the answer expires: no visit begins after it */
    uint64_t now_ns;
};

/* The answer to frontier_resolve. Without an address the host is resolved again at until_ns, unless the
 * caller has set host->is_dead. */
void frontier_resolved(struct frontier_loop *loop, struct host *host, const struct frontier_resolved *answer);

/* What the journal says of a host when a crawl is resumed. */
struct frontier_past {
    uint64_t next_ns; /* the first moment at which it may be visited; 0: at any time */
    uint64_t pages, bytes, spent_ns;
    uint16_t failures;
    uint8_t dead_why; /* enum fetch_outcome; 0: it is not given up */
};
/* Restores a host; `url` is any URL of it. Before the loops run. False if there is no memory. */
bool frontier_restore_host(struct frontier_loop *loop, const struct url *url,
                           const struct frontier_past *past);
/* Forbids visits to the address before next_ns. Likewise. */
bool frontier_restore_address(struct frontier_loop *loop, const struct ip *ip, uint64_t next_ns);

/* Moves what hosts have beyond the least share of the memory to the disk. Before the loops run, if there are slots. Returns the number of
 * URLs, or a negative errno. */
int64_t frontier_restore_stow(struct frontier_loop *loop);

/* Who has a host at this moment. For a loop that wants to look at the host; it seizes a host that nobody has. */
enum frontier_reach {
    FRONTIER_IS_OURS,    /* at home or visited here: the loop may read all of it */
    FRONTIER_WAS_SEIZED, /* nobody had it; this loop has it until frontier_unpin */
    FRONTIER_IS_AWAY,    /* another loop has it, or it is on its way: only atomic members may be read */
};
enum frontier_reach frontier_reach(struct frontier_loop *loop, struct host *host);
/* Keeps a host that is at home from being visited until frontier_unpin, so that only the caller changes its queue.
 * False: the host is not at home, or its home is about to change it. */
bool frontier_pin(struct frontier_loop *loop, struct host *host);
void frontier_unpin(struct frontier_loop *loop, struct host *host, uint64_t now_ns);

/* Counts a page of the host's domain, for the weights. */
void frontier_count_page(struct frontier *frontier, const struct host *host);
