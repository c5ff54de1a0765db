/* Signs of life of a crawl's threads, for health checks and watchdogs. Each caller has a pulse of its own, and looks
 * at it regularly. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/frontier.h"

struct crawl;

/* A loop never sleeps longer than 50 ms; the housekeeper may wait for a slow disk. */
#define PULSE_LOOP_NS        (5 * UINT64_C(1000000000))
#define PULSE_HOUSEKEEPER_NS (30 * UINT64_C(1000000000))

struct pulse {
    struct {
        uint64_t turns;
        uint64_t seen_ns; /* when that many turns were first seen */
    } loops[FRONTIER_LOOPS_MAX];
};

/* True once every loop has turned: the crawl has come to life. By the watch. */
bool pulse_has_begun(const struct crawl *crawl);

enum { PULSE_WHY_BYTES = 80 };

/* True if every thread has moved lately; else `why` says which one has not. Also true once the crawl is ending: the loops end
 * one by one, and the last files may take their time. */
bool pulse_look(struct pulse *pulse, const struct crawl *crawl, uint64_t now_ns, char why[PULSE_WHY_BYTES]);
