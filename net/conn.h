/* One connection of a loop, from a host's name to the bytes of its responses.
 *
 *     conn_init -> conn_begin -> on_ready -> conn_request -> on_head -> on_body... -> on_response
 *                      ^                          ^                                       |
 *                      |                          +----------- kept alive ----------------+
 *                      +--------------------------- on_closed <------ anything that ends it
 *
 * The owner allocates struct conn, inside its own visit, and gets these events, all from the loop's thread:
 *
 * - on_ready: connected, and TLS done: a request can be made. Once per conn_begin.
 * - on_head: the head of the response; interim ones (1xx) are skipped.
 * - on_body: a piece of the body, framing removed. It lies in a receive buffer, and is gone afterwards.
 * - on_response: the response is whole. Another request can be made, here or later, if conn_is_ready().
 * - on_closed: the connection is over and holds nothing: no descriptor, buffer, timer or operation. Exactly
 *   once per conn_begin, never from inside a function of this header. If a request was open, `outcome` is why
 *   it failed; else why the connection ended. Here conn_begin may be called again, or the memory freed.
 *
 * A request thus ends in exactly one on_response or on_closed. conn_close may be called at any moment, from
 * any event.
 *
 * A body may be cut: on_closed's outcome tells by what. The head and the body so far were handed over, and may be of use to
 * the owner.
 *
 * The one outcome that asks for a retry is OUTCOME_REUSED_CLOSED: a kept-alive connection turned out to be over
 * before the first byte of the response (RFC 9112, 9.3.1), or brought bytes that belong to no request. The
 * owner begins anew and sends the request again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/bufring.h"
#include "net/dns.h"
#include "net/http.h"
#include "net/http_request.h"
#include "net/ip.h"
#include "net/limits.h"
#include "net/outcome.h"
#include "net/ring.h"
#include "net/slice.h"
#include "net/timer.h"
#include "net/tls.h"
#include "net/tls_sessions.h"

struct conn;

enum conn_state {
    CONN_IDLE,        /* holds nothing */
    CONN_RESOLVING,   /* waits for an address */
    CONN_CONNECTING,  /* the kernel connects */
    CONN_HANDSHAKING, /* TLS */
    CONN_READY,       /* no request open; a receive is armed, to notice the end */
    CONN_SENDING,     /* the request goes out; nothing of the response has come */
    CONN_HEAD,        /* the response is awaited, or part of its head is here */
    CONN_BODY,        /* the head is complete */
    CONN_CLOSING,     /* waits for what the kernel holds */
    CONN_STATE_COUNT,
};

/* Where to connect. `host` (a name, or an address without brackets) and `session` have to live until on_closed. */
struct conn_target {
    struct slice host;
    uint16_t port;
    bool tls;
    const union ip_socket *address; /* NULL: `host` is resolved, and the next address tried if one fails */
    /* TLS: the host's session; tried if not all zero, renewed if the server gives one. NULL: the loop's cache
     * keeps one, if it has a cache. */
    struct tls_session *session;
};

struct conn_events {
    void (*on_ready)(struct conn *conn);
    void (*on_head)(struct conn *conn, const struct http_head *head);
    void (*on_body)(struct conn *conn, struct slice bytes);
    void (*on_response)(struct conn *conn);
    void (*on_closed)(struct conn *conn, enum outcome outcome);
};

/* Time-outs in milliseconds, each of a phase of its own; 0: none. A floor on the rate. */
struct conn_limits {
    uint32_t resolve_ms;
    uint32_t connect_ms; /* per address */
    uint32_t handshake_ms;
    uint32_t first_byte_ms;  /* from the request to the first byte of the response */
    uint32_t silence_ms;     /* between two receives inside head or body */
    uint32_t exchange_ms;    /* from the request to the last byte */
    uint32_t idle_ms;        /* without a request; then the connection is closed */
    uint32_t closing_ms;     /* for the kernel to end what it holds; then it is asked once more */
    uint32_t rate_min;       /* bytes per second of a response; 0: no floor */
    uint32_t rate_window_ms; /* over which that is judged */
    struct http_limits http;
};

/* The values of limits.h. */
extern const struct conn_limits conn_limits_default;

/* Moments of clock_now_ns(); 0: did not happen. The last three are of the latest request. */
struct conn_times {
    uint64_t begin_ns;
    uint64_t resolved_ns;
    uint64_t connected_ns;
    uint64_t secured_ns;
    uint64_t request_ns;
    uint64_t first_byte_ns;
    uint64_t end_ns; /* of the response, or of the connection if that came first */
};

/* Written by the loop's thread alone. */
struct conn_stats {
    uint64_t open; /* connections that are not CONN_IDLE */
    uint64_t begun;
    uint64_t requests;
    uint64_t responses;
    uint64_t insisted;                /* closing connections that had to be cancelled */
    uint64_t handshakes;              /* of TLS, completed */
    uint64_t handshakes_resumed;      /* of these, by a session from before */
    uint64_t bytes_sent;              /* to the socket */
    uint64_t bytes_received;          /* from the socket: heads, framing and TLS included */
    uint64_t outcomes[OUTCOME_COUNT]; /* one per request; one per connection that never had a request */
};

/* What the connections of one loop share. */
struct conn_loop {
    struct ring *ring;
    struct bufring *buffers;
    struct dns *dns;
    struct tls_pool *tls;
    struct tls_sessions *sessions;
    struct conn_limits limits;
    struct conn_stats stats;
    struct http_shared http;
    struct timer dns_tick;
    bool loopback_only;
    bool may_hold;   /* set by the owner: conn_hold works for connections that begin from now on */
    bool dns_polled; /* the kernel holds the poll of dns_fd */
    bool closing;
    uint8_t kind;
    uint8_t dns_kind;
};

struct conn_loop_options {
    struct ring *ring;
    struct bufring *buffers;
    struct dns *dns;                  /* NULL: every target brings its address */
    struct tls_pool *tls;             /* NULL: no target asks for TLS */
    struct tls_sessions *sessions;    /* NULL: only targets keep sessions */
    const struct conn_limits *limits; /* NULL: conn_limits_default */
    bool loopback_only;               /* connect to no other address */
};

/* Operations that the kernel may hold for a connection, one bit each. */
enum conn_op {
    CONN_OP_CONNECT = 1 << 0, /* the chain of socket, TCP_NODELAY and connect */
    CONN_OP_RECEIVE = 1 << 1,
    CONN_OP_SEND = 1 << 2,
    CONN_OP_SHUTDOWN = 1 << 3,
    CONN_OP_CLOSE = 1 << 4,
};

/* The request on its way out. */
struct conn_output {
    char *bytes; /* conn.inline_request, or malloc'ed where that is too short */
    uint32_t len;
    uint32_t sent;      /* acknowledged by the kernel, or taken by TLS */
    bool is_under_way;  /* the kernel has taken some of it */
    bool is_repeatable; /* GET */
};

/* How fast the response comes. */
struct conn_rate {
    uint64_t since_ns;      /* the start of the window */
    uint64_t bytes;         /* since then */
    uint64_t paid_until_ns; /* until then what came is enough at the lowest rate */
};

/* Owners read state, times, address and tls; the rest is conn's own. */
struct conn {
    struct conn_loop *loop;
    const struct conn_events *events;
    void *owner;           /* the owner's to set */
    int slot;              /* of the ring's direct descriptors; -1: none */
    uint8_t state;         /* enum conn_state */
    uint8_t held;          /* enum conn_op */
    uint8_t address_index; /* of query.answer: the one in use */
    bool had_request;      /* since conn_begin */
    bool is_reused;        /* a response has come over this connection */
    bool is_on_hold;       /* CONN_BODY: no receive is armed, on the owner's wish */
    enum outcome outcome;  /* in CONN_CLOSING */
    struct tls *tls;       /* NULL: plain */
    struct conn_output output;
    struct http_reader reader;
    struct timer timer;        /* ends the phase or the exchange, whichever comes first */
    uint64_t exchange_ends_ns; /* TIMER_NEVER: no request is open, or it has no limit */
    struct conn_rate rate;
    uint64_t hold_ns;      /* since when it is on hold */
    uint64_t hold_time_ns; /* of this response, without the present hold */
    struct conn_times times;
    union ip_socket address;
    struct conn_target target;
    struct bufring_waiter waiter;
    struct ring_task join;
    struct dns_query query;
    char inline_request[CONN_REQUEST_BYTES];
};

void conn_loop_init(struct conn_loop *loop, const struct conn_loop_options *options);
/* No connection may be open. When the ring has nothing in flight any more (ring_finish), the loop holds
 * nothing. */
void conn_loop_close(struct conn_loop *loop);
/* Calls dns_begin on the loop's resolver, which the loop's ring keeps going. Returns what dns_begin returns. */
bool conn_loop_resolve(struct conn_loop *loop, struct dns_query *query, struct slice host);

/* Calls dns_probe in the same way. */
void conn_loop_probe(struct conn_loop *loop);

/* Once, before the first conn_begin. `events` outlives the connection. */
void conn_init(struct conn *conn, struct conn_loop *loop, const struct conn_events *events);

/* Begins to connect. The connection is idle. Every failure is reported by on_closed. */
void conn_begin(struct conn *conn, const struct conn_target *target);

/* Sends a request, which is copied. The connection is ready. Every failure is reported by on_closed. */
void conn_request(struct conn *conn, const struct http_request *request);

/* Holds up the response until conn_resume: nothing more is received, and time-outs stand still. Only from within
 * on_body. Bytes that have arrived already may still bring an on_body or an on_response; an on_response ends the
 * hold. False: the connection began before loop->may_hold was set, so the kernel goes on receiving. */
bool conn_hold(struct conn *conn);
/* No-op if the connection is not on hold. Not from within an event of this connection. */
void conn_resume(struct conn *conn);

/* Closes the connection, in any state. No-op if it is idle or closing. The only event that follows is on_closed, with
 * this `outcome`. */
void conn_close(struct conn *conn, enum outcome outcome);

static inline bool conn_is_ready(const struct conn *conn)
{
    return conn->state == CONN_READY;
}

/* Whether a response has come below limits.rate_min for CONN_SLOW_MS. The connection itself is patient for a whole
 * window; an owner who needs its place may not be. */
bool conn_is_slow(const struct conn *conn, uint64_t now_ns);

/* Asserts what each state promises. */
void conn_check(const struct conn *conn);

/* "idle", "resolving", ... Static storage. */
const char *conn_state_name(enum conn_state state);
