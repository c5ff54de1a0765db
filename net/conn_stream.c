/* Bytes in and out of a connection. Received bytes go from the kernel's buffer through TLS, if there is any,
 * into the reader of responses, and from there to the owner, without a copy on the plain way. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "net/conn_parts.h"

/* A kept-alive connection may end at any moment, or bring a rest of the last answer: a request that meets
 * such a connection did not fail, and is made again on another. */
static enum outcome outcome_unless_reused(const struct conn *conn, enum outcome outcome)
{
    return conn->is_reused && conn->output.is_repeatable ? OUTCOME_REUSED_CLOSED : outcome;
}

/* What the end or the failure of the transport means, by what was going on. */
static enum outcome outcome_of_loss(const struct conn *conn, enum outcome before_first_byte)
{
    switch ((enum conn_state)conn->state) {
    case CONN_HANDSHAKING:
        return OUTCOME_TLS_RESET;
    case CONN_READY:
        return OUTCOME_IDLE_CLOSED;
    case CONN_SENDING:
    case CONN_HEAD:
        return conn->times.first_byte_ns ? OUTCOME_HEAD_RESET
                                         : outcome_unless_reused(conn, before_first_byte);
    case CONN_BODY:
        return OUTCOME_BODY_RESET;
    case CONN_IDLE:
    case CONN_RESOLVING:
    case CONN_CONNECTING:
    case CONN_CLOSING:
    case CONN_STATE_COUNT:
        break;
    }
    assert(!"a state with a stream");
    return OUTCOME_ABORTED;
}

static bool is_loss(int error)
{
    return error == ECONNRESET || error == EPIPE || error == ETIMEDOUT || error == ECONNABORTED ||
           error == EHOSTUNREACH || error == ENETUNREACH;
}

static bool is_sent(const struct conn *conn)
{
    return conn->output.sent == conn->output.len && !(conn->held & CONN_OP_SEND);
}

/* The last byte of the response is here. The owner is told when the connection's fate is decided. */
static void end_response(struct conn *conn, bool keeps_alive)
{
    struct conn_stats *stats = &conn->loop->stats;
    const uint64_t now_ns = conn->loop->ring->now_ns;
    conn->times.end_ns = now_ns;
    conn->is_on_hold = false;
    stats->responses++;
    if (keeps_alive && is_sent(conn)) {
        stats->outcomes[OUTCOME_DONE]++;
        conn->is_reused = true;
        conn->exchange_ends_ns = TIMER_NEVER;
        conn_enter(conn, CONN_READY);
        conn_limit_phase(conn, conn->loop->limits.idle_ms, now_ns);
    } else {
        conn_close(conn, OUTCOME_DONE);
    }
    conn->events->on_response(conn);
}

/* Bytes that were here before the request went out answer something else. */
static bool is_unsolicited(const struct conn *conn)
{
    return conn->state == CONN_READY || (conn->state == CONN_SENDING && !conn->output.is_under_way);
}

static enum outcome outcome_of_unsolicited(const struct conn *conn)
{
    return conn->state == CONN_READY ? OUTCOME_UNSOLICITED : outcome_unless_reused(conn, OUTCOME_UNSOLICITED);
}

static enum outcome outcome_of_failure(const struct conn *conn, enum http_error error)
{
    const enum outcome outcome = outcome_of_http(error);
    return error == HTTP_ERROR_STATUS_LINE_BAD ? outcome_unless_reused(conn, outcome) : outcome;
}

static void begin_response(struct conn *conn)
{
    conn->times.first_byte_ns = conn->loop->ring->now_ns;
    conn_rate_begin(&conn->rate, conn->loop->ring->now_ns);
}

/* Plain bytes of the stream; `more` says that others behind them have already arrived. Each event may close
 * the connection or make the next request. */
static void feed_http(struct conn *conn, struct slice in, bool more)
{
    const uint64_t now_ns = conn->loop->ring->now_ns;
    const size_t len = in.len;
    struct http_event event;
    if (is_unsolicited(conn)) {
        conn_close(conn, outcome_of_unsolicited(conn));
        return;
    }
    if (conn->state == CONN_SENDING)
        conn_enter(conn, CONN_HEAD);
    if (!conn->times.first_byte_ns)
        begin_response(conn);
    while (conn->state != CONN_CLOSING)
        switch (http_reader_pull(&conn->reader, &in, &event)) {
        case HTTP_MORE:
            if (conn_rate_count(&conn->rate, len, &conn->loop->limits, now_ns))
                conn_limit_phase(conn, conn->loop->limits.silence_ms, now_ns);
            else
                conn_close(conn, OUTCOME_SLOW_TRANSFER);
            return;
        case HTTP_HEAD:
            conn_enter(conn, CONN_BODY);
            conn->events->on_head(conn, event.head);
            break;
        case HTTP_BODY:
            conn->events->on_body(conn, event.body);
            break;
        case HTTP_END:
            end_response(conn, event.keeps_alive && in.len == 0 && !more);
            return;
        case HTTP_FAILED:
            conn_close(conn, outcome_of_failure(conn, event.error));
            return;
        }
}

/* The session to try, in *kept or elsewhere; NULL: none. */
static const struct tls_session *session_to_offer(const struct conn *conn, struct tls_session *kept)
{
    static const struct tls_session none;
    const struct conn_target *target = &conn->target;
    if (target->session)
        return memcmp(target->session, &none, sizeof none) != 0 ? target->session : NULL;
    struct tls_sessions *sessions = conn->loop->sessions;
    return sessions && tls_sessions_find(sessions, target->host, target->port, kept) ? kept : NULL;
}

static void keep_session(struct conn *conn)
{
    const struct conn_target *target = &conn->target;
    struct tls_session session;
    if (!tls_session(conn->tls, &session))
        return;
    if (target->session)
        *target->session = session;
    else if (conn->loop->sessions)
        tls_sessions_keep(conn->loop->sessions, target->host, target->port, &session);
}

static void on_tls_open(struct conn *conn)
{
    conn->times.secured_ns = conn->loop->ring->now_ns;
    conn->loop->stats.handshakes++;
    conn->loop->stats.handshakes_resumed += tls_was_resumed(conn->tls);
    keep_session(conn);
    conn_become_ready(conn);
}

static void on_tls_failed(struct conn *conn)
{
    /* The next try is one without a session, in case that was the cause. */
    if (conn->state == CONN_HANDSHAKING && conn->loop->sessions)
        tls_sessions_forget(conn->loop->sessions, conn->target.host, conn->target.port);
    conn_close(conn, outcome_of_tls(tls_error(conn->tls)));
}

/* TLS may have come to an end, or into the open. */
static void note_tls(struct conn *conn)
{
    const enum tls_state state = tls_state(conn->tls);
    if (state == TLS_FAILED)
        on_tls_failed(conn);
    else if (state == TLS_OPEN && conn->state == CONN_HANDSHAKING)
        on_tls_open(conn);
}

static void feed_tls(struct conn *conn, struct slice in)
{
    bool moved = true;
    while (moved && conn->state != CONN_CLOSING) {
        const size_t taken = in.len ? tls_push_cipher(conn->tls, in) : 0;
        in = slice_skip(in, taken);
        note_tls(conn);
        const struct slice plain = tls_peek_plain(conn->tls);
        if (plain.len && conn->state != CONN_CLOSING) {
            feed_http(conn, plain, in.len > 0);
            tls_pop_plain(conn->tls, plain.len);
        }
        moved = taken || plain.len;
    }
    if (conn->state != CONN_CLOSING)
        conn_flush(conn);
}

/* In TLS anybody on the way can end the stream, but only the server can say that it is the end. */
static bool is_cut_off(const struct conn *conn)
{
    return conn->tls && tls_state(conn->tls) != TLS_CLOSED && http_reader_awaits_eof(&conn->reader);
}

static void on_end_of_stream(struct conn *conn)
{
    struct http_event event;
    if (conn->state == CONN_HANDSHAKING) {
        conn_close(conn, OUTCOME_TLS_CLOSED);
    } else if (conn->state == CONN_READY) {
        conn_close(conn, OUTCOME_IDLE_CLOSED);
    } else if (!conn->times.first_byte_ns) {
        conn_close(conn, outcome_of_loss(conn, OUTCOME_FIRST_BYTE_CLOSED));
    } else if (is_cut_off(conn)) {
        conn_close(conn, OUTCOME_TLS_TRUNCATED);
    } else if (http_reader_on_eof(&conn->reader, &event) == HTTP_END) {
        end_response(conn, false);
    } else {
        conn_close(conn, outcome_of_http(event.error));
    }
}

void conn_begin_tls(struct conn *conn)
{
    struct tls_session kept;
    conn->tls = tls_acquire(conn->loop->tls, conn->target.host, session_to_offer(conn, &kept));
    if (!conn->tls) {
        conn_close(conn, OUTCOME_NO_MEMORY);
        return;
    }
    conn_enter(conn, CONN_HANDSHAKING);
    conn_limit_phase(conn, conn->loop->limits.handshake_ms, conn->loop->ring->now_ns);
    note_tls(conn);
    if (conn->state == CONN_HANDSHAKING)
        conn_flush(conn);
}

void conn_receive(struct conn *conn)
{
    struct bufring *buffers = conn->loop->buffers;
    struct io_uring_sqe *sqe = conn->loop->may_hold ? bufring_receive_once(buffers, conn->slot)
                                                    : bufring_receive(buffers, conn->slot);
    ring_tag(sqe, conn->loop->kind, CONN_OP_RECEIVE, conn);
    conn->held |= CONN_OP_RECEIVE;
}

void conn_on_buffer(struct bufring_waiter *waiter)
{
    conn_receive(container_of(waiter, struct conn, waiter));
}

void conn_on_received(struct conn *conn, const struct ring_event *event)
{
    struct bufring *buffers = conn->loop->buffers;
    struct slice bytes;
    const bool has_bytes = bufring_take(buffers, event, &bytes);
    if (conn->state == CONN_CLOSING) {
        if (has_bytes)
            bufring_recycle(buffers, bytes);
        conn_on_join(conn, CONN_OP_RECEIVE);
        return;
    }
    assert(conn->state >= CONN_HANDSHAKING);
    if (has_bytes) {
        conn->loop->stats.bytes_received += bytes.len;
        if (bytes.len && conn->tls)
            feed_tls(conn, bytes);
        else if (bytes.len)
            feed_http(conn, bytes, false);
        bufring_recycle(buffers, bytes);
    }
    if (conn->state == CONN_CLOSING)
        return;
    if (event->result == 0 || (conn->tls && tls_state(conn->tls) == TLS_CLOSED))
        on_end_of_stream(conn);
    else if (event->result == -ENOBUFS)
        bufring_wait(buffers, &conn->waiter);
    else if (event->result < 0)
        conn_close(conn, is_loss(-event->result) ? outcome_of_loss(conn, OUTCOME_FIRST_BYTE_RESET)
                                                 : OUTCOME_RECEIVE_FAILED);
    else if (conn->is_on_hold)
        conn_begin_hold(conn);
    else if (!(conn->held & CONN_OP_RECEIVE))
        conn_receive(conn);
}

static void send_bytes(struct conn *conn, struct slice bytes)
{
    struct io_uring_sqe *sqe = ring_sqe(conn->loop->ring);
    io_uring_prep_send(sqe, conn->slot, bytes.ptr, bytes.len, MSG_WAITALL | MSG_NOSIGNAL);
    sqe->flags |= IOSQE_FIXED_FILE;
    ring_tag(sqe, conn->loop->kind, CONN_OP_SEND, conn);
    conn->held |= CONN_OP_SEND;
}

void conn_flush(struct conn *conn)
{
    struct conn_output *output = &conn->output;
    struct slice bytes = {output->bytes + output->sent, output->len - output->sent};
    if (conn->tls) {
        size_t taken;
        while (bytes.len && (taken = tls_push_plain(conn->tls, bytes)) > 0) {
            output->sent += (uint32_t)taken;
            bytes = slice_skip(bytes, taken);
        }
        bytes = tls_peek_cipher(conn->tls);
    }
    if (bytes.len && !(conn->held & CONN_OP_SEND))
        send_bytes(conn, bytes);
}

void conn_on_sent(struct conn *conn, int32_t result)
{
    if (result > 0) {
        conn->loop->stats.bytes_sent += (uint32_t)result;
        conn->output.is_under_way = true;
        if (conn->tls)
            tls_pop_cipher(conn->tls, (size_t)result);
        else
            conn->output.sent += (uint32_t)result;
    }
    if (conn->state == CONN_CLOSING) {
        conn_on_join(conn, CONN_OP_SEND);
    } else if (result < 0 && conn->state != CONN_BODY && !conn->times.first_byte_ns) {
        conn_close(conn, is_loss(-result) ? outcome_of_loss(conn, OUTCOME_SEND_RESET) : OUTCOME_SEND_FAILED);
    } else if (result > 0) {
        conn_flush(conn);
        if (conn->state == CONN_SENDING && is_sent(conn))
            conn_enter(conn, CONN_HEAD);
        else if (conn->state == CONN_HANDSHAKING)
            note_tls(conn); /* of a resumed session the client has the last word */
    }
}

/* Into the connection's own memory, or for a long one into memory of its own. */
static enum http_error write_request(struct conn *conn, const struct http_request *request)
{
    struct conn_output *output = &conn->output;
    size_t len;
    enum http_error error = http_request_write(request, conn->inline_request, CONN_REQUEST_BYTES, &len);
    if (error == HTTP_ERROR_REQUEST_TOO_LONG) {
        if (output->bytes == conn->inline_request)
            output->bytes = malloc(CONN_REQUEST_BYTES_MAX);
        if (!output->bytes) {
            output->bytes = conn->inline_request;
            return HTTP_ERROR_NO_MEMORY;
        }
        error = http_request_write(request, output->bytes, CONN_REQUEST_BYTES_MAX, &len);
    } else if (output->bytes != conn->inline_request) {
        free(output->bytes);
        output->bytes = conn->inline_request;
    }
    output->len = (uint32_t)len;
    output->sent = 0;
    output->is_under_way = false;
    output->is_repeatable = slice_equals(request->method, SLICE("GET"));
    return error;
}

void conn_request(struct conn *conn, const struct http_request *request)
{
    const struct conn_limits *limits = &conn->loop->limits;
    const uint64_t now_ns = clock_now_ns();
    assert(conn->state == CONN_READY);
    conn->loop->stats.requests++;
    conn->had_request = true;
    conn->times.request_ns = now_ns;
    conn->times.first_byte_ns = conn->times.end_ns = conn->hold_time_ns = 0;
    conn_enter(conn, CONN_SENDING);
    const enum http_error error = write_request(conn, request);
    if (error != HTTP_OK) {
        conn_close(conn, outcome_of_http(error));
        return;
    }
    http_reader_begin(&conn->reader, slice_equals(request->method, SLICE("HEAD")));
    conn->exchange_ends_ns =
        limits->exchange_ms ? now_ns + limits->exchange_ms * CLOCK_NS_PER_MS : TIMER_NEVER;
    conn_limit_phase(conn, limits->first_byte_ms, now_ns);
    conn_flush(conn);
}
