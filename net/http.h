/* Reads responses of HTTP/1.x from bytes that somebody else received, one response per request.
 *
 *     http_reader_begin(&reader, is_head_request);
 *     on every receive, and on plaintext out of TLS:
 *         struct slice in = received;
 *         for (;;)
 *             switch (http_reader_pull(&reader, &in, &event)) {
 *             case HTTP_MORE:   give the bytes back, receive more;
 *             case HTTP_HEAD:   event.head, then go on pulling;
 *             case HTTP_BODY:   event.body, then go on pulling;
 *             case HTTP_END:    event.keeps_alive ? the connection is ready : close it;
 *             case HTTP_FAILED: event.error; close the connection;
 *             }
 *     on end of stream: http_reader_on_eof, which answers HTTP_END or HTTP_FAILED.
 *
 * Nothing is copied: event.head points into the bytes fed (or, for a head that came in pieces, into a buffer
 * of the reader's own), event.body into the bytes fed. Both are good until the next call for any reader of
 * the same loop, and no longer than the fed bytes themselves. The fed bytes are never written to.
 *
 * A response whose end is in doubt, and bytes that follow a response, end the keep-alive: what belongs to one
 * response is never taken for the next. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/http_body.h"
#include "net/http_error.h"
#include "net/http_head.h"
#include "net/slice.h"

struct http_limits {
    uint32_t head_bytes_max; /* of each head, interim ones too */
    uint64_t body_bytes_max; /* after de-chunking, before content decoding */
};

/* What the readers of one loop share. */
struct http_shared {
    struct http_limits limits;
    struct http_head head;    /* of the response parsed last */
    uint64_t tolerated_heads; /* heads that needed the second look */
    uint64_t interim_heads;   /* 1xx that were skipped */
    uint64_t pieces_bytes;    /* held by heads that come in pieces */
};

enum http_step {
    HTTP_MORE,   /* `in` is used up */
    HTTP_HEAD,   /* the final response's head; comes once */
    HTTP_BODY,   /* a piece of the body, never empty */
    HTTP_END,    /* the response is complete; `in` is what follows it */
    HTTP_FAILED, /* sticky */
};

struct http_event {
    const struct http_head *head; /* HTTP_HEAD */
    struct slice body;            /* HTTP_BODY */
    enum http_error error;        /* HTTP_FAILED */
    bool keeps_alive;             /* HTTP_END: another request may be sent on this connection */
};

/* Small: one is part of every connection. Holds memory of its own only while a head comes in pieces and until
 * the call after its HTTP_HEAD. */
struct http_reader {
    struct http_shared *shared;
    char *pieces; /* the head so far; NULL when nothing is kept */
    uint32_t pieces_len;
    uint32_t pieces_capacity;
    struct http_body body;
    uint8_t state; /* enum reader_state of http.c */
    uint8_t interim_count;
    uint8_t error; /* enum http_error, once failed */
    bool is_head_request;
    bool keeps_alive;
};

void http_shared_init(struct http_shared *shared, const struct http_limits *limits);

void http_reader_init(struct http_reader *reader, struct http_shared *shared);
/* Frees what is held; the reader may begin again. Needed before the reader's memory goes. */
void http_reader_reset(struct http_reader *reader);
/* A request was (or is about to be) sent: the next bytes are its response. */
void http_reader_begin(struct http_reader *reader, bool is_head_request);

/* Takes from the front of `in`. After HTTP_END and before http_reader_begin: HTTP_END again. */
enum http_step http_reader_pull(struct http_reader *reader, struct slice *in, struct http_event *event);
enum http_step http_reader_on_eof(struct http_reader *reader, struct http_event *event);
/* Inside a body that nothing ends but the end of the stream. */
bool http_reader_awaits_eof(const struct http_reader *reader);

/* Whether a byte of the response has come: a request on a kept-alive connection that dies before that may be
 * repeated on a new one. */
bool http_reader_has_begun(const struct http_reader *reader);
