#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "net/conn_parts.h"

const struct conn_limits conn_limits_default = {
    .resolve_ms = CONN_RESOLVE_MS,
    .connect_ms = CONN_CONNECT_MS,
    .handshake_ms = CONN_HANDSHAKE_MS,
    .first_byte_ms = CONN_FIRST_BYTE_MS,
    .silence_ms = CONN_SILENCE_MS,
    .exchange_ms = CONN_EXCHANGE_MS,
    .idle_ms = CONN_IDLE_MS,
    .closing_ms = CONN_CLOSING_MS,
    .rate_min = CONN_RATE_MIN,
    .rate_window_ms = CONN_RATE_WINDOW_MS,
    .http = {.head_bytes_max = HTTP_HEAD_BYTES_MAX, .body_bytes_max = CONN_BODY_BYTES_MAX},
};

/* Every completion of a connection: its bit first, since the kernel no longer holds the operation. */
static void on_event(void *owner, const struct ring_event *event)
{
    struct conn *conn = event->object;
    const enum conn_op op = (enum conn_op)event->detail;
    (void)owner;
    assert(conn->held & op);
    if (!(event->flags & IORING_CQE_F_MORE))
        conn->held &= (uint8_t)~op;
    switch (op) {
    case CONN_OP_CONNECT:
        conn_on_connected(conn, event->result);
        break;
    case CONN_OP_RECEIVE:
        conn_on_received(conn, event);
        break;
    case CONN_OP_SEND:
        conn_on_sent(conn, event->result);
        break;
    case CONN_OP_SHUTDOWN:
        conn_on_shut_down(conn, event->result);
        break;
    case CONN_OP_CLOSE:
        conn_on_join(conn, op);
        break;
    }
    conn_check(conn);
}

static void on_dns_ready(void *owner, const struct ring_event *event)
{
    struct conn_loop *loop = owner;
    (void)event;
    loop->dns_polled = false;
    if (loop->closing)
        return;
    dns_on_ready(loop->dns, loop->ring->now_ns);
    conn_loop_watch(loop);
}

static void on_dns_tick(struct timer *timer)
{
    struct conn_loop *loop = container_of(timer, struct conn_loop, dns_tick);
    dns_on_tick(loop->dns, loop->ring->now_ns);
    conn_loop_watch(loop);
}

void conn_loop_watch(struct conn_loop *loop)
{
    if (!dns_is_busy(loop->dns))
        return;
    if (!loop->dns_polled) {
        struct io_uring_sqe *sqe = ring_sqe(loop->ring);
        io_uring_prep_poll_add(sqe, dns_fd(loop->dns), POLLIN);
        ring_tag(sqe, loop->dns_kind, 0, loop);
        loop->dns_polled = true;
    }
    if (!timer_is_armed(&loop->dns_tick))
        timer_arm(&loop->ring->timers, &loop->dns_tick, clock_now_ns() + DNS_TICK_MS * CLOCK_NS_PER_MS);
}

bool conn_loop_resolve(struct conn_loop *loop, struct dns_query *query, struct slice host)
{
    bool done = dns_begin(loop->dns, query, host, clock_now_ns());
    if (!done)
        conn_loop_watch(loop);
    return done;
}

void conn_loop_probe(struct conn_loop *loop)
{
    dns_probe(loop->dns, clock_now_ns());
    conn_loop_watch(loop);
}

void conn_loop_init(struct conn_loop *loop, const struct conn_loop_options *options)
{
    *loop = (struct conn_loop){
        .ring = options->ring,
        .buffers = options->buffers,
        .dns = options->dns,
        .tls = options->tls,
        .sessions = options->sessions,
        .limits = options->limits ? *options->limits : conn_limits_default,
        .loopback_only = options->loopback_only,
    };
    http_shared_init(&loop->http, &loop->limits.http);
    timer_init(&loop->dns_tick, on_dns_tick);
    loop->kind = ring_register(loop->ring, on_event, loop);
    loop->dns_kind = ring_register(loop->ring, on_dns_ready, loop);
}

void conn_loop_close(struct conn_loop *loop)
{
    assert(loop->stats.open == 0);
    loop->closing = true;
    timer_cancel(&loop->ring->timers, &loop->dns_tick);
    if (loop->dns_polled)
        ring_cancel(loop->ring, loop->dns_kind, 0, loop);
}
