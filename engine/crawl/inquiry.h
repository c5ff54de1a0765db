/* What the operator wants to know of single hosts. One thread asks, the loops answer at their desks (desk.h).
 *
 *     the asker   inquiry_begin, fills in what it asks, inquiry_send; once inquiry_is_answered, reads the answer and calls inquiry_end,
 *                 or calls inquiry_leave before
 *     the loops   a host's question goes to the loop that has the host; none waits for anybody
 *
 * Nobody waits in a call. Memory is fixed: there are INQUIRIES_MAX. One that was left stays with the loops until they have answered it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/crawl/limits.h"
#include "engine/frontier/frontier.h"

struct desk;

enum inquiry_kind {
    INQUIRY_HOST,  /* all of one host, and the beginning of its queue */
    INQUIRY_QUEUE, /* all its URLs in memory, in pieces */
    INQUIRY_TOP,   /* the hosts with most of something */
};

enum inquiry_by { INQUIRY_BY_QUEUE, INQUIRY_BY_FAILURES, INQUIRY_BY_TIME, INQUIRY_BY_BYTES };

/* Why a host is not visited now, or not before its moment. */
enum inquiry_why {
    INQUIRY_WHY_NOTHING, /* no URL waits */
    INQUIRY_WHY_HELD,
    INQUIRY_WHY_GIVEN_UP,
    INQUIRY_WHY_VISITED, /* it is being visited */
    INQUIRY_WHY_NAME,    /* its name is looked up */
    INQUIRY_WHY_LOADING,
    INQUIRY_WHY_ROBOTS,  /* its robots.txt redirects to another host, which was asked */
    INQUIRY_WHY_REST,
    INQUIRY_WHY_FAILURES,
    INQUIRY_WHY_ADDRESS, /* its address rests, or its connections are taken by other hosts */
    INQUIRY_WHY_TURN,    /* nothing but its turn */
    INQUIRY_WHY_COMING,  /* it is between two loops */
};
/* One clause for the operator. */
const char *inquiry_why_text(enum inquiry_why why);

/* What any loop can read of a host. */
struct inquiry_row {
    enum host_state state;
    bool is_held, is_dropping;
    uint32_t queued; /* in memory and in its own queue on disk, with those being fetched */
    uint32_t spilled; /* behind others on disk */
    uint32_t visits;
    unsigned failures;
    uint64_t pages, bytes, spent_ms;
    uint64_t value; /* INQUIRY_TOP: what the rows are ordered by */
    uint16_t key_len;
    char key[HOLDS_NAME_BYTES];
};

struct inquiry_host {
    struct inquiry_row row;
    bool is_whole; /* what follows is known: a loop that has the host has answered */
    enum inquiry_why why;
    int64_t wait_ms; /* until it may be visited; -1: not known */
    bool has_ip;
    struct ip ip;
    uint32_t neighbours; /* hosts of its address */
    int64_t robots_age_ms; /* -1: its robots.txt was not fetched, or has expired */
    uint64_t crawl_delay_ms;
    uint32_t in_memory, on_disk;
    enum fetch_outcome given_up; /* FETCH_DONE: it is not */
    enum fetch_outcome trouble;  /* of its last visit; FETCH_DONE: none */
};

enum inquiry_state {
    INQUIRY_FREE,
    INQUIRY_ASKED,    /* with the loops */
    INQUIRY_ANSWERED, /* with the asker */
    INQUIRY_LEFT,     /* with the loops, and nobody waits for the answer */
};

struct inquiry {
    struct inbox_node node; /* in the inbox of a desk */
    struct inquiry *next;   /* on a desk */
    _Atomic(int) state;     /* enum inquiry_state */

    enum inquiry_kind kind;
    enum inquiry_by by;
    struct holds_target target; /* a host */
    size_t path_len;            /* INQUIRY_HOST: 0: no URL of it is looked for */
    char path[URL_BYTES_MAX];

    bool is_known; /* there is such a host */
    struct inquiry_host host;
    uint32_t place; /* of the URL in the host's queue, from 1 on; 0: it is not among those that were looked through */
    struct inquiry_row rows[INQUIRY_ROWS_MAX];
    unsigned row_count;
    char *text; /* URLs, a line each: INQUIRY_TEXT_BYTES */
    size_t len;
    uint32_t url_count; /* in the text */
    bool has_more;   /* INQUIRY_QUEUE: inquiry_go_on brings the next piece */
    bool is_refused; /* INQUIRY_QUEUE: the host did not come home in time */

    /* the loops' */
    struct desk *desk;  /* of the loop that works on it */
    uint64_t until_ns;  /* how long the host is waited for; 0: not yet begun */
    uint32_t record;    /* INQUIRY_TOP: the next record */
    struct host *pinned; /* INQUIRY_QUEUE */
    struct host_cursor cursor;
};

struct inquiries {
    struct inquiry all[INQUIRIES_MAX];
};

/* A free one, cleared; NULL: there is none, or no memory for its text. */
struct inquiry *inquiry_begin(struct inquiries *inquiries);
void inquiry_fini(struct inquiries *inquiries);

/* Hands it over to a desk, any of the crawl's. */
void inquiry_send(struct inquiry *inquiry, struct desk *desk);
/* Asks for the next piece of the answer, as inquiry_send asks for the first. */
void inquiry_go_on(struct inquiry *inquiry);
bool inquiry_is_answered(const struct inquiry *inquiry);
/* The asker does not want to know any more: it is the loops' from now on. False: it was answered at the last moment. */
bool inquiry_leave(struct inquiry *inquiry);
/* The asker has read the answer. The rest of a queue is not asked for. */
void inquiry_end(struct inquiry *inquiry);
