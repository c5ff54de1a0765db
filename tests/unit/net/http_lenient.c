#include "net/http_lenient.h"

#include <stdio.h>

#include "tests/support/check.h"

static struct http_head head;
static enum http_error error;

/* Through the front door: picohttpparser refuses first. */
static enum parse parse(struct slice text)
{
    return http_head_parse(&head, text, 0, &error);
}

static void parse_tolerated(const char *text, unsigned tolerated)
{
    CHECK_INT(parse(slice_of(text)), PARSE_DONE);
    CHECK_INT(head.tolerated, tolerated);
    CHECK_INT(head.raw.len, strlen(text));
    CHECK(!head.keeps_alive);
}

TEST(status_lines_that_browsers_take)
{
    static const struct {
        const char *line;
        int minor_version;
        const char *reason;
    } cases[] = {
        {"HTTP/1.1 200OK", 1, "OK"},   {"http/1.1 200 OK", 1, "OK"},     {"HTTP/2 200", 1, ""},
        {"HTTP/2.0 200 OK", 1, "OK"},  {"HTTP/1 200 OK", 0, "OK"},       {"HTTP/0.9 200 OK", 0, "OK"},
        {"ICY 200 OK", 0, "OK"},       {"\r\nHTTP/1.1 200 OK", 1, "OK"}, {"\n\n\nHTTP/1.1 200 OK", 1, "OK"},
        {"HTTP/1.10 200 OK", 1, "OK"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s\r\nContent-Length: 4\r\n\r\n", cases[i].line);
        parse_tolerated(text, 1);
        CHECK_INT(head.status, 200);
        CHECK_INT(head.minor_version, cases[i].minor_version);
        CHECK_SLICE(head.reason, cases[i].reason);
        CHECK_INT(head.content_length, 4);
    }
}

TEST(bad_lines_are_dropped_and_counted)
{
    static const char *const bad[] = {
        "no colon here",      ": no name",   "name with space: x", "na\xc3\xafve: x", "(comment): x",
        " continues nothing", "A: bell\x07", "A: bare\rcr",        "A: del\x7f",      "<html>: x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n%s\r\nContent-Type: text/html\r\n\r\n", bad[i]);
        parse_tolerated(text, 1);
        CHECK_INT(head.field_count, 1);
        CHECK_SLICE(head.known[HTTP_KNOWN_CONTENT_TYPE], "text/html");
    }
}

TEST(a_nul_drops_its_line)
{
    struct slice text = SLICE("HTTP/1.1 200 OK\r\nA: x\0y\r\nB: c\r\n\r\n");
    CHECK_INT(parse(text), PARSE_DONE);
    CHECK_INT(head.field_count, 1);
    CHECK_SLICE(head.fields[0].name, "B");
}

TEST(space_before_the_colon_is_mended)
{
    parse_tolerated("HTTP/1.1 200 OK\r\nContent-Length : 12\r\nTransfer-Encoding\t: chunked\r\n\r\n", 2);
    CHECK_SLICE(head.fields[0].name, "Content-Length");
    CHECK(head.is_chunked);
    CHECK(!head.keeps_alive);
}

TEST(continuation_of_a_dropped_line_goes_too)
{
    parse_tolerated("HTTP/1.1 200 OK\r\nA: one\r\n two\r\nbad line\r\n of two\r\nB: x\r\n\r\n", 2);
    CHECK_INT(head.field_count, 2);
    CHECK_SLICE(head.fields[0].value, "one\r\n two");
    CHECK_SLICE(head.fields[1].value, "x");
}

TEST(what_is_no_response_is_refused_at_once)
{
    static const char *const bad[] = {"<html><body>",       "SSH-2.0-OpenSSH_9.2\r\n", "220 smtp ready\r\n",
                                      "GET / HTTP/1.1\r\n", "\r\n\r\n\r\n\r\n\r\n",    "HTPP/1.1 200 OK"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(parse(slice_of(bad[i])), PARSE_BAD);
        CHECK_INT(error, HTTP_ERROR_STATUS_LINE_BAD);
    }
}

TEST(every_prefix_is_partial)
{
    static const char text[] = "\r\nHTTP/1.1 200OK\r\nbad\r\nA : b\r\nC: d\re\r\nContent-Length: 0\r\n\r\n";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        for (int with_seen = 0; with_seen < 2; with_seen++) {
            char *copy = check_guard_copy(text, len);
            size_t seen = with_seen && len ? len - 1 : 0;
            CHECK_INT(http_head_parse(&head, (struct slice){copy, len}, seen, &error), PARSE_PARTIAL);
            check_guard_free(copy, len);
        }
    }
    size_t whole = sizeof text - 1;
    CHECK_INT(http_head_parse(&head, SLICE(text), whole - 1, &error), PARSE_DONE);
    CHECK_INT(head.tolerated, 4);
    CHECK_INT(head.field_count, 2);
}

TEST(field_count_is_bounded)
{
    static char text[64 + (HTTP_FIELDS_MAX + 1) * 8];
    int len = snprintf(text, sizeof text, "HTTP/1.1 200OK\r\n");
    for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "A: b\r\n");
    snprintf(text + len, sizeof text - (size_t)len, "\r\n");
    CHECK_INT(parse(slice_of(text)), PARSE_DONE);
    CHECK_INT(head.field_count, HTTP_FIELDS_MAX - HTTP_FIELDS_RESERVED);
}

TEST(an_end_within_the_first_bytes_is_not_missed)
{
    static const char text[] = "ICY \n\n0\n\n";
    enum parse grown = PARSE_PARTIAL;
    for (size_t len = 1; len < sizeof text && grown == PARSE_PARTIAL; len++)
        grown = http_head_parse(&head, (struct slice){text, len}, len - 1, &error);
    CHECK_INT(grown, PARSE_BAD);
    CHECK_INT(parse(SLICE(text)), PARSE_BAD);
}
