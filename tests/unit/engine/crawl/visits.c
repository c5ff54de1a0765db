/* When a loop begins visits and when it does not, and whom it cuts off. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/journal_records.h"
#include "tests/unit/engine/crawl/visit_routes.h"

static const struct route table[] = {{NULL, "/1", TEXT("1", "a")}, {NULL, NULL, NULL}};

/* Three hosts at one address that has a token for each, all of them due. */
static void start_with_hosts(void)
{
    frame.tuning.fixed.politeness.connections_per_address = 3;
    routes_start();
    frame_push_at(&frame, "127.0.0.1", "/1");
    frame_push_at(&frame, "b.test", "/1");
    frame_push_at(&frame, "c.test", "/1");
    frontier_turn(&frame.queues, clock_now_ns());
}

static unsigned turn(void)
{
    return visits_turn(&frame.visits, clock_now_ns());
}

/* All three are fetched in the end. */
static void finish(void)
{
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.pages), 3);
    routes_stop();
}

TEST(as_many_visits_begin_as_there_are_connections)
{
    routes_set_up(table);
    frame.tuning.fixed.net.connections = 2;
    start_with_hosts();
    CHECK_INT(turn(), 2);
    CHECK_INT(frame.visits.open, 2);
    CHECK(!frame.visits.free);
    uint64_t stalls = stats_get(&frame.stats.stalls);
    CHECK_INT(turn(), 0);
    CHECK_INT(stats_get(&frame.stats.stalls), stalls); /* nothing is free that could not be used */
    finish();
}

TEST(a_loop_without_connections_visits_nobody)
{
    routes_set_up(table);
    frame.tuning.fixed.net.connections = 0;
    start_with_hosts();
    CHECK_INT(turn(), 0);
    CHECK_INT(frame.visits.open, 0);
    CHECK_INT(frame.queues.due_count, 1); /* the address, for other loops to take */
    routes_stop();
}

TEST(no_visit_begins_while_the_gate_is_closed)
{
    _Atomic(uint64_t) committed_ns;
    routes_set_up(table);
    start_with_hosts();
    gate_set_phase(&frame.gate, CRAWL_STOPPING);
    CHECK_INT(turn(), 0);
    gate_set_phase(&frame.gate, CRAWL_RUNNING);
    frame.gate.committed_ns = &committed_ns;
    frame.gate.lag_max_ns = CLOCK_NS_PER_S;
    lf_store(&committed_ns, clock_now_ns() - 600 * CLOCK_NS_PER_MS, relaxed);
    CHECK_INT(turn(), 0);
    frame.gate.lag_max_ns = 3600 * CLOCK_NS_PER_S;
    frame.gate.opens_ns = clock_now_ns() + 60 * CLOCK_NS_PER_S;
    CHECK_INT(turn(), 0);
    frame.gate.opens_ns = 0;
    CHECK_INT(turn(), 3);
    finish();
    frame.gate.lag_max_ns = 0;
}

/* What is missing is counted as a stall: the operator sees why connections are unused. */
static void check_stalled(uint64_t stalls)
{
    CHECK_INT(turn(), 0);
    CHECK_INT(frame.visits.open, 0);
    CHECK_INT(stats_get(&frame.stats.stalls), stalls);
}

TEST(no_visit_begins_without_room_for_its_results)
{
    static struct journal_loop book;
    struct buffer all = {NULL, 0};
    routes_set_up(table);
    start_with_hosts();
    frame.tuning.live.crawl.max_pages = 1;
    CHECK(gate_reserve_page(&frame.gate, 1)); /* another loop has it */
    check_stalled(1);
    frame.tuning.live.crawl.max_pages = 0;
    CHECK_INT(journal_loop_init(&book, 0), 0);
    frame.ledger.journal = &book;
    journal_fill(&book);
    check_stalled(2);
    frame.ledger.journal = NULL;
    journal_loop_fini(&book);
    CHECK(buffer_reserve(&frame.pages, &all, frame.pages.bytes_max, 0));
    check_stalled(3);
    buffer_release(&frame.pages, &all);
    CHECK_INT(turn(), 3);
    finish();
}

/* A long robots.txt may have left a buffer as large as all pages together: nothing else would ever release it. */
TEST(buffers_that_nobody_uses_are_released_for_the_next_visit)
{
    routes_set_up(table);
    start_with_hosts();
    CHECK(buffer_reserve(&frame.pages, &frame.visits.decoded, frame.pages.bytes_max, 0));
    CHECK_INT(turn(), 3);
    CHECK_INT(frame.visits.decoded.size, 0);
    finish();
}

TEST(the_buffer_of_an_idle_reader_is_released_and_that_of_a_busy_one_is_not)
{
    struct reader *reader = &frame.visits.reader;
    routes_set_up(table);
    start_with_hosts();
    CHECK(buffer_reserve(&frame.pages, &reader->decoded, frame.pages.bytes_max, 0));
    reader->phase = READER_SCANS;
    check_stalled(1);
    CHECK(reader->decoded.size > 0);
    reader->phase = READER_IDLE;
    CHECK_INT(turn(), 3);
    finish();
}

TEST(visits_wait_for_bandwidth)
{
    enum { RATE = 1 << 20 };
    routes_set_up(table);
    frame.tuning.live.net.bandwidth_bytes = RATE;
    start_with_hosts();
    uint64_t now_ns = clock_now_ns();
    CHECK_INT(visits_next_ns(&frame.visits, now_ns), UINT64_MAX);
    bandwidth_charge(&frame.bandwidth, RATE, 61 * (uint64_t)RATE, now_ns);
    check_stalled(1);
    uint64_t next_ns = visits_next_ns(&frame.visits, now_ns);
    CHECK(next_ns > now_ns + 59 * CLOCK_NS_PER_S && next_ns <= now_ns + 61 * CLOCK_NS_PER_S);
    CHECK_INT(visits_bandwidth_wait_ns(&frame.visits, now_ns), next_ns - now_ns);
    CHECK_INT(visits_bandwidth_wait_ns(&frame.visits, now_ns + 100 * CLOCK_NS_PER_S), 0);
    CHECK(frame.conns.may_hold);
    frame.tuning.live.net.bandwidth_bytes = 0;
    CHECK_INT(turn(), 3);
    CHECK(!frame.conns.may_hold);
    finish();
}

TEST(received_bytes_are_charged_once)
{
    enum { RATE = 1000 };
    routes_set_up(table);
    frame.tuning.live.net.bandwidth_bytes = RATE;
    routes_start();
    uint64_t now_ns = clock_now_ns();
    frame.conns.stats.bytes_received += 10000;
    visits_charge(&frame.visits, now_ns);
    uint64_t wait_ns = visits_bandwidth_wait_ns(&frame.visits, now_ns);
    CHECK_INT(wait_ns, 10 * CLOCK_NS_PER_S - BANDWIDTH_CREDIT_NS);
    visits_charge(&frame.visits, now_ns);
    CHECK_INT(visits_bandwidth_wait_ns(&frame.visits, now_ns), wait_ns);
    frame.conns.stats.bytes_received += 1000;
    CHECK_INT(turn(), 0);
    CHECK_INT(visits_bandwidth_wait_ns(&frame.visits, now_ns), wait_ns + CLOCK_NS_PER_S);
    routes_stop();
}

TEST(a_page_that_is_being_read_lets_the_loop_not_sleep)
{
    static struct journal_loop book;
    routes_set_up(table);
    routes_start();
    CHECK_INT(visits_next_ns(&frame.visits, 5), UINT64_MAX);
    frame.visits.reader.owner = &frame;
    CHECK_INT(visits_next_ns(&frame.visits, 5), 5);
    CHECK_INT(journal_loop_init(&book, 0), 0);
    frame.harvest.journal = &book;
    journal_fill(&book); /* it cannot go on before the disk has */
    CHECK_INT(visits_next_ns(&frame.visits, 5), UINT64_MAX);
    journal_loop_fini(&book);
    frame.harvest.journal = NULL;
    frame.visits.reader.owner = NULL;
    routes_stop();
}

/* The beginning of a page, and then nothing more. */
static void dawdle(struct peer *peer, int fd)
{
    char request[4096];
    (void)peer;
    if (peer_read_request(fd, request, sizeof request) && peer_send(fd, TEXT("100000", "begin")))
        peer_read_all(fd);
}

/* The only connection is taken by a slow transfer; another host is due. Times are those of the test. */
static struct visit *start_slow(void)
{
    frame_set_up(&frame);
    frame.tuning.fixed.net.connections = 1;
    frame.tuning.fixed.politeness.connections_per_address = 2;
    frame_start(&frame, 1, dawdle);
    frame_push_at(&frame, "127.0.0.1", "/1");
    struct visit *visit = &frame.visits.all[0];
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (!visit->page.body_len) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
    return visit;
}

static void push_another(void)
{
    frame_push_at(&frame, "b.test", "/2");
    frontier_turn(&frame.queues, clock_now_ns());
    CHECK_INT(frame.queues.due_count, 1);
}

static void stop_slow(void)
{
    gate_set_phase(&frame.gate, CRAWL_ENDING);
    visits_abort(&frame.visits);
    while (frame.visits.open)
        frame_turn(&frame);
    frame_stop(&frame);
}

TEST(slow_transfers_are_cut_off_while_others_wait)
{
    struct visit *visit = start_slow();
    const uint64_t later_ns = clock_now_ns() + 100 * CLOCK_NS_PER_S;
    CHECK(conn_is_slow(&visit->conn, later_ns));
    frame.visits.turn_ns = later_ns - CLOCK_NS_PER_MS;
    visits_turn(&frame.visits, later_ns); /* nobody waits */
    CHECK_INT(visit->conn.state, CONN_BODY);
    push_another();
    visits_turn(&frame.visits, later_ns);
    CHECK(visit->conn.state != CONN_BODY);
    stop_slow();
}

static int kept[4];

/* Likewise, but the connection stays open while the peer serves the next one. */
static void dawdle_aside(struct peer *peer, int fd)
{
    static unsigned count;
    char request[4096];
    (void)peer;
    if (peer_read_request(fd, request, sizeof request) && peer_send(fd, TEXT("100000", "begin")))
        kept[count++] = dup(fd);
}

/* One of four connections may be slow. */
TEST(a_quarter_of_the_connections_may_be_slow)
{
    static const char *const hosts[] = {"127.0.0.1", "b.test", "c.test", "two.test"};
    frame_set_up(&frame);
    frame.tuning.fixed.politeness.connections_per_address = 4;
    frame_start(&frame, 4, dawdle_aside);
    for (unsigned i = 0; i < 4; i++)
        frame_push_at(&frame, hosts[i], "/1");
    unsigned begun = 0, left = 0;
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (begun < 4) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
        begun = 0;
        for (unsigned i = 0; i < 4; i++)
            begun += frame.visits.all[i].page.body_len > 0;
    }
    frame_push_at(&frame, "127.0.0.3", "/2");
    frontier_turn(&frame.queues, clock_now_ns());
    CHECK_INT(frame.queues.due_count, 1);
    const uint64_t later_ns = clock_now_ns() + 100 * CLOCK_NS_PER_S;
    frame.visits.turn_ns = later_ns - CLOCK_NS_PER_MS;
    visits_turn(&frame.visits, later_ns);
    for (unsigned i = 0; i < 4; i++)
        left += frame.visits.all[i].conn.state == CONN_BODY;
    CHECK_INT(left, 1);
    stop_slow();
    for (unsigned i = 0; i < 4; i++)
        close(kept[i]);
}

/* The process was stopped for a while: what came meanwhile is still to be read. */
TEST(a_pause_of_our_own_is_held_against_nobody)
{
    struct visit *visit = start_slow();
    const uint64_t later_ns = clock_now_ns() + 100 * CLOCK_NS_PER_S;
    push_another();
    visits_turn(&frame.visits, later_ns);
    CHECK_INT(visit->conn.state, CONN_BODY);
    visits_turn(&frame.visits, later_ns + VISITS_HELD_UP_NS - 1);
    CHECK_INT(visit->conn.state, CONN_BODY);
    visits_turn(&frame.visits, later_ns + VISITS_HELD_UP_NS);
    CHECK(visit->conn.state != CONN_BODY);
    stop_slow();
}

TEST(abort_ends_every_visit_and_keeps_the_urls)
{
    routes_set_up(table);
    start_with_hosts();
    CHECK_INT(turn(), 3);
    gate_set_phase(&frame.gate, CRAWL_ENDING);
    visits_abort(&frame.visits);
    for (unsigned i = 0; i < 3; i++)
        CHECK_INT(frame.visits.all[i].conn.state, CONN_CLOSING);
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (frame.visits.open) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
    CHECK_INT(stats_get(&frame.stats.urls_out), 0);
    CHECK_INT(stats_get(&frame.stats.requests), 0);
    routes_stop();
}

TEST(a_host_of_which_the_operator_wants_something_is_not_visited)
{
    routes_set_up(table);
    start_with_hosts();
    struct host *host = frame_host(&frame);
    lf_store(&host->orders, HOST_ORDER_HOLD, relaxed);
    turn();
    CHECK_INT(frame.visits.open, 2);
    CHECK_INT(host_state(host), HOST_HELD);
    lf_store(&host->orders, 0, relaxed);
    CHECK(frontier_pin(&frame.queues, host));
    frontier_unpin(&frame.queues, host, clock_now_ns());
    finish();
}
