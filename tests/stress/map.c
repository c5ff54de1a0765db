/* Threads insert, remove and find while the map grows from 2 buckets. Who inserted and removed what is
 * counted per key, so that at the end the map must hold exactly the difference. Every eighth pair of keys
 * shares a hash. Items carry a payload that is poisoned on release. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/container_of.h"
#include "lockfree/list.c"
#include "lockfree/map.c"
#include "lockfree/reclaim.c"

#include <stdlib.h>

#define KEYS        4000
#define BUCKETS_MAX 2048
#define LIMBO       500
#define THREADS_MAX 64
#define OPERATIONS  60000
#define GOOD        UINT64_C(0x600d600d600d600d)
#define POISON      UINT64_C(0xdeaddeaddeaddead)

struct item {
    struct map_node node;
    struct reclaim_node retirement;
    uint64_t key;
    uint64_t payload; /* GOOD ^ key */
};

static struct {
    struct reclaim domain;
    struct reclaim_thread threads[THREADS_MAX];
    struct map map;
    _Alignas(LF_CACHE_LINE) struct list_node buckets[BUCKETS_MAX];
    LF_ISOLATED _Atomic int8_t present[KEYS]; /* successful inserts less successful removes */
    _Atomic int64_t alive;
} shared;

static uint64_t hash_of(uint64_t key)
{
    uint64_t x = key % 16 == 1 ? key - 1 : key;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static struct item *item_of(const struct map_node *node)
{
    struct item *item = container_of(node, struct item, node);
    CHECK(item->payload == (GOOD ^ item->key));
    return item;
}

static bool is_key(const struct list_node *node, const void *wanted)
{
    return item_of((const struct map_node *)node)->key == *(const uint64_t *)wanted;
}

static struct item *item_create(uint64_t key)
{
    struct item *item = malloc(sizeof *item);
    item->key = key;
    item->payload = GOOD ^ key;
    lf_fetch_add(&shared.alive, 1, relaxed);
    return item;
}

static void item_destroy(struct item *item)
{
    item->payload = POISON;
    lf_fetch_sub(&shared.alive, 1, relaxed);
    free(item);
}

static void on_item_release(struct reclaim_node *node, void *context)
{
    (void)context;
    item_destroy(container_of(node, struct item, retirement));
}

static void set_up(unsigned threads, size_t buckets_initial)
{
    CHECK(threads <= THREADS_MAX);
    memset(&shared, 0, sizeof shared);
    reclaim_init(&shared.domain, shared.threads, threads, LIMBO);
    struct map_options options = {.buckets = shared.buckets,
                                  .buckets_max = BUCKETS_MAX,
                                  .buckets_initial = buckets_initial,
                                  .match = is_key};
    map_init(&shared.map, &options);
}

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    set_up(threads, 2);
}

static struct item *find_key(uint64_t key)
{
    struct map_node *node = map_find(&shared.map, hash_of(key), &key);
    if (!node)
        return NULL;
    CHECK_INT(item_of(node)->key, key);
    return item_of(node);
}

static void insert_key(struct map_thread *map, uint64_t key)
{
    struct item *item = item_create(key);
    struct map_node *there = map_insert(map, &item->node, hash_of(key), &key);
    if (there) {
        CHECK_INT(item_of(there)->key, key);
        item_destroy(item);
    } else {
        lf_fetch_add(&shared.present[key], 1, relaxed);
    }
}

static struct item *remove_key(struct map_thread *map, uint64_t key)
{
    struct map_node *node = map_remove(map, hash_of(key), &key);
    if (!node)
        return NULL;
    lf_fetch_sub(&shared.present[key], 1, relaxed);
    CHECK_INT(item_of(node)->key, key);
    return item_of(node);
}

static size_t walk(void)
{
    uint64_t last = 0;
    size_t count = 0;
    for (struct map_node *node = map_first(&shared.map); node; node = map_next(node), count++) {
        CHECK(hash_of(item_of(node)->key) >= last);
        last = node->link.key;
    }
    return count;
}

/* Mostly inserts in the beginning, so that the map grows; then as many removes. */
static void work(struct stress_worker *worker)
{
    struct reclaim_thread *self = reclaim_claim(&shared.domain, NULL);
    struct map_thread map;
    map_thread_init(&map, &shared.map, worker->random);
    reclaim_online(self);
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t key = stress_random(worker, KEYS), choice = stress_random(worker, 8);
        if (choice < 2) {
            find_key(key);
        } else if (choice < (i < OPERATIONS / 4 ? 7 : 5)) {
            insert_key(&map, key);
        } else if (reclaim_has_room(self, 1)) {
            struct item *item = remove_key(&map, key);
            if (item)
                CHECK(reclaim_retire(self, &item->retirement, on_item_release));
        }
        if (i % 16 == 0)
            reclaim_quiescent(self);
        if (i % (OPERATIONS / 8) == 0)
            walk();
    }
    map_thread_fini(&map);
    reclaim_offline(self);
    reclaim_leave(self);
}

static void check_contents(void)
{
    int64_t held = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        int present = lf_load(&shared.present[key], relaxed);
        CHECK(present == 0 || present == 1);
        CHECK(!find_key(key) == !present);
        held += present;
    }
    CHECK_INT(walk(), held);
    CHECK_INT(lf_load(&shared.alive, relaxed), held);
    for (struct map_node *node = map_first(&shared.map), *next; node; node = next) {
        next = map_next(node);
        item_destroy(item_of(node));
    }
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    int64_t in_map = (int64_t)map_count(&shared.map);
    CHECK(lf_load(&shared.alive, relaxed) <= in_map + (int64_t)threads * LIMBO);
    CHECK_INT(map_bucket_count(&shared.map), BUCKETS_MAX);
    reclaim_fini(&shared.domain);
    check_contents();
}

TEST(counts_and_contents_agree_while_it_grows)
{
    struct stress_plan plan = {.begin = begin, .work = work, .check = check, .rounds = 3};
    stress_run(&plan);
    plan.yield_every = 32;
    stress_run(&plan);
}

/* All threads want the same few buckets at the moment they come into being. */
static void work_new_buckets(struct stress_worker *worker)
{
    struct map_thread map;
    map_thread_init(&map, &shared.map, worker->random);
    for (uint64_t key = 0; key < KEYS; key++) {
        insert_key(&map, key);
        CHECK(find_key(key));
        CHECK(find_key(stress_random(worker, key + 1)));
    }
    map_thread_fini(&map);
}

static void check_all_there(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    CHECK_INT(map_count(&shared.map), KEYS);
    CHECK_INT(walk(), KEYS);
    check_contents();
}

TEST(all_insert_the_same)
{
    struct stress_plan plan = {
        .begin = begin, .work = work_new_buckets, .check = check_all_there, .rounds = 5, .yield_every = 64};
    stress_run(&plan);
}

/* A thread is stopped at each atomic operation of an insert or a remove that needs a bucket's fence. The
 * others use and grow the map around it. */
#define PARK_KEYS  400
#define PARKED_KEY 77
static struct {
    struct item *removed[2 * PARK_KEYS];
    size_t removed_count;
    struct item *by_parked;
    bool inserts;
} park;

static void park_begin(void *unused)
{
    (void)unused;
    struct map_thread map;
    set_up(1, 2);
    map_thread_init(&map, &shared.map, 1);
    park.removed_count = 0;
    park.by_parked = NULL;
    for (uint64_t key = 0; key < 3 * MAP_UNCOUNTED_MAX; key++)
        if (!(park.inserts && key == PARKED_KEY))
            insert_key(&map, key);
    /* Grown without anybody having come to the new buckets. */
    lf_store(&shared.map.bits, 8, relaxed);
}

static void park_operation(void *unused)
{
    (void)unused;
    struct map_thread map;
    map_thread_init(&map, &shared.map, 2);
    if (park.inserts)
        insert_key(&map, PARKED_KEY);
    else
        park.by_parked = remove_key(&map, PARKED_KEY);
}

static void park_others(void *unused)
{
    (void)unused;
    struct map_thread map;
    map_thread_init(&map, &shared.map, 3);
    for (uint64_t key = 0; key < PARK_KEYS; key++) {
        struct item *item = remove_key(&map, key);
        if (item)
            park.removed[park.removed_count++] = item;
    }
    for (uint64_t key = 0; key < PARK_KEYS; key++) {
        insert_key(&map, key);
        CHECK(find_key(key) || key == PARKED_KEY);
    }
    CHECK(map_bucket_count(&shared.map) > 256);
    CHECK(walk() >= PARK_KEYS - 1);
}

static void park_finish(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < park.removed_count; i++)
        item_destroy(park.removed[i]);
    if (park.by_parked)
        item_destroy(park.by_parked);
    check_contents();
}

TEST(a_stopped_insert_stops_nobody)
{
    const struct stress_parking parking = {
        .begin = park_begin, .operation = park_operation, .others = park_others, .finish = park_finish};
    park.inserts = true;
    CHECK(stress_park(&parking) > 10);
}

TEST(a_stopped_remove_stops_nobody)
{
    const struct stress_parking parking = {
        .begin = park_begin, .operation = park_operation, .others = park_others, .finish = park_finish};
    park.inserts = false;
    CHECK(stress_park(&parking) > 10);
}
