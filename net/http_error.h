/* Why an HTTP message was given up. Each cause is counted on its own by whoever fetches. */
#pragma once

enum http_error {
    HTTP_OK,
    /* request */
    HTTP_ERROR_REQUEST_TOO_LONG, /* does not fit the buffer */
    HTTP_ERROR_REQUEST_BAD,      /* a control character or a space where it would break the message */
    /* head */
    HTTP_ERROR_CLOSED_EARLY,     /* the peer closed before the first byte of the response */
    HTTP_ERROR_HEAD_TRUNCATED,   /* the peer closed inside the head */
    HTTP_ERROR_STATUS_LINE_BAD,  /* not a response of HTTP/1.x, nor anything browsers take for one */
    HTTP_ERROR_HEAD_TOO_LONG,    /* more than limits.head_bytes_max */
    HTTP_ERROR_TOO_MANY_INTERIM, /* more than HTTP_INTERIM_MAX responses 1xx in a row */
    HTTP_ERROR_UPGRADED,         /* 101 without having asked */
    /* framing: where the body ends cannot be known for sure */
    HTTP_ERROR_CHUNK_BAD,      /* a chunk's size line, its end, or the trailer */
    HTTP_ERROR_CHUNK_OVERHEAD, /* chunk extensions and trailers of more than HTTP_CHUNK_EXTRA_BYTES_MAX */
    /* body */
    HTTP_ERROR_BODY_TRUNCATED, /* the peer closed inside the body */
    HTTP_ERROR_BODY_TOO_LONG, /* more than limits.body_bytes_max; the bytes up to the limit were handed out */
    HTTP_ERROR_NO_MEMORY,     /* for a head that came in pieces */
    HTTP_ERROR_COUNT,
};

/* One word or two in lower case with dashes, fit for a log column: "chunk-bad". Static storage. */
const char *http_error_text(enum http_error error);
