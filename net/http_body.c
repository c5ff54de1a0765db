#include "net/http_body.h"

#include <assert.h>

/* RFC 9112, 7.1. LF alone ends a line, too, as in browsers. Who mixes them can be led to see another end of
 * the body than the server meant: such a body is odd, and the last on its connection. */
enum chunk_state {
    CHUNK_SIZE,         /* digits */
    CHUNK_SIZE_PADDING, /* white space after the digits: some servers write sizes of fixed width */
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER_BEGIN, /* of a line */
    CHUNK_TRAILER,
    CHUNK_TRAILER_LF,
    CHUNK_END_LF,
    CHUNK_END,
};

/* More would not fit 64 bits. */
#define CHUNK_DIGITS_MAX 15

void http_body_init(struct http_body *body, enum http_framing framing, uint64_t length)
{
    *body = (struct http_body){.framing = (uint8_t)framing, .state = CHUNK_SIZE};
    if (framing == HTTP_FRAMING_LENGTH)
        body->left = length;
}

static enum chunk_state state_after_size(const struct http_body *body)
{
    return body->left ? CHUNK_DATA : CHUNK_TRAILER_BEGIN;
}

/* A line that ends with LF alone. */
static bool end_oddly(struct http_body *body, enum chunk_state after)
{
    body->is_odd = true;
    body->state = (uint8_t)after;
    return true;
}

/* States in which the size is known but its line goes on. */
static bool step_after_size(struct http_body *body, char c)
{
    if (c == '\n')
        return end_oddly(body, state_after_size(body));
    if (c == '\r')
        body->state = CHUNK_SIZE_LF;
    else if (c == ';')
        body->state = CHUNK_EXTENSION;
    else if (slice_is_blank(c))
        body->state = CHUNK_SIZE_PADDING;
    else
        return false;
    body->extra_bytes += c != '\r';
    return true;
}

static bool step_size(struct http_body *body, char c)
{
    int digit = slice_hex_value(c);
    if (digit < 0)
        return body->digits > 0 && step_after_size(body, c);
    body->left = body->left << 4 | (unsigned)digit;
    return ++body->digits <= CHUNK_DIGITS_MAX;
}

/* Inside a line whose content does not matter: after CR comes `at_lf`, after the line's end `after`. */
static bool step_skipped(struct http_body *body, char c, enum chunk_state at_lf, enum chunk_state after)
{
    if (c == '\n')
        return end_oddly(body, after);
    if (c == '\r')
        body->state = (uint8_t)at_lf;
    body->extra_bytes += c != '\r';
    return true;
}

static bool step_expected(struct http_body *body, bool is_expected, enum chunk_state after)
{
    body->state = (uint8_t)after;
    return is_expected;
}

/* One byte of framing. False: it cannot be. */
static bool step(struct http_body *body, char c)
{
    switch ((enum chunk_state)body->state) {
    case CHUNK_SIZE:
        return step_size(body, c);
    case CHUNK_SIZE_PADDING:
        return step_after_size(body, c);
    case CHUNK_EXTENSION:
        return step_skipped(body, c, CHUNK_SIZE_LF, state_after_size(body));
    case CHUNK_SIZE_LF:
        return step_expected(body, c == '\n', state_after_size(body));
    case CHUNK_DATA_CR:
        body->digits = 0;
        if (c == '\n')
            return end_oddly(body, CHUNK_SIZE);
        return step_expected(body, c == '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return step_expected(body, c == '\n', CHUNK_SIZE);
    case CHUNK_TRAILER_BEGIN:
        body->state = CHUNK_TRAILER;
        return step_skipped(body, c, CHUNK_END_LF, CHUNK_END);
    case CHUNK_TRAILER:
        return step_skipped(body, c, CHUNK_TRAILER_LF, CHUNK_TRAILER_BEGIN);
    case CHUNK_TRAILER_LF:
        return step_expected(body, c == '\n', CHUNK_TRAILER_BEGIN);
    case CHUNK_END_LF:
        return step_expected(body, c == '\n', CHUNK_END);
    case CHUNK_DATA:
    case CHUNK_END:
        break;
    }
    assert(!"no framing here");
    return false;
}

static struct slice take(struct http_body *body, struct slice *in)
{
    struct slice piece = *in;
    if (piece.len > body->left)
        piece.len = (size_t)body->left;
    *in = slice_skip(*in, piece.len);
    body->left -= piece.len;
    body->received += piece.len;
    return piece;
}

static enum parse feed_chunked(struct http_body *body, struct slice *in, struct slice *piece,
                               enum http_error *error)
{
    while (body->state != CHUNK_END) {
        if (in->len == 0)
            return PARSE_PARTIAL;
        if (body->state == CHUNK_DATA) {
            *piece = take(body, in);
            if (body->left == 0)
                body->state = CHUNK_DATA_CR;
            return PARSE_PARTIAL;
        }
        if (!step(body, in->ptr[0])) {
            *error = HTTP_ERROR_CHUNK_BAD;
            return PARSE_BAD;
        }
        if (body->extra_bytes > HTTP_CHUNK_EXTRA_BYTES_MAX) {
            *error = HTTP_ERROR_CHUNK_OVERHEAD;
            return PARSE_BAD;
        }
        *in = slice_skip(*in, 1);
    }
    return PARSE_DONE;
}

enum parse http_body_feed(struct http_body *body, struct slice *in, struct slice *piece,
                          enum http_error *error)
{
    *piece = (struct slice){in->ptr, 0};
    switch ((enum http_framing)body->framing) {
    case HTTP_FRAMING_NONE:
        return PARSE_DONE;
    case HTTP_FRAMING_LENGTH:
        *piece = take(body, in);
        return body->left ? PARSE_PARTIAL : PARSE_DONE;
    case HTTP_FRAMING_CHUNKED:
        return feed_chunked(body, in, piece, error);
    case HTTP_FRAMING_CLOSE:
        body->left = UINT64_MAX;
        *piece = take(body, in);
        return PARSE_PARTIAL;
    }
    assert(!"unknown framing");
    return PARSE_BAD;
}

enum parse http_body_on_eof(const struct http_body *body)
{
    switch ((enum http_framing)body->framing) {
    case HTTP_FRAMING_NONE:
    case HTTP_FRAMING_CLOSE:
        return PARSE_DONE;
    case HTTP_FRAMING_LENGTH:
        return body->left ? PARSE_BAD : PARSE_DONE;
    case HTTP_FRAMING_CHUNKED:
        return body->state >= CHUNK_TRAILER_BEGIN ? PARSE_DONE : PARSE_BAD;
    }
    assert(!"unknown framing");
    return PARSE_BAD;
}
