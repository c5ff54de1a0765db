#include "net/http_head.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct http_head head;
static enum http_error error;

static enum parse parse(const char *text)
{
    return http_head_parse(&head, slice_of(text), 0, &error);
}

static void parse_good(const char *text)
{
    CHECK_INT(parse(text), PARSE_DONE);
    CHECK_INT(head.tolerated, 0);
}

/* "HTTP/1.1 200 OK" with these field lines. */
static const char *with_fields(const char *fields)
{
    static char text[4096];
    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n%s\r\n", fields);
    return text;
}

static const char ordinary[] = "HTTP/1.1 301 Moved Permanently\r\n"
                               "Server: nginx\r\n"
                               "Content-Type:  text/html; charset=utf-8 \r\n"
                               "Content-Length: 162\r\n"
                               "LOCATION: https://example.com/\r\n"
                               "Retry-After: 120\r\n"
                               "ETag: \"abc\"\r\n"
                               "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
                               "Content-Encoding: gzip\r\n"
                               "Set-Cookie: a=1\r\n"
                               "Set-Cookie: b=2\r\n"
                               "X-Empty:\r\n"
                               "\r\n";

TEST(reads_an_ordinary_head)
{
    parse_good(ordinary);
    CHECK_INT(head.raw.len, sizeof ordinary - 1);
    CHECK_INT(head.minor_version, 1);
    CHECK_INT(head.status, 301);
    CHECK_SLICE(head.reason, "Moved Permanently");
    CHECK_INT(head.field_count, 11);
    CHECK_INT(head.content_length, 162);
    CHECK(!head.is_chunked);
    CHECK(head.keeps_alive);
    CHECK_SLICE(head.known[HTTP_KNOWN_CONTENT_TYPE], "text/html; charset=utf-8");
    CHECK_SLICE(head.known[HTTP_KNOWN_LOCATION], "https://example.com/");
    CHECK_SLICE(head.known[HTTP_KNOWN_RETRY_AFTER], "120");
    CHECK_SLICE(head.known[HTTP_KNOWN_ETAG], "\"abc\"");
    CHECK_SLICE(head.known[HTTP_KNOWN_LAST_MODIFIED], "Mon, 01 Jan 2024 00:00:00 GMT");
    CHECK_SLICE(head.known[HTTP_KNOWN_CONTENT_ENCODING], "gzip");
    CHECK_SLICE(http_head_find(&head, SLICE("set-cookie")), "a=1");
    struct slice empty = http_head_find(&head, SLICE("x-empty"));
    CHECK(empty.ptr && empty.len == 0);
    CHECK(!http_head_find(&head, SLICE("absent")).ptr);
}

TEST(fields_of_one_name_are_a_list)
{
    char room[32];
    parse_good("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Type: a/b\r\nA: "
               "b\r\ncontent-encoding: gzip , "
               "br\r\n\r\n");
    CHECK_SLICE(head.known[HTTP_KNOWN_CONTENT_ENCODING], "deflate");
    CHECK_INT(head.repeated, 1u << HTTP_KNOWN_CONTENT_ENCODING);
    CHECK_SLICE(http_head_join(&head, SLICE("Content-Encoding"), room, sizeof room), "deflate, gzip , br");
    CHECK_SLICE(http_head_join(&head, SLICE("a"), room, sizeof room), "b");
    CHECK_SLICE(http_head_join(&head, SLICE("c"), room, sizeof room), "");
    CHECK_SLICE(http_head_join(&head, SLICE("Content-Encoding"), room, 18), "deflate, gzip , br");
    CHECK_SLICE(http_head_join(&head, SLICE("Content-Encoding"), room, 17), ""); /* too long */
    parse_good("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    CHECK_INT(head.repeated, 0);
}

TEST(nothing_of_the_last_head_stays)
{
    parse_good(ordinary);
    parse_good("HTTP/1.0 200 OK\r\n\r\n");
    CHECK_INT(head.field_count, 0);
    CHECK_INT(head.content_length, -1);
    CHECK(!head.keeps_alive);
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        CHECK(!head.known[i].ptr);
}

TEST(every_prefix_is_partial)
{
    for (size_t seen = 0; seen < 2; seen++) {
        for (size_t len = 0; len < sizeof ordinary - 1; len++) {
            char *copy = check_guard_copy(ordinary, len);
            size_t before = seen && len ? len - 1 : 0;
            CHECK_INT(http_head_parse(&head, (struct slice){copy, len}, before, &error), PARSE_PARTIAL);
            check_guard_free(copy, len);
        }
    }
    char *whole = check_guard_copy(ordinary, sizeof ordinary - 1);
    CHECK_INT(http_head_parse(&head, (struct slice){whole, sizeof ordinary - 1}, 0, &error), PARSE_DONE);
    check_guard_free(whole, sizeof ordinary - 1);
}

TEST(what_follows_the_head_is_left)
{
    parse_good("HTTP/1.1 200 OK\r\nA: b\r\n\r\nHTTP/1.1 404 No\r\n\r\n");
    CHECK_INT(head.raw.len, strlen("HTTP/1.1 200 OK\r\nA: b\r\n\r\n"));
    CHECK_INT(head.status, 200);
}

TEST(length_framing)
{
    static const struct {
        const char *fields;
        int64_t length;
        bool is_sound; /* else the body ends with the connection */
    } cases[] = {
        {"", -1, true},
        {"Content-Length: 0\r\n", 0, true},
        {"Content-Length: 007\r\n", 7, true},
        {"Content-Length: 9223372036854775807\r\n", INT64_MAX, true},
        {"Content-Length: 9223372036854775808\r\n", -1, false},
        {"Content-Length: 99999999999999999999999999\r\n", -1, false},
        {"Content-Length: +5\r\n", -1, false},
        {"Content-Length: -5\r\n", -1, false},
        {"Content-Length: 0x5\r\n", -1, false},
        {"Content-Length: 5 5\r\n", -1, false},
        {"Content-Length:\r\n", -1, false},
        {"Content-Length: 5\r\n 6\r\n", -1, false},
        {"Content-Length: 5, 5\r\n", 5, true},
        {"Content-Length: 5\r\ncontent-length: 5\r\n", 5, true},
        {"Content-Length: 5,6\r\n", -1, false},
        {"Content-Length: 5\r\nContent-Length: 6\r\n", -1, false},
        {"Content-Length: 5,\r\n", 5, true},
        {"Content-Length: ,5\r\n", -1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse_good(with_fields(cases[i].fields));
        CHECK_INT(head.content_length, cases[i].length);
        CHECK_INT(head.keeps_alive, cases[i].is_sound);
        CHECK_INT(http_head_framing(&head, false),
                  cases[i].length >= 0 ? HTTP_FRAMING_LENGTH : HTTP_FRAMING_CLOSE);
    }
}

TEST(transfer_coding)
{
    static const struct {
        const char *fields;
        bool keeps_alive;
        enum http_framing framing;
    } cases[] = {
        {"Transfer-Encoding: chunked\r\n", true, HTTP_FRAMING_CHUNKED},
        {"transfer-encoding:\tCHUNKED \r\n", true, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding:\r\n chunked\r\n", true, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", false, HTTP_FRAMING_LENGTH},
        {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Content-Length: x\r\nTransfer-Encoding: chunked\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: gzip, chunked\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: chunked, gzip\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: chunked, chunked\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", false, HTTP_FRAMING_CHUNKED},
        {"Transfer-Encoding: xchunked\r\n", false, HTTP_FRAMING_CLOSE},
        {"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", false, HTTP_FRAMING_CLOSE},
        {"Transfer-Encoding: \"chunked\"\r\n", false, HTTP_FRAMING_CLOSE},
        {"Transfer-Encoding:\r\n", false, HTTP_FRAMING_CLOSE},
        {"Transfer-Encoding:\r\nContent-Length: 5\r\n", false, HTTP_FRAMING_LENGTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse_good(with_fields(cases[i].fields));
        CHECK_INT(http_head_framing(&head, false), cases[i].framing);
        CHECK_INT(head.keeps_alive, cases[i].keeps_alive);
    }
}

TEST(keep_alive)
{
    static const struct {
        const char *text;
        bool keeps_alive;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: Close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: foo, close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: foo\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nConnection: closed\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\nConnection: x,keep-alive\r\n\r\n", true},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\n\r\n", false},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parse_good(cases[i].text);
        CHECK_INT(head.keeps_alive, cases[i].keeps_alive);
    }
}

TEST(framing_by_method_and_status)
{
    parse_good(with_fields("Content-Length: 5\r\n"));
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_LENGTH);
    CHECK_INT(http_head_framing(&head, true), HTTP_FRAMING_NONE);
    parse_good(with_fields("Transfer-Encoding: chunked\r\n"));
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_CHUNKED);
    parse_good(with_fields(""));
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_CLOSE);
    parse_good("HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n");
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_NONE);
    parse_good("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n");
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_NONE);
    parse_good("HTTP/1.1 103 Early Hints\r\nContent-Length: 500\r\n\r\n");
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_NONE);
    parse_good("HTTP/1.1 205 Reset Content\r\nContent-Length: 3\r\n\r\n");
    CHECK_INT(http_head_framing(&head, false), HTTP_FRAMING_LENGTH);
}

TEST(folded_values_are_whole)
{
    parse_good(with_fields("A: one\r\n two\r\n\tthree\r\nB:\r\n four\r\nC: five\r\n"));
    CHECK_INT(head.field_count, 3);
    CHECK_SLICE(head.fields[0].value, "one\r\n two\r\n\tthree");
    CHECK_SLICE(head.fields[1].value, "four");
    CHECK_SLICE(head.fields[2].value, "five");
}

TEST(line_feeds_alone_are_line_ends)
{
    parse_good("HTTP/1.1 200 OK\nA: b\nContent-Length: 3\n\nabc");
    CHECK_INT(head.content_length, 3);
    CHECK_INT(head.raw.len, strlen("HTTP/1.1 200 OK\nA: b\nContent-Length: 3\n\n"));
}

TEST(of_too_many_fields_those_that_matter_are_kept)
{
    static char text[64 + 20 * HTTP_FIELDS_MAX];
    for (int count = HTTP_FIELDS_MAX - 2; count <= 2 * HTTP_FIELDS_MAX; count += HTTP_FIELDS_MAX + 2) {
        int len = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < count; i++)
            len += snprintf(text + len, sizeof text - (size_t)len, "A: b\r\n");
        snprintf(text + len, sizeof text - (size_t)len, "X-Robots-Tag: none\r\nContent-Length: 7\r\n\r\n");
        CHECK_INT(parse(text), PARSE_DONE);
        CHECK_INT(head.raw.len, strlen(text));
        CHECK_INT(head.content_length, 7);
        CHECK_SLICE(http_head_find(&head, SLICE("X-Robots-Tag")), "none");
        const bool fits = count + 2 <= HTTP_FIELDS_MAX;
        CHECK_INT(head.field_count, fits ? count + 2 : HTTP_FIELDS_MAX - HTTP_FIELDS_RESERVED + 2);
        CHECK_INT(head.keeps_alive, fits);
    }
}

TEST(the_table_of_fields_is_never_left)
{
    static char text[64 + 30 * HTTP_FIELDS_MAX];
    int len = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "Link: <%d>\r\n", i);
    snprintf(text + len, sizeof text - (size_t)len, "\r\n");
    CHECK_INT(parse(text), PARSE_DONE);
    CHECK_INT(head.field_count, HTTP_FIELDS_MAX);
}

TEST(status_must_be_one)
{
    static const char *const bad[] = {"HTTP/1.1 099 x\r\n\r\n",  "HTTP/1.1 20 x\r\n\r\n",
                                      "HTTP/1.1 2000 x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
                                      "HTTP/1.1\r\n\r\n",        "HTTP/1.1 -20 x\r\n\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_INT(parse(bad[i]), PARSE_BAD);
        CHECK_INT(error, HTTP_ERROR_STATUS_LINE_BAD);
    }
}

TEST(every_error_has_a_text)
{
    for (int i = 0; i < HTTP_ERROR_COUNT; i++)
        CHECK(http_error_text((enum http_error)i));
    CHECK_STR(http_error_text(HTTP_ERROR_CHUNK_BAD), "chunk-bad");
}
