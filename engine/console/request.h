/* A request of an operator and its answer, without the server that carries them: the router and its checks know
 * nothing of sockets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/slice.h"

/* What a request that cannot be answered at once remembers until it is asked again. */
struct console_wait {
    uint64_t ticket;   /* the route's own; 0: it is asked for the first time */
    uint64_t since_ns; /* when that was */
    void *work;        /* likewise the route's own; NULL: none */
    void (*leave)(void *work); /* ends it: the request is answered, or nobody waits for the answer any more */
    char *order;       /* for the log of orders, while the answer is pending; NULL: it is no order */
};

struct console_request {
    const char *method;
    const char *path; /* without the query */
    struct slice query;
    /* Fields of the head; NULL: it has none. */
    const char *host;
    const char *origin;
    const char *fetch_site;
    const char *content_type;
    const char *authorization;
    const char *last_event;
    struct slice body;
    struct console_wait *wait;
    const char *local; /* the address that it came to by TCP, "127.0.0.1:8473"; else empty */
    bool is_local;     /* it came by the Unix socket: who may open that may do everything */
    const char *who;   /* for the log of orders: "uid 1000", "token" */
};

struct console_response {
    unsigned status;
    const char *type;
    const char *allow;  /* 405: the methods that there are */
    const char *policy; /* Content-Security-Policy; NULL: the strictest */
    bool is_stream;     /* events follow, for as long as the reader stays; `text` is what begins it */
    bool is_pending;    /* nothing to say yet: the request is asked again, soon */
    char *text;
    size_t len;
    FILE *out; /* writes `text`, until console_response_finish */
};

/* False: no memory. */
bool console_response_begin(struct console_response *response);
/* `text` has all that was written. The caller frees it. */
bool console_response_finish(struct console_response *response);
/* Discards what was written; the answer is {"error": "..."} with this status. Never fails to set the status. */
void console_response_fail(struct console_response *response, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A value of the query, percent-decoded into `buffer`; false: there is none, or it does not fit. */
bool console_request_value(const struct console_request *request, const char *name, char *buffer, size_t bytes);
/* The first name in the query that is none of `names` (which end with NULL); an empty slice: all are. */
struct slice console_request_unknown(const struct console_request *request, const char *const *names);
