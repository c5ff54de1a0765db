/* A frontier without a crawl, for benchmarks that play its loop: every host has an address of its own and does not
 * rest. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/frontier.h"

struct crawl_alone {
    struct tuning tuning;
    struct frontier frontier;
    struct frontier_loop loop;
    uint64_t random;
    uint64_t now_ns; /* the benchmark's own clock */
};

/* A tuning whose limits the caller then sets. */
void crawl_alone_init(struct crawl_alone *alone);
/* With a path, long queues go to that file. False: no memory. */
bool crawl_alone_open(struct crawl_alone *alone, const char *slots);
void crawl_alone_close(struct crawl_alone *alone);

uint64_t crawl_alone_random(struct crawl_alone *alone);
