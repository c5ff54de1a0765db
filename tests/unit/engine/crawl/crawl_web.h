/* A small web on loopback, for whole crawls of a test: hosts with pages "/1", "/2" ..., to all of which "/" links. It counts
 * what it is asked for, and can be held in the middle, so that a test sees a crawl at a moment that it has chosen. */
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

enum { WEB_HOSTS_MAX = 20, WEB_PAGES_MAX = 64, WEB_CONNECTIONS_MAX = 256 };

struct web {
    unsigned hosts, pages; /* "/" is one of the pages */
    int listeners[WEB_HOSTS_MAX];
    int control[2]; /* a byte: go on; the end: return */
    pthread_t thread;
    _Atomic(unsigned)
        hold_after; /* pages that are served before it waits to be told to go on; 0: it never waits */
    _Atomic(bool) is_held;    /* it waits to be told to go on; not to be told so before */
    _Atomic(unsigned) served; /* pages */
    _Atomic(unsigned) asked[WEB_HOSTS_MAX][WEB_PAGES_MAX];
    _Atomic(uint64_t) last_ns; /* when a page was asked for */
};

static inline void web_url(const struct web *web, unsigned host, char *url)
{
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    CHECK(getsockname(web->listeners[host], (struct sockaddr *)&address, &len) == 0);
    snprintf(url, 64, "http://127.0.0.1:%u/", ntohs(address.sin_port));
}

static inline void web_answer(struct web *web, int fd, const char *path)
{
    char body[4096] = "", head[256];
    size_t len = 0;
    bool is_found = strcmp(path, "/robots.txt") != 0;
    if (strcmp(path, "/") == 0)
        for (unsigned i = 1; i < web->pages; i++)
            len += (size_t)snprintf(body + len, sizeof body - len, "<a href=\"/%u\">%u</a>\n", i, i);
    int head_len = snprintf(head, sizeof head,
                            "HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n"
                            "Connection: close\r\n\r\n",
                            is_found ? "200 OK" : "404 Not Found", len);
    if (send(fd, head, (size_t)head_len, MSG_NOSIGNAL | MSG_MORE) == head_len)
        (void)!send(fd, body, len, MSG_NOSIGNAL);
}

/* False: the test has ended. */
static inline bool web_wait(struct web *web)
{
    char byte;
    lf_store(&web->hold_after, 0, relaxed);
    lf_store(&web->is_held, true, relaxed);
    return read(web->control[0], &byte, 1) == 1;
}

/* One request. False: the test has ended. */
static inline bool web_serve(struct web *web, unsigned host, int fd)
{
    char request[2048], path[32] = "";
    size_t len = 0;
    ssize_t got = 1;
    while (got > 0 && len < sizeof request - 1) {
        request[len] = '\0';
        if (strstr(request, "\r\n\r\n"))
            break;
        got = read(fd, request + len, sizeof request - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    if (got <= 0 || sscanf(request, "GET %31s", path) != 1)
        return true;
    if (strcmp(path, "/robots.txt") != 0) {
        unsigned page = (unsigned)strtoul(path + 1, NULL, 10), hold = lf_load(&web->hold_after, relaxed);
        if (hold && lf_load(&web->served, relaxed) >= hold && !web_wait(web))
            return false;
        CHECK(page < WEB_PAGES_MAX);
        lf_fetch_add(&web->asked[host][page], 1, relaxed);
        lf_fetch_add(&web->served, 1, relaxed);
        lf_store(&web->last_ns, clock_now_ns(), relaxed);
    }
    web_answer(web, fd, path);
    return true;
}

/* A connection may be opened and never used, so none is read from before its request is there. */
static inline void *web_run(void *argument)
{
    struct web *web = argument;
    struct pollfd polls[1 + WEB_HOSTS_MAX + WEB_CONNECTIONS_MAX] = {
        {.fd = web->control[0], .events = POLLIN}};
    unsigned hosts[WEB_CONNECTIONS_MAX], first = 1 + web->hosts, count = 0;
    bool goes_on = true;
    for (unsigned i = 0; i < web->hosts; i++)
        polls[i + 1] = (struct pollfd){.fd = web->listeners[i], .events = POLLIN};
    while (goes_on) {
        char byte;
        CHECK(poll(polls, first + count, -1) > 0);
        if (polls[0].revents)
            goes_on = read(web->control[0], &byte, 1) == 1;
        for (unsigned i = count; goes_on && i-- > 0;) {
            if (!polls[first + i].revents)
                continue;
            goes_on = web_serve(web, hosts[i], polls[first + i].fd);
            close(polls[first + i].fd);
            polls[first + i] = polls[first + --count];
            hosts[i] = hosts[count];
        }
        for (unsigned i = 0; goes_on && i < web->hosts; i++) {
            if (!polls[i + 1].revents)
                continue;
            CHECK(count < WEB_CONNECTIONS_MAX);
            hosts[count] = i;
            polls[first + count++] =
                (struct pollfd){.fd = accept(web->listeners[i], NULL, NULL), .events = POLLIN};
        }
    }
    while (count > 0)
        close(polls[first + --count].fd);
    return NULL;
}

static inline void web_begin(struct web *web, unsigned hosts, unsigned pages)
{
    memset(web, 0, sizeof *web);
    web->hosts = hosts;
    web->pages = pages;
    CHECK(hosts <= WEB_HOSTS_MAX && pages <= WEB_PAGES_MAX);
    for (unsigned i = 0; i < hosts; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        web->listeners[i] = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(bind(web->listeners[i], (struct sockaddr *)&address, sizeof address) == 0);
        CHECK(listen(web->listeners[i], 64) == 0);
    }
    CHECK(pipe(web->control) == 0);
    CHECK(pthread_create(&web->thread, NULL, web_run, web) == 0);
}

static inline void web_go_on(struct web *web)
{
    CHECK(lf_load(&web->is_held, relaxed)); /* else it would miss this, and wait for ever */
    lf_store(&web->is_held, false, relaxed);
    CHECK(write(web->control[1], "", 1) == 1);
}

static inline void web_end(struct web *web)
{
    close(web->control[1]);
    CHECK(pthread_join(web->thread, NULL) == 0);
    close(web->control[0]);
    for (unsigned i = 0; i < web->hosts; i++)
        close(web->listeners[i]);
}

/* How many requests there were for pages that had been asked for before. */
static inline unsigned web_repeats(const struct web *web)
{
    unsigned repeats = 0;
    for (unsigned host = 0; host < web->hosts; host++)
        for (unsigned page = 0; page < web->pages; page++) {
            unsigned asked = lf_load(&web->asked[host][page], relaxed);
            repeats += asked > 1 ? asked - 1 : 0;
        }
    return repeats;
}
