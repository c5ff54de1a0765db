/* What a resumed crawl owes to hosts and addresses that have no record yet: the rest that an earlier process has left, and the
 * failures that it has counted. A record that is made takes it over. There may be many more of them than records, so they are
 * kept apart, in memory of their own: some 50 bytes for each that rests when the crawl is resumed.
 *
 * Put before the loops run. From then on any loop may get and forget at any time. All zero is an empty table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockfree/atomic.h"

struct rest {
    uint64_t next_ns; /* no visit before; 0: at any time */
    uint16_t failures;
};

struct rests_place {
    uint64_t hash; /* 0: the place is free */
    _Atomic(uint64_t) next_ns;
    _Atomic(uint16_t) failures;
};

struct rests {
    struct rests_place *places;
    size_t count, room;
};

void rests_fini(struct rests *rests);

/* Of several rests of one host or address the longest counts. False if there is no memory. */
bool rests_put(struct rests *rests, uint64_t hash, struct rest rest);
/* All 0 if nothing is owed. */
struct rest rests_get(const struct rests *rests, uint64_t hash);
/* Forgets what was owed: a record has taken it over and paid it, and is about to be given up. */
void rests_forget(struct rests *rests, uint64_t hash);
