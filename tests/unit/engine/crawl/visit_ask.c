/* What is asked for next, and what is not. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/visit_routes.h"

enum { LETTERS = 26, HARD_URLS = 40, PATH_LETTERS = 7 * LETTERS };

/* Rules of which each looks at the whole of a path, in vain: a URL takes about a millisecond, and is denied then. */
static char *hard_rules(void)
{
    static const char head[] = "User-agent: *\n", rule[] = "Disallow: /*a*b*c*!\n";
    const size_t bytes = sizeof head - 1 + LETTERS * LETTERS * LETTERS * (sizeof rule - 1);
    char *text = malloc(256 + bytes);
    CHECK(text);
    char *at =
        text + snprintf(text, 200, OK_WITH("Content-Type: text/plain\r\nContent-Length: %zu\r\n", ""), bytes);
    at = stpcpy(at, head);
    for (int i = 0; i < LETTERS * LETTERS * LETTERS; i++)
        at += snprintf(at, sizeof rule, "Disallow: /*%c*%c*%c*!\n", 'a' + i % LETTERS,
                       'a' + i / LETTERS % LETTERS, 'a' + i / LETTERS / LETTERS);
    return text;
}

/* A long row of denied URLs is given its verdicts in parts. No request is made, so no rest is due between them. */
TEST(denied_urls_get_their_verdict_without_a_rest)
{
    char *rules = hard_rules(), path[256];
    const struct route table[] = {{NULL, "/robots.txt", rules}, {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.fixed.memory.page_bytes = 16 << 20;
    routes_start();
    for (int i = 0; i < HARD_URLS; i++) {
        path[0] = '/';
        for (int k = 1; k <= PATH_LETTERS; k++)
            path[k] = (char)('a' + k % LETTERS);
        snprintf(path + PATH_LETTERS + 1, sizeof path - PATH_LETTERS - 1, "%d", i);
        frame_push(&frame, path);
    }
    while (!stats_get(&frame.stats.robots_files) || frame.visits.open)
        frame_turn(&frame);
    CHECK(stats_get(&frame.stats.urls_out) < HARD_URLS);
    frame.tuning.live.politeness.host_min_idle_ns = 60 * CLOCK_NS_PER_S;
    frame_run(&frame);
    CHECK_STR(routes_asked, "/robots.txt ");
    CHECK_INT(routes_outcome(FETCH_ROBOTS_DENIED), HARD_URLS);
    CHECK_INT(stats_get(&frame.stats.visits), 1);
    char *log = frame_log(&frame);
    CHECK(strstr(log, "too-many-rules") != NULL);
    free(log);
    free(rules);
    routes_stop();
}

/* A place of max-pages is not used up by what is not fetched. */
TEST(denied_urls_take_no_place_of_max_pages)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", TEXT("27", "User-agent: *\nDisallow: /n\n")},
        {NULL, "/1", TEXT("1", "a")},
        {NULL, NULL, NULL},
    };
    routes_set_up(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.crawl.max_pages = 1;
    routes_start();
    frame_push(&frame, "/n1");
    frame_push(&frame, "/n2");
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/robots.txt /1 ");
    CHECK_INT(lf_load(&frame.gate.pages_reserved, relaxed), 1);
    routes_stop();
}

/* Limits of bytes and time hold as that of pages does. */
static void check_limit(uint64_t bytes, uint64_t time_ns, const char *expected)
{
    static const struct route table[] = {
        {NULL, "/1", TEXT("1", "a")}, {NULL, "/2", TEXT("1", "b")}, {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.live.limits.bytes_per_host_max = bytes;
    frame.tuning.live.limits.time_per_host_max_ns = time_ns;
    frame.tuning.live.politeness.burst_ns = 0; /* a visit for each page: time is counted when it ends */
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    frame_run(&frame);
    CHECK_STR(routes_asked, expected);
    routes_stop();
}

TEST(a_host_has_limits_of_bytes_and_time)
{
    check_limit(0, 0, "/1 /2 ");
    check_limit(1, 0, "/1 ");
    check_limit(0, 1, "/1 ");
    check_limit(1 << 20, 60 * CLOCK_NS_PER_S, "/1 /2 ");
}

/* While a visit goes on: it ends before the next request. */
TEST(an_order_of_the_operator_ends_a_visit)
{
    static const struct route table[] = {
        {NULL, "/1", TEXT("1", "a")}, {NULL, "/2", TEXT("1", "b")}, {NULL, NULL, NULL}};
    routes_set_up(table);
    routes_start();
    frame_push(&frame, "/1");
    frame_push(&frame, "/2");
    while (stats_get(&frame.stats.requests) == 0)
        frame_turn(&frame);
    struct host *host = frame_host(&frame);
    lf_store(&host->orders, HOST_ORDER_HOLD, relaxed);
    while (frame.visits.open)
        frame_turn(&frame);
    CHECK_STR(routes_asked, "/1 ");
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK(host_has_items(host));
    routes_stop();
}
