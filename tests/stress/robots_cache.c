/* Threads add rules to a cache that holds few of them, and read by handles of their own and of others. What a
 * reader holds must stay what its handle was made for. */
#include "tests/support/stress.h"
#include "engine/robots/robots_cache.c"

#include <stdio.h>

enum { HANDLES = 64, STEPS = 200, RULES_BYTES = 300 << 10 };

static struct {
    struct robots_cache cache;
    _Atomic(robots_handle) handles[HANDLES];
    _Atomic(uint64_t) found;
} all;

static void begin(void *shared, unsigned threads)
{
    (void)shared;
    (void)threads;
    CHECK(robots_cache_init(&all.cache, ROBOTS_CACHE_BYTES_MIN));
    for (int i = 0; i < HANDLES; i++)
        lf_store(&all.handles[i], ROBOTS_NONE, relaxed);
}

/* One rule, whose number is in the delay; the text after it is never read. */
static struct robots *make(unsigned number)
{
    struct robots *rules = calloc(1, RULES_BYTES);
    rules->rule_count = 1;
    rules->crawl_delay_ms = number;
    rules->bytes = rules->sitemaps = RULES_BYTES;
    ((char *)rules)[RULES_BYTES - 1] = (char)number;
    return rules;
}

static void work(struct stress_worker *worker)
{
    struct robots_cache_loop *loop = malloc(sizeof *loop);
    robots_cache_loop_init(loop, &all.cache);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned number = (unsigned)stress_random(worker, HANDLES);
        robots_handle handle = lf_load(&all.handles[number], acquire);
        const struct robots *rules = robots_cache_acquire(&all.cache, handle);
        if (rules) {
            CHECK_INT(rules->crawl_delay_ms, number + 1);
            CHECK_INT(((const char *)rules)[RULES_BYTES - 1], (char)(number + 1));
            lf_fetch_add(&all.found, 1, relaxed);
            robots_cache_release(&all.cache, handle);
            continue;
        }
        struct robots *made = make(number + 1);
        handle = robots_cache_add(loop, made);
        free(made);
        if (handle != ROBOTS_NONE)
            lf_store(&all.handles[number], handle, release);
    }
    free(loop);
}

static void check(void *shared, unsigned threads)
{
    (void)shared;
    (void)threads;
    size_t bytes = 0;
    for (uint32_t i = 0; i < all.cache.slots_max; i++) {
        CHECK_INT(lf_load(&all.cache.slots[i].word, relaxed) & READERS, 0);
        bytes += all.cache.slots[i].rules ? block_bytes(all.cache.slots[i].rules) : 0;
    }
    CHECK_INT(lf_load(&all.cache.bytes_used, relaxed), bytes);
    CHECK(bytes <= ROBOTS_CACHE_BYTES_MIN);
    CHECK(lf_load(&all.cache.evicted, relaxed) > 0 && lf_load(&all.found, relaxed) > 0);
    robots_cache_fini(&all.cache);
}

TEST(readers_keep_what_they_hold)
{
    stress_run(&(struct stress_plan){
        .rounds = 4, .yield_every = 64, .seed = 7, .begin = begin, .work = work, .check = check});
}
