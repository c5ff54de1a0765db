/* The end of a connection, the same from every state:
 *
 * - begin: conn_close. No more time-outs, look-ups or waiting for buffers; a goodbye in TLS if nothing else is
 *   being sent; a shutdown, which ends every operation that the kernel holds. A cancellation would have the
 *   kernel search all that is in flight.
 * - join: each completion only clears its bit, until none is left. If that takes long, because an operation
 *   missed the shutdown, a cancellation follows after all (conn_insist).
 * - close: the slot's socket is closed. Earlier, an operation could hit the slot's next user.
 * - reset: memory goes back, the connection is idle, the owner is told.
 *
 * Joining runs as a task of the ring, never inside a call of the owner's, who may therefore close in any
 * event and free in on_closed. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "net/conn_parts.h"

static void queue(struct conn *conn, struct io_uring_sqe *sqe, enum conn_op op)
{
    ring_tag(sqe, conn->loop->kind, (uint8_t)op, conn);
    conn->held |= (uint8_t)op;
}

void conn_shut_down(struct conn *conn)
{
    struct io_uring_sqe *sqe = ring_sqe(conn->loop->ring);
    io_uring_prep_shutdown(sqe, conn->slot, SHUT_RDWR);
    sqe->flags |= IOSQE_FIXED_FILE;
    queue(conn, sqe, CONN_OP_SHUTDOWN);
}

/* close_notify, or the alert that says why. It is issued before the shutdown that follows it, and is lost if
 * it cannot go out at once. */
static void say_goodbye(struct conn *conn)
{
    if (tls_state(conn->tls) == TLS_OPEN)
        tls_close(conn->tls);
    const struct slice bytes = tls_peek_cipher(conn->tls);
    if (bytes.len == 0 || conn->held & CONN_OP_SEND)
        return;
    struct io_uring_sqe *sqe = ring_sqe(conn->loop->ring);
    io_uring_prep_send(sqe, conn->slot, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    sqe->flags |= IOSQE_FIXED_FILE;
    queue(conn, sqe, CONN_OP_SEND);
}

static bool has_open_request(const struct conn *conn)
{
    return conn->state == CONN_SENDING || conn->state == CONN_HEAD || conn->state == CONN_BODY;
}

static void await_kernel(struct conn *conn)
{
    conn_limit_phase(conn, conn->loop->limits.closing_ms, clock_now_ns());
}

void conn_insist(struct conn *conn)
{
    static const enum conn_op ops[] = {CONN_OP_CONNECT, CONN_OP_RECEIVE, CONN_OP_SEND};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (conn->held & ops[i])
            ring_cancel(conn->loop->ring, conn->loop->kind, (uint8_t)ops[i], conn);
    conn->loop->stats.insisted++;
    await_kernel(conn);
}

void conn_close(struct conn *conn, enum outcome outcome)
{
    struct conn_loop *loop = conn->loop;
    if (conn->state == CONN_IDLE || conn->state == CONN_CLOSING)
        return;
    conn->outcome = outcome;
    if (has_open_request(conn) || !conn->had_request) {
        loop->stats.outcomes[outcome]++;
        conn->times.end_ns = loop->ring->now_ns;
    }
    conn->exchange_ends_ns = TIMER_NEVER;
    conn->is_on_hold = false;
    conn_enter(conn, CONN_CLOSING);
    await_kernel(conn);
    dns_cancel(&conn->query);
    bufring_wait_cancel(loop->buffers, &conn->waiter);
    if (conn->tls)
        say_goodbye(conn);
    if (conn->held && !(conn->held & CONN_OP_SHUTDOWN))
        conn_shut_down(conn);
    ring_defer(loop->ring, &conn->join);
}

void conn_on_join(struct conn *conn, enum conn_op op)
{
    assert(conn->state == CONN_CLOSING);
    if (op == CONN_OP_CLOSE) {
        ring_slot_release(conn->loop->ring, conn->slot);
        conn->slot = -1;
    }
    ring_defer(conn->loop->ring, &conn->join);
}

static void reset(struct conn *conn)
{
    timer_cancel(&conn->loop->ring->timers, &conn->timer);
    if (conn->tls)
        tls_release(conn->tls);
    conn->tls = NULL;
    http_reader_reset(&conn->reader);
    if (conn->output.bytes != conn->inline_request)
        free(conn->output.bytes);
    conn->output = (struct conn_output){.bytes = conn->inline_request};
    conn->loop->stats.open--;
    conn_enter(conn, CONN_IDLE);
}

void conn_join(struct ring_task *task)
{
    struct conn *conn = container_of(task, struct conn, join);
    assert(conn->state == CONN_CLOSING);
    if (conn->held)
        return;
    if (conn->slot >= 0) {
        struct io_uring_sqe *sqe = ring_sqe(conn->loop->ring);
        io_uring_prep_close_direct(sqe, (unsigned)conn->slot);
        queue(conn, sqe, CONN_OP_CLOSE);
        return;
    }
    reset(conn);
    conn_check(conn);
    conn->events->on_closed(conn, conn->outcome);
}
