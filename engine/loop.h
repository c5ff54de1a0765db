/* One event loop of a crawl: a pinned thread with all that is its own. What loops share is in struct crawl.
 *
 * A turn: take what is due from the frontier and begin visits as long as there is room for them, hand pages
 * that waited for the disk to the store, then let the ring run what has happened. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/buffer.h"
#include "engine/crawl.h"
#include "engine/decode.h"
#include "engine/frontier.h"
#include "engine/harvest.h"
#include "engine/outlet.h"
#include "engine/scope.h"
#include "engine/sieve.h"
#include "engine/stats.h"
#include "engine/store.h"
#include "net/bufring.h"
#include "net/conn.h"
#include "net/dns.h"
#include "net/ring.h"
#include "net/tls.h"

struct visit;

/* Hosts that wait, linked by what is free while they are RESOLVING. */
struct loop_line {
    struct inbox_node *first, *last;
};

struct loop {
    struct crawl *crawl;
    const struct tuning *tuning; /* as it was at the start of the turn */
    unsigned index;
    _Atomic(bool) is_up; /* its ring can be woken */
    int error;           /* set-up failed: negative errno, `message` says why */
    char message[256];
    pthread_t thread;

    struct ring ring;
    bool has_ring;
    struct bufring buffers;
    struct conn_loop conns;
    struct tls_pool *tls;

    struct frontier_loop frontier;
    struct sieve_loop sieve;
    struct harvest harvest;
    struct decode *decode;
    struct buffer_pool pages;
    struct buffer decoded; /* of the page at hand */
    struct store store;
    struct outlet log;
    uint64_t log_flushed_ns;

    unsigned lookups;            /* names that are being looked up */
    unsigned lookups_granted;    /* one for each visit since the last ones */
    struct loop_line unresolved; /* hosts whose turn for that has not come */
    struct loop_line outdated;   /* likewise, whose turn for a visit has come */

    struct visit *visits;
    struct visit *visits_free;
    struct visit *stalled; /* pages that wait for the store */
    unsigned visits_open;
    unsigned visits_max;
    uint64_t submitted_ns;   /* the last submission within a turn */
    uint64_t debt_ns;        /* bandwidth: no request before this moment */
    int64_t clock_offset_us; /* wall clock minus monotonic clock */

    LF_ISOLATED struct stats stats;
};

/* Prepares the parts that need no ring: before the thread starts, so that seeds can be pushed. */
int loop_init(struct loop *loop, struct crawl *crawl, unsigned index);
void loop_fini(struct loop *loop);

/* Whether the resolver can be set up as the tuning file says; if not, `message` says why. */
bool loop_check_names(const struct tuning *tuning, char *message, size_t message_bytes);

/* The thread: runs until crawl->phase is CRAWL_ENDING and no visit is open. */
void *loop_run(void *loop);

/* Microseconds since 1970 of a moment of the monotonic clock. */
static inline uint64_t loop_wall_us(const struct loop *loop, uint64_t monotonic_ns)
{
    return (uint64_t)((int64_t)(monotonic_ns / 1000) + loop->clock_offset_us);
}

/* A URL is done with: counted, logged, its memory given back. */
struct loop_verdict {
    enum fetch_outcome outcome;
    int status;
    int64_t size;
    uint64_t start_ns; /* 0: never begun */
    struct slice mime;
    const unsigned char *digest;
    struct slice annotation;
};
/* Room for one more line in crawl.log: what can wait waits if there is none. */
bool loop_has_log_room(struct loop *loop);
void loop_finish_item(struct loop *loop, struct host *host, struct host_item *item,
                      const struct loop_verdict *verdict);
