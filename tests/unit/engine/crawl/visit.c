/* Visits over a real ring to a server of the test's own: what is asked, and what becomes of each URL. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/visit_frame.h"

#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static char asked[4096]; /* the paths that the peer was asked for, one after another */
static unsigned asked_count;

/* The path of the next request; false: the visitor has gone. */
static bool next_path(int fd, char *path, size_t size)
{
    char request[4096];
    if (!peer_read_request(fd, request, sizeof request))
        return false;
    size_t len = strcspn(request + 4, " ");
    CHECK(memcmp(request, "GET ", 4) == 0 && len < size);
    memcpy(path, request + 4, len);
    path[len] = '\0';
    strncat(asked, path, sizeof asked - strlen(asked) - 2);
    strncat(asked, " ", 2);
    asked_count++;
    return true;
}

static void begin(void)
{
    asked[0] = '\0';
    asked_count = 0;
    frame_set_up(&frame);
}

static void answer(struct peer *peer, int fd)
{
    char path[256];
    (void)peer;
    while (next_path(fd, path, sizeof path))
        peer_send(fd, HELLO);
}

static uint64_t outcome(enum fetch_outcome which)
{
    return stats_get(&frame.stats.outcomes[which]);
}

/* Queues the URLs /1, /2 ... and visits the host until none is left. */
static void run_pages(unsigned count)
{
    char path[16];
    for (unsigned i = 1; i <= count; i++) {
        snprintf(path, sizeof path, "/%u", i);
        frame_push(&frame, path);
    }
    frame_run(&frame);
}

TEST(pages_follow_one_another_over_one_connection)
{
    begin();
    frame_start(&frame, 1, answer);
    run_pages(3);
    CHECK_STR(asked, "/1 /2 /3 ");
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    CHECK_INT(stats_get(&frame.stats.pages), 3);
    CHECK_INT(outcome(FETCH_DONE), 3);
    CHECK_INT(frame_host(&frame)->pages, 3);
    CHECK_INT(frame_host(&frame)->bytes, 3 * strlen(HELLO));
    uint64_t usual = VISIT_USUAL_BYTES; /* each page counts for a sixteenth */
    for (int i = 0; i < 3; i++)
        usual = (15 * usual + strlen(HELLO)) / 16;
    CHECK_INT(frame.visits.bytes_usual, usual);
    frame_stop(&frame);
}

/* Answers as told, request after request; the last answer stays. The connection is closed after an empty answer, and
 * after one that says so. */
static const char *const *answers;

static void answer_as_told(struct peer *peer, int fd)
{
    char path[256];
    (void)peer;
    while (next_path(fd, path, sizeof path)) {
        const char *text = *answers;
        answers += answers[1] != NULL;
        peer_send(fd, text);
        if (!text[0] || strstr(text, "Connection: close"))
            return;
    }
}

/* After `begin`, and what the test changes in the tuning. */
static void run_told(const char *const *told, unsigned connections, unsigned pages)
{
    answers = told;
    frame_start(&frame, connections, answer_as_told);
    run_pages(pages);
}

#define BUSY "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
#define CUT  "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello"

TEST(a_host_that_is_always_busy_is_given_up)
{
    static const char *const told[] = {BUSY, NULL};
    begin();
    frame.tuning.live.retry.host_failures_max = 4;
    frame.tuning.live.retry.retries_max = 30;
    run_told(told, 4, 2);
    CHECK_INT(asked_count, 4);
    CHECK(frame_host(&frame)->is_dead);
    CHECK_INT(outcome(FETCH_HOST_BUSY), 2);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_HOST_BUSY]), 4);
    CHECK_INT(stats_get(&frame.stats.pages), 0);
    frame_stop(&frame);
}

/* The last answer to a URL is its page; but that says nothing good of the host. */
TEST(busy_pages_do_not_clear_a_host)
{
    static const char *const told[] = {BUSY, NULL};
    begin();
    frame.tuning.live.retry.host_failures_max = 5;
    frame.tuning.live.retry.retries_max = 0;
    run_told(told, 3, 3);
    CHECK_INT(frame_host(&frame)->failures, 3);
    CHECK_INT(stats_get(&frame.stats.pages), 3);
    CHECK_INT(stats_get(&frame.stats.statuses[5]), 3);
    frame_stop(&frame);
}

TEST(a_page_clears_a_host)
{
    static const char *const told[] = {BUSY, BUSY, HELLO, NULL};
    begin();
    frame.tuning.live.retry.host_failures_max = 3;
    run_told(told, 3, 1);
    CHECK_INT(frame_host(&frame)->failures, 0);
    CHECK_INT(frame_host(&frame)->trouble, FETCH_DONE);
    CHECK_INT(outcome(FETCH_DONE), 1);
    char *log = frame_log(&frame);
    CHECK(strstr(log, " 3t") != NULL); /* the third try */
    free(log);
    frame_stop(&frame);
}

/* It is asked as often as any host that fails, with the waits of one. */
TEST(a_server_that_closes_on_every_request_is_given_up)
{
    static const char *const told[] = {"", NULL};
    begin();
    frame.tuning.live.retry.host_failures_max = 3;
    frame.tuning.live.retry.retries_max = 30;
    frame.tuning.live.retry.wait_ns = 20 * CLOCK_NS_PER_MS;
    const uint64_t begin_ns = clock_now_ns();
    run_told(told, 3, 10);
    CHECK_INT(asked_count, 3);
    CHECK_INT(outcome(FETCH_FIRST_BYTE_CLOSED), 10);
    CHECK(clock_now_ns() - begin_ns >= 60 * CLOCK_NS_PER_MS); /* 20 and 40 */
    frame_stop(&frame);
}

/* The start of a body, and then nothing until the time of the exchange is over. */
TEST(a_server_that_never_comes_to_an_end_is_given_up)
{
    static const char *const told[] = {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", NULL};
    begin();
    frame.tuning.live.retry.host_failures_max = 3;
    frame.limits.exchange_ms = 50;
    run_told(told, 3, 5);
    CHECK_INT(asked_count, 3);
    CHECK(frame_host(&frame)->is_dead);
    CHECK_INT(outcome(FETCH_EXCHANGE_TIMEOUT), 5);
    CHECK_INT(stats_get(&frame.stats.pages), 3); /* what came is kept */
    frame_stop(&frame);
}

/* The request may not have got there: it is made again, first of all, and nobody is blamed. */
TEST(a_kept_alive_connection_that_is_over_costs_nothing)
{
    static const char *const told[] = {HELLO, "", HELLO, NULL};
    begin();
    frame.tuning.live.retry.retries_max = 0;
    run_told(told, 2, 3);
    CHECK_STR(asked, "/1 /2 /2 /3 ");
    CHECK_INT(frame_host(&frame)->failures, 0);
    CHECK_INT(outcome(FETCH_DONE), 3);
    CHECK_INT(stats_get(&frame.stats.visits), 2);
    frame_stop(&frame);
}

TEST(a_page_that_fails_is_tried_again_behind_the_others)
{
    static const char *const told[] = {CUT, HELLO, CUT, NULL};
    begin();
    frame.tuning.live.retry.retries_max = 1;
    run_told(told, 2, 2);
    CHECK_STR(asked, "/1 /2 /1 ");
    CHECK_INT(stats_get(&frame.stats.retries), 1);
    CHECK_INT(outcome(FETCH_DONE), 1);
    CHECK_INT(outcome(FETCH_BODY_TRUNCATED), 1);
    frame_stop(&frame);
}

TEST(nobody_listens)
{
    begin();
    frame.tuning.live.retry.host_failures_max = 2;
    frame_start(&frame, 0, answer);
    struct sockaddr_in nobody = peer_nobody();
    frame.peer.address.v4.sin_port = nobody.sin_port;
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(outcome(FETCH_CONNECT_REFUSED), 1);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_CONNECT_REFUSED]), 2);
    CHECK_INT(stats_get(&frame.stats.requests), 0);
    CHECK_INT(stats_get(&frame.stats.hosts_given_up), 1);
    frame_stop(&frame);
}

/* A place is taken for each page that is asked for, and given back by those that come to nothing. */
TEST(max_pages_is_kept_to_the_page)
{
    static const char *const told[] = {CUT, HELLO, NULL};
    begin();
    frame.tuning.live.crawl.max_pages = 2;
    answers = told;
    frame_start(&frame, 2, answer_as_told);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    frame_push(&frame, "/3");
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (stats_get(&frame.stats.pages) < 2 || frame.visits.open) {
        frame_turn(&frame);
        CHECK(clock_now_ns() < deadline);
    }
    for (int i = 0; i < 20; i++)
        frame_turn(&frame);
    CHECK_INT(asked_count, 3);
    CHECK_INT(stats_get(&frame.stats.pages), 2);
    CHECK_INT(lf_load(&frame.gate.pages_reserved, relaxed), 2);
    CHECK(host_has_items(frame_host(&frame)));
    frame_stop(&frame);
}

TEST(a_host_whose_pages_are_used_up_is_not_visited)
{
    begin();
    frame.tuning.live.limits.pages_per_host_max = 1;
    frame_start(&frame, 1, answer);
    run_pages(3);
    CHECK_STR(asked, "/1 ");
    CHECK_INT(outcome(FETCH_HOST_LIMIT), 2);
    frame_push(&frame, "/4");
    frame_run(&frame);
    CHECK_INT(outcome(FETCH_HOST_LIMIT), 3);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    frame_stop(&frame);
}

/* Its place of max-pages is free while it waits, and the next try takes one. */
TEST(a_busy_answer_takes_no_place_of_max_pages)
{
    static const char *const told[] = {BUSY, HELLO, NULL};
    begin();
    frame.tuning.live.crawl.max_pages = 1;
    answers = told;
    frame_start(&frame, 2, answer_as_told);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(asked, "/1 /1 ");
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK_INT(lf_load(&frame.gate.pages_reserved, relaxed), 1);
    frame_stop(&frame);
}

/* However long the visit has taken. */
TEST(a_host_rests_from_the_end_of_a_visit_on)
{
    begin();
    frame.tuning.live.politeness.burst_ns = 0;
    frame.tuning.live.politeness.host_min_idle_ns = 200 * CLOCK_NS_PER_MS;
    frame_start(&frame, 2, answer);
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    while (stats_get(&frame.stats.requests) == 0)
        frame_turn(&frame);
    const uint64_t late_ns = clock_now_ns() + 300 * CLOCK_NS_PER_MS;
    while (clock_now_ns() < late_ns) /* the loop is busy with something else */
        ;
    while (frame.visits.open)
        frame_turn(&frame);
    const uint64_t end_ns = clock_now_ns();
    CHECK_STR(asked, "/1 ");
    frame_run(&frame);
    CHECK_STR(asked, "/1 /2 ");
    CHECK(clock_now_ns() - end_ns >= 150 * CLOCK_NS_PER_MS);
    frame_stop(&frame);
}
