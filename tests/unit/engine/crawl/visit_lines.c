/* Pages that become lines of JSON, and what does not. */
#include "tests/unit/engine/crawl/visit_stored.h"

static void start(const struct route *table)
{
    stored_set_up(table, TUNING_STORE_JSONL);
    frame.tuning.fixed.memory.page_bytes = 8 << 20;
}

TEST(a_page_is_a_line)
{
    static const struct route table[] = {{NULL, "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start(table);
    char *lines = stored_run(), *log = frame_log(&frame);
    CHECK_INT(stored_count(lines, "\n"), 1);
    CHECK_INT(stored_count(lines, "/1\", \"status\": 200, "), 1);
    CHECK_INT(stored_count(lines, "\"bytes\": 5, \"digest\": \"sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\""), 1);
    CHECK_INT(stored_count(lines, "\"text\": \"hello\"}\n"), 1);
    CHECK_INT(stats_get(&frame.stats.stored), 1);
    CHECK(strstr(log, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N") != NULL);
    free(log);
    free(lines);
    routes_stop();
}

TEST(a_page_that_was_cut_says_so)
{
    static const struct route table[] = {
        {NULL, "/1", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello"},
        {NULL, NULL, NULL}};
    start(table);
    frame.tuning.live.retry.retries_max = 0;
    char *lines = stored_run();
    CHECK_INT(stored_count(lines, "\"truncated\": \"disconnect\""), 1);
    free(lines);
    routes_stop();
}

TEST(pages_that_forbid_it_are_no_lines)
{
    static const struct route table[] = {
        {NULL, "/1", OK_WITH("X-Robots-Tag: noindex\r\nContent-Length: 1\r\n", "a")}, {NULL, NULL, NULL}};
    start(table);
    CHECK(!stored_run());
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    CHECK_INT(stats_get(&frame.stats.stored), 0);
    routes_stop();
}

TEST(robots_txt_is_no_line)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", TEXT("14", "User-agent: *\n")}, {NULL, "/1", MISSING}, {NULL, NULL, NULL}};
    start(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.store.robots = true;
    char *lines = stored_run();
    CHECK_INT(stored_count(lines, "\n"), 1);
    CHECK_INT(stored_count(lines, "\"status\": 404"), 1);
    CHECK_INT(stored_count(lines, "robots.txt"), 0);
    CHECK_INT(stats_get(&frame.stats.robots_lost), 0);
    free(lines);
    routes_stop();
}

/* A page of that many letters. Valid until the next call. */
static const char *letters(unsigned count)
{
    static char answer[(1 << 20) + 512];
    int head = snprintf(answer, 512,
                        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %u\r\n\r\n", count);
    memset(answer + head, 'a', count);
    answer[head + (int)count] = '\0';
    return answer;
}

TEST(a_long_page_has_its_digest_too)
{
    const struct route table[] = {{NULL, "/1", letters(400000)}, {NULL, NULL, NULL}};
    start(table);
    char *lines = stored_run(), *log = frame_log(&frame);
    CHECK_INT(stored_count(lines, "\n"), 1);
    const char *digest = strstr(lines, "\"digest\": \"");
    CHECK(digest && memmem(log, strlen(log), digest + 11, 37)); /* sha1: and 32 letters */
    CHECK_INT(stored_count(lines, "text_cut"), 0);
    free(lines);
    free(log);
    routes_stop();
}

/* The same body at two hosts, one after the other. */
static void check_copies(unsigned bytes, uint64_t way, unsigned stored)
{
    const struct route table[] = {{NULL, "/1", letters(bytes)}, {NULL, NULL, NULL}};
    start(table);
    frame.tuning.fixed.duplicates.store = way;
    frame.tuning.fixed.duplicates.links = TUNING_DUPLICATES_SKIP_LINKS;
    frame.tuning.fixed.duplicates.bytes = 1 << 20;
    routes_start();
    CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
    frame_push_at(&frame, "127.0.0.1", "/1");
    frame_push_at(&frame, "b.test", "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.duplicates), 1);
    CHECK_INT(stats_get(&frame.stats.stored), stored);
    char *lines = frame_warc(&frame);
    CHECK_INT(stored_count(lines, "\n"), stored);
    free(lines);
    repeats_fini(&frame.repeats);
    routes_stop();
}

TEST(copies_are_lines_unless_they_are_skipped)
{
    static const unsigned lengths[] = {1000, 400000};
    for (int i = 0; i < 2; i++) {
        check_copies(lengths[i], TUNING_DUPLICATES_REVISIT, 2);
        check_copies(lengths[i], TUNING_DUPLICATES_FULL, 2);
        check_copies(lengths[i], TUNING_DUPLICATES_SKIP, 1);
    }
}
