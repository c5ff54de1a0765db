/* A visit: one loop, one connection, one host; requests one after another until the host's burst is over,
 * nothing is left to ask for, or something fails. The states and their edges are in visit.c.
 *
 *   visit.c            the states, and the events of the connection
 *   visit_ask.c        what is asked for next
 *   visit_receive.c    the response as it arrives
 *   visit_fail.c       what a failure means
 *   visit_page.c       the page: to the store, the log and the program's sink
 *   visit_store.c      the WARC records of a response, or its line
 *   visit_links.c      the links of a page
 *   visit_journal.c    what the journal records of a visit
 *   visit_bandwidth.c  waits for bandwidth
 *   visit_robots.c     robots.txt, also on behalf of other hosts */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/content/fingerprint.h"
#include "engine/crawl/buffer.h"
#include "engine/crawl/outlinks.h"
#include "engine/crawl/repeats.h"
#include "engine/frontier/frontier.h"
#include "engine/frontier/host.h"
#include "engine/frontier/politeness.h"
#include "engine/store/store.h"
#include "net/conn.h"
#include "net/http_head.h"

struct visits;

enum visit_state {
    VISIT_FREE,       /* holds nothing */
    VISIT_CONNECTING, /* no request made yet */
    VISIT_FETCHING,   /* a request is open */
    VISIT_READING,    /* a response has arrived and is being processed */
    VISIT_WAITING,    /* keeps the connection until there is bandwidth for the next request */
    VISIT_STALLED,    /* waits for room in the store or the log, or for the next step of reading or storing */
    VISIT_ENDING,     /* the connection is being closed */
    VISIT_STATE_COUNT,
};

enum visit_asks {
    VISIT_ASKS_PAGE,
    VISIT_ASKS_ROBOTS, /* the host's own robots.txt */
    VISIT_ASKS_ERRAND, /* a robots.txt that redirected here, of another host or its own: see `item` */
};

/* A response as it arrives: head and body in one buffer, with room before and after for the store. */
struct visit_page {
    struct buffer buffer;
    size_t head_len;
    size_t body_len;
    int status;
    uint64_t date_us; /* when it was asked for, by visit_date_us; 0: nobody has asked yet */
    bool has_head;
    bool is_read;                         /* its links are taken; it waits for the store or the log */
    bool is_unwanted;                     /* once read: it is not stored */
    bool is_prepared;                     /* if it is long: the store has made its digest and records */
    bool has_links;                       /* the head has Link or Refresh fields */
    bool has_codings;                     /* the head has several Content-Encoding fields */
    struct slice known[HTTP_KNOWN_COUNT]; /* in the buffer */
    unsigned robots_tags;                 /* of X-Robots-Tag */
    unsigned tags;                        /* once read: of head and body; enum robots_tag */
    enum fetch_outcome cut_by;            /* what ended the body early; FETCH_DONE: nothing */
    enum fetch_outcome outcome;           /* once read */
    unsigned char digest[FINGERPRINT_SHA1_BYTES];       /* once read or prepared, if there is a store */
    unsigned char block_digest[FINGERPRINT_SHA1_BYTES]; /* once read, if it is stored with one and not long */
    bool has_digest;
    bool is_near;   /* once read: a near-duplicate of `near` */
    bool is_repeat;  /* its body is that of an earlier page */
    bool has_looked; /* an earlier page with its body was looked for before it is read */
    struct near_match near;
    bool has_outlinks; /* once read: for its links */
    size_t outlinks;
    struct outlinks list; /* once read: of its links, if it is stored with them */
    size_t starved_bytes; /* memory in use when there was too little to read it; else 0 */
};

struct visit {
    /* These come first, and with them the start of conn, which ring.c prefetches. */
    struct visits *visits;
    struct host *host;
    struct host_item *item; /* the URL requested; NULL: none, or the host's own robots.txt */
    struct conn conn;
    struct visit *next, *last;      /* in the list of free, stalled or waiting visits, or of those on hold */
    uint8_t state;                  /* enum visit_state */
    uint8_t asks;                   /* enum visit_asks */
    bool is_on_hold;                /* FETCHING: the rest of the body waits for bandwidth */
    bool holds_page;                /* has reserved a page of max-pages */
    uint16_t domain;                /* its host's number in visits->domains, from its first page on */
    bool is_crowded;                /* ends because other visits use the memory for pages */
    enum fetch_outcome certificate; /* its fault, if it was accepted all the same; FETCH_DONE: none */
    struct slice tls_protocol;      /* of the connection, also after its end; empty: no TLS */
    struct slice tls_suite;
    uint64_t begin_ns;    /* start of the visit, which is that of its connection */
    uint64_t number;      /* in crawl.log, from its first verdict on; 0: none yet */
    uint64_t reserved_ns; /* bandwidth charged in advance for the response */
    struct politeness_visit times;
    struct visit_page page;
    union ip_socket address;
};

/* The caller holds the token of `host`. It is returned at once if no request may be made. */
void visit_begin(struct visits *visits, struct host *host);

/* Takes answers of other hosts about the host's robots.txt. True if the visit is postponed, because of such
 * an answer or because none has come; the token has been returned. */
bool visit_put_off(struct visits *visits, struct host *host, uint64_t now_ns);

/* Continues a stalled visit: reads or stores further, or tries again to store the page. */
void visit_retry(struct visit *visit);

/* Continues a waiting visit: there is bandwidth, or the crawl ends. */
void visit_resume(struct visit *visit);
/* Goes on with a visit on hold, since there is bandwidth again. */
void visit_receive_on(struct visit *visit);

/* Aborts the request in flight; a page that waits for the store may still be stored. */
void visit_abort(struct visit *visit);

/* Asserts the invariants of the present state. */
void visit_check(const struct visit *visit);

/* "free", "connecting", ... Static storage. */
const char *visit_state_name(enum visit_state state);
