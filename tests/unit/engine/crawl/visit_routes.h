/* A peer for tests of visits that answers by a table, and tells what it was asked for. */
#pragma once

#include <sys/socket.h>

#include "tests/unit/engine/crawl/visit_frame.h"

#define OK_WITH(fields, body) "HTTP/1.1 200 OK\r\n" fields "Connection: keep-alive\r\n\r\n" body
#define TEXT(length, body)    OK_WITH("Content-Type: text/plain\r\nContent-Length: " length "\r\n", body)
#define MOVED(to)             "HTTP/1.1 301 Moved\r\nLocation: " to "\r\nContent-Length: 0\r\n\r\n"
#define MISSING               "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

/* The answer to a request; empty: the connection is closed. Of several for one path each serves once, the last for
 * good. host NULL: any. The table ends with a path that is NULL; what is not in it is missing. */
struct route {
    const char *host, *path, *answer;
};

enum { ROUTES_MAX = 16, ROUTES_CONNECTIONS = 64 };

static const struct route *routes;
static unsigned routes_used[ROUTES_MAX];
static char routes_asked[4096]; /* paths in order, those of other hosts than 127.0.0.1 behind their name */

static inline const char *routes_find(const char *host, const char *path)
{
    const char *answer = MISSING;
    for (unsigned i = 0; routes[i].path; i++) {
        if (strcmp(routes[i].path, path) != 0 || (routes[i].host && strcmp(routes[i].host, host) != 0))
            continue;
        answer = routes[i].answer;
        if (routes_used[i]++ == 0)
            break;
    }
    return answer;
}

static inline void routes_serve(struct peer *peer, int fd)
{
    char request[16384], path[8192], host[256];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request)) {
        const char *field = strstr(request, "Host: ");
        CHECK(field && sscanf(request, "GET %8191s", path) == 1);
        CHECK_INT(sscanf(field, "Host: %255[^:\r]", host), 1);
        bool is_other = strcmp(host, "127.0.0.1") != 0;
        size_t len = strlen(routes_asked);
        snprintf(routes_asked + len, sizeof routes_asked - len, "%s%.1000s ", is_other ? host : "", path);
        const char *answer = routes_find(host, path);
        if (!peer_send(fd, answer) || !answer[0] || strstr(answer, "Connection: close"))
            return;
    }
}

/* Before frame_start; the test may change the tuning in between. */
static inline void routes_set_up(const struct route *table)
{
    routes = table;
    memset(routes_used, 0, sizeof routes_used);
    routes_asked[0] = '\0';
    frame_set_up(&frame);
}

static inline void routes_start(void)
{
    frame_start(&frame, ROUTES_CONNECTIONS, routes_serve);
}

/* Uses up the connections that the peer still waits for. */
static inline void routes_stop(void)
{
    for (unsigned i = 0; i < ROUTES_CONNECTIONS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        connect(fd, &frame.peer.address.any, sizeof frame.peer.address.v4);
        close(fd);
    }
    frame_stop(&frame);
}

static inline uint64_t routes_outcome(enum fetch_outcome which)
{
    return stats_get(&frame.stats.outcomes[which]);
}

/* How often the peer was asked for exactly this. */
static inline unsigned routes_times(const char *what)
{
    unsigned times = 0;
    char word[256];
    snprintf(word, sizeof word, "%s ", what);
    for (const char *at = routes_asked; (at = strstr(at, word)); at++)
        times += at == routes_asked || at[-1] == ' ';
    return times;
}
