/* Requests and answers. The end of a connection is in conn_close.c. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "tools/websim/conn_internal.h"
#include "tools/websim/dns.h"
#include "tools/websim/moment.h"
#include "tools/websim/tls.h"

/* A client that does not close after we did is left after this. */
#define DRAIN_NS (5 * CLOCK_NS_PER_S)

static void take_input(struct websim_conn *conn);

void websim_conn_set_state(struct websim_conn *conn, enum websim_conn_state state)
{
    assert(state != WEBSIM_CONN_READING || conn->state == WEBSIM_CONN_FREE ||
           conn->state == WEBSIM_CONN_ANSWERING);
    assert(state != WEBSIM_CONN_ANSWERING || conn->state == WEBSIM_CONN_READING);
    assert(state != WEBSIM_CONN_DRAINING || conn->state == WEBSIM_CONN_ANSWERING);
    assert(state != WEBSIM_CONN_FREE || conn->state == WEBSIM_CONN_CLOSING);
    conn->state = (uint8_t)state;
}

void websim_conn_begin_op(struct websim_conn *conn, struct io_uring_sqe *sqe, enum websim_conn_op op)
{
    assert(!(conn->ops & op));
    conn->ops |= op;
    ring_tag(sqe, conn->loop->kind_conn, op, conn);
}

void websim_conn_record(struct websim_conn *conn, enum websim_event event, uint64_t time_ns)
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

void websim_conn_record_open(struct websim_conn *conn, uint64_t time_ns)
{
    if (conn->open_recorded)
        return;
    conn->open_recorded = true;
    websim_conn_record(conn, WEBSIM_EVENT_CONNECT, time_ns < conn->ended_ns ? time_ns : conn->ended_ns);
}

/* Like bufring_receive, with the moment of arrival. */
static void arm_receive(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    struct io_uring_sqe *sqe = ring_sqe(&loop->ring);
    io_uring_prep_recvmsg_multishot(sqe, (int)conn->slot, &loop->receive_form, 0);
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    sqe->buf_group = loop->buffers.group;
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_RECV);
}

static void on_buffer(struct bufring_waiter *waiter)
{
    arm_receive(container_of(waiter, struct websim_conn, waiter));
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
    websim_conn_set_state(conn, WEBSIM_CONN_READING);
    conn->ended_ns = clock_now_ns(); /* not the turn's: the connect may have come since it began */
    arm_receive(conn);
    if (protocol == WEBSIM_PROTOCOL_HTTPS) {
        conn->tls = websim_tls_open(loop->shared->tls);
        if (!conn->tls)
            websim_conn_close_begin(conn);
    }
}

/* The kernel takes the bytes when they are submitted, all or as many as it has room for, and never later:
 * they left no earlier than now, and if all were taken, hardly later. */
static void begin_send(struct websim_conn *conn, struct slice bytes)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    uint64_t now_ns = conn->loop->ring.now_ns;
    conn->out = bytes;
    conn->sent_ns = now_ns > conn->arrived_ns ? now_ns : conn->arrived_ns;
    io_uring_prep_send(sqe, (int)conn->slot, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    sqe->flags |= IOSQE_FIXED_FILE;
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_SEND);
}

static void await_room(struct websim_conn *conn)
{
    struct io_uring_sqe *sqe = ring_sqe(&conn->loop->ring);
    io_uring_prep_poll_add(sqe, (int)conn->slot, POLLOUT);
    sqe->flags |= IOSQE_FIXED_FILE;
    websim_conn_begin_op(conn, sqe, WEBSIM_OP_ROOM);
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
    if (conn->out.len) {
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
    struct websim_reply *reply = container_of(timer, struct websim_reply, timer);
    if (reply->conn->state == WEBSIM_CONN_DRAINING)
        websim_conn_close_begin(reply->conn);
    else if (reply->sent == 0)
        send_first(reply->conn);
    else
        send_more(reply->conn);
}

static void begin_reply(struct websim_conn *conn)
{
    struct websim_reply *reply = conn->reply;
    struct ring *ring = &conn->loop->ring;
    websim_conn_set_state(conn, WEBSIM_CONN_ANSWERING);
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
        websim_conn_record(conn, WEBSIM_EVENT_REQUEST, conn->arrived_ns);
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
        websim_conn_close_begin(conn);
        return;
    }
    if (conn->input->len + bytes.len > WEBSIM_CONN_INPUT_MAX) {
        websim_conn_close_begin(conn);
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
        websim_conn_close_begin(conn);
        return;
    }
    /* Handshake messages go out before any answer can be due, and an answer takes what is pending with it. */
    if (plain.len)
        feed(conn, plain);
    struct slice out = {0};
    if (conn->state == WEBSIM_CONN_READING && conn->out.len == 0)
        out = websim_tls_pending(conn->tls);
    if (out.len) {
        conn->in_handshake = true;
        begin_send(conn, out);
    }
}

/* What came, when. A request that waited for the answer before it begins with that one's end. */
static void take_bytes(struct websim_conn *conn, const struct websim_moment_receive *received)
{
    websim_conn_record_open(conn, received->arrived_ns);
    conn->arrived_ns = received->arrived_ns;
    if (conn->requests && conn->arrived_ns <= conn->ended_ns)
        conn->arrived_ns = conn->ended_ns + 1;
    if (conn->tls)
        feed_tls(conn, received->bytes);
    else
        feed(conn, received->bytes);
}

static void on_receive(struct websim_conn *conn, const struct ring_event *event)
{
    struct websim_loop *loop = conn->loop;
    struct websim_moment_receive received = {0};
    struct slice buffer;
    bool lent = bufring_take(&loop->buffers, event, &buffer);
    if (lent && conn->state != WEBSIM_CONN_CLOSING)
        received = websim_moment_read(&loop->clock, buffer, &loop->receive_form, loop->ring.now_ns);
    if (received.bytes.len)
        take_bytes(conn, &received);
    if (lent)
        bufring_recycle(&loop->buffers, buffer);
    if (conn->state == WEBSIM_CONN_CLOSING)
        return;
    if (event->result == -ENOBUFS)
        bufring_wait(&loop->buffers, &conn->waiter);
    else if (received.bytes.len == 0)
        websim_conn_close_begin(conn);
    else if (!(event->flags & IORING_CQE_F_MORE))
        arm_receive(conn);
}

static void finish_reply(struct websim_conn *conn)
{
    struct websim_loop *loop = conn->loop;
    struct websim_reply *reply = conn->reply;
    if (reply->answer.ending == WEBSIM_ENDING_RESET) {
        websim_conn_reset_begin(conn);
        return;
    }
    if (reply->answer.ending == WEBSIM_ENDING_REPEAT) {
        reply->sent = reply->answer.repeat_from - reply->answer.begin;
        send_more(conn);
        return;
    }
    conn->ended_ns = conn->sent_ns;
    if (reply->answer.packed != WEBSIM_ANSWER_NO_URL)
        websim_conn_record(conn, reply->answer.flawed ? WEBSIM_EVENT_ABORT : WEBSIM_EVENT_END,
                           conn->ended_ns);
    loop->stats.ends++;
    conn->requests++;
    if (reply->answer.ending == WEBSIM_ENDING_KEEP) {
        conn->reply = NULL;
        websim_reply_release(loop, reply);
        websim_conn_set_state(conn, WEBSIM_CONN_READING);
        take_input(conn);
        return;
    }
    websim_conn_record_close(conn, conn->ended_ns);
    websim_conn_set_state(conn, WEBSIM_CONN_DRAINING);
    timer_arm(&loop->ring.timers, &reply->timer, loop->ring.now_ns + DRAIN_NS);
    websim_conn_begin_shutdown(conn, SHUT_WR);
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
    if (event->result < 0 && event->result != -EAGAIN) {
        websim_conn_close_begin(conn);
        return;
    }
    conn->out = slice_skip(conn->out, event->result > 0 ? (size_t)event->result : 0);
    if (conn->out.len) {
        await_room(conn);
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

void websim_conn_on_event(void *owner, const struct ring_event *event)
{
    struct websim_conn *conn = event->object;
    (void)owner;
    if (!(event->flags & IORING_CQE_F_MORE))
        conn->ops &= (uint8_t)~event->detail;
    if (event->detail == WEBSIM_OP_CLOSE) {
        websim_conn_on_closed(conn);
        return;
    }
    if (event->detail == WEBSIM_OP_RECV)
        on_receive(conn, event);
    else if (event->detail == WEBSIM_OP_SEND)
        on_sent(conn, event);
    else if (event->detail == WEBSIM_OP_ROOM && conn->state != WEBSIM_CONN_CLOSING)
        begin_send(conn, conn->out);
    else if (event->detail == WEBSIM_OP_MOMENT)
        websim_conn_on_moment(conn, event->result);
    if (conn->state == WEBSIM_CONN_CLOSING)
        websim_conn_join(conn);
}

void websim_conn_abandon(struct websim_conn *conn)
{
    if (conn->state != WEBSIM_CONN_FREE)
        websim_conn_close_begin(conn);
}
