/* States that a visit rests in: for the store, for bandwidth, and what ends it from outside. */
#include <sys/time.h>

#include "tests/unit/engine/crawl/visit_frame.h"

#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static const char *reply;

static void answer(struct peer *peer, int fd)
{
    char request[4096];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request))
        peer_send(fd, reply);
}

static void answer_once(struct peer *peer, int fd)
{
    char request[4096];
    (void)peer;
    if (peer_read_request(fd, request, sizeof request))
        peer_send(fd, reply);
}

static void say_nothing(struct peer *peer, int fd)
{
    (void)peer;
    peer_read_all(fd);
}

static void begin(const char *text)
{
    reply = text;
    frame_set_up(&frame);
}

static uint64_t outcome(enum fetch_outcome which)
{
    return stats_get(&frame.stats.outcomes[which]);
}

/* Turns until a visit is in the state. */
static struct visit *turn_until(enum visit_state state)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    for (;;) {
        for (unsigned i = 0; i < frame.visits.max; i++)
            if (frame.visits.all[i].state == state)
                return &frame.visits.all[i];
        if (clock_now_ns() > deadline)
            check_failed(__FILE__, __LINE__, "no visit is %s", visit_state_name(state));
        frame_turn(&frame);
    }
}

static void fill_log(void)
{
    static const char junk[4096];
    while (outlet_room(&frame.log) >= OUTLET_BLOCK_BYTES)
        outlet_append(&frame.log, (struct slice){junk, sizeof junk});
}

/* The server has closed long before there is room: the page is kept all the same. */
static void check_stall(void (*script)(struct peer *, int))
{
    begin(HELLO);
    frame_start(&frame, 1, script);
    frame_push(&frame, "/1");
    turn_until(VISIT_FETCHING);
    fill_log();
    struct visit *visit = turn_until(VISIT_STALLED);
    for (int i = 0; i < 20; i++)
        frame_turn(&frame);
    CHECK_INT(visit->state, VISIT_STALLED);
    CHECK_INT(stats_get(&frame.stats.pages), 0);
    free(frame_log(&frame)); /* writes what was in the way */
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK_INT(outcome(FETCH_DONE), 1);
    frame_stop(&frame);
}

TEST(a_page_waits_for_the_log)
{
    check_stall(answer);
}

/* A page that waits is tried again in every turn: its digest, which takes milliseconds of a long page, is not made
 * again. A change of the page, which nobody else makes, would show. */
TEST(a_page_that_waits_is_digested_once)
{
    begin(HELLO);
    frame.tuning.fixed.store.kind = TUNING_STORE_WARC;
    frame.tuning.fixed.net.body_bytes_max = frame.tuning.fixed.store.buffer_bytes = 1 << 20;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    turn_until(VISIT_FETCHING);
    fill_log();
    struct visit *visit = turn_until(VISIT_STALLED);
    char *body = visit_response(&visit->page) + visit->page.head_len;
    body[0] = 'H';
    frame_turn(&frame);
    free(frame_log(&frame)); /* makes room */
    frame_run(&frame);
    free(frame_log(&frame));
    char path[128];
    size_t len;
    snprintf(path, sizeof path, "%s/crawl.log", frame.directory);
    char *log = check_read_file(path, &len);                         /* what filled it is no text */
    CHECK(memmem(log, len, "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", 32)); /* of "hello" */
    free(log);
    frame_stop(&frame);
}

/* A visit that may ask for nothing would knock for nothing. */
TEST(no_visit_begins_while_the_log_is_full)
{
    begin(HELLO);
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    fill_log();
    for (int i = 0; i < 20; i++)
        frame_turn(&frame);
    CHECK_INT(stats_get(&frame.stats.visits), 0);
    free(frame_log(&frame));
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    frame_stop(&frame);
}

TEST(a_page_waits_for_the_log_though_its_connection_is_over)
{
    check_stall(answer_once);
}

TEST(what_is_cut_off_goes_back_to_its_queue)
{
    begin(HELLO);
    frame.tuning.live.crawl.max_pages = 5;
    frame_start(&frame, 1, say_nothing);
    frame_push(&frame, "/1");
    turn_until(VISIT_FETCHING);
    gate_set_phase(&frame.gate, CRAWL_ENDING);
    visits_abort(&frame.visits);
    while (frame.visits.open)
        frame_turn(&frame);
    CHECK(host_has_items(frame_host(&frame)));
    CHECK_INT(frame_host(&frame)->failures, 0);
    CHECK_INT(stats_get(&frame.stats.urls_out), 0);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_ABORTED]), 0);
    CHECK_INT(lf_load(&frame.gate.pages_reserved, relaxed), 0);
    frame_stop(&frame);
}

/* What other visits have received takes the line for so long. */
static void use_bandwidth(uint64_t seconds)
{
    uint64_t rate = frame.tuning.live.net.bandwidth_bytes;
    bandwidth_charge(&frame.bandwidth, rate, rate * seconds, clock_now_ns());
}

TEST(a_visit_waits_for_bandwidth_and_keeps_its_connection)
{
    begin(HELLO);
    frame.tuning.live.net.bandwidth_bytes = 1 << 20;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    frame_push(&frame, "/3");
    turn_until(VISIT_FETCHING);
    use_bandwidth(1);
    const uint64_t begin_ns = clock_now_ns();
    turn_until(VISIT_WAITING);
    frame_run(&frame);
    CHECK(clock_now_ns() - begin_ns >= CLOCK_NS_PER_S / 2);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    CHECK_INT(stats_get(&frame.stats.pages), 3);
    frame_stop(&frame);
}

/* The burst would be over before there is bandwidth. */
TEST(a_visit_does_not_wait_for_nothing)
{
    begin(HELLO);
    frame.tuning.live.net.bandwidth_bytes = 1 << 20;
    frame.tuning.live.politeness.burst_ns = CLOCK_NS_PER_S;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    turn_until(VISIT_FETCHING);
    use_bandwidth(1000);
    const uint64_t deadline = clock_now_ns() + 10 * CLOCK_NS_PER_S;
    while (frame.visits.open) {
        for (unsigned i = 0; i < frame.visits.max; i++)
            CHECK(frame.visits.all[i].state != VISIT_WAITING);
        frame_turn(&frame);
        CHECK(clock_now_ns() < deadline);
    }
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    frame_stop(&frame);
}

/* How the wait is ended is the caller's. */
static void begin_waiting(void)
{
    begin(HELLO);
    frame.tuning.live.net.bandwidth_bytes = 1 << 20;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    turn_until(VISIT_FETCHING);
    use_bandwidth(30);
    turn_until(VISIT_WAITING);
}

static void check_waiting_ends(void)
{
    const uint64_t deadline = clock_now_ns() + 10 * CLOCK_NS_PER_S;
    while (frame.visits.open) {
        frame_turn(&frame);
        CHECK(clock_now_ns() < deadline);
    }
    CHECK(!frame.visits.waiting.first && !frame.visits.waiting.last);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK(host_has_items(frame_host(&frame)));
    frame_stop(&frame);
}

TEST(a_visit_that_waits_ends_with_the_crawl)
{
    begin_waiting();
    gate_set_phase(&frame.gate, CRAWL_STOPPING);
    check_waiting_ends();
}

TEST(a_visit_that_waits_can_be_cut_off)
{
    begin_waiting();
    visits_abort(&frame.visits);
    check_waiting_ends();
}

/* Sends a body of LONG_BYTES, as fast as it is taken. */
enum { LONG_BYTES = 300000 };

static void answer_at_length(struct peer *peer, int fd)
{
    static char body[LONG_BYTES];
    char request[4096];
    (void)peer;
    if (!peer_read_request(fd, request, sizeof request))
        return;
    peer_send(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 300000\r\n\r\n");
    if (peer_send_bytes(fd, body, sizeof body))
        peer_read_all(fd);
}

static struct visit *turn_until_on_hold(void)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (!frame.visits.on_hold.first) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
    return frame.visits.on_hold.first;
}

static void begin_at_length(uint64_t rate)
{
    begin("");
    frame.tuning.live.net.bandwidth_bytes = rate;
    frame_start(&frame, 1, answer_at_length);
    frame_push(&frame, "/1");
}

TEST(a_long_body_comes_at_the_rate)
{
    begin_at_length(LONG_BYTES);
    const uint64_t begin_ns = clock_now_ns();
    struct visit *visit = turn_until_on_hold();
    CHECK_INT(visit->state, VISIT_FETCHING);
    CHECK(visit->conn.is_on_hold && !conn_is_slow(&visit->conn, begin_ns + 1000 * CLOCK_NS_PER_S));
    frame_run(&frame);
    CHECK(clock_now_ns() - begin_ns >= CLOCK_NS_PER_S * 8 / 10);
    CHECK_INT(stats_get(&frame.stats.bytes_body), LONG_BYTES);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK(!frame.visits.on_hold.first && !frame.visits.on_hold.last);
    frame_stop(&frame);
}

TEST(a_body_on_hold_goes_on_when_the_cap_is_lifted)
{
    begin_at_length(10000);
    turn_until_on_hold();
    frame.tuning.live.net.bandwidth_bytes = 0;
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK_INT(stats_get(&frame.stats.bytes_body), LONG_BYTES);
    frame_stop(&frame);
}

TEST(a_visit_on_hold_can_be_cut_off)
{
    begin_at_length(10000);
    turn_until_on_hold();
    gate_set_phase(&frame.gate, CRAWL_ENDING);
    visits_abort(&frame.visits);
    while (frame.visits.open)
        frame_turn(&frame);
    CHECK(!frame.visits.on_hold.first && !frame.visits.on_hold.last);
    CHECK(host_has_items(frame_host(&frame)));
    frame_stop(&frame);
}

/* With nothing in flight nothing stays charged but what came. */
TEST(bandwidth_that_was_reserved_is_given_back)
{
    begin(HELLO);
    frame.tuning.live.net.bandwidth_bytes = 1 << 10;
    frame_start(&frame, 1, answer_once);
    frame_push(&frame, "/1");
    frame_run(&frame);
    uint64_t next_ns = bandwidth_next_ns(&frame.bandwidth, 1 << 10);
    CHECK(next_ns < clock_now_ns() + CLOCK_NS_PER_S); /* a usual page costs sixteen */
    frame_stop(&frame);
}

TEST(a_short_body_of_an_unwanted_type_does_not_cost_the_connection)
{
    begin("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 5\r\n\r\nhello");
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "text/html");
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    CHECK_INT(outcome(FETCH_TYPE_UNWANTED), 2);
    CHECK_INT(stats_get(&frame.stats.bytes_body), 0);
    frame_stop(&frame);
}

TEST(a_long_body_of_an_unwanted_type_is_not_received)
{
    begin("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 99999999\r\n\r\nhello");
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "text/html");
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(outcome(FETCH_TYPE_UNWANTED), 1);
    CHECK_INT(stats_get(&frame.stats.retries), 0);
    CHECK_INT(stats_get(&frame.stats.truncated), 0);
    CHECK_INT(frame_host(&frame)->failures, 0);
    frame_stop(&frame);
}

/* A body without end: more than there is memory for. A visitor that closes with its window full is not
 * reset: the kernel answers for it for a minute, in which nothing can be sent, so the sender must not wait
 * for ever. */
static void answer_with_much(struct peer *peer, int fd)
{
    static char chunk[1 << 16];
    const struct timeval patience = {.tv_sec = 1};
    CHECK_INT(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience), 0);
    char request[4096];
    (void)peer;
    if (!peer_read_request(fd, request, sizeof request))
        return;
    peer_send(fd, "HTTP/1.1 200 OK\r\n\r\n");
    while (peer_send_bytes(fd, chunk, sizeof chunk))
        ;
}

TEST(a_page_that_no_memory_holds_is_not_held_against_its_host)
{
    begin("");
    frame.tuning.fixed.memory.page_bytes = BUFFER_ROOM_BYTES;
    frame.tuning.live.retry.retries_max = 0;
    frame_start(&frame, 1, answer_with_much);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(outcome(FETCH_NO_MEMORY), 1);
    CHECK_INT(frame_host(&frame)->failures, 0);
    CHECK_INT(frame.pages.bytes_used, 0);
    frame_stop(&frame);
}

/* The connection was being made when the crawl was told to stop. */
TEST(nothing_is_asked_for_once_the_crawl_stops)
{
    begin(HELLO);
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frontier_turn(&frame.queues, clock_now_ns());
    CHECK_INT(visits_turn(&frame.visits, clock_now_ns()), 1);
    CHECK_INT(frame.visits.all[0].state, VISIT_CONNECTING);
    gate_set_phase(&frame.gate, CRAWL_STOPPING);
    while (frame.visits.open)
        frame_turn(&frame);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    CHECK_INT(stats_get(&frame.stats.requests), 0);
    CHECK(host_has_items(frame_host(&frame)));
    frame_stop(&frame);
}

TEST(with_a_fixed_delay_each_page_has_a_visit_of_its_own)
{
    begin(HELLO);
    frame.tuning.live.politeness.mode = TUNING_POLITENESS_DELAY;
    frame.tuning.live.politeness.delay_ns = 50 * CLOCK_NS_PER_MS;
    frame.tuning.live.politeness.address_delay_ns = 0;
    frame_start(&frame, 3, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    frame_push(&frame, "/3");
    const uint64_t begin_ns = clock_now_ns();
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.visits), 3);
    CHECK(clock_now_ns() - begin_ns >= 100 * CLOCK_NS_PER_MS);
    frame_stop(&frame);
}

/* It is the last try, so it is the page; what it says of the host was counted when it came. */
TEST(a_busy_page_that_waits_for_the_log_counts_once)
{
    begin("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    frame.tuning.live.retry.retries_max = 0;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    turn_until(VISIT_FETCHING);
    fill_log();
    turn_until(VISIT_STALLED);
    free(frame_log(&frame));
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_HOST_BUSY]), 1);
    CHECK_INT(frame_host(&frame)->failures, 1);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    frame_stop(&frame);
}
