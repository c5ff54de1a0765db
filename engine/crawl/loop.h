/* One event loop of a crawl: a pinned thread and everything that it alone uses. What the loops share is in
 * struct crawl.
 *
 * A turn: begin visits to the hosts that are due as long as there is room for them, hand pages that waited
 * for the disk to the store, then let the ring handle what has completed. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/buffer.h"
#include "engine/crawl/desk.h"
#include "engine/crawl/crawl.h"
#include "engine/content/decode.h"
#include "engine/frontier/frontier.h"
#include "engine/crawl/harvest.h"
#include "engine/crawl/ledger.h"
#include "engine/crawl/limited.h"
#include "engine/crawl/names.h"
#include "engine/disk/outlet.h"
#include "engine/frontier/scope.h"
#include "engine/frontier/sieve.h"
#include "engine/crawl/stats.h"
#include "engine/crawl/troubles.h"
#include "engine/crawl/visits.h"
#include "engine/store/store.h"
#include "net/bufring.h"
#include "net/conn.h"
#include "net/dns.h"
#include "net/ring.h"
#include "net/tls.h"

struct loop {
    struct crawl *crawl;
    const struct tuning *tuning; /* adopted at the start of the turn */
    unsigned index;
    _Atomic(bool) is_up;                    /* its ring exists and can be woken */
    _Atomic(bool) has_failed;               /* it cannot continue: the crawl ends */
    _Atomic(const struct tuning *) adopted; /* `tuning`, for the watch to read */
    int error;                              /* set-up failed: negative errno, `message` says why */
    char message[256];
    pthread_t thread;

    struct ring ring;
    bool has_ring;
    struct bufring buffers;
    struct conn_loop conns;
    struct tls_pool *tls;
    struct tls_sessions tls_sessions;

    struct frontier_loop frontier;
    struct desk desk; /* where the operator's questions come */
    struct sieve_loop sieve;
    struct robots_cache_loop rules;
    struct harvest harvest;
    struct decode *decode;
    struct buffer_pool pages;
    struct store store;
    struct outlet log;
    struct journal_loop journal;
    struct spill spill;
    struct later later;

    bool takes_seeds; /* that were added to the running crawl; loop 0 */
    bool is_cut;      /* visits were aborted because the disk lags */
    struct ledger ledger;
    struct limited limited;
    struct troubles troubles;
    struct names names;
    struct visits visits;

    LF_ISOLATED struct stats stats;
};

/* Sets up the parts that need no ring. Called before the thread starts, so that seeds can be pushed. */
int loop_init(struct loop *loop, struct crawl *crawl, unsigned index);
void loop_fini(struct loop *loop);

/* What the loop writes belongs to the epoch of the crawl as it is. Before its thread starts. */
void loop_begin_epoch(struct loop *loop);

/* What limits a loop that is about to sleep for so long at most. Without sleep it has work. */
enum limited_by loop_limited_by(const struct loop *loop, uint64_t sleep_ns, uint64_t now_ns);

/* The thread: runs until the crawl is CRAWL_ENDING and no visit is open. */
void *loop_run(void *loop);
