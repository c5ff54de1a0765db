/* Entries lie in one array and refer to each other by number: chained in buckets by the hash of the name, and
 * in a list from the most to the least recently used. Pinned entries are in no such list, so that eviction
 * cannot meet them. Expired entries go when they are met, or when they are the least recently used. */
#include "net/dns_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "lockfree/clock.h"

#define NONE UINT32_MAX

struct entry {
    uint64_t expires_ns;
    uint32_t hash;
    uint32_t next; /* in its bucket, or among the free */
    uint32_t newer, older;
    uint8_t error;
    uint8_t count;
    uint8_t name_len;
    bool is_pinned;
    struct ip addresses[DNS_ADDRESSES_MAX];
    char name[DNS_NAME_BYTES_MAX];
};

struct dns_cache {
    struct dns_cache_options options;
    struct dns_cache_counts counts;
    struct entry *entries;
    uint32_t *buckets;
    uint32_t bucket_mask;
    uint32_t unused; /* entries from here on were never used */
    uint32_t free;
    uint32_t newest, oldest;
};

struct dns_cache *dns_cache_create(const struct dns_cache_options *options)
{
    assert(options->entries_max > 0 && options->entries_max < NONE &&
           options->ttl_s_min <= options->ttl_s_max);
    uint32_t bucket_count = 16;
    while (bucket_count < options->entries_max && bucket_count < UINT32_C(1) << 31)
        bucket_count *= 2;
    struct dns_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->options = *options;
    cache->entries = calloc(options->entries_max, sizeof *cache->entries);
    cache->buckets = malloc(bucket_count * sizeof *cache->buckets);
    if (!cache->entries || !cache->buckets) {
        dns_cache_destroy(cache);
        return NULL;
    }
    memset(cache->buckets, 0xff, bucket_count * sizeof *cache->buckets);
    cache->bucket_mask = bucket_count - 1;
    cache->free = cache->newest = cache->oldest = NONE;
    return cache;
}

void dns_cache_destroy(struct dns_cache *cache)
{
    free(cache->entries);
    free(cache->buckets);
    free(cache);
}

/* Seeded with the cache's address, which those who choose the names do not know. */
static uint32_t hash_of(const struct dns_cache *cache, struct slice name)
{
    uint64_t hash = (uintptr_t)cache ^ UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char)name.ptr[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static uint32_t find(const struct dns_cache *cache, struct slice name, uint32_t hash)
{
    uint32_t at = cache->buckets[hash & cache->bucket_mask];
    while (at != NONE) {
        const struct entry *entry = &cache->entries[at];
        if (entry->hash == hash && slice_equals((struct slice){entry->name, entry->name_len}, name))
            return at;
        at = entry->next;
    }
    return NONE;
}

static void unlink_use(struct dns_cache *cache, uint32_t at)
{
    struct entry *entry = &cache->entries[at];
    if (entry->newer != NONE)
        cache->entries[entry->newer].older = entry->older;
    else
        cache->newest = entry->older;
    if (entry->older != NONE)
        cache->entries[entry->older].newer = entry->newer;
    else
        cache->oldest = entry->newer;
}

static void link_newest(struct dns_cache *cache, uint32_t at)
{
    struct entry *entry = &cache->entries[at];
    entry->newer = NONE;
    entry->older = cache->newest;
    if (cache->newest != NONE)
        cache->entries[cache->newest].newer = at;
    else
        cache->oldest = at;
    cache->newest = at;
}

static void remove_entry(struct dns_cache *cache, uint32_t at)
{
    struct entry *entry = &cache->entries[at];
    uint32_t *place = &cache->buckets[entry->hash & cache->bucket_mask];
    while (*place != at)
        place = &cache->entries[*place].next;
    *place = entry->next;
    if (!entry->is_pinned)
        unlink_use(cache, at);
    entry->next = cache->free;
    cache->free = at;
    cache->counts.entries--;
}

/* NONE: all entries are pinned. */
static uint32_t take_free(struct dns_cache *cache)
{
    if (cache->free == NONE && cache->unused < cache->options.entries_max)
        return cache->unused++;
    if (cache->free == NONE) {
        if (cache->oldest == NONE)
            return NONE;
        cache->counts.evictions++;
        remove_entry(cache, cache->oldest);
    }
    uint32_t at = cache->free;
    cache->free = cache->entries[at].next;
    return at;
}

/* A new entry for the name, in place of any older one. */
static struct entry *add(struct dns_cache *cache, struct slice name, const struct dns_answer *answer)
{
    assert(name.len > 0 && name.len <= DNS_NAME_BYTES_MAX);
    uint32_t hash = hash_of(cache, name), at = find(cache, name, hash);
    if (at != NONE)
        remove_entry(cache, at);
    at = take_free(cache);
    if (at == NONE)
        return NULL;
    struct entry *entry = &cache->entries[at];
    entry->hash = hash;
    entry->error = (uint8_t)answer->error;
    entry->count = answer->count;
    memcpy(entry->addresses, answer->addresses, answer->count * sizeof *entry->addresses);
    entry->name_len = (uint8_t)name.len;
    memcpy(entry->name, name.ptr, name.len);
    entry->next = cache->buckets[hash & cache->bucket_mask];
    cache->buckets[hash & cache->bucket_mask] = at;
    cache->counts.entries++;
    return entry;
}

bool dns_cache_find(struct dns_cache *cache, struct slice name, uint64_t now_ns, struct dns_answer *answer)
{
    uint32_t at = find(cache, name, hash_of(cache, name));
    if (at != NONE && !cache->entries[at].is_pinned && cache->entries[at].expires_ns <= now_ns) {
        remove_entry(cache, at);
        cache->counts.expiries++;
        at = NONE;
    }
    if (at == NONE) {
        cache->counts.misses++;
        return false;
    }
    const struct entry *entry = &cache->entries[at];
    cache->counts.hits++;
    if (!entry->is_pinned) {
        unlink_use(cache, at);
        link_newest(cache, at);
    }
    answer->error = (enum dns_error)entry->error;
    answer->count = entry->count;
    answer->was_fresh = answer->is_outage = false;
    answer->until_ns = entry->is_pinned ? UINT64_MAX : entry->expires_ns;
    memcpy(answer->addresses, entry->addresses, entry->count * sizeof *entry->addresses);
    return true;
}

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value > max ? max : value < min ? min : value;
}

static uint64_t lifetime_ms(const struct dns_cache_options *options, enum dns_error error, uint64_t ttl_s)
{
    if (error == DNS_OK)
        return 1000 * clamp(ttl_s, options->ttl_s_min, options->ttl_s_max);
    if (error == DNS_ERROR_NO_NAME || error == DNS_ERROR_NO_DATA)
        return clamp(1000 * ttl_s, options->failure_ttl_ms, options->negative_ttl_ms_max);
    return options->failure_ttl_ms;
}

void dns_cache_insert(struct dns_cache *cache, struct slice name, struct dns_answer *answer,
                      struct dns_cache_life life)
{
    uint32_t at = find(cache, name, hash_of(cache, name));
    answer->until_ns =
        life.now_ns + lifetime_ms(&cache->options, answer->error, life.ttl_s) * CLOCK_NS_PER_MS;
    if (at != NONE && cache->entries[at].is_pinned)
        return;
    struct entry *entry = add(cache, name, answer);
    if (!entry)
        return;
    entry->is_pinned = false;
    entry->expires_ns = answer->until_ns;
    link_newest(cache, (uint32_t)(entry - cache->entries));
}

bool dns_cache_pin(struct dns_cache *cache, struct slice name, const struct dns_answer *answer)
{
    struct entry *entry = add(cache, name, answer);
    if (entry)
        entry->is_pinned = true;
    return entry;
}

void dns_cache_counts(const struct dns_cache *cache, struct dns_cache_counts *counts)
{
    *counts = cache->counts;
}
