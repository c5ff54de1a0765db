#include "engine/crawl_log.h"

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
        .depth = 3,
        .kind = 'R',
        .mime = SLICE("text/html; charset=utf-8"),
        .loop = 1,
        .digest = digest,
        .annotation = SLICE("truncated"),
    };
    CHECK_STR(write_line(&entry),
              "2023-11-14T22:13:21.250Z   200       1234 http://example.org/a?b LLR - text/html #001 "
              "20231114221321000+250 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - done,truncated\n");
}

TEST(a_url_that_was_never_asked_for)
{
    struct crawl_log_entry entry = {
        .end_us = UINT64_C(1700000001250000),
        .outcome = FETCH_ROBOTS_DENIED,
        .size = -1,
        .url_host = SLICE("http://example.org"),
        .url_path = SLICE("/"),
        .kind = '-',
    };
    CHECK_STR(
        write_line(&entry),
        "2023-11-14T22:13:21.250Z -9998          - http://example.org/ - - - #000 - - - robots-denied\n");
}

TEST(every_failure_has_a_code_of_heritrix)
{
    for (int outcome = FETCH_DONE + 1; outcome < FETCH_OUTCOME_COUNT; outcome++)
        CHECK(crawl_log_code((enum fetch_outcome)outcome) < 0);
    CHECK_INT(crawl_log_code(FETCH_DNS_NO_NAME), -1);
    CHECK_INT(crawl_log_code(FETCH_CONNECT_REFUSED), -2);
    CHECK_INT(crawl_log_code(FETCH_TLS_RESET), -2);
    CHECK_INT(crawl_log_code(FETCH_BODY_RESET), -3);
    CHECK_INT(crawl_log_code(FETCH_FIRST_BYTE_TIMEOUT), -4);
}

TEST(long_paths_of_hops_show_their_end)
{
    struct crawl_log_entry entry = {
        .depth = 62, .kind = 'E', .url_host = SLICE("h"), .url_path = SLICE("/"), .size = -1};
    const char *text = write_line(&entry);
    CHECK(strstr(text, " 12+LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLE - ") != NULL);
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
    static char path[URL_BYTES_MAX], rest[2048];
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
