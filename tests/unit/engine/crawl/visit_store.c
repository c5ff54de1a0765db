/* What goes to the store, and what is said of it there. */
#include "tests/unit/engine/crawl/visit_routes.h"

static void start(const struct route *table)
{
    routes_set_up(table);
    frame.tuning.fixed.store.kind = TUNING_STORE_WARC;
    frame.tuning.fixed.store.compress = TUNING_COMPRESS_NONE;
    frame.tuning.fixed.store.buffer_bytes = 4 << 20;
    frame.tuning.fixed.net.body_bytes_max = 1 << 20;
}

static char *run(void)
{
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    return frame.store.serial ? frame_warc(&frame) : NULL;
}

static unsigned count(const char *text, const char *word)
{
    unsigned times = 0;
    for (const char *at = text; at && (at = strstr(at, word)); at++)
        times++;
    return times;
}

TEST(a_page_is_stored_with_its_request)
{
    static const struct route table[] = {{NULL, "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start(table);
    char *warc = run();
    CHECK_INT(count(warc, "WARC-Type: response"), 1);
    CHECK_INT(count(warc, "WARC-Type: request"), 1);
    CHECK_INT(count(warc, "GET /1 HTTP/1.1\r\n"), 1);
    CHECK_INT(count(warc, "\r\n\r\nhello\r\n\r\n"), 1);
    CHECK_INT(count(warc, "WARC-IP-Address: 127.0.0.1\r\n"), 1);
    CHECK_INT(count(warc, "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"), 1);
    CHECK_INT(count(warc, "WARC-Truncated"), 0);
    CHECK_INT(stats_get(&frame.stats.stored), 1);
    char *log = frame_log(&frame);
    CHECK(strstr(log, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N") != NULL);
    free(log);
    free(warc);
    routes_stop();
}

TEST(a_page_that_was_cut_says_so)
{
    static const struct route table[] = {
        {NULL, "/1", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello"},
        {NULL, NULL, NULL}};
    start(table);
    frame.tuning.live.retry.retries_max = 0;
    char *warc = run();
    CHECK_INT(count(warc, "WARC-Truncated: disconnect\r\n"), 1);
    free(warc);
    routes_stop();
}

static void check_tag(const char *answer, unsigned stored)
{
    const struct route table[] = {{NULL, "/1", answer}, {NULL, NULL, NULL}};
    start(table);
    char *warc = run();
    CHECK_INT(count(warc, "WARC-Type: response"), stored);
    CHECK_INT(stats_get(&frame.stats.stored), stored);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    free(warc);
    routes_stop();
}

TEST(pages_that_forbid_it_are_not_stored)
{
    check_tag(OK_WITH("X-Robots-Tag: noindex\r\nContent-Length: 1\r\n", "a"), 0);
    check_tag(OK_WITH("X-Robots-Tag: noarchive\r\nContent-Length: 1\r\n", "a"), 0);
    check_tag(OK_WITH("X-Robots-Tag: nofollow\r\nContent-Length: 1\r\n", "a"), 1);
    check_tag(
        OK_WITH("Content-Type: text/html\r\nContent-Length: 34\r\n", "<meta name=robots content=noindex>"),
        0);
}

static void check_robots(bool is_wanted, unsigned stored)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", TEXT("14", "User-agent: *\n")}, {NULL, "/1", MISSING}, {NULL, NULL, NULL}};
    start(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.store.robots = is_wanted;
    char *warc = run();
    CHECK_INT(count(warc, "/robots.txt\r\n"), 2 * stored); /* a response and a request */
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    free(warc);
    routes_stop();
}

TEST(robots_txt_is_stored_if_it_is_wanted)
{
    check_robots(true, 1);
    check_robots(false, 0);
}

TEST(types_that_are_not_wanted_are_not_stored)
{
    static const struct route table[] = {{NULL, "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start(table);
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "image/");
    char *warc = run();
    CHECK(!warc);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    routes_stop();
}
