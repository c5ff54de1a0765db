/* A visit: one loop, one connection, one host; requests one after another.
 *
 *        visit_begin
 *             |
 *             v        on_ready                 on_response, another is allowed
 *        CONNECTING -----------> ASKING <--------------------------------+
 *             |                    | request sent                        |
 *             |                    v                                     |
 *             |                 FETCHING ---- on_response ----> the page is read, stored, logged
 *             |                    |                                     |
 *             | on_closed          | on_closed                           | the store is full
 *             v                    v                                     v
 *           ENDING <---------- failure: retried later, or logged      STALLED (the connection waits)
 *             |
 *             v
 *        frontier_return
 *
 * What is asked: robots.txt if the host's rules are not fresh, else the next URL that they allow. Invariants:
 * a visit that is open holds its host's token; `item` is set from the request for a page until its verdict.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/buffer.h"
#include "engine/frontier.h"
#include "engine/host.h"
#include "engine/politeness.h"
#include "net/conn.h"
#include "net/http_head.h"

struct loop;

#define VISIT_ACCEPT          SLICE("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
#define VISIT_ACCEPT_ENCODING SLICE("gzip, deflate, br, zstd")

enum visit_state {
    VISIT_FREE,
    VISIT_CONNECTING, /* no request made on this connection */
    VISIT_FETCHING,   /* a request is open */
    VISIT_STALLED,    /* a page waits for room in the store */
    VISIT_ENDING,     /* the connection is being closed */
};

enum visit_asks {
    VISIT_ASKS_PAGE,
    VISIT_ASKS_ROBOTS,       /* the host's own robots.txt, or where that redirects to on this host */
    VISIT_ASKS_OTHER_ROBOTS, /* the robots.txt of another host that redirects to here: `item` tells whose */
};

/* A response as it comes in: head and body in one buffer, with room before and behind for the store. */
struct visit_page {
    struct buffer buffer;
    size_t head_len;
    size_t body_len;
    int status;
    bool has_head;
    bool is_truncated;
    struct slice known[HTTP_KNOWN_COUNT]; /* in the buffer */
    unsigned robots_tags;                 /* of X-Robots-Tag */
    unsigned tags;                        /* of the page as a whole, once read: enum robots_tag */
    enum fetch_outcome outcome;           /* once read */
};

struct visit {
    struct conn conn;
    struct loop *loop;
    struct host *host;
    struct host_item *item;
    struct visit *next;             /* in the list of the free or of the stalled */
    uint8_t state;                  /* enum visit_state */
    uint8_t asks;                   /* enum visit_asks */
    bool holds_page;                /* a place under max-pages is reserved */
    bool is_crowded;                /* it ends because other visits have the memory for pages */
    enum fetch_outcome certificate; /* what is wrong with it and was let pass; FETCH_DONE: nothing */
    uint64_t begin_ns;              /* of the visit: the start of its connection */
    uint64_t last_byte_ns;
    struct politeness_visit times;
    struct visit_page page;
    union conn_address address;
};

/* The host waits for its robots.txt, which another host has been asked for, or learns that it cannot be had:
 * gives its token back and is true. */
bool visit_put_off(struct loop *loop, struct host *host, uint64_t now_ns);

/* `host` is the caller's by its token, which goes back at once if nothing may be asked for. */
void visit_begin(struct loop *loop, struct host *host);

/* Tries again to store the pages that wait. */
void visit_retry_stalled(struct loop *loop);

/* Cuts off what is in flight: every open visit ends soon. */
void visit_abort_all(struct loop *loop);

/* For visit.c and its parts. */

/* Goes on after a response was dealt with: another request, or the end. */
void visit_continue(struct visit *visit);
void visit_request(struct visit *visit, struct slice path);
/* Deals with a whole response to a request for a page. False: it has to wait for the store. */
bool visit_read_page(struct visit *visit);
/* Deals with the response to a request for robots.txt; status 0: there was none. */
void visit_read_robots(struct visit *visit, int status);
bool visit_has_fresh_rules(const struct host *host);
/* Whether the host's rules are there to be asked; if not, asks for them or ends the visit. */
bool visit_has_robots(struct visit *visit);
/* The host that was to answer for another's robots.txt is given up: the other's is unreachable. */
void visit_robots_abandoned(struct loop *loop, const struct host_item *item);
/* The host's robots.txt could not be had. */
void visit_robots_unreachable(struct visit *visit);

/* Of a Retry-After field: seconds, or the date of the next try (RFC 9110, 10.2.3). 0: none, or not to be
 * understood. */
uint64_t visit_retry_after_ns(const struct visit_page *page);
/* The body without its content coding: in place, or in the loop's buffer until the next call. Empty if it
 * cannot be had: then *outcome says why, else it is left alone. */
struct slice visit_decode_body(struct visit *visit, enum fetch_outcome *outcome);

/* The response's first byte; the store's room is before it. */
char *visit_response(const struct visit_page *page);
