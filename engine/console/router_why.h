/* The question where a URL is, while it is being answered. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/scope.h"
#include "engine/store/crawl_log_find.h"
#include "engine/url/url.h"

enum why_state {
    WHY_IDLE,
    WHY_ASKED,  /* the loops are */
    WHY_WAITS,  /* for a commit */
    WHY_READS,  /* a thread searches crawl.log */
    WHY_PLACED, /* it waits, and the loop that has its host is asked for its place */
    WHY_FAILED, /* there is no thread */
};

struct why {
    enum why_state state;
    uint64_t tickets;
    uint64_t since_ns; /* when it was asked first */
    uint64_t asked_ns; /* and last */
    uint64_t epoch;    /* of which the file must be */
    struct url url;
    char text[URL_BYTES_MAX];
    struct scope_loop *scope;
    pthread_t thread;
    struct crawl_log_find find;
    char path[1100];
    char *line; /* of crawl.log; NULL: none was found */
    int error;
    _Atomic(bool) is_read;
};

/* Ends the thread, if there is one. The crawl and its scope are still there. */
void router_why_fini(struct why *why);
