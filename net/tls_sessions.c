#include "net/tls_sessions.h"

#include <stdlib.h>

enum { WAYS = 4 };

bool tls_sessions_init(struct tls_sessions *sessions, size_t count)
{
    uint64_t sets = 1;
    while (sets * WAYS < count)
        sets *= 2;
    *sessions = (struct tls_sessions){.set_mask = sets - 1};
    sessions->entries = calloc(sets * WAYS, sizeof *sessions->entries);
    return sessions->entries != NULL;
}

void tls_sessions_fini(struct tls_sessions *sessions)
{
    free(sessions->entries);
}

/* Seeded with the cache's address, which those who choose the names do not know. Never 0. */
static uint64_t hash_of(const struct tls_sessions *sessions, struct slice host, uint16_t port)
{
    uint64_t hash = (uintptr_t)sessions->entries ^ (uint64_t)port << 48;
    for (size_t i = 0; i < host.len; i++) {
        hash = (hash ^ (unsigned char)host.ptr[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash ? hash : 1;
}

static struct tls_sessions_entry *set_of(const struct tls_sessions *sessions, uint64_t hash)
{
    return sessions->entries + (hash & sessions->set_mask) * WAYS;
}

static struct tls_sessions_entry *find(const struct tls_sessions *sessions, uint64_t hash)
{
    struct tls_sessions_entry *set = set_of(sessions, hash);
    for (int i = 0; i < WAYS; i++)
        if (set[i].host == hash)
            return &set[i];
    return NULL;
}

/* A free place, which was never used, comes first. */
static struct tls_sessions_entry *oldest(const struct tls_sessions *sessions, uint64_t hash)
{
    struct tls_sessions_entry *set = set_of(sessions, hash), *oldest = set;
    for (int i = 1; i < WAYS; i++)
        if (set[i].used < oldest->used)
            oldest = &set[i];
    return oldest;
}

bool tls_sessions_find(struct tls_sessions *sessions, struct slice host, uint16_t port,
                       struct tls_session *session)
{
    struct tls_sessions_entry *entry = find(sessions, hash_of(sessions, host, port));
    if (!entry)
        return false;
    entry->used = ++sessions->clock;
    *session = entry->session;
    return true;
}

void tls_sessions_keep(struct tls_sessions *sessions, struct slice host, uint16_t port,
                       const struct tls_session *session)
{
    const uint64_t hash = hash_of(sessions, host, port);
    struct tls_sessions_entry *entry = find(sessions, hash);
    if (!entry)
        entry = oldest(sessions, hash);
    *entry = (struct tls_sessions_entry){.host = hash, .used = ++sessions->clock, .session = *session};
}

void tls_sessions_forget(struct tls_sessions *sessions, struct slice host, uint16_t port)
{
    struct tls_sessions_entry *entry = find(sessions, hash_of(sessions, host, port));
    if (entry)
        *entry = (struct tls_sessions_entry){0};
}
