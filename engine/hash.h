/* The engine's 64-bit hash: XXH3. Stable across machines and runs: the sieve and checkpoints keep it on disk.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL /* a URL is short: the call would cost as much as the hash */
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
