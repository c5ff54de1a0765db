/* Records what became of each URL: counts it, writes its line of crawl.log and its record of the journal,
 * releases its item. One per loop.
 *
 * A verdict is one unit: WARC records, log line and journal record are of the same epoch (commit.h). The ledger takes up
 * a new epoch at the start of a turn and in ledger_begin, which stands before every verdict and never within
 * one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/stats.h"
#include "engine/disk/outlet.h"
#include "engine/frontier/frontier.h"
#include "engine/frontier/sources.h"
#include "engine/outcome/fetch_outcome.h"
#include "engine/state/journal.h"
#include "net/slice.h"

struct ledger {
    struct outlet *log;
    struct outlet *store;           /* NULL: pages are not stored */
    struct journal_loop *journal;   /* NULL: none is kept */
    const _Atomic(uint64_t) *epoch; /* of all loops */
    uint64_t adopted;               /* the epoch that this loop writes */
    uint64_t stored;                /* pages up to the last seal; read by the housekeeper between two seals */
    struct stats *stats;
    struct frontier_loop *frontier; /* where items go back to */
    const struct sources *sources;
    bool has_extra;          /* log.extra */
    uint64_t visits;         /* the last number given to a visit, without the loop's index */
    unsigned loop;           /* index */
    int64_t clock_offset_us; /* wall clock minus monotonic clock */
};

struct ledger_verdict {
    enum fetch_outcome outcome;
    int status;
    int64_t size;
    uint64_t start_ns; /* 0: never begun */
    uint64_t end_ns;   /* 0: now */
    struct slice mime;
    const unsigned char *digest;
    struct slice annotation;
    bool is_page;   /* a response came that counts as a page */
    bool is_stored; /* and it is in the WARC files */
    unsigned tries; /* 0: as many as the URL's own */
    uint64_t visit; /* as ledger_number_visit gave it; 0: none, and what follows is not known */
    int64_t outlinks;      /* -1: not read for links */
    int64_t first_byte_ms; /* -1: none came */
};

/* What a line of crawl.log is about, and how it was found: as of struct host_item. */
struct ledger_line {
    struct slice path;
    struct slice via;
    struct hops hops;
    uint32_t source;
};

/* Compares the two clocks again, because the wall clock may have been adjusted. */
void ledger_set_clock(struct ledger *ledger, uint64_t now_ns);

/* Converts a time of the monotonic clock to microseconds since 1970. */
static inline uint64_t ledger_wall_us(const struct ledger *ledger, uint64_t monotonic_ns)
{
    return (uint64_t)((int64_t)(monotonic_ns / 1000) + ledger->clock_offset_us);
}

/* A number for a visit that no other visit of the crawl has: call it at the visit's first verdict. A loop numbers at most
 * as many visits as there are URLs finished, so it goes on from that number in a crawl that is resumed. */
uint64_t ledger_number_visit(struct ledger *ledger);

/* Takes up the epoch of the crawl: seals what was written for the last one. Once per turn. */
void ledger_adopt(struct ledger *ledger);
/* Whether there is room for one more verdict. */
bool ledger_has_room(struct ledger *ledger);
/* Begins a verdict. To be called before each verdict, and before the page that it is about is stored. False: there is
 * no room now, and the caller has to wait. */
bool ledger_begin(struct ledger *ledger);

/* The page that led to a URL of `host`. `buffer` of URL_BYTES_MAX bytes is used if host and path must be joined. */
struct slice ledger_via(const struct host *host, struct slice via, char *buffer);

/* Writes a line for something that is no URL of the frontier: a robots.txt of `host`. Only if there is room. */
void ledger_log(struct ledger *ledger, const struct host *host, const struct ledger_line *line,
                const struct ledger_verdict *verdict);

/* Records the verdict on a URL and releases its item. After ledger_begin. */
void ledger_finish(struct ledger *ledger, struct host *host, struct host_item *item,
                   const struct ledger_verdict *verdict);
/* The verdict on a URL that is not in the frontier: its record, and the page that led to it. */
void ledger_finish_record(struct ledger *ledger, const struct record_url *record, struct slice via,
                          const struct ledger_verdict *verdict);
