/* The engine's 64-bit hashes, both XXH3.
 *
 * hash_bytes is stable across machines and runs: the sieve and checkpoints keep it on disk. Anybody can
 * construct collisions, so a hostile site could make a hash table slow that is indexed by it.
 *
 * hash_keyed is for such tables. Its key is drawn at random for each run and never leaves it. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#define XXH_INLINE_ALL /* URLs are short: a call would cost as much as the hash itself */
#include <xxhash.h>

#include "net/slice.h"

static inline uint64_t hash_bytes(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}

static inline uint64_t hash_slice(struct slice text)
{
    return hash_bytes(text.ptr, text.len);
}

struct hash_key {
    uint8_t bytes[XXH3_SECRET_SIZE_MIN];
};

/* 0, or a negative errno: the system has no random numbers. */
static inline int hash_key_init(struct hash_key *key)
{
    _Static_assert(sizeof key->bytes <= 256, "getrandom gives up to 256 bytes whole");
    return getrandom(key->bytes, sizeof key->bytes, 0) == (ssize_t)sizeof key->bytes ? 0 : -errno;
}

static inline uint64_t hash_keyed(const struct hash_key *key, const void *bytes, size_t len)
{
    return XXH3_64bits_withSecret(bytes, len, key->bytes, sizeof key->bytes);
}
