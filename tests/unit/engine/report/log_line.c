#include "engine/report/log_line.h"

#include "tests/support/check.h"

#define UP_TO_COLUMN_9                                                                                       \
    "2023-11-14T22:13:21.250Z   200       1234 http://example.org/a?b LLR http://example.org/ text/html "    \
    "#001 "
#define OURS                                                                                                 \
    UP_TO_COLUMN_9 "20231114221321000+250 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA http://example.org/ 3t "     \
                   "{\"v\":71,\"o\":9,\"f\":12}"

TEST(a_line_of_ours)
{
    struct log_line line;
    CHECK(log_line_read(&line, SLICE(OURS)));
    CHECK_INT(line.end_ms, 1700000001250);
    CHECK_INT(line.status, 200);
    CHECK_INT(line.size, 1234);
    CHECK_INT(line.took_ms, 250);
    CHECK(slice_equals(line.url, SLICE("http://example.org/a?b")));
    CHECK(slice_equals(line.hops, SLICE("LLR")));
    CHECK(slice_equals(line.mime, SLICE("text/html")));
    CHECK(slice_equals(line.source, SLICE("http://example.org/")));
    CHECK(slice_equals(line.annotation, SLICE("3t")));
    CHECK_INT(line.visit, 71);
    CHECK_INT(line.outlinks, 9);
    CHECK_INT(line.first_byte_ms, 12);
}

/* Heritrix's extra info has other keys; those of ours may be missing. */
TEST(lines_of_heritrix)
{
    struct log_line line;
    CHECK(log_line_read(&line,
                        SLICE("2012-02-29T12:00:00.001Z     1         56 dns:example.org P - text/dns #049 "
                              "20120229120000000+1 sha1:ABC - - {\"contentSize\":12,\"x\":\"o\"}")));
    CHECK_INT(line.end_ms, 1330516800001);
    CHECK_INT(line.status, 1);
    CHECK_INT(line.visit, 0);
    CHECK_INT(line.outlinks, -1);
    CHECK(log_line_read(&line,
                        SLICE("2012-02-29T12:00:00.001Z -9998 - http://a.it/x L - unknown #002 - - - x")));
    CHECK_INT(line.status, -9998);
    CHECK_INT(line.size, -1);
    CHECK_INT(line.took_ms, -1);
}

/* Up to the ninth column a line is none; nothing behind the end is read. */
TEST(a_line_that_is_cut_is_none_or_lacks_only_its_end)
{
    struct slice whole = SLICE(OURS);
    for (size_t len = 0; len <= whole.len; len++) {
        struct log_line line;
        char *copy = check_guard_copy(whole.ptr, len);
        CHECK_INT(log_line_read(&line, (struct slice){copy, len}), len > sizeof UP_TO_COLUMN_9 - 1);
        check_guard_free(copy, len);
    }
}

/* Blanks are looked for sixteen bytes at a time. */
TEST(columns_of_any_width)
{
    char url[80], text[400];
    for (int width = 1; width < (int)sizeof url; width++) {
        struct log_line line;
        snprintf(url, sizeof url, "%.*s", width, "http://example.org/a/page/with/a/long/name/and/a/longer/one/and/an/even/longer/one/of/them/");
        int len = snprintf(text, sizeof text, "2023-11-14T22:13:21.250Z   200 %*d %s L%.*s - text/html #001 20231114221321000+250 - - %.*s", width % 12, 7, url,
                           width % 37, "LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL", width, "near-duplicate:12:0123456789abcdef,3t,and-more-of-it-0123456789012345678901234567890");
        char *copy = check_guard_copy(text, (size_t)len);
        CHECK(log_line_read(&line, (struct slice){copy, (size_t)len}));
        CHECK(slice_equals(line.url, slice_of(url)));
        CHECK_INT(line.hops.len, 1 + width % 37);
        CHECK(slice_equals(line.mime, SLICE("text/html")));
        CHECK_INT(line.annotation.len, width);
        check_guard_free(copy, (size_t)len);
    }
}

TEST(what_is_no_line)
{
    static const char *const texts[] = {
        "",
        "   ",
        "hello",
        "2023-13-14T22:13:21.250Z 200 1 http://a/ - - text/html #001 -",
        "2023-11-14 22:13:21.250Z 200 1 http://a/ - - text/html #001 -",
        "2023-11-14T25:13:21.250Z 200 1 http://a/ - - text/html #001 -",
        "2023-11-14T22:13:21.250Z OK 1 http://a/ - - text/html #001 -",
        "2023-11-14T22:13:21.250Z 200 many http://a/ - - text/html #001 -",
        "2023-11-14T22:13:21.250Z 999999999 1 http://a/ - - text/html #001 -",
    };
    struct log_line line;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(!log_line_read(&line, slice_of(texts[i])));
}

TEST(depth_is_the_number_of_hops)
{
    CHECK_INT(log_line_depth(SLICE("-")), 0);
    CHECK_INT(log_line_depth(SLICE("LLR")), 3);
    CHECK_INT(log_line_depth(SLICE("12+LL")), 14);
    CHECK_INT(log_line_depth(SLICE("999999999+L")), 11); /* no number of hops */
}

TEST(the_host_of_a_url)
{
    CHECK(slice_equals(log_line_host(SLICE("http://a.it:80/x//y")), SLICE("http://a.it:80")));
    CHECK(slice_equals(log_line_host(SLICE("https://a.it")), SLICE("https://a.it")));
    CHECK(slice_equals(log_line_host(SLICE("dns:a.it")), SLICE("dns:")));
    CHECK(slice_equals(log_line_host(SLICE("x")), SLICE("x")));
    CHECK(slice_equals(log_line_host(SLICE("")), SLICE("")));
}
