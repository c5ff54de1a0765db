/* A slot's word holds its generation (32 bits), FULL, USED, and the number of readers:
 *
 *      EMPTY --claim--> CLAIMED --publish--> FULL --acquire/release--> FULL, readers +1/-1
 *        ^                 ^                  |
 *        |                 +-----evict--------+  only without readers; the generation goes up
 *        +----abandon------+
 *
 * A handle is a generation and a slot, so it finds only the rules that it was made for. Why a reader never
 * sees freed rules: a reader first increments the number of readers in a word of the right generation, and
 * eviction replaces a word without readers. Both are compare-and-swaps on the same word, so only one of them
 * succeeds.
 *
 * Eviction is the clock algorithm (second chance): a hand goes round the slots, clears USED where it is set,
 * and evicts where it is not. */
#include "engine/robots/robots_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/url/hash.h"

#define FULL    (UINT64_C(1) << 31)
#define USED    (UINT64_C(1) << 30)
#define READERS (USED - 1)
/* Without FULL, the one reader is the thread that has claimed the slot. */
#define CLAIMED UINT64_C(1)

enum {
    RECENT_SLOTS = sizeof((struct robots_cache_loop *)0)->recent / sizeof(struct robots_cache_recent),
    BLOCK_BYTES = 16,          /* malloc's overhead per block */
    RULES_BYTES_MEAN = 1 << 10 /* the budget is divided into this many slots */
};

static const struct robots all_allowed = {
    .bytes = sizeof all_allowed, .text = sizeof all_allowed, .sitemaps = sizeof all_allowed};
static const struct robots all_denied = {.bytes = sizeof all_denied,
                                         .text = sizeof all_denied,
                                         .sitemaps = sizeof all_denied,
                                         .disallow_all = true};

static uint64_t generation_of(uint64_t word)
{
    return word >> 32;
}

static robots_handle handle_of(uint64_t generation, uint32_t index)
{
    return generation << 32 | (index + ROBOTS_HANDLE_FIRST);
}

static struct robots_cache_slot *slot_of(struct robots_cache *cache, robots_handle handle)
{
    return &cache->slots[(uint32_t)handle - ROBOTS_HANDLE_FIRST];
}

bool robots_cache_init(struct robots_cache *cache, size_t bytes_max)
{
    assert(bytes_max >= ROBOTS_CACHE_BYTES_MIN);
    size_t slots = bytes_max / RULES_BYTES_MEAN;
    slots = slots < UINT32_MAX / 2 ? slots : UINT32_MAX / 2;
    *cache = (struct robots_cache){.bytes_max = bytes_max, .slots_max = (uint32_t)slots};
    cache->slots = calloc(slots, sizeof *cache->slots);
    return cache->slots;
}

void robots_cache_fini(struct robots_cache *cache)
{
    for (uint32_t i = 0; cache->slots && i < cache->slots_max; i++)
        free(cache->slots[i].rules);
    free(cache->slots);
}

void robots_cache_loop_init(struct robots_cache_loop *loop, struct robots_cache *cache)
{
    *loop = (struct robots_cache_loop){.cache = cache};
}

const struct robots *robots_cache_acquire(struct robots_cache *cache, robots_handle handle)
{
    if (handle < ROBOTS_HANDLE_FIRST)
        return handle == ROBOTS_ALL_ALLOWED ? &all_allowed : handle == ROBOTS_ALL_DENIED ? &all_denied : NULL;
    struct robots_cache_slot *slot = slot_of(cache, handle);
    uint64_t word = lf_load(&slot->word, relaxed);
    do
        if (!(word & FULL) || generation_of(word) != generation_of(handle))
            return NULL;
    /* A1 pairs with R1 in publish: the rules are complete. */
    while (!lf_cas_weak(&slot->word, &word, (word | USED) + 1, acquire, relaxed));
    return slot->rules;
}

void robots_cache_release(struct robots_cache *cache, robots_handle handle)
{
    if (handle >= ROBOTS_HANDLE_FIRST)
        lf_fetch_sub(&slot_of(cache, handle)->word, 1, release); /* R2 pairs with A2 in claim */
}

static size_t block_bytes(const struct robots *rules)
{
    return rules->bytes + BLOCK_BYTES;
}

/* Claims the slot if it is empty or its rules are unused, which are then freed. */
static bool claim(struct robots_cache *cache, struct robots_cache_slot *slot)
{
    uint64_t word = lf_load(&slot->word, relaxed);
    if (word & READERS)
        return false;
    if (word & USED) {
        lf_cas(&slot->word, &word, word & ~USED, relaxed, relaxed);
        return false;
    }
    uint64_t next = word & FULL ? generation_of(word) + 1 : generation_of(word);
    /* A2 pairs with R2 in release, after which nobody reads the rules, and with R1 and R3. */
    if (!lf_cas(&slot->word, &word, next << 32 | CLAIMED, acquire, relaxed))
        return false;
    if (slot->rules) {
        lf_fetch_sub(&cache->bytes_used, block_bytes(slot->rules), relaxed);
        lf_fetch_add(&cache->evicted, 1, relaxed);
        free(slot->rules);
        slot->rules = NULL;
    }
    return true;
}

static void abandon(struct robots_cache_slot *slot)
{
    uint64_t word = lf_load(&slot->word, relaxed);
    lf_store(&slot->word, word & ~CLAIMED, release); /* R3 pairs with A2 in claim */
}

static robots_handle publish(struct robots_cache *cache, struct robots_cache_slot *slot, struct robots *rules)
{
    uint64_t generation = generation_of(lf_load(&slot->word, relaxed));
    slot->rules = rules;
    lf_store(&slot->word, generation << 32 | FULL | USED, release); /* R1 pairs with A1 in acquire */
    return handle_of(generation, (uint32_t)(slot - cache->slots));
}

/* A slot that was never used, claimed; NULL: there is none. */
static struct robots_cache_slot *begin_slot(struct robots_cache *cache)
{
    if (lf_load(&cache->slots_begun, relaxed) >= cache->slots_max)
        return NULL;
    uint32_t index = lf_fetch_add(&cache->slots_begun, 1, relaxed);
    if (index < cache->slots_max && claim(cache, &cache->slots[index]))
        return &cache->slots[index];
    return NULL;
}

/* Evicts old rules until the budget is kept, and returns a claimed slot. The new block has been counted
 * already. NULL if that takes more than ROBOTS_CACHE_STEPS_MAX steps. */
static struct robots_cache_slot *make_room(struct robots_cache *cache)
{
    struct robots_cache_slot *slot = NULL;
    if (lf_load(&cache->bytes_used, relaxed) <= cache->bytes_max)
        slot = begin_slot(cache);
    for (unsigned step = 0; step < ROBOTS_CACHE_STEPS_MAX; step++) {
        bool is_full = lf_load(&cache->bytes_used, relaxed) > cache->bytes_max;
        if (slot && !is_full)
            return slot;
        uint32_t begun = lf_load(&cache->slots_begun, relaxed);
        begun = begun < cache->slots_max ? begun : cache->slots_max;
        uint32_t index = lf_fetch_add(&cache->hand, 1, relaxed) % (begun ? begun : 1);
        if (&cache->slots[index] == slot || !claim(cache, &cache->slots[index]))
            continue;
        if (slot)
            abandon(&cache->slots[index]);
        else
            slot = &cache->slots[index];
    }
    if (slot)
        abandon(slot);
    return NULL;
}

/* A copy without the sitemaps, which differ from host to host and are read only once. */
static struct robots *copy_rules(const struct robots *rules)
{
    struct robots *copy = malloc(rules->sitemaps);
    if (!copy)
        return NULL;
    memcpy(copy, rules, rules->sitemaps);
    copy->bytes = copy->sitemaps;
    copy->sitemap_count = 0;
    return copy;
}

static bool is_equal(struct robots_cache *cache, robots_handle handle, const struct robots *rules)
{
    const struct robots *other = robots_cache_acquire(cache, handle);
    if (!other)
        return false;
    bool equal = other->bytes == rules->bytes && memcmp(other, rules, rules->bytes) == 0;
    robots_cache_release(cache, handle);
    return equal;
}

robots_handle robots_cache_add(struct robots_cache_loop *loop, const struct robots *rules)
{
    struct robots_cache *cache = loop->cache;
    if (!rules->rule_count && !rules->crawl_delay_ms)
        return rules->disallow_all ? ROBOTS_ALL_DENIED : ROBOTS_ALL_ALLOWED;
    struct robots *copy = copy_rules(rules);
    if (!copy)
        return ROBOTS_NONE;
    uint64_t digest = hash_bytes(copy, copy->bytes);
    struct robots_cache_recent *recent = &loop->recent[digest % RECENT_SLOTS];
    if (recent->digest == digest && is_equal(cache, recent->handle, copy)) {
        free(copy);
        return recent->handle;
    }
    lf_fetch_add(&cache->bytes_used, block_bytes(copy), relaxed);
    struct robots_cache_slot *slot = make_room(cache);
    if (!slot) {
        lf_fetch_sub(&cache->bytes_used, block_bytes(copy), relaxed);
        free(copy);
        return ROBOTS_NONE;
    }
    *recent = (struct robots_cache_recent){digest, publish(cache, slot, copy)};
    return recent->handle;
}
