/* An IP address, the hosts that hang under it, and its tokens: as many as the tuning file allows connections
 * per address. A token is the right to visit one host of this address; each has the first moment at which it
 * may be given out again. Belongs to its home loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/heap.h"
#include "engine/host.h"
#include "lockfree/map.h"
#include "net/slice.h"

enum { ADDRESS_TOKENS_MAX = 16 };

/* An address as a key: IPv4 as ::ffff:a.b.c.d. */
struct address_key {
    uint8_t bytes[16];
};

struct address {
    struct map_node node;
    struct address_key key;
    uint32_t id;
    uint32_t hosts;           /* hosts that belong to it, also those that are idle */
    uint16_t home;            /* index of the loop that schedules it */
    uint16_t tokens_out;      /* a bit per token that is out */
    uint8_t tokens;           /* how many it has */
    bool is_due;              /* in its loop's heap of addresses that can be visited */
    struct heap resting;      /* hosts by the moment at which they are ready */
    struct heap ready;        /* hosts by the moment at which they became ready and their weight */
    struct heap_node due;     /* its place among the addresses that can be visited */
    uint64_t wheel_ns;        /* the moment for which it is in the wheel; UINT64_MAX: it is not */
    uint64_t token_next_ns[]; /* for each token, when it may be given out again */
};

size_t address_bytes(unsigned tokens);
void address_init(struct address *address, const struct address_key *key, unsigned tokens);

/* A host waits here: from host->next_ns on it is ready. */
void address_rest(struct address *address, struct host *host);

/* How far a host that is ready stands back behind the others. */
struct address_weights {
    uint64_t (*weight_ns)(const void *owner, const struct host *host);
    const void *owner;
};
/* Moves hosts whose moment has come to the ready ones; returns how many. */
unsigned address_ripen(struct address *address, uint64_t now_ns, const struct address_weights *weights);

/* The moment at which a visit can begin: when a token and a host are both there. UINT64_MAX: never, as things
 * are. After address_ripen. */
uint64_t address_next_ns(const struct address *address);

/* Takes the foremost ready host and a token for it: host->slot. Only when address_next_ns is not after now.
 */
struct host *address_acquire(struct address *address, uint64_t now_ns);
/* The host's token comes back; it may be given out again from next_ns on. */
void address_release(struct address *address, struct host *host, uint64_t next_ns);

bool address_is_loopback(const struct address_key *key);
/* Loopback, private, link-local, multicast and other addresses that are nobody's public web server. */
bool address_is_private(const struct address_key *key);
/* "192.0.2.1", "2001:db8::1" into `buffer` of INET6_ADDRSTRLEN bytes. */
struct slice address_text(char *buffer, const struct address_key *key);
