#include "tools/websim_conn.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lockfree/clock.h"
#include "tools/websim_dns.h"
#include "tools/websim_tls.h"

/* A client that does not close after we did is left after this. */
#define DRAIN_NS (5 * CLOCK_NS_PER_S)

static void close_begin(struct websim_conn *conn);
static void take_input(struct websim_conn *conn);

static void set_state(struct websim_conn *conn, enum websim_conn_state state)
{
    assert(state != WEBSIM_CONN_READING || conn->state == WEBSIM_CONN_FREE ||
           conn->state == WEBSIM_CONN_ANSWERING);
    assert(state != WEBSIM_CONN_ANSWERING || conn->state == WEBSIM_CONN_READING);
    assert(state != WEBSIM_CONN_DRAINING || conn->state == WEBSIM_CONN_ANSWERING);
    assert(state != WEBSIM_CONN_FREE || conn->state == WEBSIM_CONN_CLOSING);
    conn->state = (uint8_t)state;
}

static struct io_uring_sqe *begin_op(struct websim_conn *conn, struct io_uring_sqe *sqe,
                                     enum websim_conn_op op)
{
    assert(!(conn->ops & op));
    conn->ops |= op;
    ring_tag(sqe, conn->loop->kind_conn, op, conn);
    return sqe;
}

static void record(struct websim_conn *conn, enum websim_event event, uint64_t time_ns)
{
    const struct websim_answer *answer = conn->reply ? &conn->reply->answer : NULL;
    struct websim_record record = {
        .time_event = time_ns << 3 | event,
        .connection = conn->id,
        .url = answer ? answer->packed : UINT64_MAX,
    };
    if (answer && event != WEBSIM_EVENT_REQUEST) {
        record.status = answer->status;
        record.retry_after_s = (uint16_t)answer->retry_after_s;
    }
    if (conn->protocol != WEBSIM_PROTOCOL_DNS)
        websim_loop_record(conn->loop, &record);
}

/* The earliest that something can have happened which is known of now and came after `since`. It is what counts, so
 * that a polite client does not look rude to a busy server:
 * - The last byte of an answer left after the beginning of the turn before, which queued it.
 * - A client closed its connection after it had the last answer. */
static uint64_t earliest(const struct websim_conn *conn, uint64_t since)
{
    uint64_t least = conn->loop->ring.now_ns - WEBSIM_LATE_NS;
    return since > least ? since : least;
}

static void record_close(struct websim_conn *conn, uint64_t time_ns)
{
    struct websim_reply *reply = conn->reply;
    if (conn->close_recorded)
        return;
    conn->close_recorded = true;
    conn->reply = NULL; /* a close has no URL */
    record(conn, WEBSIM_EVENT_CLOSE, time_ns);
    conn->reply = reply;
}

static void arm_receive(struct websim_conn *conn)
{
    begin_op(conn, bufring_receive(&conn->loop->buffers, (int)conn->slot), WEBSIM_OP_RECV);
}

static void on_buffer(struct bufring_waiter *waiter)
{
    arm_receive((struct websim_conn *)(void *)((char *)waiter - offsetof(struct websim_conn, waiter)));
}

void websim_conn_init(struct websim_conn *conn, struct websim_loop *loop, uint32_t slot)
{
    *conn = (struct websim_conn){
        .loop = loop, .slot = slot, .waiter.on_buffer = on_buffer, .limit_slot = WEBSIM_LIMIT_NONE};
}

void websim_conn_open(struct websim_conn *conn, enum websim_protocol protocol)
{
    struct websim_loop *loop = conn->loop;
    assert(conn->state == WEBSIM_CONN_FREE && conn->ops == 0);
    conn->protocol = (uint8_t)protocol;
    conn->id = loop->next_id++;
    loop->stats.connections++;
    if (++loop->stats.open > loop->stats.open_most)
        loop->stats.open_most = loop->stats.open;
    set_state(conn, WEBSIM_CONN_READING);
    conn->ended_ns = loop->ring.now_ns;
    record(conn, WEBSIM_EVENT_CONNECT, loop->ring.now_ns);
    arm_receive(conn);
    if (protocol == WEBSIM_PROTOCOL_HTTPS) {
        conn->tls = websim_tls_open(loop->shared->tls);
        if (!conn->tls)
            close_begin(conn);
    }
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

static void join(struct websim_conn *conn)
{
    if (conn->ops)
        return;
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_close_direct(sqe, conn->slot);
    begin_op(conn, sqe, WEBSIM_OP_CLOSE);
}

static void begin_shutdown(struct websim_conn *conn, int how)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_shutdown(sqe, (int)conn->slot, how);
    sqe->flags |= IOSQE_FIXED_FILE;
    begin_op(conn, sqe, WEBSIM_OP_SHUTDOWN);
}

static void close_begin(struct websim_conn *conn)
{
    if (conn->state == WEBSIM_CONN_CLOSING)
        return;
    if (conn->state == WEBSIM_CONN_ANSWERING && conn->reply->answer.packed != WEBSIM_ANSWER_NO_URL) {
        conn->loop->stats.aborts++;
        record(conn, WEBSIM_EVENT_ABORT, conn->loop->ring.now_ns);
    }
    bool is_idle = conn->state == WEBSIM_CONN_READING;
    record_close(conn, is_idle ? earliest(conn, conn->ended_ns) : conn->loop->ring.now_ns);
    if (conn->reply)
        timer_cancel(&conn->loop->ring.timers, &conn->reply->timer);
    bufring_wait_cancel(&conn->loop->buffers, &conn->waiter);
    set_state(conn, WEBSIM_CONN_CLOSING);
    if (conn->ops & (WEBSIM_OP_RECV | WEBSIM_OP_SEND) && !(conn->ops & WEBSIM_OP_SHUTDOWN))
        begin_shutdown(conn, SHUT_RDWR);
    join(conn);
}

/* The client gets a reset: without lingering, and without the shutdown that would send an orderly end. */
static void reset_begin(struct websim_conn *conn)
{
    static const struct linger none = {.l_onoff = 1, .l_linger = 0};
    struct ring *ring = &conn->loop->ring;
    struct io_uring_sqe recv;
    conn->loop->stats.aborts++;
    record(conn, WEBSIM_EVENT_ABORT, ring->now_ns);
    record_close(conn, ring->now_ns);
    bufring_wait_cancel(&conn->loop->buffers, &conn->waiter);
    set_state(conn, WEBSIM_CONN_CLOSING);
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_cmd_sock(sqe, SOCKET_URING_OP_SETSOCKOPT, (int)conn->slot, SOL_SOCKET, SO_LINGER,
                           (void *)(uintptr_t)&none, sizeof none);
    sqe->flags |= IOSQE_FIXED_FILE;
    begin_op(conn, sqe, WEBSIM_OP_LINGER);
    if (conn->ops & WEBSIM_OP_RECV) {
        ring_tag(&recv, conn->loop->kind_conn, WEBSIM_OP_RECV, conn);
        sqe = ring_sqe(ring);
        io_uring_prep_cancel64(sqe, recv.user_data, 0);
        begin_op(conn, sqe, WEBSIM_OP_CANCEL);
    }
}

static void begin_send(struct websim_conn *conn, struct slice bytes)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_send(sqe, (int)conn->slot, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_WAITALL);
    sqe->flags |= IOSQE_FIXED_FILE;
    begin_op(conn, sqe, WEBSIM_OP_SEND);
}

/* The answer's next bytes: all of them, or a slice if it has a pace. */
static void send_more(struct websim_conn *conn)
{
    struct websim_answer *answer = &conn->reply->answer;
    size_t left = answer->bytes.len - answer->begin - conn->reply->sent;
    size_t most = answer->slice == 0 ? left : conn->reply->sent == 0 ? answer->first : answer->slice;
    struct slice bytes = {answer->bytes.data + answer->begin + conn->reply->sent, left < most ? left : most};
    if (left == 0) {
        assert(answer->ending == WEBSIM_ENDING_HOLD);
        return;
    }
    if (conn->ops & WEBSIM_OP_SEND) {
        conn->send_due = true; /* after the handshake's last message */
        return;
    }
    conn->reply->sent += bytes.len;
    conn->loop->stats.bytes += bytes.len;
    if (conn->tls)
        bytes = websim_tls_encrypt(conn->tls, bytes);
    begin_send(conn, bytes);
}

/* The answer's first bytes. */
static void send_first(struct websim_conn *conn)
{
    if (conn->protocol != WEBSIM_PROTOCOL_DNS) {
        websim_reply_equip(conn->loop, conn->reply);
        websim_answer_write(&conn->loop->answerer, &conn->reply->answer);
    }
    send_more(conn);
}

static void on_timer(struct timer *timer)
{
    struct websim_reply *reply =
        (struct websim_reply *)(void *)((char *)timer - offsetof(struct websim_reply, timer));
    if (reply->conn->state == WEBSIM_CONN_DRAINING)
        close_begin(reply->conn);
    else if (reply->sent == 0)
        send_first(reply->conn);
    else
        send_more(reply->conn);
}

static void begin_reply(struct websim_conn *conn)
{
    struct websim_reply *reply = conn->reply;
    struct ring *ring = &conn->loop->ring;
    set_state(conn, WEBSIM_CONN_ANSWERING);
    timer_init(&reply->timer, on_timer);
    reply->sent = 0;
    if (reply->answer.delay_ns)
        timer_arm(&ring->timers, &reply->timer, ring->now_ns + reply->answer.delay_ns);
    else
        send_first(conn);
}

/* Counts the connection against its host's limit, if it has one. */
static void count_connection(struct websim_conn *conn)
{
    struct websim_shared *shared = conn->loop->shared;
    struct websim_personality personality;
    uint32_t count;
    if (!shared->web.parameters.limited)
        return;
    websim_personality_init(&personality, &shared->web, conn->host);
    if (!personality.connections_max)
        return;
    conn->limit_slot = websim_limit_acquire(&shared->limits, conn->host, &count);
    conn->over_limit = count > personality.connections_max;
}

static void answer_http(struct websim_conn *conn, const struct websim_request *request)
{
    struct websim_loop *loop = conn->loop;
    struct websim_answer_context context = {.tls = conn->protocol == WEBSIM_PROTOCOL_HTTPS,
                                            .requests = conn->requests,
                                            .now_s = loop->ring.now_ns / CLOCK_NS_PER_S};
    context.has_host = websim_host_find(&loop->shared->web, request->host, &context.host);
    if (context.has_host && !conn->has_host) {
        conn->has_host = true;
        conn->host = context.host;
        count_connection(conn);
    }
    context.over_limit = conn->over_limit;
    websim_answer_prepare(&loop->answerer, &conn->reply->answer, request, &context);
    loop->stats.requests++;
    if (conn->reply->answer.packed != WEBSIM_ANSWER_NO_URL)
        record(conn, WEBSIM_EVENT_REQUEST, loop->ring.now_ns);
    begin_reply(conn);
}

/* Answers the request at the beginning of `bytes`: how many of them it took, 0 if there is none yet. */
static size_t take_request(struct websim_conn *conn, struct slice bytes)
{
    struct websim_request request;
    size_t used = 0;
    enum parse parsed = conn->protocol == WEBSIM_PROTOCOL_DNS ? websim_dns_frame(bytes, &used)
                                                              : websim_request_parse(&request, bytes, &used);
    if (parsed == PARSE_PARTIAL)
        return 0;
    conn->reply = websim_reply_acquire(conn->loop);
    conn->reply->conn = conn;
    if (conn->protocol == WEBSIM_PROTOCOL_DNS) {
        conn->loop->stats.dns_queries++;
        if (!websim_dns_answer_frame(&conn->loop->shared->web, (struct slice){bytes.ptr, used},
                                     &conn->reply->answer)) {
            websim_reply_release(conn->loop, conn->reply);
            conn->reply = NULL;
            return used; /* a time-out was asked for */
        }
        begin_reply(conn);
    } else if (parsed == PARSE_BAD) {
        websim_answer_refuse(&conn->reply->answer);
        used = bytes.len;
        begin_reply(conn);
    } else {
        answer_http(conn, &request);
    }
    return used;
}

static void keep_input(struct websim_conn *conn, struct slice bytes)
{
    if (bytes.len == 0)
        return;
    if (!conn->input && !(conn->input = calloc(1, sizeof *conn->input))) {
        close_begin(conn);
        return;
    }
    if (conn->input->len + bytes.len > WEBSIM_CONN_INPUT_MAX) {
        close_begin(conn);
        return;
    }
    memcpy(websim_buffer_room(conn->input, bytes.len), bytes.ptr, bytes.len);
    conn->input->len += bytes.len;
}

/* Bytes of the protocol, decrypted. */
static void feed(struct websim_conn *conn, struct slice bytes)
{
    if (conn->state == WEBSIM_CONN_DRAINING || conn->state == WEBSIM_CONN_CLOSING)
        return;
    if (conn->state == WEBSIM_CONN_ANSWERING || conn->input) {
        keep_input(conn, bytes);
        take_input(conn);
        return;
    }
    while (bytes.len && conn->state == WEBSIM_CONN_READING) {
        size_t used = take_request(conn, bytes);
        if (used == 0)
            break;
        bytes = slice_skip(bytes, used);
    }
    if (conn->state != WEBSIM_CONN_CLOSING)
        keep_input(conn, bytes);
}

/* What was kept while it could not be answered. */
static void take_input(struct websim_conn *conn)
{
    while (conn->state == WEBSIM_CONN_READING && conn->input) {
        size_t used = take_request(conn, (struct slice){conn->input->data, conn->input->len});
        if (used == 0)
            return;
        conn->input->len -= used;
        memmove(conn->input->data, conn->input->data + used, conn->input->len);
        if (conn->input->len == 0) {
            websim_buffer_fini(conn->input);
            free(conn->input);
            conn->input = NULL;
        }
    }
}

static void feed_tls(struct websim_conn *conn, struct slice bytes)
{
    struct slice plain;
    if (!websim_tls_decrypt(conn->tls, bytes, &plain)) {
        close_begin(conn);
        return;
    }
    /* Handshake messages go out before any answer can be due, and an answer takes what is pending with it. */
    if (plain.len)
        feed(conn, plain);
    struct slice out = {0};
    if (conn->state == WEBSIM_CONN_READING && !(conn->ops & WEBSIM_OP_SEND))
        out = websim_tls_pending(conn->tls);
    if (out.len) {
        conn->in_handshake = true;
        begin_send(conn, out);
    }
}

static void on_receive(struct websim_conn *conn, const struct ring_event *event)
{
    struct bufring *buffers = &conn->loop->buffers;
    struct slice bytes;
    bool lent = bufring_take(buffers, event, &bytes);
    if (conn->state == WEBSIM_CONN_CLOSING) {
        if (lent)
            bufring_recycle(buffers, bytes);
        return;
    }
    if (event->result == -ENOBUFS) {
        bufring_wait(buffers, &conn->waiter);
        return;
    }
    if (event->result > 0 && lent) {
        if (conn->tls)
            feed_tls(conn, bytes);
        else
            feed(conn, bytes);
    }
    if (lent)
        bufring_recycle(buffers, bytes);
    if (event->result <= 0)
        close_begin(conn);
    else if (!(event->flags & IORING_CQE_F_MORE) && conn->state != WEBSIM_CONN_CLOSING)
        arm_receive(conn);
}

static void finish_reply(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    struct websim_reply *reply = conn->reply;
    if (reply->answer.ending == WEBSIM_ENDING_RESET) {
        reset_begin(conn);
        return;
    }
    if (reply->answer.ending == WEBSIM_ENDING_REPEAT) {
        reply->sent = reply->answer.repeat_from - reply->answer.begin;
        send_more(conn);
        return;
    }
    conn->ended_ns = earliest(conn, loop->previous_ns);
    if (reply->answer.packed != WEBSIM_ANSWER_NO_URL)
        record(conn, WEBSIM_EVENT_END, conn->ended_ns);
    loop->stats.ends++;
    conn->requests++;
    if (reply->answer.ending == WEBSIM_ENDING_KEEP) {
        conn->reply = NULL;
        websim_reply_release(loop, reply);
        set_state(conn, WEBSIM_CONN_READING);
        take_input(conn);
        return;
    }
    record_close(conn, loop->ring.now_ns);
    set_state(conn, WEBSIM_CONN_DRAINING);
    timer_arm(&loop->ring.timers, &reply->timer, loop->ring.now_ns + DRAIN_NS);
    begin_shutdown(conn, SHUT_WR);
}

static void on_handshake_sent(struct websim_conn *conn)
{
    conn->in_handshake = false;
    if (conn->send_due) {
        conn->send_due = false;
        send_more(conn);
        return;
    }
    struct slice out = websim_tls_pending(conn->tls);
    if (out.len) {
        conn->in_handshake = true;
        begin_send(conn, out);
    }
}

static void on_sent(struct websim_conn *conn, const struct ring_event *event)
{
    struct websim_reply *reply = conn->reply;
    if (conn->state == WEBSIM_CONN_CLOSING)
        return;
    if (event->result < 0) {
        close_begin(conn);
        return;
    }
    if (conn->in_handshake) {
        on_handshake_sent(conn);
        return;
    }
    if (reply->answer.begin + reply->sent == reply->answer.bytes.len)
        finish_reply(conn);
    else if (reply->answer.gap_ns)
        timer_arm(&conn->loop->ring.timers, &reply->timer, conn->loop->ring.now_ns + reply->answer.gap_ns);
    else
        send_more(conn);
}

static void on_closed(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    loop->stats.open--;
    set_state(conn, WEBSIM_CONN_FREE);
    release(conn);
    websim_loop_on_free(loop, conn->slot);
}

void websim_conn_on_event(void *owner, const struct ring_event *event)
{
    struct websim_conn *conn = event->object;
    (void)owner;
    if (!(event->flags & IORING_CQE_F_MORE))
        conn->ops &= (uint8_t)~event->detail;
    if (event->detail == WEBSIM_OP_CLOSE) {
        on_closed(conn);
        return;
    }
    if (event->detail == WEBSIM_OP_RECV)
        on_receive(conn, event);
    else if (event->detail == WEBSIM_OP_SEND)
        on_sent(conn, event);
    if (conn->state == WEBSIM_CONN_CLOSING)
        join(conn);
}

void websim_conn_abandon(struct websim_conn *conn)
{
    if (conn->state != WEBSIM_CONN_FREE)
        close_begin(conn);
}
