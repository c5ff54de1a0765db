/* One connection of a loop, from a host's name to the bytes of its responses.
 *
 *     conn_init -> conn_begin -> on_ready -> conn_request -> on_head -> on_body... -> on_response
 *                      ^                          ^                                       |
 *                      |                          +----------- kept alive ----------------+
 *                      +--------------------------- on_closed <------ anything that ends it
 *
 * The owner allocates struct conn, inside its own visit, and gets these events, all from the loop's thread:
 *
 *   on_ready     connected, and TLS done: a request can be made. Once per conn_begin.
 *   on_head      the head of the response; interim ones (1xx) are skipped.
 *   on_body      a piece of the body, framing removed. It lies in a receive buffer: gone when the callback
 * returns. on_response  the response is whole. Another request can be made, here or later, if
 * conn_is_ready(). on_closed    the connection is over and holds nothing: no descriptor, buffer, timer or
 * operation. Exactly once per conn_begin, never from inside a function of this header. If a request was open,
 * `outcome` is why it failed; else why the connection ended. Here conn_begin may be called again, or the
 * memory freed.
 *
 * A request thus ends in exactly one on_response or on_closed. conn_close may be called at any moment, from
 * any event.
 *
 * The one outcome that asks for a retry is FETCH_REUSED_CLOSED: a kept-alive connection turned out to be over
 * before the first byte of the response (RFC 9112, 9.3.1). The owner begins anew and sends the request again.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/bufring.h"
#include "net/limits.h"
#include "net/outcome.h"
#include "net/ring.h"
#include "net/slice.h"

struct conn;
struct dns;
struct tls_client;
struct http_head;
struct http_request;

enum conn_state {
    CONN_IDLE,        /* holds nothing */
    CONN_RESOLVING,   /* waits for an address */
    CONN_CONNECTING,  /* the kernel connects */
    CONN_HANDSHAKING, /* TLS */
    CONN_READY,       /* no request open; a receive is armed, to notice the end */
    CONN_SENDING,     /* the request is on its way and nothing of the response is here */
    CONN_HEAD,        /* the head of the response has begun, or the request is sent and it is awaited */
    CONN_BODY,        /* the head is complete */
    CONN_CLOSING,     /* waits for what the kernel holds */
};

union conn_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Where to. `host` (the name, for SNI and DNS) has to live until on_closed. */
struct conn_target {
    struct slice host;
    uint16_t port;
    bool tls;
    const union conn_address *address; /* NULL: `host` is resolved; its port is ignored */
};

struct conn_events {
    void (*on_ready)(struct conn *conn);
    void (*on_head)(struct conn *conn, const struct http_head *head);
    void (*on_body)(struct conn *conn, struct slice bytes);
    void (*on_response)(struct conn *conn);
    void (*on_closed)(struct conn *conn, enum fetch_outcome outcome);
};

/* Time-outs in milliseconds, each a phase of its own; 0 means none. */
struct conn_limits {
    uint32_t resolve_ms;
    uint32_t connect_ms;
    uint32_t handshake_ms;
    uint32_t first_byte_ms; /* from the request to the first byte of the response */
    uint32_t silence_ms;    /* between two receives in head or body */
    uint32_t exchange_ms;   /* from the request to the last byte */
    uint32_t idle_ms;       /* without a request; the connection is then closed */
    uint32_t head_bytes_max;
    uint64_t body_bytes_max; /* as transferred, framing removed; FETCH_BODY_TOO_LONG */
};

/* What the defaults of limits.h say. */
extern const struct conn_limits conn_limits_default;

/* Moments of clock_now_ns(); 0: did not happen. The first four are of the connection, the others of its
 * latest request. */
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
    uint64_t bytes_sent;
    uint64_t bytes_received;                /* from the socket: framing, heads and TLS included */
    uint64_t heads_split;                   /* heads that had to be put together from several receives */
    uint64_t outcomes[FETCH_OUTCOME_COUNT]; /* of requests; of connections that never had one */
};

/* What the connections of one loop share. */
struct conn_loop {
    struct ring *ring;
    struct bufring *buffers;
    struct dns *dns;        /* NULL: every target brings its address */
    struct tls_client *tls; /* NULL: no target asks for TLS */
    struct conn_limits limits;
    struct conn_stats stats;
    uint8_t kind;
};

void conn_loop_init(struct conn_loop *loop, struct ring *ring, struct bufring *buffers);
/* No connection of it may be open. */
void conn_loop_fini(struct conn_loop *loop);

/* Once, before the first conn_begin. `events` outlives the connection. */
void conn_init(struct conn *conn, struct conn_loop *loop, const struct conn_events *events);

/* Of an idle connection. Every failure comes as on_closed. */
void conn_begin(struct conn *conn, const struct conn_target *target);

/* Of a ready connection. `request` is copied. Every failure comes as on_closed. */
void conn_request(struct conn *conn, const struct http_request *request);

/* From any state but CONN_IDLE. No event but on_closed follows. `outcome` is what on_closed will say, unless
 * a cause came before. */
void conn_close(struct conn *conn, enum fetch_outcome outcome);

bool conn_is_ready(const struct conn *conn);

/* Asserts what each state promises. */
void conn_check(const struct conn *conn);

const char *conn_state_name(enum conn_state state);
