#include "tools/websim/request.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tools/websim/personality.h"

static struct websim_request request;
static size_t used;
static char *copy;

static enum parse parse(const char *text)
{
    static size_t len;
    if (copy)
        check_guard_free(copy, len);
    len = strlen(text);
    copy = check_guard_copy(text, len);
    return websim_request_parse(&request, (struct slice){copy, len}, &used);
}

#define FULL                                                                                                 \
    "GET /a/b?c=d HTTP/1.1\r\nHost: H1.d2.sim:8080\r\nAccept-Encoding: gzip, br;q=0.5, zstd\r\n"             \
    "User-Agent: x\r\n\r\n"

TEST(a_request)
{
    CHECK_INT(parse(FULL "GET /next"), PARSE_DONE);
    CHECK_INT(used, sizeof FULL - 1);
    CHECK_SLICE(request.method, "GET");
    CHECK_SLICE(request.target, "/a/b?c=d");
    CHECK_SLICE(request.host, "H1.d2.sim");
    CHECK(request.keep_alive);
    CHECK_INT(request.accepts,
              1 << WEBSIM_ENCODING_GZIP | 1 << WEBSIM_ENCODING_BROTLI | 1 << WEBSIM_ENCODING_ZSTD);
}

TEST(every_prefix_is_partial)
{
    char text[sizeof FULL];
    for (size_t len = 0; len < sizeof FULL - 1; len++) {
        memcpy(text, FULL, len);
        text[len] = '\0';
        CHECK_INT(parse(text), PARSE_PARTIAL);
    }
}

TEST(what_is_no_request)
{
    CHECK_INT(parse("nonsense\r\n\r\n"), PARSE_BAD);
    CHECK_INT(parse("GET / HTTP/1.1\r\nbad field\r\n\r\n"), PARSE_BAD);
    CHECK_INT(parse("GET / HTTP/1.1\r\nA: b\r\n continued\r\n\r\n"), PARSE_BAD);
    CHECK_INT(parse("POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), PARSE_BAD);
    CHECK_INT(parse("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), PARSE_BAD);
    CHECK_INT(parse("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), PARSE_DONE);
}

TEST(a_head_that_does_not_end)
{
    static char text[WEBSIM_REQUEST_BYTES_MAX + 1];
    size_t len = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nX: ");
    memset(text + len, 'x', sizeof text - 1 - len);
    CHECK_INT(parse(text), PARSE_BAD);
}

TEST(too_many_fields)
{
    static char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n");
    for (unsigned i = 0; i <= WEBSIM_REQUEST_FIELDS_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "A: b\r\n");
    snprintf(text + len, sizeof text - len, "\r\n");
    CHECK_INT(parse(text), PARSE_BAD);
}

TEST(the_connection_field)
{
    CHECK_INT(parse("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), PARSE_DONE);
    CHECK(!request.keep_alive);
    CHECK_INT(parse("GET / HTTP/1.1\r\nConnection: TE, Close\r\n\r\n"), PARSE_DONE);
    CHECK(!request.keep_alive);
    CHECK_INT(parse("GET / HTTP/1.0\r\n\r\n"), PARSE_DONE);
    CHECK(!request.keep_alive);
    CHECK_INT(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), PARSE_DONE);
    CHECK(request.keep_alive);
}

TEST(encodings_that_are_refused)
{
    CHECK_INT(parse("GET / HTTP/1.1\r\nAccept-Encoding: gzip;q=0, br;q=0.0, zstd ; q=0.01\r\n\r\n"),
              PARSE_DONE);
    CHECK_INT(request.accepts, 1 << WEBSIM_ENCODING_ZSTD);
    CHECK_INT(parse("GET / HTTP/1.1\r\nAccept-Encoding:\r\n\r\n"), PARSE_DONE);
    CHECK_INT(request.accepts, 0);
    CHECK_INT(parse("GET / HTTP/1.1\r\nAccept-Encoding: ,,deflate,GZIP,\r\n\r\n"), PARSE_DONE);
    CHECK_INT(request.accepts, 1 << WEBSIM_ENCODING_GZIP);
}

TEST(the_absolute_form)
{
    CHECK_INT(parse("GET http://other:80/x HTTP/1.1\r\nHost: h\r\n\r\n"), PARSE_DONE);
    CHECK_SLICE(request.host, "other");
    CHECK_SLICE(request.target, "/x");
    CHECK_INT(parse("GET http://other HTTP/1.1\r\nHost: h\r\n\r\n"), PARSE_DONE);
    CHECK_SLICE(request.target, "/");
}
