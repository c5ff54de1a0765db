#include <semaphore.h>

#include "tests/unit/net/conn_client.h"

static void answer_slowly(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    peer_read_request(fd, request, sizeof request);
    peer_send_slowly(fd, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n");
    peer_read_all(fd);
}

TEST(a_byte_at_a_time)
{
    start(&client);
    CHECK_INT(fetch_with(&client, answer_slowly), OUTCOME_ABORTED);
    CHECK_INT(client.heads, 1);
    CHECK_INT(client.responses, 1);
    CHECK(client.was_ready);
    CHECK(client.body_len == 5 && memcmp(client.body, "hello", 5) == 0);
    stop(&client);
}

static void answer_and_close(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    peer_read_request(fd, request, sizeof request);
    peer_send(fd, "HTTP/1.0 200 OK\r\n\r\nhello");
}

TEST(a_body_until_the_end_of_the_stream)
{
    start(&client);
    CHECK_INT(fetch_with(&client, answer_and_close), OUTCOME_DONE);
    CHECK_INT(client.responses, 1);
    CHECK(!client.was_ready);
    CHECK_INT(client.body_len, 5);
    CHECK_INT(client.loop.stats.outcomes[OUTCOME_DONE], 1);
    stop(&client);
}

static void answer_half_closed(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    peer_read_request(fd, request, sizeof request);
    peer_send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
    shutdown(fd, SHUT_WR);
    peer_read_all(fd);
}

TEST(a_half_closed_stream_is_an_end)
{
    expect(answer_half_closed, OUTCOME_DONE);
}

static void answer_without_body(struct peer *peer, int fd)
{
    char request[1024];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request))
        peer_send(fd, memcmp(request, "HEAD", 4) == 0 ? OK_HEAD : "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(head_and_204_have_no_body_and_no_successor)
{
    start(&client);
    client.request.method = SLICE("HEAD");
    fetch_with(&client, answer_without_body);
    CHECK(client.responses == 1 && !client.was_ready && client.body_len == 0);
    client.request.method = SLICE("GET");
    client.requests = 2;
    fetch_with(&client, answer_without_body);
    CHECK(client.responses == 2 && !client.was_ready && client.body_len == 0);
    stop(&client);
}

static void answer_with_length(struct peer *peer, int fd)
{
    static char request[CONN_REQUEST_BYTES_MAX];
    char answer[128], number[32];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request)) {
        const int len = snprintf(number, sizeof number, "%zu", strlen(request));
        snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len, number);
        peer_send(fd, answer);
    }
}

TEST(a_long_request_is_sent_whole)
{
    static char target[20000];
    memset(target, 'a', sizeof target);
    target[0] = '/';
    start(&client);
    client.request.target = (struct slice){target, sizeof target};
    client.requests = 3;
    fetch_with(&client, answer_with_length);
    CHECK_INT(client.responses, 3);
    client.body[client.body_len] = '\0';
    CHECK(strtoul(client.body, NULL, 10) > 20000);
    stop(&client);
}

TEST(a_request_that_is_too_long_or_bad_is_not_sent)
{
    static char target[CONN_REQUEST_BYTES_MAX];
    memset(target, 'a', sizeof target);
    target[0] = '/';
    start(&client);
    client.request.target = (struct slice){target, sizeof target};
    CHECK_INT(fetch_with(&client, answer_with_length), OUTCOME_REQUEST_TOO_LONG);
    client.requests = 1;
    client.request.target = SLICE("/a b\r\n");
    CHECK_INT(fetch_with(&client, answer_with_length), OUTCOME_REQUEST_BAD);
    CHECK_INT(client.loop.stats.bytes_sent, 0);
    stop(&client);
}

static void endless_head(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n");
    while (peer_send(fd, "X-Field: some value or other\r\n"))
        ;
}

static void endless_body(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n\r\n");
    while (peer_send(fd, "and so on, and so on, and so on, and so on, and so on\n"))
        ;
}

TEST(no_end_meets_a_limit)
{
    struct setup setup = standard();
    setup.limits.http = (struct http_limits){.head_bytes_max = 10000, .body_bytes_max = 100000};
    start_with(&client, &setup);
    CHECK_INT(fetch_with(&client, endless_head), OUTCOME_HEAD_TOO_LONG);
    client.requests = 1;
    CHECK_INT(fetch_with(&client, endless_body), OUTCOME_BODY_TOO_LONG);
    CHECK_INT(client.body_len, 100000);
    stop(&client);
}

static void speak_first(struct peer *peer, int fd)
{
    (void)peer;
    peer_send(fd, "220 smtp ready\r\n");
    peer_read_all(fd);
}

static void answer_and_go_on(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, OK_HEAD "hello" OK_HEAD "wrong");
    peer_read_all(fd);
}

static sem_t answered_twice;

/* Two answers to one request, the second in a segment of its own. */
static void answer_twice(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, OK_HEAD "hello");
    peer_send(fd, OK_HEAD "wrong");
    sem_post(&answered_twice);
    peer_read_all(fd);
}

TEST(bytes_before_a_request_end_the_connection)
{
    start(&client);
    client.requests = 0;
    CHECK_INT(fetch_with(&client, speak_first), OUTCOME_UNSOLICITED);
    stop(&client);
}

TEST(bytes_behind_a_response_end_the_keep_alive)
{
    start(&client);
    client.requests = 2;
    CHECK_INT(fetch_with(&client, answer_and_go_on), OUTCOME_DONE);
    CHECK_INT(client.responses, 1);
    CHECK(!client.was_ready);
    stop(&client);
}

/* Both answers are here before the loop looks at the first; a buffer has room for both, or for exactly
 * one. */
static enum outcome fetch_answered_twice(unsigned buffer_bytes)
{
    struct peer peer;
    struct setup setup = standard();
    setup.buffers.bytes = buffer_bytes;
    CHECK_INT(sem_init(&answered_twice, 0, 0), 0);
    peer_begin(&peer, AF_INET, 1, answer_twice);
    start_with(&client, &setup);
    client.requests = 2;
    begin(&client, &peer);
    while (client.ring.stats.completed < 2) /* connect, send */
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
    sem_wait(&answered_twice);
    turn_until_closed(&client, 1);
    CHECK_INT(client.responses, 1);
    CHECK(memcmp(client.body, "wrong", 5) != 0);
    peer_finish(&peer);
    stop(&client);
    return client.outcome;
}

static void ramble_after_the_second_request(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, OK_HEAD "hello");
    close_after_request(peer, fd);
    peer_send(fd, "rest of the body");
    peer_read_all(fd);
}

TEST(a_rest_that_comes_for_the_next_request_sends_it_elsewhere)
{
    start(&client);
    client.requests = 2;
    CHECK_INT(fetch_with(&client, ramble_after_the_second_request), OUTCOME_REUSED_CLOSED);
    CHECK_INT(client.responses, 1);
    stop(&client);
}

TEST(an_early_answer_is_never_taken_for_the_next_one)
{
    CHECK_INT(fetch_answered_twice(4096), OUTCOME_DONE);
    CHECK_INT(fetch_answered_twice(sizeof OK_HEAD "hello" - 1), OUTCOME_REUSED_CLOSED);
}

enum { CROWD = 64, CROWD_BODY = 200000 };

static void answer_much(struct peer *peer, int fd)
{
    static const char body[CROWD_BODY];
    char head[128];
    (void)peer;
    close_after_request(peer, fd);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", CROWD_BODY);
    peer_send(fd, head);
    peer_send_bytes(fd, body, sizeof body);
    peer_read_all(fd);
}

/* Many connections over two small buffers; one in eight is closed by another one's event, whatever it is
 * doing then. */
static struct conn crowd[CROWD];
static size_t crowd_bytes;
static unsigned crowd_events_seen, crowd_closed, crowd_aborted;
static bool crowd_aborts;

static void crowd_ready(struct conn *conn)
{
    conn_request(conn,
                 &(struct http_request){.method = SLICE("GET"), .target = SLICE("/"), .host = SLICE("test")});
}

static void crowd_head(struct conn *conn, const struct http_head *head)
{
    (void)conn;
    CHECK_INT(head->status, 200);
}

static void crowd_body(struct conn *conn, struct slice bytes)
{
    (void)conn;
    crowd_bytes += bytes.len;
    if (crowd_aborts && ++crowd_events_seen % 16 == 0)
        conn_close(&crowd[crowd_events_seen / 16 * 8 % CROWD], OUTCOME_ABORTED);
}

static void crowd_response(struct conn *conn)
{
    conn_close(conn, OUTCOME_DONE);
}

static void crowd_close(struct conn *conn, enum outcome outcome)
{
    (void)conn;
    CHECK(outcome == OUTCOME_DONE || outcome == OUTCOME_ABORTED);
    crowd_closed++;
    crowd_aborted += outcome == OUTCOME_ABORTED;
}

static void run_crowd(void)
{
    static const struct conn_events crowd_events = {crowd_ready, crowd_head, crowd_body, crowd_response,
                                                    crowd_close};
    static struct peer peers[CROWD];
    struct setup setup = standard();
    setup.slots = CROWD;
    setup.buffers = (struct bufring_options){.count = 2, .bytes = 512};
    start_with(&client, &setup);
    crowd_bytes = crowd_closed = crowd_aborted = 0;
    for (unsigned i = 0; i < CROWD; i++) {
        const struct conn_target target = {.host = SLICE("test"),
                                           .address = (const union ip_socket *)&peers[i].address};
        peer_begin(&peers[i], AF_INET, 1, answer_much);
        conn_init(&crowd[i], &client.loop, &crowd_events);
        conn_begin(&crowd[i], &target);
    }
    while (crowd_closed < CROWD)
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
    CHECK(client.buffers.exhausted > 0);
    for (unsigned i = 0; i < CROWD; i++)
        peer_finish(&peers[i]);
    stop(&client);
}

TEST(two_small_buffers_serve_a_crowd)
{
    crowd_aborts = false;
    run_crowd();
    CHECK_INT(crowd_aborted, 0);
    CHECK_INT(crowd_bytes, (size_t)CROWD * CROWD_BODY);
}

TEST(one_in_a_crowd_may_close_another)
{
    crowd_aborts = true;
    run_crowd();
    CHECK_INT(crowd_aborted, CROWD / 8);
}
