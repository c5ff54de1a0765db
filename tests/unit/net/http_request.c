#include "net/http_request.h"

#include "tests/support/check.h"

static const struct http_field conditions[] = {
    {{"If-None-Match", 13}, {"\"abc\"", 5}},
    {{"From", 4}, {"crawl@example.com", 17}},
};

static struct http_request whole(void)
{
    return (struct http_request){
        .method = SLICE("GET"),
        .target = SLICE("/a?b=c"),
        .host = SLICE("example.com:8080"),
        .user_agent = SLICE("Mozilla/5.0 (compatible; x/1; +http://x/)"),
        .accept = SLICE("text/html, */*;q=0.1"),
        .accept_encoding = SLICE("gzip"),
        .extra = conditions,
        .extra_count = 2,
    };
}

static const char whole_text[] = "GET /a?b=c HTTP/1.1\r\n"
                                 "Host: example.com:8080\r\n"
                                 "User-Agent: Mozilla/5.0 (compatible; x/1; +http://x/)\r\n"
                                 "Accept: text/html, */*;q=0.1\r\n"
                                 "Accept-Encoding: gzip\r\n"
                                 "Connection: keep-alive\r\n"
                                 "If-None-Match: \"abc\"\r\n"
                                 "From: crawl@example.com\r\n"
                                 "\r\n";

TEST(writes_every_part)
{
    struct http_request request = whole();
    char buffer[512];
    size_t len;
    CHECK_INT(http_request_write(&request, buffer, sizeof buffer, &len), HTTP_OK);
    CHECK_SLICE(((struct slice){buffer, len}), whole_text);
}

TEST(leaves_out_what_is_empty)
{
    struct http_request request = {
        .method = SLICE("HEAD"), .target = SLICE("/"), .host = SLICE("[::1]"), .closes = true};
    char buffer[512];
    size_t len;
    CHECK_INT(http_request_write(&request, buffer, sizeof buffer, &len), HTTP_OK);
    CHECK_SLICE(((struct slice){buffer, len}), "HEAD / HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n");
}

TEST(never_writes_beyond_the_capacity)
{
    struct http_request request = whole();
    char *exact = check_guard_copy(whole_text, sizeof whole_text - 1);
    size_t len;
    for (size_t capacity = 0; capacity < sizeof whole_text - 1; capacity++) {
        char *end = exact + sizeof whole_text - 1;
        CHECK_INT(http_request_write(&request, end - capacity, capacity, &len), HTTP_ERROR_REQUEST_TOO_LONG);
        CHECK_INT(len, 0);
    }
    CHECK_INT(http_request_write(&request, exact, sizeof whole_text - 1, &len), HTTP_OK);
    CHECK_INT(len, sizeof whole_text - 1);
    check_guard_free(exact, sizeof whole_text - 1);
}

static enum http_error write_with(struct http_request request)
{
    char buffer[1024];
    size_t len;
    enum http_error error = http_request_write(&request, buffer, sizeof buffer, &len);
    CHECK((error == HTTP_OK) == (len > 0));
    return error;
}

TEST(refuses_what_would_break_the_message)
{
    struct http_request request = whole();
    CHECK_INT(write_with(request), HTTP_OK);
    static const char *const bad_targets[] = {"", "/a b", "/a\r\nX: y", "/a\nb", "/\t", "/\x7f"};
    for (size_t i = 0; i < sizeof bad_targets / sizeof *bad_targets; i++) {
        request = whole();
        request.target = slice_of(bad_targets[i]);
        CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
    }
    request = whole();
    request.host = SLICE("a\r\nb");
    CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
    request = whole();
    request.user_agent = SLICE("a\nb");
    CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
    request = whole();
    request.method = SLICE("");
    CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
    struct http_field bad_name = {SLICE("a b"), SLICE("c")}, no_name = {SLICE(""), SLICE("c")};
    request = whole();
    request.extra_count = 1;
    request.extra = &bad_name;
    CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
    request.extra = &no_name;
    CHECK_INT(write_with(request), HTTP_ERROR_REQUEST_BAD);
}

/* Every byte at every place of values that are shorter and longer than a word. */
TEST(refuses_controls_wherever_they_are)
{
    for (size_t len = 1; len <= 20; len++)
        for (size_t at = 0; at < len; at++)
            for (int byte = 0; byte < 256; byte++) {
                char text[20];
                memset(text, at & 1 ? '\xff' : 'a', len);
                text[at] = (char)byte;
                struct http_request of_target = whole(), of_agent = whole();
                of_target.target = of_agent.user_agent = (struct slice){text, len};
                CHECK_INT(write_with(of_target),
                          byte <= ' ' || byte == 0x7f ? HTTP_ERROR_REQUEST_BAD : HTTP_OK);
                CHECK_INT(write_with(of_agent),
                          byte < ' ' || byte == 0x7f ? HTTP_ERROR_REQUEST_BAD : HTTP_OK);
            }
}
