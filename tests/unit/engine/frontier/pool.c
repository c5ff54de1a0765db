#include "engine/frontier/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "lockfree/ring_spsc.h"
#include "tests/support/check.h"

static struct pool_region region;
static struct pool pools[3];

static void begin(size_t bytes, unsigned pool_count)
{
    CHECK_INT(pool_region_init(&region, bytes), 0);
    for (unsigned i = 0; i < pool_count; i++)
        pool_init(&pools[i], &region, i + 1);
}

static size_t budget(void)
{
    return (size_t)region.chunk_count << region.chunk_bytes_log2;
}

TEST(blocks_do_not_overlap_and_come_back)
{
    enum { COUNT = 3000 };
    static unsigned char *blocks[COUNT];
    begin(8 << 20, 1);
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = 1 + (size_t)i % 2000;
        blocks[i] = pool_acquire(&pools[0], bytes);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 8 == 0);
        memset(blocks[i], i & 0xff, bytes);
    }
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = 1 + (size_t)i % 2000;
        CHECK(blocks[i][0] == (i & 0xff) && blocks[i][bytes - 1] == (i & 0xff));
        pool_release(&pools[0], blocks[i], bytes);
    }
    CHECK_INT(pools[0].bytes_in_use, 0);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    pool_region_fini(&region);
}

TEST(a_block_of_every_size_is_large_enough_and_not_much_larger)
{
    begin(64 << 20, 1);
    for (size_t bytes = 1; bytes <= POOL_BLOCK_BYTES_MAX; bytes++) {
        uint64_t before = pools[0].bytes_in_use;
        void *block = pool_acquire(&pools[0], bytes);
        uint64_t given = pools[0].bytes_in_use - before;
        CHECK(block && given >= bytes && given <= bytes + 16 + bytes / 7);
        CHECK(bytes < 16 || bytes > 128 || given < bytes + 8);
        pool_release(&pools[0], block, bytes);
    }
    pool_region_fini(&region);
}

/* Acquires until there is no more; the blocks are linked by their first word. */
static void *fill(struct pool *pool, size_t bytes, size_t *count)
{
    void **last = NULL, **block;
    *count = 0;
    while ((block = pool_acquire(pool, bytes))) {
        *block = last;
        last = block;
        ++*count;
    }
    return last;
}

static void empty(struct pool *pool, void *last, size_t bytes)
{
    while (last) {
        void *next = *(void **)last;
        pool_release(pool, last, bytes);
        last = next;
    }
}

TEST(a_full_region_is_an_answer_and_room_comes_back)
{
    begin(4 << 20, 1);
    size_t count;
    void *last = fill(&pools[0], 1000, &count);
    CHECK(count * 1024 >= budget() - budget() / 16);
    CHECK_INT(pool_region_bytes_used(&region), budget());
    pool_release(&pools[0], last, 1000);
    CHECK(pool_acquire(&pools[0], 1000) == last);
    CHECK(pool_acquire(&pools[0], 1000) == NULL);
    pool_region_fini(&region);
}

TEST(memory_that_short_urls_have_left_serves_long_ones)
{
    size_t shorts, longs, shorts_again;
    begin(16 << 20, 1);
    void *urls = fill(&pools[0], 60, &shorts);
    CHECK(pool_acquire(&pools[0], 2000) == NULL);
    empty(&pools[0], urls, 60);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    urls = fill(&pools[0], 2000, &longs);
    CHECK(longs * 2048 >= budget() - budget() / 8);
    empty(&pools[0], urls, 2000);
    empty(&pools[0], fill(&pools[0], 60, &shorts_again), 60);
    CHECK_INT(shorts_again, shorts);
    pool_region_fini(&region);
}

/* Most short URLs leave a full region, in any order: no chunk is empty, and yet there is room for long ones. */
static size_t share_of_long_ones(size_t bytes)
{
    enum { TRIES = 20000 };
    size_t count, longs = 0;
    uint64_t random = bytes;
    begin(4 << 20, 1);
    void *next = NULL, *stays = NULL, *taken = NULL;
    for (void *block = fill(&pools[0], 60, &count); block; block = next) {
        next = *(void **)block;
        random = random * 6364136223846793005u + 1442695040888963407u;
        if ((random >> 33) % 100 < 88) {
            pool_release(&pools[0], block, 60);
        } else {
            *(void **)block = stays;
            stays = block;
        }
    }
    CHECK_INT(pool_region_bytes_used(&region), budget());
    for (int i = 0; i < TRIES; i++) {
        void **block = pool_acquire(&pools[0], bytes);
        if (!block)
            continue; /* one search looks at some chunks only */
        memset(block, 0xff, bytes);
        *block = taken;
        taken = block;
        longs++;
    }
    empty(&pools[0], stays, 60);
    empty(&pools[0], taken, bytes);
    CHECK_INT(pools[0].bytes_in_use, 0);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    pool_region_fini(&region);
    return 100 * longs * bytes / (4 << 20);
}

TEST(short_blocks_side_by_side_make_a_long_one)
{
    CHECK(share_of_long_ones(200) >= 50);
    CHECK(share_of_long_ones(500) >= 45);
    CHECK(share_of_long_ones(1000) >= 20);
}

TEST(a_full_region_gives_a_larger_block_where_one_is_free)
{
    size_t count;
    begin(4 << 20, 1);
    void *longs = fill(&pools[0], 4000, &count);
    empty(&pools[0], fill(&pools[0], 300, &count), 300); /* nothing is left of any size */
    void *second = *(void **)longs;
    pool_release(&pools[0], longs, 4000);
    CHECK(pool_acquire(&pools[0], 60) != NULL);
    pool_release(&pools[0], second, 4000);
    pool_region_fini(&region);
}

/* What another loop releases is found again by the owner, and its chunks return to the region. */
TEST(blocks_released_by_another_loop_return)
{
    size_t count, again;
    begin(8 << 20, 2);
    void *urls = fill(&pools[0], 60, &count);
    CHECK(pool_acquire(&pools[1], 60) == NULL);
    empty(&pools[1], urls, 60);
    CHECK_INT(pools[0].bytes_in_use + pools[1].bytes_in_use, 0);
    CHECK_INT(pool_region_bytes_used(&region), budget());
    pool_collect(&pools[0]);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    empty(&pools[1], fill(&pools[1], 500, &again), 500);
    CHECK(again * 512 >= budget() - budget() / 8);
    pool_region_fini(&region);
}

/* One loop allocates, the other frees. */
enum { MOVED = 400000, BYTES = 100 };
static struct ring_spsc belt;
static _Alignas(128) char belt_memory[1 << 16];

static void *free_all(void *argument)
{
    (void)argument;
    uint64_t item;
    for (int i = 0; i < MOVED;)
        if (ring_spsc_pop(&belt, &item)) {
            pool_release(&pools[1], (void *)(uintptr_t)item, BYTES);
            i++;
        }
    return NULL;
}

TEST(blocks_freed_by_another_loop_are_found_again)
{
    pthread_t thread;
    begin(4 << 20, 2);
    ring_spsc_init(&belt, belt_memory, 1024);
    CHECK(pthread_create(&thread, NULL, free_all, NULL) == 0);
    for (int i = 0; i < MOVED;) {
        void *block = pool_acquire(&pools[0], BYTES);
        if (!block)
            continue; /* the other has them all for a moment */
        memset(block, 1, BYTES);
        while (!ring_spsc_push(&belt, (uintptr_t)block))
            ;
        i++;
    }
    pthread_join(thread, NULL);
    pool_collect(&pools[0]);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    pool_region_fini(&region);
}

/* Blocks of all sizes wander between three loops through shared places, and fill the region again and again. */
enum { PLACES = 4096, SWAPS = 200000 };
static _Atomic(unsigned char *) places[PLACES];

static void *wander(void *argument)
{
    struct pool *pool = argument;
    uint64_t random = (uint64_t)(pool - pools) * 7919 + 1;
    for (int i = 0; i < SWAPS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t bytes = (random >> 40) % ((random >> 33) % 8 ? 200 : 8000) + 16;
        unsigned char *block = i < SWAPS / 2 ? pool_acquire(pool, bytes) : NULL;
        if (block) {
            memcpy(block, &bytes, sizeof bytes);
            memset(block + sizeof bytes, (int)bytes & 0xff, bytes - sizeof bytes);
        }
        unsigned char *other = lf_exchange(&places[(random >> 20) % PLACES], block, acq_rel);
        if (other) {
            memcpy(&bytes, other, sizeof bytes);
            CHECK(bytes == sizeof bytes || other[bytes - 1] == (bytes & 0xff));
            pool_release(pool, other, bytes);
        }
        if (i % 64 == 0)
            pool_collect(pool);
    }
    return NULL;
}

TEST(blocks_that_wander_between_loops_are_whole_and_all_come_back)
{
    pthread_t threads[3];
    begin(2 << 20, 3);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, wander, &pools[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PLACES; i++) {
        unsigned char *block = lf_exchange(&places[i], NULL, relaxed);
        size_t bytes;
        if (!block)
            continue;
        memcpy(&bytes, block, sizeof bytes);
        pool_release(&pools[0], block, bytes);
    }
    for (int i = 0; i < 3; i++)
        pool_collect(&pools[i]);
    CHECK_INT(pools[0].bytes_in_use + pools[1].bytes_in_use + pools[2].bytes_in_use, 0);
    CHECK_INT(pool_region_bytes_used(&region), 0);
    pool_region_fini(&region);
}
