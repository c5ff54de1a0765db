#include "engine/frontier/retired.h"

#include "lockfree/power.h"

/* The candidates for a host's word are in one cache line. */
enum { WAYS = LF_CACHE_LINE / sizeof(uint64_t) };

/* Words per host of the table of hosts: in a long crawl many more hosts are retired than fit the table. */
enum { WORDS_PER_HOST = 4, WORDS_MIN = 4096 };

/* A word holds the upper half of the hash, why the host is dead, and its share. */
enum { TAG_SHIFT = 32, WHY_SHIFT = 24 };

static size_t count_for(uint32_t hosts_max)
{
    size_t words = (size_t)hosts_max * WORDS_PER_HOST;
    return power_of_two(words > WORDS_MIN ? words : WORDS_MIN);
}

size_t retired_bytes(uint32_t hosts_max)
{
    return count_for(hosts_max) * sizeof(uint64_t);
}

void retired_init(struct retired *retired, struct arena *arena, uint32_t hosts_max)
{
    retired->words = arena_take(arena, retired_bytes(hosts_max), LF_CACHE_LINE);
    retired->mask = (count_for(hosts_max) - 1) & ~(uint64_t)(WAYS - 1);
}

static uint64_t tag_of(uint64_t hash)
{
    return hash >> TAG_SHIFT;
}

/* The host's own word, else a free one, else one chosen by the hash, which is overwritten. */
static _Atomic(uint64_t) *place_for(struct retired *retired, uint64_t hash)
{
    _Atomic(uint64_t) *line = &retired->words[hash & retired->mask], *free = NULL;
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t word = lf_load(&line[i], relaxed);
        if (word && word >> TAG_SHIFT == tag_of(hash))
            return &line[i];
        if (!word && !free)
            free = &line[i];
    }
    return free ? free : &line[hash % WAYS];
}

void retired_put(struct retired *retired, uint64_t hash, struct retired_host host)
{
    uint64_t word = tag_of(hash) << TAG_SHIFT | (uint64_t)host.dead_why << WHY_SHIFT | host.share;
    /* If two loops choose the same word, the later wins: no worse than overwriting in a full table. */
    lf_store(place_for(retired, hash), word, relaxed);
}

struct retired_host retired_get(const struct retired *retired, uint64_t hash)
{
    const _Atomic(uint64_t) *line = &retired->words[hash & retired->mask];
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t word = lf_load(&line[i], relaxed);
        if (word && word >> TAG_SHIFT == tag_of(hash))
            return (struct retired_host){.dead_why = (uint8_t)(word >> WHY_SHIFT),
                                         .share = (uint32_t)word & RETIRED_SHARE_WHOLE};
    }
    return (struct retired_host){0};
}

uint32_t retired_share(uint64_t used, uint64_t max)
{
    if (!used || !max)
        return 0;
    if (used >= max)
        return RETIRED_SHARE_WHOLE;
    uint32_t share = (uint32_t)((double)used / (double)max * RETIRED_SHARE_WHOLE) + 1;
    return share < RETIRED_SHARE_WHOLE ? share : RETIRED_SHARE_WHOLE;
}

uint64_t retired_used(uint32_t share, uint64_t max)
{
    return share == RETIRED_SHARE_WHOLE ? max : (uint64_t)((double)share / RETIRED_SHARE_WHOLE * (double)max);
}
