/* What near.c and near_plan.c share: the layout of the index. */
#pragma once

#include "engine/duplicates/near.h"

#define NEAR_CELLS 7

/* A line of memory: fingerprints, and for each a tag that says of which generation it is. */
struct near_line {
    _Alignas(LF_CACHE_LINE) _Atomic(uint64_t) control; /* a byte per tag, the highest byte: hops */
    _Atomic(uint64_t) cells[NEAR_CELLS];
};

/* Words of `urls` per line: one stays unused, so that a line's number is enough. */
#define NEAR_URLS_PER_LINE 8

/* How the cells of a line are compared. */
enum near_way { NEAR_PLAIN, NEAR_POPCNT, NEAR_AVX512 };

/* How memory is divided for a distance: see near_plan.c. */
struct near_plan {
    unsigned tables_count;
    unsigned width[NEAR_TABLES_MAX];  /* bits of each part */
    unsigned radius[NEAR_TABLES_MAX]; /* how many of them a query changes */
    uint64_t lines_count;             /* per table, without those for hops */
    uint64_t count_max;
};

struct near_plan near_plan(uint64_t bytes, unsigned distance);
/* How many values a part of `width` bits takes when up to `radius` bits are changed. */
uint64_t near_plan_probes(unsigned width, unsigned radius);
