/* A visit: one loop, one connection, one host; requests one after another until the host's burst is over,
 * nothing is left to ask for, or something fails. The states and their edges are in visit.c.
 *
 *   visit.c         the states, and the events of the connection
 *   visit_ask.c     what is asked for next
 *   visit_receive.c the response as it arrives
 *   visit_fail.c    what a failure means
 *   visit_page.c    the page: to the store, the log and the program's sink
 *   visit_store.c   the WARC records of a response, or its line
 *   visit_links.c   the links of a page
 *   visit_journal.c what the journal records of a visit
 *   visit_robots.c  robots.txt, also on behalf of other hosts */
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
struct ledger_verdict;
struct visits_line;

#define VISIT_ACCEPT          SLICE("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
#define VISIT_ACCEPT_ENCODING SLICE("gzip, deflate, br, zstd")

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
    bool is_repeat; /* its body is that of an earlier page */
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

/* Shared by the visit_*.c files only. */

/* Sends a request. */
void visit_request(struct visit *visit, struct slice path);
/* Continues after a response was processed, with another request or visit_end. The visit may be FREE
 * afterwards. */
void visit_continue(struct visit *visit);
/* Ends the visit: closes its connection. The visit may be FREE afterwards. */
void visit_end(struct visit *visit);
/* The page must wait for the store, or for the loop's next turn. */
void visit_stall(struct visit *visit);

/* Called when a request is sent: charges for the expected response in advance. */
void visit_reserve(struct visit *visit);
/* Refunds that advance, since received bytes are charged on arrival. */
void visit_settle(struct visit *visit);
/* First come first served. */
void visit_join_line(struct visits_line *line, struct visit *visit);
void visit_leave_line(struct visits_line *line, struct visit *visit);
/* Called for each piece of a body under a cap: puts the rest on hold if the cap is exceeded. */
void visit_hold(struct visit *visit);
/* No-op if there is none. */
void visit_end_hold(struct visit *visit);
void visit_on_head(struct conn *conn, const struct http_head *head);
void visit_on_body(struct conn *conn, struct slice bytes);

/* The connection is over: the request failed, or none was made. */
void visit_fail(struct visit *visit, enum fetch_outcome outcome);
/* No-op if the outcome tells nothing about the host. */
void visit_count_host_failure(struct visit *visit, enum fetch_outcome outcome);
/* Whether an incomplete response is processed all the same, because another try would bring no more. The
 * rules in an incomplete robots.txt are used (RFC 9309, 2.3.1.5: use what can be parsed). */
bool visit_is_worth_keeping(const struct visit *visit, enum fetch_outcome outcome);

/* What crawl.log says of the visit and of the response's first byte. */
void visit_tell_verdict(struct visit *visit, struct ledger_verdict *verdict);

/* Makes the next request, or ends the visit. */
void visit_ask(struct visit *visit);
/* Gives the URLs at the front of the host's queue that may not be fetched their verdict. True if one is left
 * that may be fetched, or for which robots.txt is needed first. */
bool visit_drop_denied(struct visits *visits, struct host *host);
/* Gives back the reserved page of max-pages. */
void visit_release_place(struct visit *visit);

/* Makes the digest of the body as received. */
void visit_digest(struct visit_page *page);
/* Makes the digests of a page that is not long, at once, so that its bytes are gone through once. Changes the head as
 * it is to be stored. */
void visit_make_digests(struct visit *visit);
struct visit_record {
    struct slice url, path;
    const struct exact_copy *repeats; /* stored as a revisit of it; NULL: as it is */
};
/* Whether there is a store, and the page is too long for things to be done at once. */
bool visit_is_long(const struct visit *visit);
/* Whether there is a store, and it makes of the page what it stores in steps: of long ones, and of all that become lines. */
bool visit_takes_steps(const struct visit *visit);
/* Makes the digest of such a page until `until_ns`, and no record. */
enum store_progress visit_prepare_digest(struct visit *visit, const struct visit_record *what,
                                         uint64_t until_ns);
/* Makes the records of such a page until `until_ns`, and the digest unless they are a line. STORE_READY: visit_store may
 * follow. */
enum store_progress visit_prepare(struct visit *visit, const struct visit_record *what, uint64_t until_ns);
/* False: the store has no room at this moment. */
bool visit_store(struct visit *visit, const struct visit_record *what);
/* Stores a robots.txt if the tuning file says so and there is room: rules must not wait for the disk. False if it
 * takes more steps. */
bool visit_store_robots(struct visit *visit, struct slice path);

/* Processes a complete response to a request for a page. False if it must wait; the visit is then STALLED. */
bool visit_read_page(struct visit *visit);

/* Follows the redirect if the page is one, else takes its links; sets page.tags and page.outcome. False if
 * there is more to read, or if the reader is busy with another page. */
bool visit_read_links(struct visit *visit, const struct url *url);

/* Takes answers of other hosts about the host's robots.txt. True if the visit is postponed, because of such
 * an answer or because none has come; the token has been returned. */
bool visit_put_off(struct visits *visits, struct host *host, uint64_t now_ns);
/* The rules of a host, valid until visit_release_rules; NULL: they must be fetched first, or are not
 * obeyed. */
const struct robots *visit_acquire_rules(struct visits *visits, const struct host *host);
void visit_release_rules(struct visits *visits, const struct host *host);
/* Asks for the host's own robots.txt. */
void visit_ask_robots(struct visit *visit);
/* Takes answers that arrived since the visit began. False if the visit has to end. */
bool visit_takes_answers(struct visit *visit);
/* Processes the response to a request for robots.txt; the visit is STALLED if it must wait. */
void visit_read_robots(struct visit *visit);
/* The present errand failed: answers that the robots.txt is unreachable. */
void visit_fail_errand(struct visit *visit);
/* Writes a line to crawl.log for the robots.txt that was requested, if log.robots is set. */
void visit_log_robots(struct visit *visit, enum fetch_outcome outcome);
/* The host's own robots.txt could not be fetched. */
void visit_robots_unreachable(struct visit *visit);

/* The wait that a Retry-After field asks for, in seconds or as a date (RFC 9110, 10.2.3). 0 if there is
 * none, or none that can be parsed. */
uint64_t visit_retry_after_ns(const struct visit_page *page);
/* The body as received, and what its head says of it. Its codings are valid until the next call. */
struct unpack_body visit_packed_body(const struct visit *visit);
/* The body without its content coding: in place, or in the loop's buffer until the next call. If it is
 * incomplete, *outcome is set to the reason. */
struct slice visit_decode_body(struct visit *visit, enum fetch_outcome *outcome);

/* Records the begin and the end of a visit in the journal. */
void visit_record_begin(const struct visit *visit);
void visit_record_end(const struct visit *visit, uint64_t end_ns);

/* The first byte of the response, after the store's headroom. */
char *visit_response(const struct visit_page *page);
