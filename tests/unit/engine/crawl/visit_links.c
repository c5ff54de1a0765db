/* What a page leads to: redirects, links, sitemaps that have moved, and what forbids to follow. */
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
