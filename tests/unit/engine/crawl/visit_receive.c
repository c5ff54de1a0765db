/* A response as it arrives: its head and body in one buffer, and bodies that nobody wants. */
#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/visit_routes.h"

enum { LONG_BYTES = 300000 };

static char long_answer[LONG_BYTES + 256];

static void start(const char *answer)
{
    static struct route table[] = {{NULL, "/1", NULL}, {NULL, "/2", TEXT("1", "a")}, {NULL, NULL, NULL}};
    table[0].answer = answer;
    routes_set_up(table);
    frame.tuning.fixed.memory.page_bytes = 4 << 20;
    routes_start();
    frame_push(&frame, "/1");
}

/* It is read for its links, whatever types are to be stored. */
TEST(a_sitemap_is_received_whatever_its_type)
{
    char list[256], body[64];
    struct route table[] = {
        {NULL, "/robots.txt", TEXT("16", "Sitemap: /s.xml\n")}, {NULL, "/s.xml", list}, {NULL, NULL, NULL}};
    routes_set_up(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_ROBOTS;
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "text/");
    routes_start();
    snprintf(body, sizeof body, "http://127.0.0.1:%u/2\n", ntohs(frame.peer.address.v4.sin_port));
    snprintf(list, sizeof list, OK_WITH("Content-Type: image/png\r\nContent-Length: %zu\r\n", "%s"), strlen(body), body);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/robots.txt /1 /s.xml /2 ");
    CHECK_INT(routes_outcome(FETCH_TYPE_UNWANTED), 0);
    routes_stop();
}

static bool is_mime_in_head;

static void on_page(void *owner, const struct crawl_page *page)
{
    (void)owner;
    is_mime_in_head &= page->mime.ptr > page->head.ptr && page->mime.ptr < page->head.ptr + page->head.len;
}

/* The buffer moves as the page grows, and with it what is known of the head. */
TEST(a_long_page_keeps_its_head)
{
    int head = snprintf(long_answer, sizeof long_answer,
                        OK_WITH("Content-Type: text/html\r\nContent-Length: %d\r\n", ""), (int)LONG_BYTES);
    memset(long_answer + head, 'x', LONG_BYTES);
    memcpy(long_answer + head + LONG_BYTES - 12, "<a href=/2>z", 12);
    long_answer[head + LONG_BYTES] = '\0';
    start(long_answer);
    is_mime_in_head = true;
    frame.visits.sink.on_page = on_page;
    frame_run(&frame);
    CHECK(is_mime_in_head);
    CHECK_INT(stats_get(&frame.stats.bytes_body), LONG_BYTES + 1);
    CHECK_INT(routes_times("/2"), 1); /* its last link */
    char *log = frame_log(&frame);
    CHECK(strstr(log, " text/html ") != NULL);
    free(log);
    routes_stop();
}

static void check_unwanted(const char *answer, unsigned visits)
{
    start(answer);
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "text/");
    frame_push(&frame, "/2");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /2 ");
    CHECK_INT(routes_outcome(FETCH_TYPE_UNWANTED), 1);
    CHECK_INT(routes_outcome(FETCH_DONE), 1);
    CHECK_INT(stats_get(&frame.stats.visits), visits);
    CHECK_INT(stats_get(&frame.stats.bytes_body), 1); /* that of /2: nothing of an unwanted body is kept */
    CHECK_INT(stats_get(&frame.stats.truncated), 0);
    CHECK_INT(frame_host(&frame)->failures, 0);
    routes_stop();
}

TEST(a_short_unwanted_body_is_let_pass)
{
    check_unwanted(OK_WITH("Content-Type: image/png\r\nContent-Length: 4\r\n", "\x89PNG"), 1);
}

TEST(a_long_unwanted_body_ends_the_connection)
{
    char answer[256];
    snprintf(answer, sizeof answer, OK_WITH("Content-Type: image/png\r\nContent-Length: %d\r\n", "\x89PNG"),
             VISIT_SKIPPED_BYTES_MAX + 1);
    check_unwanted(answer, 2);
}

TEST(an_unwanted_body_of_unknown_length_ends_the_connection)
{
    check_unwanted(OK_WITH("Content-Type: image/png\r\nTransfer-Encoding: chunked\r\n", "1\r\na\r\n"), 2);
}

static void check_wanted(const char *answer)
{
    start(answer);
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "image/");
    frame_run(&frame);
    CHECK_INT(routes_outcome(FETCH_TYPE_UNWANTED), 0);
    CHECK_INT(stats_get(&frame.stats.bytes_body), 4);
    routes_stop();
}

/* What may have links is read even if it is not kept; an error page is no body of that type. */
TEST(bodies_with_links_and_error_pages_are_received)
{
    check_wanted(OK_WITH("Content-Type: application/xhtml+xml\r\nContent-Length: 4\r\n", "abcd"));
    check_wanted(OK_WITH("Content-Type: application/json\r\nContent-Length: 4\r\n", "abcd"));
    check_wanted(OK_WITH("Content-Type: image/png\r\nContent-Length: 4\r\n", "abcd"));
    check_wanted(OK_WITH("Content-Length: 4\r\n", "abcd"));
    check_wanted("HTTP/1.1 404 No\r\nContent-Type: audio/ogg\r\nContent-Length: 4\r\n\r\nabcd");
}

/* Beside what the loop itself decodes, the page will never fit: to wait for others would be in vain. */
TEST(a_page_that_does_not_fit_beside_the_loops_own_memory_is_given_up)
{
    static const struct route table[] = {{NULL, "/1", long_answer}, {NULL, NULL, NULL}};
    int head = snprintf(long_answer, sizeof long_answer,
                        OK_WITH("Content-Type: text/html\r\nContent-Length: %d\r\n", ""), (int)LONG_BYTES);
    memset(long_answer + head, 'x', LONG_BYTES);
    long_answer[head + LONG_BYTES] = '\0';
    routes_set_up(table);
    frame.tuning.fixed.memory.page_bytes = 600 << 10;
    frame.tuning.live.retry.retries_max = 0;
    routes_start();
    frame.visits.reader.phase = READER_SCANS; /* another page, which needs it */
    CHECK(buffer_reserve(&frame.pages, &frame.visits.reader.decoded, 200 << 10, 0));
    frame_push(&frame, "/1");
    frame_run(&frame);
    frame.visits.reader.phase = READER_IDLE;
    CHECK_INT(routes_outcome(FETCH_NO_MEMORY), 1);
    CHECK_STR(routes_asked, "/1 ");
    routes_stop();
}
