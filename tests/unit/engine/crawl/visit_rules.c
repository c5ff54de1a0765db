/* robots.txt in a crawl: when it is fetched, what it forbids and slows down, and what redirects of it do. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/visit_routes.h"

#define ALLOWED   TEXT("0", "")
#define FORBIDS_N TEXT("27", "User-agent: *\nDisallow: /n\n")

static void begin(const struct route *table)
{
    routes_set_up(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.robots.retry_ns = CLOCK_NS_PER_MS;
}

/* One host with two pages, and this robots.txt. */
static void begin_with(const char *robots)
{
    static struct route table[] = {
        {NULL, "/robots.txt", NULL},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, "/2", TEXT("1", "b")},
        {NULL, NULL, NULL},
    };
    table[0].answer = robots;
    begin(table);
}

/* Starts the peer, crawls /1, and checks what was asked for. */
static void check_asked(const char *expected)
{
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, expected);
}

/* How long the crawl takes for what was pushed. */
static uint64_t run(void)
{
    uint64_t begin_ns = clock_now_ns();
    frame_run(&frame);
    return clock_now_ns() - begin_ns;
}

TEST(rules_are_fetched_once_and_obeyed)
{
    begin_with(TEXT("37", "User-agent: lycosa\r\nDisallow: /no/*/x\n"));
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/no/a/x");
    frame_push(&frame, "/2");
    run();
    CHECK_STR(routes_asked, "/robots.txt /1 /2 ");
    CHECK_INT(routes_outcome(FETCH_ROBOTS_DENIED), 1);
    CHECK_INT(stats_get(&frame.stats.robots_files), 1);
    char *log = frame_log(&frame);
    CHECK(strstr(log, "robots-denied,/no/*/x") != NULL); /* the rule that decided */
    free(log);
    routes_stop();
}

TEST(a_crawl_delay_is_kept_between_requests)
{
    begin_with(TEXT("33", "User-agent: *\r\nCrawl-delay: 0.2\r\n"));
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    CHECK(run() >= 400 * CLOCK_NS_PER_MS);
    CHECK_STR(routes_asked, "/robots.txt /1 /2 ");
    CHECK_INT(stats_get(&frame.stats.visits), 3);
    routes_stop();
}

TEST(rules_grow_old)
{
    begin_with(ALLOWED);
    frame.tuning.live.robots.fresh_ns = 20 * CLOCK_NS_PER_MS;
    routes_start();
    frame_push(&frame, "/1");
    run();
    uint64_t old_ns = frame_host(&frame)->robots_until_ns;
    CHECK(old_ns <= clock_now_ns() + 20 * CLOCK_NS_PER_MS);
    while (clock_now_ns() < old_ns)
        frame_turn(&frame);
    frame_push(&frame, "/2");
    run();
    CHECK_STR(routes_asked, "/robots.txt /1 /robots.txt /2 ");
    routes_stop();
}

TEST(no_file_forbids_nothing)
{
    begin_with(MISSING);
    check_asked("/robots.txt /1 ");
    CHECK_INT(routes_outcome(FETCH_DONE), 1);
    routes_stop();
}

TEST(a_server_error_forbids_everything_until_it_is_over)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"},
        {NULL, "/robots.txt", ALLOWED},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    check_asked("/robots.txt /robots.txt /1 ");
    CHECK_INT(stats_get(&frame.stats.visits), 2);
    CHECK_INT(routes_outcome(FETCH_DONE), 1);
    routes_stop();
}

/* One failure is one failure: not one of the connection and another of the file. */
TEST(a_connection_that_fails_under_robots_txt_counts_once)
{
    begin_with("");
    frame.tuning.live.retry.host_failures_max = 3;
    routes_start();
    frame_push(&frame, "/1");
    run();
    CHECK_INT(routes_times("/robots.txt"), 3);
    CHECK(frame_host(&frame)->is_dead);
    routes_stop();
}

TEST(too_many_requests_means_to_slow_down)
{
    begin_with("HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n");
    frame.tuning.live.retry.wait_ns = 200 * CLOCK_NS_PER_MS;
    routes_start();
    frame_push(&frame, "/1");
    CHECK(run() >= 200 * CLOCK_NS_PER_MS);
    CHECK_STR(routes_asked, "/robots.txt /1 ");
    routes_stop();
}

TEST(retry_after_of_robots_txt_is_kept)
{
    begin_with("HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");
    routes_start();
    frame_push(&frame, "/1");
    CHECK(run() >= CLOCK_NS_PER_S);
    CHECK_STR(routes_asked, "/robots.txt /1 ");
    routes_stop();
}

TEST(retry_after_of_a_busy_server_is_kept_before_robots_txt_is_asked_for_again)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"},
        {NULL, "/robots.txt", ALLOWED},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    frame_push(&frame, "/1");
    CHECK(run() >= CLOCK_NS_PER_S);
    CHECK_STR(routes_asked, "/robots.txt /robots.txt /1 ");
    routes_stop();
}

/* The pages' memory is taken by others: nobody is to blame, and it is tried again soon. */
TEST(rules_wait_for_memory)
{
    struct buffer others[64] = {{NULL, 0}};
    unsigned count = 0;
    begin_with(FORBIDS_N);
    routes_start();
    frame_push(&frame, "/1");
    while (stats_get(&frame.stats.requests) == 0)
        frame_turn(&frame);
    while (buffer_reserve(&frame.pages, &others[count], 1, 0))
        count++;
    buffer_release(&frame.pages, &others[--count]); /* for the response itself */
    while (stats_get(&frame.stats.robots_files) == 0)
        frame_turn(&frame);
    CHECK(!frame_host(&frame)->awaits_robots);
    CHECK_INT(frame_host(&frame)->failures, 0);
    while (count)
        buffer_release(&frame.pages, &others[--count]);
    CHECK(run() >= VISIT_CROWDED_NS / 2);
    CHECK_STR(routes_asked, "/robots.txt /robots.txt /1 ");
    routes_stop();
}

TEST(a_file_that_moved_to_another_path_is_followed)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", MOVED("/moved.txt")},
        {NULL, "/moved.txt", FORBIDS_N},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/n");
    run();
    CHECK_STR(routes_asked, "/robots.txt /moved.txt /1 ");
    CHECK_INT(routes_outcome(FETCH_ROBOTS_DENIED), 1);
    routes_stop();
}

/* A redirect to http://b.test/r.txt, at the port of the peer. */
static char moved[128];

static void write_moved(void)
{
    snprintf(moved, sizeof moved, MOVED("http://b.test:%u/r.txt"), ntohs(frame.peer.address.v4.sin_port));
}

/* RFC 9309, 2.3.1.2: five redirects in a row are followed. */
TEST(a_file_that_moves_on_and_on_is_not_followed_for_ever)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", MOVED("/moved.txt")},
        {NULL, "/moved.txt", MOVED("/moved.txt")},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    frame_push(&frame, "/1");
    run();
    CHECK_INT(routes_times("/moved.txt"), 5);
    CHECK_INT(routes_times("/1"), 1);
    routes_stop();
}

/* A crawl sends no passwords: as if there were no file. */
TEST(a_file_that_moved_to_a_url_with_a_password_is_not_followed)
{
    static char location[128];
    static const struct route table[] = {
        {NULL, "/robots.txt", location},
        {NULL, "/r.txt", TEXT("26", "User-agent: *\nDisallow: /\n")},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    snprintf(location, sizeof location, MOVED("http://me:secret@127.0.0.1:%u/r.txt"),
             ntohs(frame.peer.address.v4.sin_port));
    frame_push(&frame, "/1");
    run();
    CHECK_STR(routes_asked, "/robots.txt /1 ");
    routes_stop();
}

/* The answer comes in the middle of the visit, which ends with it. */
TEST(a_crawl_delay_of_a_file_that_moved_is_kept_at_once)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", MOVED("/moved.txt")},
        {NULL, "/moved.txt", TEXT("33", "User-agent: *\r\nCrawl-delay: 0.3\r\n")},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    frame_push(&frame, "/1");
    CHECK(run() >= 300 * CLOCK_NS_PER_MS);
    CHECK_STR(routes_asked, "/robots.txt /moved.txt /1 ");
    CHECK_INT(stats_get(&frame.stats.visits), 2);
    routes_stop();
}

TEST(a_file_that_moved_to_another_host_is_asked_for_there)
{
    static const struct route table[] = {
        {"127.0.0.1", "/robots.txt", moved},
        {"b.test", "/r.txt", FORBIDS_N},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    routes_start();
    write_moved();
    frame_push(&frame, "/1");
    frame_push(&frame, "/n");
    run();
    CHECK_STR(routes_asked, "/robots.txt b.test/r.txt /1 ");
    CHECK_INT(routes_outcome(FETCH_ROBOTS_DENIED), 1);
    CHECK_INT(routes_outcome(FETCH_DONE), 1);
    routes_stop();
}

/* The connection that an errand has used is over when robots.txt is asked for: it is asked for again, and nobody is blamed. */
TEST(a_kept_alive_connection_that_is_over_forbids_nothing)
{
    static const struct route table[] = {
        {"127.0.0.1", "/robots.txt", moved},
        {"b.test", "/r.txt", ALLOWED},
        {"b.test", "/robots.txt", ""},
        {"b.test", "/robots.txt", ALLOWED},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    frame.tuning.live.robots.retry_ns = 60 * CLOCK_NS_PER_S;
    routes_start();
    write_moved();
    frame_push(&frame, "/1");
    while (stats_get(&frame.stats.requests) < 2)
        frame_turn(&frame);
    frame_push_at(&frame, "b.test", "/1");
    run();
    CHECK_INT(routes_times("b.test/robots.txt"), 2);
    CHECK_INT(routes_times("b.test/1"), 1);
    CHECK_INT(stats_get(&frame.stats.tries_failed[FETCH_REUSED_CLOSED]), 1);
    routes_stop();
}

/* Limits are for pages: a host that has reached them still runs errands. */
TEST(errands_are_run_beyond_the_limits_of_a_host)
{
    static const struct route table[] = {
        {"127.0.0.1", "/robots.txt", moved},
        {"b.test", "/robots.txt", ALLOWED},
        {"b.test", "/r.txt", ALLOWED},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    frame.tuning.live.limits.pages_per_host_max = 1;
    routes_start();
    write_moved();
    frame_push_at(&frame, "b.test", "/1");
    run();
    frame_push(&frame, "/1");
    run();
    CHECK_STR(routes_asked, "b.test/robots.txt b.test/1 /robots.txt b.test/r.txt /1 ");
    CHECK_INT(routes_outcome(FETCH_DONE), 2);
    routes_stop();
}

/* Two hosts wait for a third that fails: both are told at once, and not one after the other's wait. */
TEST(errands_of_a_host_that_fails_are_answered_at_once)
{
    static const struct route table[] = {
        {"127.0.0.1", "/robots.txt", moved},
        {"127.0.0.1", "/robots.txt", ALLOWED},
        {"c.test", "/robots.txt", moved},
        {"c.test", "/robots.txt", ALLOWED},
        {"b.test", "/r.txt", ""},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    begin(table);
    frame.tuning.live.retry.wait_ns = 3 * CLOCK_NS_PER_S;
    frame.tuning.live.retry.wait_max_ns = 3 * CLOCK_NS_PER_S;
    routes_start();
    write_moved();
    frame_push(&frame, "/1");
    frame_push_at(&frame, "c.test", "/1");
    run();
    CHECK_INT(routes_times("b.test/r.txt"), 1);
    CHECK_INT(routes_times("/1"), 1);
    CHECK_INT(routes_times("c.test/1"), 1);
    routes_stop();
}

static void check_sitemaps(enum tuning_sitemaps which, const char *file, const char *expected)
{
    begin_with(file);
    frame.tuning.fixed.robots.sitemaps = which;
    check_asked(expected);
    routes_stop();
}

TEST(sitemaps_are_those_named_or_else_guessed)
{
    static const char named[] = TEXT("16", "Sitemap: /s.xml\n");
    check_sitemaps(TUNING_SITEMAPS_NO, named, "/robots.txt /1 ");
    check_sitemaps(TUNING_SITEMAPS_ROBOTS, named, "/robots.txt /1 /s.xml ");
    check_sitemaps(TUNING_SITEMAPS_ROBOTS, ALLOWED, "/robots.txt /1 ");
    check_sitemaps(TUNING_SITEMAPS_GUESS, named, "/robots.txt /1 /s.xml ");
    check_sitemaps(TUNING_SITEMAPS_GUESS, ALLOWED, "/robots.txt /1 /sitemap.xml ");
}
