/* A connection is a state machine driven by completions, timers and its owner:
 *
 *     IDLE ---> RESOLVING ---> CONNECTING ---> HANDSHAKING
 *      ^                           |                |
 *      |                           | plain          |
 *      |                           v                |
 *      |             .----------> READY <-----------'
 *      |             |              |
 *      |            BODY            v
 *      |             ^           SENDING
 *      |             |              |
 *      |             '--- HEAD <----'
 *      |
 *   CLOSING <--- each of them but IDLE
 *
 *   IDLE         -> RESOLVING    [conn_begin]
 *   RESOLVING    -> CONNECTING   [begin_connect]       at once if the target brings an address
 *   CONNECTING   -> HANDSHAKING  [conn_begin_tls]      the target asks for TLS
 *   CONNECTING   -> READY        [conn_become_ready]
 *   HANDSHAKING  -> READY        [conn_become_ready]
 *   READY        -> SENDING      [conn_request]
 *   SENDING      -> HEAD         [conn_on_sent, or a byte of the response]
 *   HEAD         -> BODY         [feed_http]           the final head is complete
 *   BODY         -> READY        [end_response]        the response is, and the connection is kept
 *   others       -> CLOSING      [conn_close]
 *   CLOSING      -> IDLE         [conn_join]           the kernel holds nothing any more
 *
 * In every state but IDLE and RESOLVING a slot is owned, and from HANDSHAKING to BODY a receive is armed, or
 * waits for a buffer, unless the owner holds a body up: the end of the connection is noticed at once. The other promises are in conn_check. */
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "net/conn_parts.h"

const char *conn_state_name(enum conn_state state)
{
    static const char *const names[CONN_STATE_COUNT] = {
        [CONN_IDLE] = "idle",
        [CONN_RESOLVING] = "resolving",
        [CONN_CONNECTING] = "connecting",
        [CONN_READY] = "ready",
        [CONN_HANDSHAKING] = "handshaking",
        [CONN_SENDING] = "sending",
        [CONN_HEAD] = "head",
        [CONN_BODY] = "body",
        [CONN_CLOSING] = "closing",
    };
    return names[state];
}

#define TO(state) (1u << CONN_##state)

static bool is_edge(enum conn_state from, enum conn_state to)
{
    static const uint16_t edges[CONN_STATE_COUNT] = {
        [CONN_IDLE] = TO(RESOLVING),
        [CONN_RESOLVING] = TO(CONNECTING) | TO(CLOSING),
        [CONN_CONNECTING] = TO(HANDSHAKING) | TO(READY) | TO(CLOSING),
        [CONN_HANDSHAKING] = TO(READY) | TO(CLOSING),
        [CONN_READY] = TO(SENDING) | TO(CLOSING),
        [CONN_SENDING] = TO(HEAD) | TO(CLOSING),
        [CONN_HEAD] = TO(BODY) | TO(CLOSING),
        [CONN_BODY] = TO(READY) | TO(CLOSING),
        [CONN_CLOSING] = TO(IDLE),
    };
    return edges[from] >> to & 1;
}

void conn_enter(struct conn *conn, enum conn_state state)
{
    assert(is_edge((enum conn_state)conn->state, state));
    (void)is_edge;
    conn->state = (uint8_t)state;
}

void conn_check(const struct conn *conn)
{
    const bool receives = conn->held & CONN_OP_RECEIVE || conn->waiter.link || conn->is_on_hold;
    (void)receives;
    switch ((enum conn_state)conn->state) {
    case CONN_IDLE:
        assert(!conn->tls && !timer_is_armed(&conn->timer) && !conn->join.queued);
        /* fall through */
    case CONN_RESOLVING:
        assert(conn->slot < 0 && !conn->held && !receives);
        break;
    case CONN_CONNECTING:
        assert(conn->slot >= 0 && conn->held && !(conn->held & ~(CONN_OP_CONNECT | CONN_OP_SHUTDOWN)));
        break;
    case CONN_HANDSHAKING:
        assert(conn->tls && receives);
        break;
    case CONN_READY:
        assert(receives && conn->exchange_ends_ns == TIMER_NEVER);
        break;
    case CONN_SENDING:
    case CONN_HEAD:
    case CONN_BODY:
        assert(receives && conn->had_request);
        break;
    case CONN_CLOSING:
        assert(!conn->waiter.link && !conn->query.link);
        assert(conn->held || conn->join.queued);
        break;
    case CONN_STATE_COUNT:
        assert(!"a state");
    }
}

void conn_limit_phase(struct conn *conn, uint32_t ms, uint64_t now_ns)
{
    uint64_t ends_ns = ms ? now_ns + ms * CLOCK_NS_PER_MS : TIMER_NEVER;
    if (conn->exchange_ends_ns < ends_ns)
        ends_ns = conn->exchange_ends_ns;
    if (ends_ns == TIMER_NEVER)
        timer_cancel(&conn->loop->ring->timers, &conn->timer);
    else
        timer_arm(&conn->loop->ring->timers, &conn->timer, ends_ns);
}

static enum outcome outcome_of_phase(const struct conn *conn)
{
    switch ((enum conn_state)conn->state) {
    case CONN_RESOLVING:
        return OUTCOME_DNS_TIMEOUT;
    case CONN_CONNECTING:
        return OUTCOME_CONNECT_TIMEOUT;
    case CONN_HANDSHAKING:
        return OUTCOME_TLS_TIMEOUT;
    case CONN_READY:
        return OUTCOME_IDLE_CLOSED;
    case CONN_SENDING:
        return OUTCOME_FIRST_BYTE_TIMEOUT;
    case CONN_HEAD:
        return conn->times.first_byte_ns ? OUTCOME_HEAD_TIMEOUT : OUTCOME_FIRST_BYTE_TIMEOUT;
    case CONN_BODY:
        return OUTCOME_BODY_TIMEOUT;
    case CONN_IDLE:
    case CONN_CLOSING:
    case CONN_STATE_COUNT:
        break;
    }
    assert(!"a phase with an end");
    return OUTCOME_ABORTED;
}

static bool has_next_address(const struct conn *conn)
{
    return !conn->target.address && conn->address_index + 1 < conn->query.answer.count;
}

static void on_timeout(struct timer *timer)
{
    struct conn *conn = container_of(timer, struct conn, timer);
    if (conn->state == CONN_CLOSING) {
        conn_insist(conn);
        return;
    }
    /* What it was armed for, not what has passed meanwhile: a busy loop may come late. Where no body has begun,
     * the phase says more. */
    if (conn->state == CONN_BODY && timer->expires_tick << TIMER_TICK_SHIFT >= conn->exchange_ends_ns)
        conn_close(conn, OUTCOME_EXCHANGE_TIMEOUT);
    else if (conn->state == CONN_CONNECTING && has_next_address(conn))
        conn_shut_down(conn);
    else
        conn_close(conn, outcome_of_phase(conn));
}

void conn_become_ready(struct conn *conn)
{
    conn_enter(conn, CONN_READY);
    conn_limit_phase(conn, conn->loop->limits.idle_ms, conn->loop->ring->now_ns);
    conn->events->on_ready(conn);
}

static enum outcome outcome_of_connect(int error)
{
    switch (error) {
    case ECONNREFUSED:
        return OUTCOME_CONNECT_REFUSED;
    case ECONNRESET:
    case EPIPE:
        return OUTCOME_CONNECT_RESET;
    case ETIMEDOUT:
        return OUTCOME_CONNECT_TIMEOUT;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EACCES:
    case EPERM:
        return OUTCOME_CONNECT_UNREACHABLE;
    case EADDRNOTAVAIL:
        return OUTCOME_CONNECT_NO_PORT;
    case ENFILE:
    case EMFILE:
    case ENOBUFS:
    case ENOMEM:
        return OUTCOME_NO_DESCRIPTOR;
    default:
        return OUTCOME_CONNECT_FAILED;
    }
}

/* A socket, TCP_NODELAY and connect, linked: one completion. A socket that an earlier try has left in the
 * slot is replaced. */
static void connect_address(struct conn *conn, uint64_t now_ns)
{
    static int on = 1;
    struct ring *ring = conn->loop->ring;
    const uint8_t kind = conn->loop->kind;
    const socklen_t len =
        conn->address.any.sa_family == AF_INET ? sizeof conn->address.v4 : sizeof conn->address.v6;
    const struct ip ip = ip_of_socket(&conn->address);
    if (conn->loop->loopback_only && !ip_is_loopback(&ip)) {
        conn_close(conn, OUTCOME_ADDRESS_FORBIDDEN);
        return;
    }
    ring_reserve(ring, 3);
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_socket_direct(sqe, conn->address.any.sa_family, SOCK_STREAM, 0, (unsigned)conn->slot, 0);
    sqe->flags |= IOSQE_IO_LINK;
    ring_tag(sqe, kind, CONN_OP_CONNECT, conn);
    ring_silence(ring, sqe);
    /* Without it small writes may wait for an acknowledgement: slower, and no less right. */
    if (ring->features.setsockopt) {
        sqe = ring_sqe(ring);
        io_uring_prep_cmd_sock(sqe, SOCKET_URING_OP_SETSOCKOPT, conn->slot, IPPROTO_TCP, TCP_NODELAY, &on,
                               sizeof on);
        sqe->flags |= IOSQE_FIXED_FILE | IOSQE_IO_LINK;
        ring_tag(sqe, kind, CONN_OP_CONNECT, conn);
        ring_silence(ring, sqe);
    }
    sqe = ring_sqe(ring);
    io_uring_prep_connect(sqe, conn->slot, &conn->address.any, len);
    sqe->flags |= IOSQE_FIXED_FILE;
    ring_tag(sqe, kind, CONN_OP_CONNECT, conn);
    conn->held |= CONN_OP_CONNECT;
    conn_limit_phase(conn, conn->loop->limits.connect_ms, now_ns);
}

static void begin_connect(struct conn *conn, uint64_t now_ns)
{
    conn->times.resolved_ns = now_ns;
    conn->slot = ring_slot_acquire(conn->loop->ring);
    if (conn->slot < 0) {
        conn_close(conn, OUTCOME_NO_DESCRIPTOR);
        return;
    }
    conn_enter(conn, CONN_CONNECTING);
    connect_address(conn, now_ns);
}

static void take_address(struct conn *conn)
{
    ip_to_socket(&conn->query.answer.addresses[conn->address_index], conn->target.port, &conn->address);
}

static void on_answer(struct conn *conn, uint64_t now_ns)
{
    if (conn->query.answer.error != DNS_OK) {
        conn_close(conn, outcome_of_dns(conn->query.answer.error));
        return;
    }
    take_address(conn);
    begin_connect(conn, now_ns);
}

static void on_resolved(struct dns_query *query)
{
    struct conn *conn = container_of(query, struct conn, query);
    assert(conn->state == CONN_RESOLVING);
    on_answer(conn, conn->loop->ring->now_ns);
}

/* One address failed; the kernel may still hold the shutdown that ended the try. */
static void try_next_address(struct conn *conn, int error)
{
    if (conn->held)
        return;
    if (!has_next_address(conn)) {
        conn_close(conn, outcome_of_connect(error));
        return;
    }
    conn->address_index++;
    take_address(conn);
    connect_address(conn, conn->loop->ring->now_ns);
}

void conn_on_connected(struct conn *conn, int32_t result)
{
    if (conn->state == CONN_CLOSING) {
        conn_on_join(conn, CONN_OP_CONNECT);
        return;
    }
    assert(conn->state == CONN_CONNECTING);
    if (result < 0 || conn->held & CONN_OP_SHUTDOWN) {
        try_next_address(conn, result < 0 ? -result : ETIMEDOUT);
        return;
    }
    conn->times.connected_ns = conn->loop->ring->now_ns;
    conn_receive(conn);
    if (conn->target.tls)
        conn_begin_tls(conn);
    else
        conn_become_ready(conn);
}

void conn_on_shut_down(struct conn *conn, int32_t result)
{
    if (conn->held & CONN_OP_CONNECT) {
        /* Where the chain had not come to connect yet, there was nothing to shut down. */
        if (result < 0)
            conn_shut_down(conn);
    } else if (conn->state == CONN_CONNECTING) {
        try_next_address(conn, ETIMEDOUT);
    }
    if (conn->state == CONN_CLOSING)
        conn_on_join(conn, CONN_OP_SHUTDOWN);
}

void conn_init(struct conn *conn, struct conn_loop *loop, const struct conn_events *events)
{
    memset(conn, 0, offsetof(struct conn, inline_request));
    conn->loop = loop;
    conn->events = events;
    conn->slot = -1;
    conn->exchange_ends_ns = TIMER_NEVER;
    conn->output.bytes = conn->inline_request;
    conn->waiter.on_buffer = conn_on_buffer;
    conn->join.run = conn_join;
    conn->query.on_done = on_resolved;
    timer_init(&conn->timer, on_timeout);
    http_reader_init(&conn->reader, &loop->http);
}

void conn_begin(struct conn *conn, const struct conn_target *target)
{
    const uint64_t now_ns = clock_now_ns();
    assert(conn->state == CONN_IDLE);
    assert(!target->tls || conn->loop->tls);
    conn->target = *target;
    conn->times = (struct conn_times){.begin_ns = now_ns};
    conn->had_request = conn->is_reused = false;
    conn->address_index = 0;
    conn->address.any.sa_family = AF_UNSPEC; /* none yet: that of an earlier target is another's */
    conn->loop->stats.open++;
    conn->loop->stats.begun++;
    conn_enter(conn, CONN_RESOLVING);
    if (target->address) {
        conn->address = *target->address;
        begin_connect(conn, now_ns);
    } else if (dns_begin(conn->loop->dns, &conn->query, target->host, now_ns)) {
        on_answer(conn, now_ns);
    } else {
        conn_limit_phase(conn, conn->loop->limits.resolve_ms, now_ns);
        conn_loop_watch(conn->loop);
    }
    conn_check(conn);
}
