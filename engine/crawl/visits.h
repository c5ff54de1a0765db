/* The visits of one loop: their memory, and the parts that they use.
 *
 * The owner sets the parts, then calls visits_init. Everything here is used by the loop's thread alone,
 * except for the gate and the bandwidth, which all loops share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/content/decode.h"
#include "engine/crawl/bandwidth.h"
#include "engine/crawl/buffer.h"
#include "engine/crawl/census.h"
#include "engine/crawl/gate.h"
#include "engine/crawl/harvest.h"
#include "engine/crawl/ledger.h"
#include "engine/crawl/limited.h"
#include "engine/crawl/page.h"
#include "engine/crawl/reader.h"
#include "engine/crawl/repeats.h"
#include "engine/crawl/stats.h"
#include "engine/crawl/troubles.h"
#include "engine/frontier/frontier.h"
#include "engine/robots/robots_cache.h"
#include "engine/store/store.h"
#include "engine/tuning/tuning.h"
#include "net/conn.h"

struct visit;

/* Gets a copy of each page if on_page is not NULL. */
struct visits_sink {
    void *owner;
    void (*on_page)(void *owner, const struct crawl_page *page);
};

struct visits_line {
    struct visit *first, *last;
};

struct visits {
    /* Parts, set by the owner. */
    const struct tuning *tuning; /* adopted at the start of the turn */
    struct conn_loop *conns;
    struct frontier_loop *frontier;
    struct buffer_pool *pages;
    struct stats *stats;
    struct ledger *ledger; /* and its journal */
    struct troubles *troubles;
    struct harvest *harvest;
    struct store *store; /* NULL: pages are not stored */
    struct repeats *repeats;
    struct gate *gate;
    struct bandwidth *bandwidth;
    struct decode *decode;
    struct robots_cache_loop *rules;
    struct slice agent;      /* the product token */
    struct slice user_agent; /* the whole field */
    struct visits_sink sink;

    struct reader reader;
    struct buffer decoded; /* of a robots.txt, or of a page for the sink */
    struct visit *all;
    struct visit *free;
    struct visit *stalled; /* their pages wait for the store or the log, or for the next step of reading */
    unsigned open;
    unsigned starved; /* stalled for lack of memory to read their pages */
    unsigned max;
    struct visits_line waiting; /* for bandwidth, first come first served */
    struct visits_line on_hold; /* likewise, in the middle of a body */
    uint64_t submitted_ns;      /* the last submission within a turn */
    uint64_t reads_since_ns;    /* when the loop began to work on the page at hand */
    uint64_t bytes_charged;     /* of the bytes that the connections received */
    uint64_t turn_ns;           /* the last turn */
    uint64_t shed_at_ns;        /* the next search for slow transfers */
    uint64_t bytes_usual;       /* moving average of a response's size */
    struct census types;        /* pages by MIME type; any thread may read this and the next */
    struct census domains;      /* and by top-level domain */
};

/* With max 0 the loop visits nobody, and other loops take its hosts. False: no memory. */
bool visits_init(struct visits *visits, unsigned max);
void visits_fini(struct visits *visits);

/* Once per turn: continues stalled visits and those that waited for bandwidth, then begins visits to hosts
 * that are due, as long as there is room. Returns how many hosts it took from the frontier. */
unsigned visits_turn(struct visits *visits, uint64_t now_ns);
/* When visits_turn has to be called next. UINT64_MAX: not before something else happens. */
uint64_t visits_next_ns(const struct visits *visits, uint64_t now_ns);

/* What keeps the loop from beginning visits, if hosts were due; LIMITED_EMPTY: nothing does. Called before the loop sleeps. */
enum limited_by visits_limited_by(const struct visits *visits, uint64_t now_ns);

/* Aborts the requests in flight: every open visit ends soon. */
void visits_abort(struct visits *visits);

/* Shared by the visit_*.c files only. */

/* Whether the bandwidth allows a request now. */
bool visits_have_bandwidth(const struct visits *visits, uint64_t now_ns);
/* How long until it does, if nothing else is charged meanwhile. */
uint64_t visits_bandwidth_wait_ns(const struct visits *visits, uint64_t now_ns);
/* Charges for what the connections have received since the last call. */
void visits_charge(struct visits *visits, uint64_t now_ns);
