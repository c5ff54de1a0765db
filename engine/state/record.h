/* The records of the journal: what has to be known to go on with a crawl after any end.
 *
 *   URL     a URL that the sieve has admitted, with all that its item in the frontier says
 *   VIA     the page on which the URLs that follow in this frame were found
 *   DONE    the verdict on a URL
 *   VISIT   a visit to a host begins, or ends: for politeness and limits after a restart
 *
 * and of a journal that was folded (fold.h), in place of URL and DONE records:
 *
 *   KNOWN   URLs that are done: their signatures, and nothing else
 *   TOTALS  what their DONE records, and VISIT records that are superseded, add up to
 *
 * A record is a fixed part and a text. All integers are little endian. No record names a loop or a number that
 * means something in one run only. Pure: no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lockfree/log_linear.h"
#include "net/ip.h"
#include "net/slice.h"

enum record_type {
    RECORD_URL = 'U',
    RECORD_VIA = 'P',
    RECORD_DONE = 'F',
    RECORD_VISIT = 'V',
    RECORD_KNOWN = 'K',
    RECORD_TOTALS = 'T',
    RECORD_SESSION = 'S', /* never written: where another process goes on, for those who read a journal */
};

/* The longest fixed part. */
enum { RECORD_BYTES_MAX = 96 };

struct record_url {
    uint64_t signature; /* url_hash */
    uint8_t kind;       /* enum host_item_kind */
    uint8_t redirects;
    uint8_t hops_off;
    uint8_t embed_hops;
    bool is_requisite;
    uint16_t depth;
    uint16_t hop_count;
    uint32_t recent_hops;
    uint32_t source; /* the seed at the beginning: its number among the seeds */
    struct slice text;
};

struct record_done {
    uint64_t signature;
    uint64_t host;       /* record_host_signature */
    uint32_t body_bytes; /* UINT32_MAX: that or more */
    uint16_t status;     /* 0 to 999 */
    uint8_t outcome;     /* enum fetch_outcome: its numbers never change */
    bool is_page;        /* a response came, and counts as a page */
    bool is_stored;
};

struct record_visit {
    bool is_end;
    uint8_t dead_why;  /* enum fetch_outcome; FETCH_DONE: the host is not given up */
    uint16_t failures; /* in a row */
    uint32_t crawl_delay_ms;
    struct ip address;
    uint64_t host_us;    /* of the wall clock; begin: when it began; end: when the host may be visited next */
    uint64_t address_us; /* end: when the address may be */
    uint64_t pages, bytes, spent_ns; /* of the host, in the whole crawl */
    struct slice key;                /* of the host: "https://example.org" */
};

/* Signatures in ascending order, as they lie in the file; record_known_at reads one. */
struct record_known {
    const char *bytes;
    size_t count;
};

enum {
    RECORD_OUTCOMES = 256, /* all that fit a DONE record */
    RECORD_STATUSES = 10,  /* by their first digit */
    RECORD_SIZES = LOG_LINEAR_BUCKETS(32),
};

/* Sums over records that were dropped. */
struct record_totals {
    uint64_t visits; /* ends of them */
    uint64_t done;
    uint64_t stored;
    uint64_t outcomes[RECORD_OUTCOMES];
    uint64_t pages; /* of those that are done, as all that follow */
    uint64_t bytes;
    uint64_t statuses[RECORD_STATUSES];
    uint64_t sizes[RECORD_SIZES]; /* of bodies, by log_linear_bucket */
};

struct record_session {
    uint64_t begin_us; /* by the wall clock */
    uint64_t last_us;  /* when the session before it wrote for the last time; 0: there was none */
    uint64_t last_lag_max_us; /* for so long that one may have made requests after its last commit */
};

struct record {
    enum record_type type;
    union {
        struct record_url url;
        struct record_done done;
        struct record_visit visit;
        struct slice via;
        struct record_known known;
        struct slice totals; /* record_add_totals reads it */
        struct record_session session;
    };
};

/* Each writes to `buffer` of RECORD_BYTES_MAX and the text's bytes; returns the length. */
size_t record_write_url(char *buffer, const struct record_url *url);
size_t record_write_via(char *buffer, struct slice via);
size_t record_write_done(char *buffer, const struct record_done *done);
size_t record_write_visit(char *buffer, const struct record_visit *visit);
/* To `buffer` of RECORD_BYTES_MAX and 8 bytes for each signature. */
size_t record_write_known(char *buffer, const uint64_t *signatures, size_t count);
/* To `buffer` of RECORD_BYTES_MAX and sizeof(struct record_totals). */
size_t record_write_totals(char *buffer, const struct record_totals *totals);

/* The first record of `rest`, which is moved behind it; texts are in place. False: it is empty, or what is there is no
 * record, and then `rest` stays as it is. */
bool record_read(struct slice *rest, struct record *record);

static inline uint64_t record_known_at(const struct record_known *known, size_t i)
{
    uint64_t signature;
    memcpy(&signature, known->bytes + i * sizeof signature, sizeof signature);
    return signature;
}

/* What one more DONE record adds. */
void record_add_done(struct record_totals *totals, const struct record_done *done);
/* What a TOTALS record adds. */
void record_add_totals(struct record_totals *totals, struct slice more);

/* What a host is known by in DONE records: a hash of its key that is the same in every run. */
uint64_t record_host_signature(struct slice key);
