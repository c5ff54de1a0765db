#include "engine/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "lockfree/ring_spsc.h"
#include "tests/support/check.h"

static struct pool_region region;

TEST(blocks_do_not_overlap_and_come_back)
{
    static struct pool pool;
    enum { COUNT = 3000 };
    static unsigned char *blocks[COUNT];
    CHECK_INT(pool_region_init(&region, 8 << 20), 0);
    pool_init(&pool, &region);
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = 1 + (size_t)i % 2000;
        blocks[i] = pool_acquire(&pool, bytes);
        CHECK(blocks[i] && (uintptr_t)blocks[i] % 8 == 0);
        memset(blocks[i], i & 0xff, bytes);
    }
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = 1 + (size_t)i % 2000;
        CHECK(blocks[i][0] == (i & 0xff) && blocks[i][bytes - 1] == (i & 0xff));
        pool_release(&pool, blocks[i], bytes);
    }
    CHECK_INT(pool.bytes_in_use, 0);
    size_t used = region.used;
    for (int i = 0; i < COUNT; i++)
        blocks[i] = pool_acquire(&pool, 1 + (size_t)i % 2000);
    CHECK_INT(region.used, used);
    pool_region_fini(&region);
}

TEST(a_full_region_is_an_answer_and_room_comes_back)
{
    static struct pool pool;
    CHECK_INT(pool_region_init(&region, 4 << 20), 0);
    pool_init(&pool, &region);
    unsigned count = 0;
    void *last = NULL, *block;
    while ((block = pool_acquire(&pool, 1000))) {
        last = block;
        count++;
    }
    CHECK(count >= (region.bytes - 2 * POOL_SPAN_BYTES) / 1024);
    pool_release(&pool, last, 1000);
    CHECK(pool_acquire(&pool, 1000) == last);
    CHECK(pool_acquire(&pool, 1000) == NULL);
    pool_region_fini(&region);
}

/* One loop allocates, the other frees: without the depot the first would run out of memory. */
enum { MOVED = 400000, BYTES = 100 };
static struct ring_spsc belt;
static _Alignas(128) char belt_memory[1 << 16];

static void *free_all(void *argument)
{
    static struct pool pool;
    (void)argument;
    pool_init(&pool, &region);
    uint64_t item;
    for (int i = 0; i < MOVED;)
        if (ring_spsc_pop(&belt, &item)) {
            pool_release(&pool, (void *)(uintptr_t)item, BYTES);
            i++;
        }
    return NULL;
}

TEST(blocks_freed_by_another_loop_are_found_again)
{
    static struct pool pool;
    pthread_t thread;
    CHECK_INT(pool_region_init(&region, 4 << 20), 0);
    pool_init(&pool, &region);
    ring_spsc_init(&belt, belt_memory, 1024);
    CHECK(pthread_create(&thread, NULL, free_all, NULL) == 0);
    for (int i = 0; i < MOVED;) {
        void *block = pool_acquire(&pool, BYTES);
        if (!block)
            continue; /* the other has them all for a moment */
        memset(block, 1, BYTES);
        while (!ring_spsc_push(&belt, (uintptr_t)block))
            ;
        i++;
    }
    pthread_join(thread, NULL);
    pool_region_fini(&region);
}
