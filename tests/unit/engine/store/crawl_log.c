#include "engine/store/crawl_log.h"

#include "tests/support/check.h"

static char line[CRAWL_LOG_LINE_BYTES_MAX];

static const char *write_line(const struct crawl_log_entry *entry)
{
    size_t len = crawl_log_write(line, entry);
    line[len] = '\0';
    return line;
}

TEST(a_page)
{
    unsigned char digest[20] = {0};
    struct crawl_log_entry entry = {
        .end_us = UINT64_C(1700000001250000),
        .start_us = UINT64_C(1700000001000000),
        .outcome = FETCH_DONE,
        .status = 200,
        .size = 1234,
        .url_host = SLICE("http://example.org"),
        .url_path = SLICE("/a?b"),
        .hops = SLICE("LLR"),
        .mime = SLICE("text/html; charset=utf-8"),
        .loop = 1,
        .digest = digest,
        .tries = 3,
        .annotation = SLICE("truncated"),
    };
    CHECK_STR(write_line(&entry),
              "2023-11-14T22:13:21.250Z   200       1234 http://example.org/a?b LLR - text/html #001 "
              "20231114221321000+250 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - 3t,truncated\n");
}

TEST(a_url_that_was_never_asked_for)
{
    struct crawl_log_entry entry = {
        .end_us = UINT64_C(1700000001250000),
        .outcome = FETCH_ROBOTS_DENIED,
        .size = -1,
        .url_host = SLICE("http://example.org"),
        .url_path = SLICE("/"),
    };
    CHECK_STR(
        write_line(&entry),
        "2023-11-14T22:13:21.250Z -9998          - http://example.org/ - - - #000 - - - robots-denied\n");
}

TEST(nothing_to_say_is_a_dash)
{
    struct crawl_log_entry entry = {.outcome = FETCH_DONE,
                                    .status = 200,
                                    .tries = 1,
                                    .url_host = SLICE("http://h"),
                                    .url_path = SLICE("/b"),
                                    .via = SLICE("http://h/a"),
                                    .source = SLICE("http://h/")};
    CHECK(strstr(write_line(&entry), " http://h/b - http://h/a - #000 - - http://h/ -\n"));
}

/* The 13th column has what is known, and is valid JSON also if that is nothing. */
TEST(the_visit_its_links_and_the_first_byte_are_told_if_wanted)
{
    struct crawl_log_entry entry = {.url_host = SLICE("http://h"),
                                    .url_path = SLICE("/"),
                                    .has_extra = true,
                                    .extra = {.visit = 71, .outlinks = 0, .first_byte_ms = 12}};
    CHECK(strstr(write_line(&entry), " - - - {\"v\":71,\"o\":0,\"f\":12}\n"));
    entry.extra.outlinks = -1;
    CHECK(strstr(write_line(&entry), " - {\"v\":71,\"f\":12}\n"));
    entry.extra = (struct crawl_log_extra){.outlinks = 3, .first_byte_ms = -1};
    CHECK(strstr(write_line(&entry), " - {\"o\":3}\n"));
    entry.extra.outlinks = -1;
    CHECK(strstr(write_line(&entry), " - {}\n"));
}

TEST(odd_mime_types_do_not_break_the_columns)
{
    struct crawl_log_entry entry = {
        .mime = SLICE("a b\nc"), .url_host = SLICE("h"), .url_path = SLICE("/"), .size = 0};
    CHECK(strstr(write_line(&entry), " - a #000 ") != NULL);
    entry.mime = SLICE("\t;");
    CHECK(strstr(write_line(&entry), " - - #000 ") != NULL);
}

TEST(what_is_too_long_is_cut_before_the_end_of_the_line)
{
    static char path[3 * URL_BYTES_MAX], rest[2048];
    memset(path, 'p', sizeof path);
    memset(rest, 'r', sizeof rest);
    struct crawl_log_entry entry = {.url_host = SLICE("http://h"),
                                    .url_path = {path, sizeof path},
                                    .loop = 12,
                                    .annotation = {rest, sizeof rest}};
    size_t len = crawl_log_write(line, &entry);
    CHECK_INT(len, CRAWL_LOG_LINE_BYTES_MAX);
    CHECK_INT(line[len - 1], '\n');
    CHECK(memchr(line, '\n', len) == line + len - 1);
}
