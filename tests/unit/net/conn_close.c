#include "tests/unit/net/conn_client.h"

TEST(the_owner_may_close_in_every_event)
{
    const enum conn_state where[] = {CONN_READY, CONN_SENDING, CONN_HEAD, CONN_BODY};
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
        start(&client);
        client.close_in = where[i];
        CHECK_INT(fetch_with(&client, answer_in_two_pieces), OUTCOME_ABORTED);
        CHECK_INT(client.heads, where[i] >= CONN_HEAD);
        CHECK_INT(client.responses, 0);
        CHECK_INT(client.loop.stats.outcomes[OUTCOME_ABORTED], 1);
        stop(&client);
    }
}

TEST(the_owner_may_close_between_events)
{
    struct peer peer;
    peer_begin(&peer, AF_INET, 1, answer_in_two_pieces);
    start(&client);
    begin(&client, &peer);
    while (client.body_len < 3)
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
    conn_close(&client.conn, OUTCOME_ABORTED);
    conn_close(&client.conn, OUTCOME_BODY_TIMEOUT);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_ABORTED);
    conn_close(&client.conn, OUTCOME_ABORTED);
    peer_finish(&peer);
    stop(&client);
}

static void reset_at_once(struct peer *peer, int fd)
{
    (void)peer;
    peer_reset_on_close(fd);
}

static void reset_after_request(struct peer *peer, int fd)
{
    char request[1024];
    peer_read_request(fd, request, sizeof request);
    reset_at_once(peer, fd);
}

static void reset_in_head(struct peer *peer, int fd)
{
    char request[1024];
    peer_read_request(fd, request, sizeof request);
    peer_send(fd, "HTTP/1.1 200 OK\r\nX: ");
    reset_at_once(peer, fd);
}

static void reset_in_body(struct peer *peer, int fd)
{
    char request[1024];
    peer_read_request(fd, request, sizeof request);
    peer_send(fd, OK_HEAD "hel");
    reset_at_once(peer, fd);
}

TEST(reset_after_the_request)
{
    expect(reset_after_request, OUTCOME_FIRST_BYTE_RESET);
}

TEST(reset_inside_the_head)
{
    expect(reset_in_head, OUTCOME_HEAD_RESET);
}

TEST(reset_inside_the_body)
{
    expect(reset_in_body, OUTCOME_BODY_RESET);
    CHECK_INT(client.body_len, 3);
}

TEST(reset_while_ready)
{
    start(&client);
    client.requests = 0;
    CHECK_INT(fetch_with(&client, reset_at_once), OUTCOME_IDLE_CLOSED);
    stop(&client);
}

static void close_at_once(struct peer *peer, int fd)
{
    (void)peer, (void)fd;
}

static void close_in_body(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, OK_HEAD "hel");
}

TEST(end_of_stream_after_the_request)
{
    expect(close_after_request, OUTCOME_FIRST_BYTE_CLOSED);
}

TEST(end_of_stream_inside_the_head)
{
    expect(close_in_head, OUTCOME_HEAD_TRUNCATED);
}

TEST(end_of_stream_inside_the_body)
{
    expect(close_in_body, OUTCOME_BODY_TRUNCATED);
    CHECK_INT(client.body_len, 3);
}

TEST(end_of_stream_while_ready)
{
    start(&client);
    client.requests = 0;
    CHECK_INT(fetch_with(&client, close_at_once), OUTCOME_IDLE_CLOSED);
    stop(&client);
}

static void answer_once_and_close(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, OK_HEAD "hello");
}

static void answer_once_and_reset(struct peer *peer, int fd)
{
    answer_once_and_close(peer, fd);
    reset_after_request(peer, fd);
}

TEST(a_kept_alive_connection_that_was_over_asks_for_a_retry)
{
    void (*const scripts[])(struct peer *, int) = {answer_once_and_close, answer_once_and_reset};
    for (size_t i = 0; i < 2; i++) {
        start(&client);
        client.requests = 2;
        CHECK_INT(fetch_with(&client, scripts[i]), OUTCOME_REUSED_CLOSED);
        CHECK_INT(client.responses, 1);
        CHECK_INT(client.loop.stats.outcomes[OUTCOME_REUSED_CLOSED], 1);
        stop(&client);
    }
}

TEST(only_get_is_retried)
{
    start(&client);
    client.request.method = SLICE("POST");
    client.requests = 2;
    CHECK_INT(fetch_with(&client, answer_once_and_reset), OUTCOME_FIRST_BYTE_RESET);
    stop(&client);
}

/* The shutdown goes to a slot that nobody owns, so that the receive misses it. */
TEST(an_operation_that_misses_the_shutdown_is_cancelled)
{
    struct peer peer;
    struct setup setup = standard();
    setup.limits.closing_ms = 20;
    start_with(&client, &setup);
    peer_begin(&peer, AF_INET, 1, answer_in_two_pieces);
    begin(&client, &peer);
    while (client.body_len == 0)
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
    const int slot = client.conn.slot;
    client.conn.slot = slot == 0 ? 1 : 0;
    conn_close(&client.conn, OUTCOME_ABORTED);
    client.conn.slot = slot;
    turn_until_closed(&client, 1);
    CHECK_INT(client.loop.stats.insisted, 1);
    peer_finish(&peer);
    stop(&client);
}
