/* An index of SimHashes: was there a page within a few bits of this one?
 *
 * | call                      | by whom    | at the same time as        |
 * |---------------------------|------------|----------------------------|
 * | add, find, prefetch       | any thread | anything but init and fini |
 * | count, dropped, refused   | any thread | anything but init and fini |
 * | init, fini                | one thread | nothing                    |
 *
 * Progress: find is wait-free. add is lock-free: it loses a race only to another add that took a place in the same
 * line of memory. A thread that stops inside add takes one place with it and stops nobody.
 *
 * What is found. Everything within the distance, among what is held: add or find sees every page whose add returned
 * before (in the order that the program establishes between threads), and the nearest is told. Two threads that add
 * near-equal pages at the same moment may both be told that theirs is new.
 *
 * A near-duplicate is not added: the first page stands for its cluster. So a thousand copies of one page take the
 * place of one, and a cluster keeps its centre. If its members were added as well, many small steps could lead from
 * the first page to one that has little in common with it.
 *
 * Memory is fixed at init. It holds NEAR_GENERATIONS generations; when the newest is full, the oldest is
 * dropped as a whole, without any work, and is counted. A page of a dropped generation is new when it is met again. */
#pragma once

#include "engine/duplicates/limits.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"

struct near_options {
    uint64_t bytes; /* NEAR_BYTES_MIN to NEAR_BYTES_MAX; near_bytes_for tells what a number of pages takes */
    unsigned distance; /* pages within so many bits are near-duplicates: 0 to NEAR_DISTANCE_MAX */
};

struct near_match {
    uint64_t fingerprint;
    uint64_t url;      /* as given to add */
    unsigned distance; /* in bits */
};

/* A line of memory. */
struct near_line;

/* Fingerprints by one part of their bits: those that agree in it, or nearly so, are in the same lines. */
struct near_table {
    struct near_line *lines;
    uint64_t lines_count; /* homes; NEAR_HOPS_MAX more lie behind them */
    unsigned shift;       /* left, by which the part becomes the highest bits of a word */
    uint64_t mask;        /* of those */
    uint32_t probes_count;
    const uint64_t *probes; /* changes of the part with which a query looks: none, one bit, two ... */
};

struct near {
    struct near_table tables[NEAR_TABLES_MAX];
    unsigned tables_count;
    unsigned distance;
    unsigned way;                  /* how lines are compared on this CPU */
    _Atomic(uint64_t) *urls;       /* of the cells of the first table */
    uint64_t generation_count_max; /* fingerprints in one generation */
    struct arena arena;
    LF_ISOLATED _Atomic(uint64_t) added; /* fingerprints ever held */
    _Atomic(uint64_t) refused;
    LF_ISOLATED _Atomic(uint64_t) generation; /* the newest: 0, 1, 2, ... */
};

/* 0, or a negative errno: -ENOMEM. */
int near_init(struct near *near, const struct near_options *options);
void near_fini(struct near *near);

/* True: there is one within the distance, *match is the nearest (may be NULL). False: there was none, and this one is
 * held from here on. */
bool near_add(struct near *near, uint64_t fingerprint, uint64_t url, struct near_match *match);
/* The same without adding. */
bool near_find(struct near *near, uint64_t fingerprint, struct near_match *match);
/* Fetches the memory that near_add or near_find will look at, for a caller that has something else to do until it is there. */
void near_prefetch(const struct near *near, uint64_t fingerprint);

/* Fingerprints that are held, and how many at most. */
uint64_t near_count(struct near *near);
uint64_t near_count_max(const struct near *near);
/* Fingerprints that were dropped with their generation. */
uint64_t near_dropped(struct near *near);
/* Fingerprints that found no place though memory was not full, because too many agree in a part. They may be
 * found, but do not count as held. */
uint64_t near_refused(struct near *near);

/* Memory for so many fingerprints at this distance. */
uint64_t near_bytes_for(uint64_t count, unsigned distance);
