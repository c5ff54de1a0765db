/* The table of addresses. They are found in a lock-free map, created for the first host at an address, and
 * retired when no host is left and no rest is due.
 *
 * A host with an address holds a reference to it. Any loop may take and release references, each with an
 * addresses_loop of its own; only the home uses the rest of an address. The home may close an address without
 * references: it is not found any more, and its record is reused after a grace period. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier/address.h"
#include "engine/frontier/rests.h"
#include "engine/url/hash.h"
#include "lockfree/arena.h"
#include "lockfree/id_stack.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"

struct addresses {
    unsigned homes;
    unsigned tokens;
    const struct hash_key *hash_key;
    struct arena arena;
    char *records; /* by id, record_bytes apart; 0 is not used */
    size_t record_bytes;
    uint32_t count_max;
    struct map map;
    struct id_stack free; /* released records */
    struct reclaim reclaim;
    struct rests rests; /* of addresses that an earlier process has visited */
    LF_ISOLATED _Atomic(uint32_t) begun; /* records above this one were never used */
    LF_ISOLATED _Atomic(uint32_t) count; /* addresses in the table */
};

struct addresses_loop {
    struct addresses *addresses;
    struct map_thread map;
    struct backoff backoff;
    struct reclaim_thread *reader;
    uint32_t spare; /* a record that was not inserted because another loop was first */
    uint32_t hand;  /* the record that was last checked for retirement */
};

struct addresses_options {
    uint32_t hosts_max;
    unsigned homes;                  /* loops among which the addresses are spread */
    unsigned tokens;                 /* of each address */
    const struct hash_key *hash_key; /* it must outlive the table */
};

/* 0, or a negative errno. */
int addresses_init(struct addresses *addresses, const struct addresses_options *options);
void addresses_fini(struct addresses *addresses);
void addresses_loop_init(struct addresses_loop *loop, struct addresses *addresses, unsigned index);
void addresses_loop_fini(struct addresses_loop *loop);

static inline struct address *addresses_at(const struct addresses *addresses, uint32_t id)
{
    return (struct address *)(addresses->records + id * addresses->record_bytes);
}

/* Nobody visits the address before this moment. Before the loops run. False if there is no memory. */
bool addresses_owe(struct addresses *addresses, const struct ip *unit, uint64_t next_ns);

/* Finds or creates an address; the caller gets a reference. NULL if the table is full. */
struct address *addresses_acquire(struct addresses_loop *loop, const struct ip *unit);
/* Gives a reference back. */
void addresses_release(struct addresses *addresses, uint32_t id);

/* Three quarters of the table are in use. */
bool addresses_is_crowded(const struct addresses *addresses);
/* Steps to the next record; returns it if it is an address of this home without references, else NULL. */
struct address *addresses_next_unused(struct addresses_loop *loop, unsigned home);
/* Retires an address that owes no rest. False if a host has taken a reference. By the home. */
bool addresses_retire(struct addresses_loop *loop, struct address *address);
