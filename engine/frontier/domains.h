/* Counters of each registrable domain: pages, for the weights; hosts and queued URLs, for the limits that
 * keep one site from filling the frontier.
 *
 * A table of fixed size, indexed by a hash with a random key per run. Domains with the same index share
 * counters. That is rare, because the table has as many entries as there may be hosts, and no site can bring
 * it about. Any loop may read and add at any time. */
#pragma once

#include <stdint.h>

#include "engine/url/hash.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "net/slice.h"

struct domain_counts {
    _Atomic(uint32_t) pages; /* fetched */
    _Atomic(uint32_t) hosts; /* in the table now */
    _Atomic(uint32_t) urls;  /* queued or being fetched, without the first of each host (frontier_push.c) */
};

struct domains {
    struct domain_counts *counts;
    uint32_t mask;
};

size_t domains_bytes(uint32_t hosts_max);
/* Takes domains_bytes from the arena. */
void domains_init(struct domains *domains, struct arena *arena, uint32_t hosts_max);

/* The index of a host's registrable domain. Takes a microsecond: ask once per host. */
uint32_t domains_place(const struct domains *domains, const struct hash_key *key, struct slice host_name);
