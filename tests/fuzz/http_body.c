/* A chunked body: fed at once and in pieces it must come to the same end, and what is taken for whole must be
 * so for picohttpparser's decoder too, with the same bytes and the same rest, unless lines end oddly. The first
 * byte chooses the pieces. */
#include <assert.h>
#include <picohttpparser.h>
#include <stdint.h>
#include <stdlib.h>

#include "net/http_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
    enum parse parse;
    char *bytes;
    size_t len;
    size_t left;
    bool is_odd;
};

static struct result decode(struct slice text, size_t step)
{
    struct result result = {PARSE_PARTIAL, malloc(text.len + 1), 0, 0, false};
    struct http_body body;
    http_body_init(&body, HTTP_FRAMING_CHUNKED, 0);
    while (text.len && result.parse == PARSE_PARTIAL) {
        struct slice in = {text.ptr, text.len < step ? text.len : step}, piece;
        const char *begin = in.ptr;
        while (in.len && result.parse == PARSE_PARTIAL) {
            enum http_error error;
            result.parse = http_body_feed(&body, &in, &piece, &error);
            if (result.parse == PARSE_BAD)
                break;
            memcpy(result.bytes + result.len, piece.ptr, piece.len);
            result.len += piece.len;
        }
        text = slice_skip(text, (size_t)(in.ptr - begin));
    }
    assert(body.received == result.len);
    result.left = text.len;
    result.is_odd = body.is_odd;
    return result;
}

static void check_against_peer(const struct result *result, struct slice text)
{
    struct phr_chunked_decoder decoder = {.consume_trailer = 1};
    char *copy = malloc(text.len);
    memcpy(copy, text.ptr, text.len);
    size_t len = text.len;
    ssize_t left = phr_decode_chunked(&decoder, copy, &len);
    assert(left >= 0 && (size_t)left == result->left);
    assert(len == result->len && memcmp(copy, result->bytes, len) == 0);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 50000)
        return 0;
    char *copy = malloc(size - 1);
    memcpy(copy, data + 1, size - 1);
    struct slice text = {copy, size - 1};
    struct result at_once = decode(text, SIZE_MAX), stepwise = decode(text, data[0] ? data[0] : 1);
    assert(at_once.parse == stepwise.parse && at_once.len == stepwise.len);
    assert(memcmp(at_once.bytes, stepwise.bytes, at_once.len) == 0);
    if (at_once.parse == PARSE_DONE) {
        assert(at_once.left == stepwise.left);
        if (!at_once.is_odd)
            check_against_peer(&at_once, text);
    }
    free(at_once.bytes);
    free(stepwise.bytes);
    free(copy);
    return 0;
}
