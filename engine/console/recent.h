/* Samples of a crawl in fixed memory: the last minutes by the second, the last days by the minute. Used by the console's
 * thread alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/sample.h"

/* Step in seconds, how many: ten minutes, two hours, a day, a week. 1.4 MB in all. */
#define RECENT_LEVELS(X) X(1, 600) X(10, 720) X(60, 1440) X(600, 1008)

enum { RECENT_LEVEL_COUNT = 4 };

struct recent {
    uint64_t count; /* samples so far: the first has the number 1 */
    struct recent_level {
        uint32_t step, capacity;
        uint64_t count;
        struct sample *samples; /* a ring */
        bool *are_gaps;         /* likewise: nothing ran at that time, and the sample is made up */
    } levels[RECENT_LEVEL_COUNT];
};

/* False: no memory. */
bool recent_init(struct recent *recent);
void recent_fini(struct recent *recent);
/* A sample of an earlier process, from the oldest to the newest, before recent_begin. All but the finest level take it. The time
 * in which nothing ran is filled with samples whose counters stand still. */
void recent_restore(struct recent *recent, const struct sample *sample);
/* This process begins. */
void recent_begin(struct recent *recent, uint64_t wall_ms);
/* Once per second. */
void recent_add(struct recent *recent, const struct sample *sample);
/* The level with this step in seconds; NULL: there is none. */
const struct recent_level *recent_level(const struct recent *recent, unsigned step);
/* The n-th sample of a level, from 1 on; NULL: it is not there any more, or not yet. */
const struct sample *recent_at(const struct recent_level *level, uint64_t number);
bool recent_is_gap(const struct recent_level *level, uint64_t number);
/* The number of the first one that is still there. */
uint64_t recent_first(const struct recent_level *level);
