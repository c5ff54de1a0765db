/* HTTP for the console, by libmicrohttpd: listeners, requests, streams of events. It knows no routes: each request goes
 * to one function. Everything runs in the thread that calls server_turn. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/console/request.h"

struct MHD_Daemon;
struct server_stream;
struct server_exchange;
struct server_peer;

/* Each bound keeps an operator's door from becoming a burden for the crawl. */
enum {
    SERVER_CONNECTIONS_MAX = 64,
    SERVER_STREAMS_MAX = 16,
    SERVER_HEAD_BYTES_MAX = 16 << 10,
    SERVER_BODY_BYTES_MAX = 1 << 20,
    SERVER_SILENCE_S = 10,  /* without a byte from or to a client */
    SERVER_HEAD_S = 10,     /* until a head is there, from the connection or the answer before it on */
    SERVER_BODY_S = 30,     /* and its body */
    SERVER_STREAM_S = 30,   /* without a byte that the reader of a stream takes */
    SERVER_EVENT_BYTES = 4096,
    SERVER_EVENTS = 16,  /* a reader that is further behind misses some */
    SERVER_PENDING_MS = 10, /* after which a request that waits is asked again */
};

struct server {
    /* Answers a request. `response` is begun; the caller finishes it. */
    void (*answer)(void *owner, const struct console_request *request, struct console_response *response);
    /* A request whose answer is pending will not be asked again: its client has gone. */
    void (*leave)(void *owner, struct console_wait *wait);
    void *owner;
    struct MHD_Daemon *daemons[2]; /* of the Unix socket, of TCP; NULL: none */
    int listener;                  /* of TCP, until server_start; -1: none */
    uint16_t port;
    struct server_stream *streams;
    unsigned stream_count;
    struct server_exchange *pending; /* requests that wait for their answer */
    struct server_peer *peers;       /* a member for each connection */
    uint64_t event_count;
    struct server_event {
        size_t len;
        char text[SERVER_EVENT_BYTES];
    } events[SERVER_EVENTS]; /* the latest, a ring */
};

/* Opens a TCP listener on an address, for server_start; port 0: any. 0 or a negative errno. */
int server_listen(struct server *server, const char *address, uint16_t port);
/* Begins to answer, on the Unix socket `path` (replaced if it is there) and the listener. 0 or a negative errno. */
int server_start(struct server *server, const char *directory, const char *name);
/* Handles what there is, and waits for more up to wait_ms. */
void server_turn(struct server *server, int wait_ms);
/* An event for every stream: a reader that is slow misses some. */
void server_send(struct server *server, const char *event, size_t len);
void server_fini(struct server *server);
