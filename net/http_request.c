#include "net/http_request.h"

#include <stdint.h>

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

/* The top bit of a byte of the word is set if the word has a byte below `lowest`, which is at most 128, or DEL. */
static uint64_t find_control(const char *at, unsigned char lowest)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint64_t without_del = word ^ ones * 0x7f; /* DEL becomes 0 */
    return (((word - ones * lowest) & ~word) | ((without_del - ones) & ~without_del)) & ones << 7;
}

/* Whether text from outside has nothing below `lowest` and no DEL, so that it cannot end its line or its word. */
static bool is_clean(struct slice text, unsigned char lowest)
{
    uint64_t found = 0;
    if (text.len < sizeof found) {
        for (size_t i = 0; i < text.len; i++)
            found |= (unsigned char)text.ptr[i] < lowest || text.ptr[i] == 0x7f;
        return !found;
    }
    for (size_t i = 0; i + sizeof found <= text.len; i += sizeof found)
        found |= find_control(text.ptr + i, lowest);
    return !(found |
             find_control(text.ptr + text.len - sizeof found, lowest)); /* some bytes for a second time */
}

static void put_checked(struct writer *writer, struct slice text, unsigned char lowest)
{
    if (!is_clean(text, lowest))
        writer->error = HTTP_ERROR_REQUEST_BAD;
    put(writer, text);
}

/* `begin` is the line up to its value. */
static void put_line(struct writer *writer, struct slice begin, struct slice value)
{
    put(writer, begin);
    put_checked(writer, value, ' ');
    put(writer, SLICE("\r\n"));
}

static void put_optional(struct writer *writer, struct slice begin, struct slice value)
{
    if (value.len)
        put_line(writer, begin, value);
}

static void put_field(struct writer *writer, const struct http_field *field)
{
    if (field->name.len == 0)
        writer->error = HTTP_ERROR_REQUEST_BAD;
    put_checked(writer, field->name, '!');
    put_line(writer, SLICE(": "), field->value);
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
    put_optional(&writer, SLICE("User-Agent: "), request->user_agent);
    put_optional(&writer, SLICE("Accept: "), request->accept);
    put_optional(&writer, SLICE("Accept-Encoding: "), request->accept_encoding);
    put(&writer, request->closes ? SLICE("Connection: close\r\n") : SLICE("Connection: keep-alive\r\n"));
    for (size_t i = 0; i < request->extra_count; i++)
        put_field(&writer, &request->extra[i]);
    put(&writer, SLICE("\r\n"));
    *len = writer.error == HTTP_OK ? (size_t)(writer.at - buffer) : 0;
    return writer.error;
}
