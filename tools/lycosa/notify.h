/* What a crawl tells systemd (sd_notify(3)), if that has started it: that it runs, its status line, that it is alive, that
 * it ends. A datagram to $NOTIFY_SOCKET each; without that variable, nothing.
 *
 *     READY=1               every loop has turned
 *     STATUS=               the status line, every few seconds at most
 *     WATCHDOG=1            only while every thread moves (engine/crawl/pulse.h). A crawl that hangs is killed by
 *                           systemd, and resumed
 *     STOPPING=1            it ends, whoever wanted that
 *     EXTEND_TIMEOUT_USEC=  a long journal is read, or an orderly end takes its time
 *
 * All of it on the watch, which never blocks: neither does this. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "engine/crawl/crawl.h"
#include "engine/crawl/pulse.h"

struct notify {
    int fd; /* -1: nobody listens */
    struct sockaddr_un address;
    socklen_t address_len;
    uint64_t watchdog_ns; /* between two signs of life; 0: none are wanted */
    bool is_ready, is_stopping;
    uint64_t looked_ns;   /* when a sign of life was due last */
    uint64_t told_ns;     /* when the status was sent last */
    uint64_t extended_ns; /* when more time was asked for last */
    uint64_t stopping_ns; /* when it began to end */
    struct pulse pulse;
};

/* What is looked at. */
struct notify_facts {
    uint64_t now_ns;
    bool has_begun;  /* every loop has turned */
    bool is_alive;   /* every thread moves */
    const char *why; /* it does not */
    enum crawl_phase phase;
};

/* By the environment. */
void notify_init(struct notify *notify);
void notify_fini(struct notify *notify);
/* Called every few milliseconds. */
void notify_look(struct notify *notify, const struct notify_facts *facts);
/* The same for a crawl. */
void notify_tick(struct notify *notify, const struct crawl *crawl);
/* A line, without its end. */
void notify_status(struct notify *notify, const char *line, uint64_t now_ns);
