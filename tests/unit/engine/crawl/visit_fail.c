/* What failures mean: for the URL, which may be tried again, and for its host, which may be given up. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/visit_routes.h"

#define CUT  "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello"
#define PAGE TEXT("5", "hello")

static const struct route hello[] = {{NULL, "/1", PAGE}, {NULL, "/2", PAGE}, {NULL, NULL, NULL}};

/* Nothing counts against a host before all its addresses were tried. */
TEST(another_address_of_the_host_is_tried_first)
{
    routes_set_up(hello);
    frame.tuning.live.retry.host_failures_max = 1;
    routes_start();
    frame_push_at(&frame, "two.test", "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_CONNECT_REFUSED]), 1);
    CHECK_INT(stats_get(&frame.stats.hosts_given_up), 0);
    CHECK_INT(routes_outcome(FETCH_DONE), 1);
    routes_stop();
}

TEST(a_connection_clears_the_addresses_that_failed)
{
    routes_set_up(hello);
    routes_start();
    frame_push_at(&frame, "two.test", "/1");
    frame_run(&frame);
    CHECK_INT(frame_host(&frame)->ips_failed, 0);
    CHECK(!frame_host(&frame)->wants_other_ip);
    routes_stop();
}

TEST(bandwidth_of_a_request_that_was_never_made_is_given_back)
{
    routes_set_up(hello);
    frame.tuning.live.net.bandwidth_bytes = 1000; /* a usual page takes 16 seconds */
    frame.tuning.live.retry.host_failures_max = 1;
    routes_start();
    struct sockaddr_in nobody = peer_nobody();
    in_port_t port = frame.peer.address.v4.sin_port;
    frame.peer.address.v4.sin_port = nobody.sin_port;
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(routes_outcome(FETCH_CONNECT_REFUSED), 1);
    CHECK(bandwidth_allows(&frame.bandwidth, frame.tuning.live.net.bandwidth_bytes, clock_now_ns()));
    frame.peer.address.v4.sin_port = port;
    routes_stop();
}

/* Of the last try what came is kept: it is all that there will be. */
TEST(the_last_cut_try_is_kept)
{
    static const struct route table[] = {{NULL, "/1", CUT}, {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.live.retry.retries_max = 2;
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /1 /1 ");
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK_INT(stats_get(&frame.stats.truncated), 1);
    CHECK_INT(stats_get(&frame.stats.retries), 2);
    CHECK_INT(routes_outcome(FETCH_BODY_TRUNCATED), 1);
    routes_stop();
}

TEST(without_a_head_there_is_no_page)
{
    static const struct route table[] = {{NULL, "/1", "HTTP/1.1 200 OK\r\nConnection: close\r\n"},
                                         {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.live.retry.retries_max = 1;
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /1 ");
    CHECK_INT(stats_get(&frame.stats.pages), 0);
    CHECK_INT(routes_outcome(FETCH_HEAD_TRUNCATED), 1);
    routes_stop();
}

/* A crowd is nobody's fault: the URL comes first again, and the host rests for a moment. */
TEST(a_page_without_memory_goes_back_to_its_queue)
{
    struct buffer others[64] = {{NULL, 0}};
    unsigned count = 0;
    routes_set_up(hello);
    frame.tuning.live.crawl.max_pages = 10;
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    while (stats_get(&frame.stats.requests) == 0)
        frame_turn(&frame);
    while (buffer_reserve(&frame.pages, &others[count], 1, 0))
        count++;
    const uint64_t begin_ns = clock_now_ns();
    while (frame.visits.open)
        frame_turn(&frame);
    CHECK_INT(lf_load(&frame.gate.pages_reserved, relaxed), 0);
    CHECK_INT(frame_host(&frame)->failures, 0);
    CHECK_INT(stats_get(&frame.stats.retries), 0);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_NO_MEMORY]), 0);
    while (count)
        buffer_release(&frame.pages, &others[--count]);
    frame_run(&frame);
    CHECK(clock_now_ns() - begin_ns >= 2 * VISIT_CROWDED_NS); /* not all hosts for the same time */
    CHECK_STR(routes_asked, "/1 /1 /2 ");
    CHECK_INT(stats_get(&frame.stats.pages), 2);
    routes_stop();
}

/* The waits double from one failure to the next. */
TEST(a_host_that_fails_is_left_alone_for_longer_and_longer)
{
    static const struct route table[] = {{NULL, "/1", ""}, {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.live.retry.wait_ns = 50 * CLOCK_NS_PER_MS;
    frame.tuning.live.retry.host_failures_max = 3;
    frame.tuning.live.retry.retries_max = 10;
    routes_start();
    frame_push(&frame, "/1");
    const uint64_t begin_ns = clock_now_ns();
    frame_run(&frame);
    CHECK(clock_now_ns() - begin_ns >= 150 * CLOCK_NS_PER_MS);
    CHECK_STR(routes_asked, "/1 /1 /1 ");
    CHECK_INT(stats_get(&frame.stats.hosts_given_up), 1);
    routes_stop();
}
