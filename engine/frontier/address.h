/* An IP address (for IPv6, a /64), its hosts, and its tokens: as many as the tuning file allows connections
 * per address. A token is the right to visit one host of this address; after a visit it is not available
 * before token_next_ns. Used by its home loop alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lockfree/heap.h"
#include "engine/frontier/host.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"
#include "net/ip.h"

enum { ADDRESS_TOKENS_MAX = 16 };

/* `references` starts at this value, to tell a live record without hosts from one that was never used. */
#define ADDRESS_UNUSED UINT32_C(1)
/* `references` of a retired address. */
#define ADDRESS_CLOSED UINT32_MAX

struct address {
    struct map_node node;
    _Atomic(uint32_t) references; /* ADDRESS_UNUSED plus one for each host; changed by any loop */
    uint32_t id;
    struct ip unit;
    uint32_t hosts;       /* its hosts, including idle ones */
    uint16_t home;        /* index of the loop that schedules it */
    uint16_t tokens_out;  /* a bit per token that is out */
    uint8_t tokens;       /* how many it has */
    bool is_due;          /* in its loop's heap of due addresses */
    struct heap resting;  /* hosts by the time at which they become ready */
    struct heap ready;    /* hosts by the time at which they became ready, plus their weight */
    struct heap_node due; /* its place in the heap of due addresses */
    struct reclaim_node retirement;
    uint32_t wheel_entries;   /* in the wheel, including outdated ones */
    uint64_t wheel_ns;        /* the time of its valid wheel entry; UINT64_MAX: none */
    uint64_t token_next_ns[]; /* for each token, when it is available again */
};

/* The unit of politeness: an IPv4 address, or the first 64 bits of an IPv6 address, which one customer
 * has. */
struct ip address_unit(const struct ip *ip);

size_t address_bytes(unsigned tokens);
/* The caller gets one reference. */
void address_init(struct address *address, const struct ip *unit, unsigned tokens);

/* Adds a host that becomes ready at host->next_ns. */
void address_rest(struct address *address, struct host *host);

/* Removes a host that is RESTING or READY. */
void address_take_out(struct address *address, struct host *host);

/* The handicap of a ready host against the others of its address. */
struct address_weights {
    uint64_t (*weight_ns)(const void *owner, const struct host *host);
    const void *owner;
};
/* Makes the hosts ready whose rest is over; returns how many. */
unsigned address_ripen(struct address *address, uint64_t now_ns, const struct address_weights *weights);

/* When the next visit can begin, which takes a token and a host. UINT64_MAX if one of them is missing. Call
 * address_ripen first. */
uint64_t address_next_ns(const struct address *address);

/* When the first of its tokens is available; UINT64_MAX: all are out. By the home. */
uint64_t address_token_ns(const struct address *address);

/* Whether the record can be dropped: no host waits, no token is out and no rest is due. By the home. */
bool address_is_at_rest(const struct address *address, uint64_t now_ns);

/* Takes the first ready host and a token for it, host->slot. Only if address_next_ns has passed. */
struct host *address_acquire(struct address *address, uint64_t now_ns);
/* Takes the host's token back; it is available again from next_ns on. */
void address_release(struct address *address, struct host *host, uint64_t next_ns);
