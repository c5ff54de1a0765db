#include "net/http.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct http_shared shared;

/* What came of a response. */
struct outcome {
    enum http_step step; /* HTTP_MORE, HTTP_END or HTTP_FAILED */
    enum http_error error;
    bool keeps_alive;
    int heads;
    int status;
    char body[8192];
    size_t body_len;
    size_t left; /* bytes that were not taken */
};

static void setup(uint32_t head_bytes_max, uint64_t body_bytes_max)
{
    http_shared_init(
        &shared, &(struct http_limits){.head_bytes_max = head_bytes_max, .body_bytes_max = body_bytes_max});
}

/* Pulls until the reader wants more, ends or fails. The input lies at a guard page and is not writable. */
static void feed(struct http_reader *reader, struct slice text, struct outcome *outcome)
{
    char *copy = check_guard_copy(text.ptr, text.len);
    struct slice in = {copy, text.len};
    struct http_event event;
    do {
        outcome->step = http_reader_pull(reader, &in, &event);
        if (outcome->step == HTTP_HEAD) {
            outcome->heads++;
            outcome->status = event.head->status;
        } else if (outcome->step == HTTP_BODY) {
            CHECK(event.body.len > 0);
            CHECK(outcome->body_len + event.body.len <= sizeof outcome->body);
            memcpy(outcome->body + outcome->body_len, event.body.ptr, event.body.len);
            outcome->body_len += event.body.len;
        }
    } while (outcome->step == HTTP_HEAD || outcome->step == HTTP_BODY);
    outcome->error = outcome->step == HTTP_FAILED ? event.error : HTTP_OK;
    outcome->keeps_alive = outcome->step == HTTP_END && event.keeps_alive;
    outcome->left = in.len;
    CHECK(memcmp(copy, text.ptr, text.len) == 0);
    CHECK(outcome->step != HTTP_MORE || in.len == 0);
    check_guard_free(copy, text.len);
}

/* One response in pieces of at most `step` bytes, then the end of the stream if the reader wants more. */
static struct outcome respond(struct slice text, size_t step, bool is_head_request)
{
    static struct outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    struct http_reader reader;
    http_reader_init(&reader, &shared);
    http_reader_begin(&reader, is_head_request);
    while (text.len && outcome.step == HTTP_MORE) {
        size_t len = text.len < step ? text.len : step;
        feed(&reader, (struct slice){text.ptr, len}, &outcome);
        text = slice_skip(text, len);
    }
    outcome.left += text.len;
    if (outcome.step == HTTP_MORE) {
        struct http_event event;
        outcome.step = http_reader_on_eof(&reader, &event);
        outcome.error = outcome.step == HTTP_FAILED ? event.error : HTTP_OK;
    }
    http_reader_reset(&reader);
    return outcome;
}

struct example {
    const char *text;
    bool is_head_request;
    enum http_error error;
    int status;
    const char *body;
    bool keeps_alive;
    size_t left;
};

static const struct example examples[] = {
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello",
     .status = 200,
     .body = "Hello",
     .keeps_alive = true},
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .status = 200, .body = "", .keeps_alive = true},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n6;x\r\n world\r\n0\r\nA: "
             "b\r\n\r\n",
     .status = 200,
     .body = "Hello world",
     .keeps_alive = true},
    {.text = "HTTP/1.1 200 OK\r\n\r\nHello", .status = 200, .body = "Hello"},
    {.text = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nHi", .status = 200, .body = "Hi"},
    {.text = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nHi",
     .status = 200,
     .body = "Hi",
     .keeps_alive = true},
    /* No body may follow; one that does all the same would be taken for the next answer. */
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
     .is_head_request = true,
     .status = 200,
     .body = ""},
    {.text = "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", .status = 304, .body = ""},
    {.text = "HTTP/1.1 304 Not Modified\r\n\r\n", .status = 304, .body = ""},
    {.text = "HTTP/1.1 204 No Content\r\n\r\n", .status = 204, .body = ""},
    {.text = "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", .status = 204, .body = ""},
    {.text = "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", .status = 204, .body = ""},
    {.text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"
             "Content-Length: 1\r\n\r\nx",
     .status = 200,
     .body = "x",
     .keeps_alive = true},
    {.text = "HTTP/1.1 200 OK\r\nbad line\r\nContent-Length: 1\r\n\r\nx", .status = 200, .body = "x"},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
     .is_head_request = true,
     .status = 200,
     .body = ""},
    /* Bodies whose end is in doubt, read as browsers read them. */
    {.text =
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
     .status = 200,
     .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n",
     .status = 200,
     .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nHello\n0\n\n",
     .status = 200,
     .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n",
     .status = 200,
     .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nHello", .status = 200, .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello world",
     .status = 200,
     .body = "Hello world"},
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nHello", .status = 200, .body = "Hello"},
    {.text = "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nHello", .status = 200, .body = "Hello"},
    {.text = "HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nHi",
     .status = 999,
     .body = "Hi",
     .keeps_alive = true},
    /* Faults. */
    {.text = "", .error = HTTP_ERROR_CLOSED_EARLY},
    {.text = "HTTP/1.1 200 OK\r\nCont", .error = HTTP_ERROR_HEAD_TRUNCATED},
    {.text = "HTTP/1.1 100 Continue\r\n\r\n", .error = HTTP_ERROR_HEAD_TRUNCATED},
    {.text = "HTTP/1.1 101 Switching\r\n\r\n", .error = HTTP_ERROR_UPGRADED},
    {.text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHell",
     .status = 200,
     .body = "Hell",
     .error = HTTP_ERROR_BODY_TRUNCATED},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
     .status = 200,
     .body = "Hello",
     .error = HTTP_ERROR_BODY_TRUNCATED},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHelloX",
     .status = 200,
     .body = "Hello",
     .error = HTTP_ERROR_CHUNK_BAD},
    {.text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz",
     .status = 200,
     .error = HTTP_ERROR_CHUNK_BAD},
    {.text = "SSH-2.0-OpenSSH", .error = HTTP_ERROR_STATUS_LINE_BAD},
};

static void check_example(const struct example *example, size_t step)
{
    struct outcome outcome = respond(slice_of(example->text), step, example->is_head_request);
    CHECK_INT(outcome.error, example->error);
    CHECK_INT(outcome.step, example->error == HTTP_OK ? HTTP_END : HTTP_FAILED);
    CHECK_INT(outcome.status, example->status);
    CHECK_INT(outcome.heads, example->status != 0);
    CHECK_INT(outcome.keeps_alive, example->keeps_alive);
    if (example->body)
        CHECK_SLICE(((struct slice){outcome.body, outcome.body_len}), example->body);
}

TEST(examples_in_pieces_of_any_size)
{
    setup(4096, 8192);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        for (size_t step = 1; step <= strlen(examples[i].text) + 1; step++)
            check_example(&examples[i], step);
}

TEST(surplus_ends_the_keep_alive)
{
    setup(4096, 8192);
    static const char *const texts[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx|",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n|",
        "HTTP/1.1 304 OK\r\n\r\n|",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct outcome outcome = respond(slice_of(texts[i]), SIZE_MAX, false);
        CHECK_INT(outcome.step, HTTP_END);
        CHECK(!outcome.keeps_alive);
        CHECK_INT(outcome.left, 1);
    }
}

TEST(one_reader_serves_many_responses)
{
    setup(4096, 8192);
    struct http_reader reader;
    http_reader_init(&reader, &shared);
    for (int i = 0; i < 100; i++) {
        char text[256];
        int len =
            snprintf(text, sizeof text, "HTTP/1.1 2%02d OK\r\nContent-Length: 3\r\n\r\n%03d", i % 100, i);
        if (i % 100 == 4)
            continue; /* 204 has no body */
        struct outcome outcome = {0};
        http_reader_begin(&reader, false);
        CHECK(!http_reader_has_begun(&reader));
        feed(&reader, (struct slice){text, (size_t)(i % 40)}, &outcome);
        CHECK_INT(http_reader_has_begun(&reader), i % 40 > 0);
        feed(&reader, (struct slice){text + i % 40, (size_t)(len - i % 40)}, &outcome);
        CHECK_INT(outcome.step, HTTP_END);
        CHECK(outcome.keeps_alive);
        CHECK_INT(strtol(outcome.body, NULL, 10), i);
        CHECK(!reader.pieces);
    }
    http_reader_reset(&reader);
}

TEST(end_and_failure_stick)
{
    setup(4096, 8192);
    struct http_reader reader;
    struct http_event event;
    http_reader_init(&reader, &shared);
    struct slice in = SLICE("x");
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_END);
    CHECK(!event.keeps_alive && in.len == 1);
    http_reader_begin(&reader, false);
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_FAILED);
    in = SLICE("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_FAILED);
    CHECK_INT(event.error, HTTP_ERROR_STATUS_LINE_BAD);
    CHECK_INT(http_reader_on_eof(&reader, &event), HTTP_FAILED);
    CHECK_INT(event.error, HTTP_ERROR_STATUS_LINE_BAD);
    http_reader_reset(&reader);
    http_reader_begin(&reader, false);
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_HEAD);
    http_reader_reset(&reader);
}

TEST(head_in_pieces_points_into_memory_of_the_readers)
{
    setup(4096, 8192);
    struct http_reader reader;
    struct http_event event;
    http_reader_init(&reader, &shared);
    http_reader_begin(&reader, false);
    char first[] = "HTTP/1.1 200 OK\r\nX-Name: va", second[] = "lue\r\nContent-Length: 0\r\n\r\n";
    struct slice in = {first, sizeof first - 1};
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_MORE);
    memset(first, '?', sizeof first);
    in = (struct slice){second, sizeof second - 1};
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_HEAD);
    memset(second, '?', sizeof second);
    CHECK_SLICE(http_head_find(event.head, SLICE("x-name")), "value");
    CHECK_INT(http_reader_pull(&reader, &in, &event), HTTP_END);
    CHECK(event.keeps_alive);
    CHECK(!reader.pieces);
}

/* A head of exactly `len` bytes. */
static char *head_of(size_t len)
{
    static const char begin[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
    char *text = malloc(len + 1);
    memset(text, 'x', len);
    memcpy(text, begin, sizeof begin - 1);
    memcpy(text + len - 4, "\r\n\r\n", 4);
    return text;
}

TEST(head_size_is_bounded)
{
    setup(10000, 8192);
    static const size_t steps[] = {1, 7, 4096, 9999, 10000, SIZE_MAX};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char *text = head_of(10000);
        CHECK_INT(respond((struct slice){text, 10000}, steps[i], false).step, HTTP_END);
        free(text);
        text = head_of(10001);
        struct outcome outcome = respond((struct slice){text, 10001}, steps[i], false);
        CHECK_INT(outcome.error, HTTP_ERROR_HEAD_TOO_LONG);
        free(text);
    }
}

/* A head that never ends. */
static enum http_step begin_long_head(struct http_reader *reader, char *text, size_t len)
{
    struct http_event event;
    struct slice in = {text, len};
    http_reader_init(reader, &shared);
    http_reader_begin(reader, false);
    memset(text, 'x', len);
    memcpy(text, "HTTP/1.1 200 OK\r\nA: ", 20);
    enum http_step step = http_reader_pull(reader, &in, &event);
    CHECK(step == HTTP_MORE || event.error == HTTP_ERROR_NO_MEMORY);
    return step;
}

TEST(unfinished_heads_together_are_bounded)
{
    enum { LONG = 1 << 20, COUNT = HTTP_PIECES_BYTES_MAX / LONG };
    static struct http_reader readers[COUNT + 1];
    setup(LONG, 8192);
    char *text = malloc(LONG - 1);
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(begin_long_head(&readers[i], text, LONG - 1), HTTP_MORE);
    CHECK_INT(begin_long_head(&readers[COUNT], text, LONG - 1), HTTP_FAILED);
    http_reader_reset(&readers[0]);
    http_reader_reset(&readers[COUNT]);
    CHECK_INT(begin_long_head(&readers[COUNT], text, LONG - 1), HTTP_MORE);
    for (int i = 0; i <= COUNT; i++)
        http_reader_reset(&readers[i]);
    CHECK_INT(shared.pieces_bytes, 0);
    free(text);
}

TEST(interim_responses_are_bounded)
{
    setup(4096, 8192);
    for (int count = HTTP_INTERIM_MAX; count <= HTTP_INTERIM_MAX + 1; count++) {
        char text[1024];
        int len = 0;
        for (int i = 0; i < count; i++)
            len += snprintf(text + len, sizeof text - (size_t)len, "HTTP/1.1 100 Continue\r\n\r\n");
        snprintf(text + len, sizeof text - (size_t)len, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        enum http_error expected = count > HTTP_INTERIM_MAX ? HTTP_ERROR_TOO_MANY_INTERIM : HTTP_OK;
        CHECK_INT(respond(slice_of(text), 3, false).error, expected);
        CHECK_INT(respond(slice_of(text), SIZE_MAX, false).error, expected);
    }
    CHECK_INT(shared.interim_heads, 4 * HTTP_INTERIM_MAX);
}

TEST(body_size_is_bounded)
{
    setup(4096, 10);
    static const char *const at_limit[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
        "HTTP/1.1 200 OK\r\n\r\n0123456789",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n",
    };
    static const char *const beyond[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890",
        "HTTP/1.1 200 OK\r\n\r\n01234567890",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n5\r\n67890\r\n0\r\n\r\n",
    };
    for (size_t step = 1; step < 100; step++) {
        for (size_t i = 0; i < 3; i++) {
            struct outcome outcome = respond(slice_of(at_limit[i]), step, false);
            CHECK_INT(outcome.step, HTTP_END);
            CHECK_SLICE(((struct slice){outcome.body, outcome.body_len}), "0123456789");
            outcome = respond(slice_of(beyond[i]), step, false);
            CHECK_INT(outcome.error, HTTP_ERROR_BODY_TOO_LONG);
            CHECK_SLICE(((struct slice){outcome.body, outcome.body_len}), "0123456789");
        }
    }
}

TEST(tolerated_heads_are_counted)
{
    setup(4096, 8192);
    respond(SLICE("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), SIZE_MAX, false);
    CHECK_INT(shared.tolerated_heads, 0);
    respond(SLICE("HTTP/1.1 200 OK\r\nbad\r\nContent-Length: 0\r\n\r\n"), 1, false);
    CHECK_INT(shared.tolerated_heads, 1);
}

TEST(an_idle_reader_is_small)
{
    CHECK(sizeof(struct http_reader) <= 64);
}
