/* Finds the end of a body and cuts the transfer framing off: reads only, hands out slices of its input. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/http_error.h"
#include "net/http_head.h"
#include "net/parse.h"
#include "net/slice.h"

struct http_body {
    uint64_t left;        /* of the length, or of the chunk */
    uint64_t received;    /* bytes handed out */
    uint32_t extra_bytes; /* chunk extensions, padding, trailers */
    uint8_t framing;      /* enum http_framing */
    uint8_t state;        /* enum chunk_state of http_body.c */
    uint8_t digits;       /* of the chunk size read so far */
    bool is_odd;          /* a line of framing ended with LF alone: not to be trusted with a next message */
};

/* `length` counts for HTTP_FRAMING_LENGTH only. */
void http_body_init(struct http_body *body, enum http_framing framing, uint64_t length);

/* Advances `in` over framing and at most one piece of the body, which becomes *piece (possibly empty).
 * PARSE_PARTIAL: all of `in` is used up or a piece is in hand: take it, call again with the rest or with more
 * bytes. PARSE_DONE: the body ended with *piece; `in` is what follows it. PARSE_BAD: *error says why. */
enum parse http_body_feed(struct http_body *body, struct slice *in, struct slice *piece,
                          enum http_error *error);

/* The peer closed: PARSE_DONE if nothing of the body is missing, else PARSE_BAD (truncated). */
enum parse http_body_on_eof(const struct http_body *body);
