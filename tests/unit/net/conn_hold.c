#include "tests/unit/net/conn_client.h"

enum { BODY_BYTES = 200000, HOLDS = 2, HOLD_MS = 1200 };

static void answer_at_length(struct peer *peer, int fd)
{
    static char body[BODY_BYTES];
    char request[4096];
    (void)peer;
    if (!peer_read_request(fd, request, sizeof request))
        return;
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n");
    if (peer_send_bytes(fd, body, sizeof body))
        peer_read_all(fd);
}

static unsigned holds_wanted;
static bool could_hold;

static void hold_body(struct conn *conn, struct slice bytes)
{
    struct client *c = conn->owner;
    c->body_len += bytes.len;
    could_hold = holds_wanted && conn_hold(conn);
    holds_wanted -= could_hold;
}

static const struct conn_events holding = {on_ready, on_head, hold_body, on_response, on_closed};

static void start_holding(struct peer *peer, const struct conn_limits *limits, bool may_hold)
{
    struct setup setup = standard();
    setup.limits = *limits;
    start_with(&client, &setup);
    client.loop.may_hold = may_hold;
    conn_init(&client.conn, &client.loop, &holding);
    client.conn.owner = &client;
    peer_begin(peer, AF_INET, 1, answer_at_length);
    begin(&client, peer);
}

static void turn_until_on_hold(void)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (!client.conn.is_on_hold) {
        CHECK(client.closes == 0 && clock_now_ns() < deadline);
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
        conn_check(&client.conn);
    }
}

/* Longer than the time-out for silence; all holds together longer than the exchange may take, and below the floor. */
static void stay_on_hold(void)
{
    const uint64_t end_ns = clock_now_ns() + HOLD_MS * CLOCK_NS_PER_MS;
    const size_t before = client.body_len;
    while (clock_now_ns() < end_ns)
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_MS), 0);
    CHECK(client.conn.is_on_hold && client.body_len == before && client.closes == 0);
    CHECK_INT(client.ring.timers.armed, 0);
}

TEST(nothing_comes_and_no_time_passes_on_hold)
{
    struct peer peer;
    struct conn_limits limits = conn_limits_default;
    limits.silence_ms = 1000;
    limits.exchange_ms = 2000;
    limits.rate_min = 1 << 20;
    limits.rate_window_ms = 1500;
    holds_wanted = HOLDS;
    start_holding(&peer, &limits, true);
    while (holds_wanted) {
        turn_until_on_hold();
        const uint64_t ends_ns = client.conn.exchange_ends_ns;
        stay_on_hold();
        conn_resume(&client.conn);
        CHECK(!client.conn.is_on_hold);
        CHECK(client.conn.exchange_ends_ns >= ends_ns + HOLD_MS * CLOCK_NS_PER_MS);
    }
    turn_until_closed(&client, 1);
    CHECK_INT(client.responses, 1);
    CHECK_INT(client.body_len, BODY_BYTES);
    CHECK(client.conn.hold_time_ns >= HOLDS * HOLD_MS * CLOCK_NS_PER_MS);
    peer_finish(&peer);
    stop(&client);
}

TEST(a_connection_on_hold_can_be_closed)
{
    struct peer peer;
    holds_wanted = 1;
    start_holding(&peer, &conn_limits_default, true);
    turn_until_on_hold();
    conn_close(&client.conn, OUTCOME_ABORTED);
    CHECK(!client.conn.is_on_hold);
    conn_resume(&client.conn); /* no-op */
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_ABORTED);
    peer_finish(&peer);
    stop(&client);
}

/* The last piece of a body: nothing is left to be held up. */
TEST(the_end_of_the_response_ends_the_hold)
{
    struct peer peer;
    holds_wanted = UINT32_MAX;
    start_holding(&peer, &conn_limits_default, true);
    while (client.closes == 0) {
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
        conn_resume(&client.conn);
    }
    CHECK_INT(client.responses, 1);
    CHECK(client.was_ready);
    CHECK_INT(client.body_len, BODY_BYTES);
    peer_finish(&peer);
    stop(&client);
}

TEST(a_receive_that_goes_on_by_itself_cannot_be_held_up)
{
    struct peer peer;
    holds_wanted = 1;
    start_holding(&peer, &conn_limits_default, false);
    turn_until_closed(&client, 1);
    CHECK_INT(client.body_len, BODY_BYTES);
    CHECK_INT(holds_wanted, 1);
    peer_finish(&peer);
    stop(&client);
}
