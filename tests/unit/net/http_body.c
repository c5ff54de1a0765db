#include "net/http_body.h"

#include <stdlib.h>

#include "tests/support/check.h"

static char decoded[1 << 17];
static size_t decoded_len;
static enum http_error error;

/* Feeds `in` to the end, or to a fault; collects the pieces. `in` is then what was left. */
static enum parse feed(struct http_body *body, struct slice *in)
{
    for (;;) {
        struct slice piece, before = *in;
        enum parse parse = http_body_feed(body, in, &piece, &error);
        if (parse == PARSE_BAD)
            return parse;
        CHECK(piece.len == 0 ||
              (piece.ptr >= before.ptr && piece.ptr + piece.len <= before.ptr + before.len));
        memcpy(decoded + decoded_len, piece.ptr, piece.len);
        decoded_len += piece.len;
        if (parse == PARSE_DONE || in->len == 0)
            return parse;
    }
}

static enum parse decode_chunked(struct http_body *body, struct slice *in)
{
    http_body_init(body, HTTP_FRAMING_CHUNKED, 0);
    decoded_len = 0;
    return feed(body, in);
}

static const char message[] = "5\r\nHello\r\n"
                              "1;name=value\r\n,\r\n"
                              "0000A  \r\n wonderful\r\n"
                              "6 ; x=\"y\"\r\n world\r\n"
                              "000\r\n"
                              "Trailer: x\r\nOther: y\r\n\r\n";
static const char plain[] = "Hello, wonderful world";

TEST(decodes_chunks)
{
    struct http_body body;
    struct slice in = SLICE(message);
    CHECK_INT(decode_chunked(&body, &in), PARSE_DONE);
    CHECK_INT(in.len, 0);
    CHECK_INT(body.received, sizeof plain - 1);
    CHECK_SLICE(((struct slice){decoded, decoded_len}), plain);
    CHECK_INT(http_body_on_eof(&body), PARSE_DONE);
}

TEST(chunks_split_anywhere)
{
    const size_t trailer_at = (size_t)(strstr(message, "Trailer") - message);
    for (size_t cut = 0; cut < sizeof message - 1; cut++) {
        struct http_body body;
        char *first = check_guard_copy(message, cut);
        char *second = check_guard_copy(message + cut, sizeof message - 1 - cut);
        struct slice in = {first, cut};
        CHECK_INT(decode_chunked(&body, &in), PARSE_PARTIAL);
        /* A close inside the trailer takes nothing from the body. */
        CHECK_INT(http_body_on_eof(&body), cut < trailer_at ? PARSE_BAD : PARSE_DONE);
        CHECK(!body.is_odd);
        in = (struct slice){second, sizeof message - 1 - cut};
        CHECK_INT(feed(&body, &in), PARSE_DONE);
        CHECK_SLICE(((struct slice){decoded, decoded_len}), plain);
        check_guard_free(first, cut);
        check_guard_free(second, sizeof message - 1 - cut);
    }
}

TEST(chunks_byte_by_byte)
{
    struct http_body body;
    http_body_init(&body, HTTP_FRAMING_CHUNKED, 0);
    decoded_len = 0;
    for (size_t i = 0; i < sizeof message - 1; i++) {
        struct slice in = {message + i, 1};
        CHECK_INT(feed(&body, &in), i + 2 < sizeof message ? PARSE_PARTIAL : PARSE_DONE);
    }
    CHECK_SLICE(((struct slice){decoded, decoded_len}), plain);
}

TEST(what_follows_the_last_chunk_is_left)
{
    struct http_body body;
    struct slice in = SLICE("1\r\nx\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n");
    CHECK_INT(decode_chunked(&body, &in), PARSE_DONE);
    CHECK_SLICE(in, "HTTP/1.1 200 OK\r\n");
    struct slice again = in;
    struct slice piece;
    CHECK_INT(http_body_feed(&body, &again, &piece, &error), PARSE_DONE);
    CHECK_INT(again.len, in.len);
}

TEST(bad_chunks_are_refused)
{
    static const char *const bad[] = {
        "\r\n",
        "x\r\n",
        "-5\r\n",
        "+5\r\n",
        " 5\r\n",
        "0x5\r\n",
        "5 5\r\n",
        "5\r\rHello",
        "5\r\nHelloX",
        "5\r\nHello\rX",
        "5g\r\n",
        "10000000000000000\r\n",
        "0000000000000000000001\r\n",
        "0\r\n\rx",
        "0\r\nA: b\rx",
        ";a\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct http_body body;
        size_t len = strlen(bad[i]);
        char *copy = check_guard_copy(bad[i], len);
        struct slice in = {copy, len};
        CHECK_INT(decode_chunked(&body, &in), PARSE_BAD);
        CHECK_INT(error, HTTP_ERROR_CHUNK_BAD);
        check_guard_free(copy, len);
    }
}

TEST(lines_may_end_with_line_feeds_alone)
{
    static const char *const odd[] = {
        "5\nHello\n6\n world\n0\n\n",
        "5\r\nHello\r\n6\r\n world\n0\r\n\r\n",
        "5;a=b\nHello\r\n6 \n world\r\n0\r\n\r\n",
        "5\r\nHello\r\n6\r\n world\r\n0\r\n\n",
        "5\r\nHello\r\n6\r\n world\r\n0\r\nA: b\nC: d\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t cut = 0; cut <= strlen(odd[i]); cut++) {
            struct http_body body;
            struct slice in = {odd[i], cut};
            CHECK_INT(decode_chunked(&body, &in), cut < strlen(odd[i]) ? PARSE_PARTIAL : PARSE_DONE);
            in = slice_of(odd[i] + cut);
            CHECK_INT(feed(&body, &in), PARSE_DONE);
            CHECK_SLICE(((struct slice){decoded, decoded_len}), "Hello world");
            CHECK(body.is_odd);
        }
}

TEST(extensions_and_trailers_are_bounded)
{
    static const struct {
        const char *begin;
        char filler;
    } cases[] = {{"5;", 'j'}, {"5", ' '}, {"0\r\n", 'j'}};
    for (size_t i = 0; i < 3; i++) {
        struct http_body body;
        http_body_init(&body, HTTP_FRAMING_CHUNKED, 0);
        struct slice in = slice_of(cases[i].begin);
        CHECK_INT(feed(&body, &in), PARSE_PARTIAL);
        char junk[1024];
        memset(junk, cases[i].filler, sizeof junk);
        size_t fed = 0;
        enum parse parse = PARSE_PARTIAL;
        while (parse == PARSE_PARTIAL && fed < 2 * HTTP_CHUNK_EXTRA_BYTES_MAX) {
            in = (struct slice){junk, sizeof junk};
            parse = feed(&body, &in);
            fed += sizeof junk;
        }
        CHECK_INT(parse, PARSE_BAD);
        CHECK_INT(error, HTTP_ERROR_CHUNK_OVERHEAD);
        CHECK(fed >= HTTP_CHUNK_EXTRA_BYTES_MAX);
    }
}

TEST(many_small_chunks_are_no_overhead)
{
    struct http_body body;
    http_body_init(&body, HTTP_FRAMING_CHUNKED, 0);
    decoded_len = 0;
    for (int i = 0; i < 100000; i++) {
        struct slice in = SLICE("1\r\nx\r\n");
        CHECK_INT(feed(&body, &in), PARSE_PARTIAL);
    }
    CHECK_INT(body.received, 100000);
}

TEST(length_ends_where_it_says)
{
    struct http_body body;
    http_body_init(&body, HTTP_FRAMING_LENGTH, 5);
    decoded_len = 0;
    struct slice in = SLICE("He");
    CHECK_INT(feed(&body, &in), PARSE_PARTIAL);
    CHECK_INT(http_body_on_eof(&body), PARSE_BAD);
    in = SLICE("lloHTTP");
    CHECK_INT(feed(&body, &in), PARSE_DONE);
    CHECK_SLICE(in, "HTTP");
    CHECK_SLICE(((struct slice){decoded, decoded_len}), "Hello");
    CHECK_INT(http_body_on_eof(&body), PARSE_DONE);
}

TEST(no_body_and_length_zero_end_at_once)
{
    for (int i = 0; i < 2; i++) {
        struct http_body body;
        http_body_init(&body, i ? HTTP_FRAMING_LENGTH : HTTP_FRAMING_NONE, 0);
        struct slice in = SLICE("HTTP"), piece;
        CHECK_INT(http_body_feed(&body, &in, &piece, &error), PARSE_DONE);
        CHECK_INT(piece.len, 0);
        CHECK_INT(in.len, 4);
    }
}

TEST(until_close_takes_all)
{
    struct http_body body;
    http_body_init(&body, HTTP_FRAMING_CLOSE, 0);
    decoded_len = 0;
    struct slice in = SLICE("anything\r\n\r\nHTTP/1.1 200 OK");
    CHECK_INT(feed(&body, &in), PARSE_PARTIAL);
    CHECK_SLICE(((struct slice){decoded, decoded_len}), "anything\r\n\r\nHTTP/1.1 200 OK");
    CHECK_INT(http_body_on_eof(&body), PARSE_DONE);
}
