#include "net/http_request.h"

/* Where the next bytes go; an error sticks. */
struct writer {
    char *at;
    char *end;
    enum http_error error;
};

static void put(struct writer *writer, struct slice text)
{
    if ((size_t)(writer->end - writer->at) < text.len) {
        if (writer->error == HTTP_OK)
            writer->error = HTTP_ERROR_REQUEST_TOO_LONG;
        return;
    }
    if (text.len)
        memcpy(writer->at, text.ptr, text.len);
    writer->at += text.len;
}

/* Text from outside: nothing below `lowest` and no DEL, so that it cannot end its line or its word. */
static void put_checked(struct writer *writer, struct slice text, unsigned char lowest)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < lowest || text.ptr[i] == 0x7f)
            writer->error = HTTP_ERROR_REQUEST_BAD;
    put(writer, text);
}

static void put_field(struct writer *writer, struct slice name, struct slice value)
{
    if (name.len == 0)
        writer->error = HTTP_ERROR_REQUEST_BAD;
    put_checked(writer, name, '!');
    put(writer, SLICE(": "));
    put_checked(writer, value, ' ');
    put(writer, SLICE("\r\n"));
}

static void put_optional(struct writer *writer, struct slice name, struct slice value)
{
    if (value.len)
        put_field(writer, name, value);
}

enum http_error http_request_write(const struct http_request *request, char *buffer, size_t capacity,
                                   size_t *len)
{
    struct writer writer = {buffer, buffer + capacity, HTTP_OK};
    if (request->method.len == 0 || request->target.len == 0 || request->host.len == 0)
        writer.error = HTTP_ERROR_REQUEST_BAD;
    put_checked(&writer, request->method, '!');
    put(&writer, SLICE(" "));
    put_checked(&writer, request->target, '!');
    put(&writer, SLICE(" HTTP/1.1\r\nHost: "));
    put_checked(&writer, request->host, '!');
    put(&writer, SLICE("\r\n"));
    put_optional(&writer, SLICE("User-Agent"), request->user_agent);
    put_optional(&writer, SLICE("Accept"), request->accept);
    put_optional(&writer, SLICE("Accept-Encoding"), request->accept_encoding);
    put_field(&writer, SLICE("Connection"), request->closes ? SLICE("close") : SLICE("keep-alive"));
    for (size_t i = 0; i < request->extra_count; i++)
        put_field(&writer, request->extra[i].name, request->extra[i].value);
    put(&writer, SLICE("\r\n"));
    *len = writer.error == HTTP_OK ? (size_t)(writer.at - buffer) : 0;
    return writer.error;
}
