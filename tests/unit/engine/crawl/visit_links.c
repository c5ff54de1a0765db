/* What a page leads to: redirects, links, sitemaps that have moved, and what forbids to follow. */
#include "tests/unit/engine/crawl/journal_records.h"
#include "tests/unit/engine/crawl/visit_routes.h"

#define HTML(length, body) OK_WITH("Content-Type: text/html\r\nContent-Length: " length "\r\n", body)

static void start(const struct route *table)
{
    routes_set_up(table);
    routes_start();
    frame_push(&frame, "/1");
}

TEST(links_are_followed)
{
    static const struct route table[] = {
        {NULL, "/1", HTML("12", "<a href=/2>2")},
        {NULL, "/2", HTML("26", "<a href=/1>1</a><a href=3>")},
        {NULL, NULL, NULL},
    };
    start(table);
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /2 /3 ");
    CHECK_INT(stats_get(&frame.stats.links), 3);
    CHECK_INT(stats_get(&frame.stats.links_known), 1);
    routes_stop();
}

TEST(links_of_the_head_are_followed)
{
    static const struct route table[] = {
        {NULL, "/1", OK_WITH("Content-Length: 0\r\nLink: </2>; rel=next\r\nRefresh: 0; url=/3\r\n", "")},
        {NULL, NULL, NULL},
    };
    start(table);
    frame_run(&frame);
    CHECK_INT(routes_times("/2"), 1);
    CHECK_INT(routes_times("/3"), 1);
    routes_stop();
}

TEST(redirects_are_followed_so_many_times)
{
    static const struct route table[] = {
        {NULL, "/1", MOVED("/2")},
        {NULL, "/2", MOVED("/3")},
        {NULL, "/3", MOVED("/4")},
        {NULL, NULL, NULL},
    };
    routes_set_up(table);
    frame.tuning.live.limits.redirects_max = 2;
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /2 /3 ");
    CHECK_INT(routes_outcome(FETCH_REDIRECTS_TOO_MANY), 1);
    CHECK_INT(routes_outcome(FETCH_DONE), 2);
    CHECK_INT(stats_get(&frame.stats.redirects), 3);
    char *log = frame_log(&frame);
    CHECK(strstr(log, "/3 RR ") != NULL);
    free(log);
    routes_stop();
}

/* The body of a redirect is not a page. */
TEST(a_redirect_is_not_read)
{
    static const struct route table[] = {
        {NULL, "/1",
         "HTTP/1.1 302 Found\r\nLocation: /2\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<a "
         "href=/3>3"},
        {NULL, NULL, NULL},
    };
    start(table);
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 /2 ");
    routes_stop();
}

TEST(an_error_page_is_not_read)
{
    static const struct route table[] = {
        {NULL, "/1",
         "HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<a href=/2>2"},
        {NULL, NULL, NULL},
    };
    start(table);
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 ");
    CHECK_INT(stats_get(&frame.stats.statuses[4]), 1);
    routes_stop();
}

/* A list of URLs in plain text leads somewhere only if it was asked for as a sitemap. */
TEST(a_sitemap_is_one_wherever_it_has_moved_to)
{
    char list[256], body[64];
    struct route table[] = {
        {NULL, "/robots.txt", TEXT("16", "Sitemap: /s.txt\n")},
        {NULL, "/s.txt", MOVED("/t.txt")},
        {NULL, "/t.txt", list},
        {NULL, NULL, NULL},
    };
    routes_set_up(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_ROBOTS;
    routes_start();
    snprintf(body, sizeof body, "http://127.0.0.1:%u/2\n", ntohs(frame.peer.address.v4.sin_port));
    snprintf(list, sizeof list, TEXT("%zu", "%s"), strlen(body), body);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/robots.txt /1 /s.txt /t.txt /2 ");
    routes_stop();
}

/* Each of the fields counts. */
TEST(robots_tags_add_up)
{
    static const struct route table[] = {
        {NULL, "/1",
         OK_WITH("Content-Type: text/html\r\nX-Robots-Tag: nofollow\r\nX-Robots-Tag: noarchive\r\nContent-Length: 12\r\n",
                 "<a href=/2>2")},
        {NULL, NULL, NULL},
    };
    start(table);
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 ");
    routes_stop();
}

static void check_tag(bool is_obeyed, const char *expected)
{
    static const struct route table[] = {
        {NULL, "/1",
         OK_WITH("Content-Type: text/html\r\nX-Robots-Tag: nofollow\r\nContent-Length: 12\r\n",
                 "<a href=/2>2")},
        {NULL, NULL, NULL},
    };
    routes_set_up(table);
    frame.tuning.live.robots.meta = is_obeyed;
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, expected);
    routes_stop();
}

TEST(a_robots_tag_is_obeyed_if_tags_are)
{
    check_tag(true, "/1 ");
    check_tag(false, "/1 /2 ");
}

TEST(without_links_per_page_nothing_is_followed)
{
    static const struct route table[] = {
        {NULL, "/1", HTML("12", "<a href=/2>2")},
        {NULL, NULL, NULL},
    };
    routes_set_up(table);
    frame.tuning.fixed.limits.links_per_page_max = 0;
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_STR(routes_asked, "/1 ");
    routes_stop();
}

/* A page of so many links that one step of the harvest does not take them all. */
enum { LINKS = 2 * HARVEST_LINKS_PER_STEP };

/* Links to /100, /101 and so on. Valid until the next call. */
static const char *many_links(void)
{
    static char answer[LINKS * 16 + 512];
    int len = snprintf(answer, sizeof answer, HTML("%zu", ""), LINKS * strlen("<a href=100>"));
    for (int i = 0; i < LINKS; i++)
        len += snprintf(answer + len, sizeof answer - (size_t)len, "<a href=%d>", 100 + i);
    return answer;
}

/* Visits "/1", until its page is read in part. From then on the journal has no room for more of its links. */
static void run_until_half_read(struct journal_loop *book)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    struct journal_frame in;
    routes_start();
    frame_push(&frame, "/1");
    CHECK_INT(journal_loop_init(book, 0), 0);
    journal_fill(book);
    while (!journal_has_room(book)) /* for one step */
        journal_records(book, &in);
    frame.harvest.journal = book;
    while (!frame.visits.reader.owner) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
    CHECK(stats_get(&frame.stats.urls_in) <= 1 + HARVEST_LINKS_PER_STEP);
}

/* Another loop has stored the same body meanwhile: what is begun is read all the same, and then other pages are. */
TEST(a_copy_that_comes_while_a_page_is_read_changes_nothing)
{
    static struct journal_loop book;
    const struct route table[] = {{"127.0.0.1", "/1", many_links()},
                                  {"127.0.0.1", "/100", HTML("12", "<a href=/2>2")},
                                  {"b.test", "/1", HTML("12", "<a href=/3>3")},
                                  {NULL, NULL, NULL}};
    struct exact_source source = {.url = SLICE("http://c.test/"), .date_us = 7};
    routes_set_up(table);
    frame.tuning.fixed.duplicates.links = TUNING_DUPLICATES_SKIP_LINKS;
    frame.tuning.fixed.duplicates.bytes = 1 << 20;
    CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
    run_until_half_read(&book);
    repeats_add(&frame.repeats, 0, frame.visits.stalled->page.digest, &source);
    frame_turn(&frame);
    CHECK_INT(stats_get(&frame.stats.pages), 0); /* half of its links are to come */
    journal_drain(&book);
    frame_run(&frame);
    CHECK(!frame.visits.reader.owner);
    CHECK_INT(stats_get(&frame.stats.duplicates), 1);
    CHECK_INT(stats_get(&frame.stats.links), LINKS + 1);
    CHECK_INT(routes_times("/2"), 1);
    frame_push_at(&frame, "b.test", "/1");
    frame_run(&frame);
    CHECK_INT(routes_times("b.test/3"), 1);
    frame.harvest.journal = NULL;
    journal_loop_fini(&book);
    repeats_fini(&frame.repeats);
    routes_stop();
}
