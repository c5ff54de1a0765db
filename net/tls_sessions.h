/* TLS sessions of hosts that were visited before, so that the next connection resumes: a cache of fixed size.
 *
 * A host has four places to be in, and takes that of the session that was not used for longest. Hosts are told
 * apart by 64 bits of hash: of two that are taken for each other, the one would be offered a session that only
 * the other can resume, and answers with a full handshake.
 *
 * Belongs to one loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"
#include "net/tls.h"

struct tls_sessions_entry {
    uint64_t host; /* hash; 0: the place is free */
    uint64_t used; /* by the cache's clock */
    struct tls_session session;
};

struct tls_sessions {
    struct tls_sessions_entry *entries;
    uint64_t set_mask;
    uint64_t clock; /* uses so far */
};

/* Keeps up to `count` sessions, rounded up to a power of two; memory is touched as it fills. False: no
 * memory. */
bool tls_sessions_init(struct tls_sessions *sessions, size_t count);
void tls_sessions_fini(struct tls_sessions *sessions);

/* `host` as it stands in URLs, in lower case. False: none is kept. */
bool tls_sessions_find(struct tls_sessions *sessions, struct slice host, uint16_t port,
                       struct tls_session *session);
void tls_sessions_keep(struct tls_sessions *sessions, struct slice host, uint16_t port,
                       const struct tls_session *session);
/* The server has failed to resume it. No-op if none is kept. */
void tls_sessions_forget(struct tls_sessions *sessions, struct slice host, uint16_t port);
