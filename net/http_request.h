/* Writes the head of a request. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/http_error.h"
#include "net/http_head.h"
#include "net/slice.h"

struct http_request {
    struct slice method; /* "GET" */
    struct slice target; /* path and query, at least "/" */
    struct slice host;   /* as in the URL: with the port unless it is the scheme's own, IPv6 in brackets */
    /* Empty: the line is left out. */
    struct slice user_agent;
    struct slice accept;
    struct slice accept_encoding;
    bool closes; /* "Connection: close" rather than "keep-alive" */
    const struct http_field *extra;
    size_t extra_count;
};

/* Writes at most `capacity` bytes, *len of them. HTTP_ERROR_REQUEST_TOO_LONG and HTTP_ERROR_REQUEST_BAD leave
 * *len at 0; nothing of such a request may be sent. */
enum http_error http_request_write(const struct http_request *request, char *buffer, size_t capacity,
                                   size_t *len);
