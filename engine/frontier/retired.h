/* What is remembered of retired hosts: whether a host is dead, and how much of its limits it has used. One
 * word per host in a table of fixed size; when it is full, newer words overwrite older ones. Any loop may
 * read and write at any time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lockfree/arena.h"
#include "lockfree/atomic.h"

enum { RETIRED_SHARE_WHOLE = (1 << 24) - 1 };

struct retired_host {
    uint8_t dead_why; /* enum fetch_outcome; 0: not dead */
    uint32_t share;   /* of its limits that is used, in units of 1/RETIRED_SHARE_WHOLE */
};

struct retired {
    _Atomic(uint64_t) *words;
    uint64_t mask;
};

size_t retired_bytes(uint32_t hosts_max);
/* Takes retired_bytes from the arena. */
void retired_init(struct retired *retired, struct arena *arena, uint32_t hosts_max);

/* `hash` is that of hosts_hash. */
void retired_put(struct retired *retired, uint64_t hash, struct retired_host host);
/* All 0 if nothing is remembered. */
struct retired_host retired_get(const struct retired *retired, uint64_t hash);

/* `used` as a share of `max`, rounded up; 0 if there is no limit. The inverse gives at least `used`. */
uint32_t retired_share(uint64_t used, uint64_t max);
uint64_t retired_used(uint32_t share, uint64_t max);
