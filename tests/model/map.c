/* map: growth from two buckets while threads insert, remove and find. The hashes are chosen so that they
 * share a bucket until the map has grown. */
#include "lockfree/map.h"
#include "lockfree/container_of.h"
#include "lockfree/reclaim.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define BUCKETS_MAX 8
#define KEYS        6

struct item {
    struct map_node node;
    struct reclaim_node retirement;
    int payload;
};

/* Two to a bucket of four, in the upper half of the space. */
static const uint64_t hashes[KEYS] = {
    0x8100000000000000, 0xa100000000000000, 0xc100000000000000,
    0xe100000000000000, 0x0100000000000000, 0x4100000000000000,
};

static struct map map;
static _Alignas(LF_CACHE_LINE) struct list_node buckets[BUCKETS_MAX];
static struct map_thread threads[MODEL_THREADS_MAX + 1];
static struct reclaim domain;
static struct reclaim_thread slots[MODEL_THREADS_MAX];
static struct reclaim_thread *reclaims[MODEL_THREADS_MAX];
static struct history history;
static bool is_weak;

static unsigned self(void)
{
    return model_is_running() ? model_self() : MODEL_THREADS_MAX;
}

static struct history_op *begin_op(enum history_kind kind, unsigned key)
{
    struct history_op op = {.kind = kind, .thread = self(), .arg = key, .value = key};
    return history_begin(&history, op);
}

static void insert(unsigned key)
{
    struct item *item = model_alloc(sizeof *item);
    model_write(item->payload, 100 + (int)key);
    struct history_op *op = begin_op(HISTORY_INSERT, key);
    struct map_node *there = map_insert(&threads[self()], &item->node, hashes[key], NULL);
    history_end(&history, op, !there);
    if (there)
        model_check(model_read(((struct item *)there)->payload) == 100 + (int)key);
}

static void on_release(struct reclaim_node *node, void *context)
{
    (void)context;
    model_free(container_of(node, struct item, retirement));
}

static void remove_key(unsigned key)
{
    struct history_op *op = begin_op(HISTORY_REMOVE, key);
    struct item *item = (struct item *)map_remove(&threads[self()], hashes[key], NULL);
    history_end(&history, op, item != NULL);
    if (item)
        model_check(reclaim_retire(reclaims[self()], &item->retirement, on_release));
}

static void find(unsigned key)
{
    struct history_op *op = begin_op(HISTORY_FIND, key);
    struct item *item = (struct item *)map_find(&map, hashes[key], NULL);
    if (item)
        model_check(model_read(item->payload) == 100 + (int)key);
    history_end(&history, op, item ? key : HISTORY_NONE);
}

/* One insert short of growth. */
static void begin(void)
{
    memset(buckets, 0, sizeof buckets);
    map_init(&map,
             &(struct map_options){.buckets = buckets, .buckets_max = BUCKETS_MAX, .buckets_initial = 2});
    reclaim_init(&domain, slots, MODEL_THREADS_MAX, 8);
    history_init(&history, HISTORY_MAP);
    history.by_happens_before = is_weak;
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
        map_thread_init(&threads[i], &map, i);
        if (i < MODEL_THREADS_MAX)
            reclaims[i] = reclaim_claim(&domain, NULL);
    }
    insert(2);
    insert(4);
}

static void finish(void)
{
    uint64_t last = 0;
    size_t met = 0;
    for (struct map_node *node = map_first(&map); node; node = map_next(node), met++) {
        model_check(node->link.key > last);
        last = node->link.key;
    }
    model_check(map_count(&map) == met);
    for (unsigned key = 0; key < KEYS; key++)
        find(key);
    history_verify(&history);
    reclaim_fini(&domain);
}

static void verify(struct model_case c)
{
    c.begin = begin;
    c.finish = finish;
    is_weak = c.weak > 0;
    model_verify(&c);
}

static void online(void)
{
    reclaim_online(reclaims[self()]);
}

static void offline(void)
{
    reclaim_quiescent(reclaims[self()]);
    reclaim_offline(reclaims[self()]);
}

static void grow_and_insert(void)
{
    online();
    insert(0);
    insert(3);
    offline();
}

static void insert_and_find(void)
{
    online();
    insert(3);
    find(2);
    offline();
}

static void insert_third(void)
{
    online();
    insert(3);
    offline();
}

static void remove_and_insert(void)
{
    online();
    remove_key(2);
    insert(2);
    offline();
}

static void find_two(void)
{
    online();
    find(2);
    find(3);
    offline();
}

TEST(two_threads)
{
    verify((struct model_case){
        .name = "map_grow_insert", .threads = {grow_and_insert, insert_and_find}, .preemptions = 3});
    verify((struct model_case){
        .name = "map_grow_remove", .threads = {grow_and_insert, remove_and_insert}, .preemptions = 3});
    verify((struct model_case){
        .name = "map_grow_find", .threads = {grow_and_insert, find_two}, .preemptions = 4});
    verify((struct model_case){.name = "map_grow_insert_weak",
                               .threads = {grow_and_insert, insert_third},
                               .preemptions = 2,
                               .weak = 2});
    verify((struct model_case){
        .name = "map_grow_find_weak", .threads = {grow_and_insert, find_two}, .preemptions = 2, .weak = 2});
}

/* Growth twice over, by threads that began with different sizes: the map never shrinks. */
static size_t buckets_seen[MODEL_THREADS_MAX];

static void insert_watching(unsigned key)
{
    insert(key);
    buckets_seen[self()] = map_bucket_count(&map);
}

static void insert_one(void)
{
    online();
    insert_watching(0);
    offline();
}

static void insert_more(void)
{
    online();
    insert_watching(3);
    insert_watching(1);
    offline();
}

static void finish_growth(void)
{
    finish();
    for (unsigned i = 0; i < 2; i++)
        model_check(map_bucket_count(&map) >= buckets_seen[i]);
}

TEST(growing_twice)
{
    struct model_case c = {.name = "map_grow_twice",
                           .begin = begin,
                           .threads = {insert_one, insert_more},
                           .finish = finish_growth,
                           .preemptions = 3};
    is_weak = false;
    model_verify(&c);
    is_weak = true;
    c.name = "map_grow_twice_weak";
    c.preemptions = 2;
    c.weak = 1;
    model_verify(&c);
}

TEST(three_threads)
{
    verify((struct model_case){
        .name = "map_three", .threads = {grow_and_insert, remove_and_insert, find_two}, .preemptions = 2});
    verify((struct model_case){.name = "map_three_weak",
                               .threads = {grow_and_insert, insert_third, find_two},
                               .preemptions = 2,
                               .weak = 1});
    verify((struct model_case){.name = "map_three_lock_free",
                               .threads = {grow_and_insert, insert_third, find_two},
                               .preemptions = 2,
                               .lock_free = true});
    verify((struct model_case){.name = "map_random",
                               .threads = {grow_and_insert, remove_and_insert, insert_and_find, find_two},
                               .preemptions = 5,
                               .weak = 3,
                               .random = 20000,
                               .seed = 3});
}
