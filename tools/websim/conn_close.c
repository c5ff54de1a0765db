/* The end of a connection: the moment is taken, operations are joined, the descriptor is closed, the slot is
 * free. */
#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tools/websim/conn_internal.h"
#include "tools/websim/moment.h"
#include "tools/websim/tls.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void websim_conn_record_close(struct websim_conn *conn, uint64_t time_ns)
{
    struct websim_reply *reply = conn->reply;
    if (conn->close_recorded)
        return;
    /* The earliest possible moment may be up to a tick too early. A client that asks and goes away at once has asked
     * first: in the journal, too, or the request would seem to go on for ever. */
    time_ns = later(time_ns, later(conn->arrived_ns, conn->ended_ns));
    websim_conn_record_open(conn, time_ns);
    if (conn->cut_short)
        websim_conn_record(conn, WEBSIM_EVENT_ABORT, time_ns);
    conn->close_recorded = true;
    conn->reply = NULL; /* a close has no URL */
    websim_conn_record(conn, WEBSIM_EVENT_CLOSE, time_ns);
    conn->reply = reply;
}

void websim_conn_begin_shutdown(struct websim_conn *conn, int how)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_shutdown(sqe, (int)conn->slot, how);
    sqe->flags |= IOSQE_FIXED_FILE;
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_SHUTDOWN);
}

/* Ends what waits for the client. */
static void interrupt(struct websim_conn *conn)
{
    if (conn->ops & (WEBSIM_OP_RECV | WEBSIM_OP_SEND | WEBSIM_OP_ROOM) && !(conn->ops & WEBSIM_OP_SHUTDOWN))
        websim_conn_begin_shutdown(conn, SHUT_RDWR);
}

/* A direct descriptor cannot be asked about its connection, an ordinary one for the same socket can. */
static void ask_moment(struct websim_conn *conn)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_fixed_fd_install(sqe, (int)conn->slot, 0);
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_MOMENT);
}

/* `fd` is an ordinary descriptor, or a negative errno: then (before Linux 6.8) the end came when we learned
 * of it. */
void websim_conn_on_moment(struct websim_conn *conn, int fd)
{
    uint64_t closed_ns = conn->loop->ring.now_ns;
    if (fd >= 0) {
        closed_ns = websim_moment_of_last_segment(fd, closed_ns);
        close(fd);
    }
    websim_conn_record_close(conn, closed_ns);
    interrupt(conn);
}

void websim_conn_close_begin(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    if (conn->state == WEBSIM_CONN_CLOSING)
        return;
    if (conn->state == WEBSIM_CONN_ANSWERING && conn->reply->answer.packed != WEBSIM_ANSWER_NO_URL) {
        loop->stats.aborts++;
        conn->cut_short = true;
    }
    if (conn->reply)
        timer_cancel(&loop->ring.timers, &conn->reply->timer);
    bufring_wait_cancel(&loop->buffers, &conn->waiter);
    websim_conn_set_state(conn, WEBSIM_CONN_CLOSING);
    if (loop->shared->has_journal && conn->protocol != WEBSIM_PROTOCOL_DNS && !conn->close_recorded &&
        !loop->stopping) {
        ask_moment(conn);
    } else {
        websim_conn_record_close(conn, loop->ring.now_ns);
        interrupt(conn);
    }
    websim_conn_join(conn);
}

/* The client gets a reset: without lingering, and without the shutdown that would send an orderly end. */
void websim_conn_reset_begin(struct websim_conn *conn)
{
    static const struct linger none = {.l_onoff = 1, .l_linger = 0};
    struct ring *ring = &conn->loop->ring;
    struct io_uring_sqe recv;
    conn->loop->stats.aborts++;
    conn->cut_short = true;
    websim_conn_record_close(conn, ring->now_ns);
    bufring_wait_cancel(&conn->loop->buffers, &conn->waiter);
    websim_conn_set_state(conn, WEBSIM_CONN_CLOSING);
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_cmd_sock(sqe, SOCKET_URING_OP_SETSOCKOPT, (int)conn->slot, SOL_SOCKET, SO_LINGER,
                           (void *)(uintptr_t)&none, sizeof none);
    sqe->flags |= IOSQE_FIXED_FILE;
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_LINGER);
    if (conn->ops & WEBSIM_OP_RECV) {
        ring_tag(&recv, conn->loop->kind_conn, WEBSIM_OP_RECV, conn);
        sqe = ring_sqe(ring);
        io_uring_prep_cancel64(sqe, recv.user_data, 0);
        websim_conn_begin_op(conn, sqe, WEBSIM_OP_CANCEL);
    }
}

void websim_conn_join(struct websim_conn *conn)
{
    if (conn->ops)
        return;
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_close_direct(sqe, conn->slot);
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_CLOSE);
}

/* Everything that the slot owned, given back. */
static void release(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    if (conn->reply) {
        timer_cancel(&loop->ring.timers, &conn->reply->timer);
        websim_reply_release(loop, conn->reply);
    }
    if (conn->input) {
        websim_buffer_fini(conn->input);
        free(conn->input);
    }
    if (conn->tls)
        websim_tls_close(conn->tls);
    if (conn->limit_slot != WEBSIM_LIMIT_NONE)
        websim_limit_release(&loop->shared->limits, conn->limit_slot);
    uint32_t slot = conn->slot;
    websim_conn_init(conn, loop, slot);
}

void websim_conn_on_closed(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    loop->stats.open--;
    websim_conn_set_state(conn, WEBSIM_CONN_FREE);
    release(conn);
    websim_loop_on_free(loop, conn->slot);
}
