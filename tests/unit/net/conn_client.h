/* The frame of the tests of conn: a loop with one connection, against a peer of the test's own. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "net/conn.h"
#include "tests/support/check.h"
#include "tests/support/peer.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

/* A loop with one connection, what its owner is to do, and what it was told. */
struct client {
    struct ring ring;
    struct bufring buffers;
    struct conn_loop loop;
    struct conn conn;
    /* to do */
    unsigned requests; /* how many, one after the other */
    struct http_request request;
    enum conn_state close_in; /* the owner closes in the event that begins this state */
    /* told */
    unsigned readies, heads, responses, closes;
    enum outcome outcome;
    int status;
    bool was_ready; /* after the last response */
    size_t body_len;
    char body[1 << 20];
};

static struct client client;

static inline void make_request(struct client *c)
{
    c->requests--;
    c->body_len = 0;
    conn_request(&c->conn, &c->request);
}

static inline void on_ready(struct conn *conn)
{
    struct client *c = conn->owner;
    c->readies++;
    CHECK(conn_is_ready(conn));
    if (c->close_in == CONN_READY)
        conn_close(conn, OUTCOME_ABORTED);
    else if (c->requests)
        make_request(c);
    if (c->close_in == CONN_SENDING)
        conn_close(conn, OUTCOME_ABORTED);
}

static inline void on_head(struct conn *conn, const struct http_head *head)
{
    struct client *c = conn->owner;
    c->heads++;
    c->status = head->status;
    if (c->close_in == CONN_HEAD)
        conn_close(conn, OUTCOME_ABORTED);
}

static inline void on_body(struct conn *conn, struct slice bytes)
{
    struct client *c = conn->owner;
    CHECK(c->body_len + bytes.len <= sizeof c->body);
    CHECK(conn->state != CONN_CLOSING);
    memcpy(c->body + c->body_len, bytes.ptr, bytes.len);
    c->body_len += bytes.len;
    if (c->close_in == CONN_BODY)
        conn_close(conn, OUTCOME_ABORTED);
}

static inline void on_response(struct conn *conn)
{
    struct client *c = conn->owner;
    c->responses++;
    c->was_ready = conn_is_ready(conn);
    if (c->was_ready && c->requests)
        make_request(c);
    else
        conn_close(conn, OUTCOME_ABORTED);
}

static inline void on_closed(struct conn *conn, enum outcome outcome)
{
    struct client *c = conn->owner;
    c->closes++;
    c->outcome = outcome;
    CHECK_INT(conn->state, CONN_IDLE);
}

static const struct conn_events events = {on_ready, on_head, on_body, on_response, on_closed};

struct setup {
    struct conn_limits limits;
    struct tls_pool *tls; /* not NULL: the connection asks for TLS */
    struct bufring_options buffers;
    unsigned slots;
};

static inline struct setup standard(void)
{
    return (struct setup){.limits = conn_limits_default, .slots = 16};
}

static inline void start_with(struct client *c, const struct setup *setup)
{
    memset(c, 0, offsetof(struct client, body));
    if (ring_init(&c->ring, &(struct ring_options){.slots = setup->slots, .cpu = -1}) < 0)
        check_failed(__FILE__, __LINE__, "%s", c->ring.error);
    CHECK_INT(bufring_init(&c->buffers, &c->ring, 0, &setup->buffers), 0);
    conn_loop_init(
        &c->loop, &(struct conn_loop_options){
                      .ring = &c->ring, .buffers = &c->buffers, .tls = setup->tls, .limits = &setup->limits});
    conn_init(&c->conn, &c->loop, &events);
    c->conn.owner = c;
    c->requests = 1;
    c->close_in = CONN_STATE_COUNT;
    c->request = (struct http_request){.method = SLICE("GET"), .target = SLICE("/"), .host = SLICE("test")};
}

static inline void start(struct client *c)
{
    const struct setup setup = standard();
    start_with(c, &setup);
}

static inline void begin(struct client *c, const struct peer *peer)
{
    const struct conn_target target = {
        .host = SLICE("test"), .tls = c->loop.tls, .address = (const union ip_socket *)&peer->address};
    conn_begin(&c->conn, &target);
}

static inline void turn_until_closed(struct client *c, unsigned closes)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (c->closes < closes) {
        CHECK_INT(ring_turn(&c->ring, CLOCK_NS_PER_S), 0);
        if (clock_now_ns() > deadline)
            check_failed(__FILE__, __LINE__, "stuck in %s", conn_state_name((enum conn_state)c->conn.state));
    }
    CHECK_INT(c->closes, closes);
}

/* Everything is back where it was. */
static inline void check_settled(const struct client *c)
{
    CHECK_INT(ring_inflight(&c->ring), 0);
    CHECK_INT(c->ring.slots_free, c->ring.slot_count);
    CHECK_INT(c->ring.timers.armed, 0);
    CHECK_INT(c->buffers.lent, 0);
    CHECK(!c->buffers.waiters);
    CHECK_INT(c->loop.stats.open, 0);
}

static inline void stop(struct client *c)
{
    conn_loop_close(&c->loop);
    CHECK(ring_finish(&c->ring));
    check_settled(c);
    bufring_fini(&c->buffers);
    ring_fini(&c->ring);
}

/* One connection to a peer of that script, to its end. */
static inline enum outcome fetch_with(struct client *c, void (*script)(struct peer *, int))
{
    struct peer peer;
    peer_begin(&peer, AF_INET, 1, script);
    begin(c, &peer);
    turn_until_closed(c, c->closes + 1);
    check_settled(c);
    peer_finish(&peer);
    return c->outcome;
}

static inline void expect(void (*script)(struct peer *, int), enum outcome expected)
{
    start(&client);
    const enum outcome outcome = fetch_with(&client, script);
    if (outcome != expected)
        check_failed(__FILE__, __LINE__, "%s, expected %s", outcome_name(outcome), outcome_name(expected));
    CHECK_INT(client.loop.stats.outcomes[expected], 1);
    stop(&client);
}

static inline void answer_always(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request))
        peer_send(fd, OK_HEAD "hello");
}

static inline void answer_in_two_pieces(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    if (peer_read_request(fd, request, sizeof request))
        peer_send(fd, OK_HEAD "hel");
    peer_read_all(fd);
}

static inline void close_after_request(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    peer_read_request(fd, request, sizeof request);
}

static inline void close_in_head(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\nX: ");
}
