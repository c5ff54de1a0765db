/* Real threads record what they do with a map that grows, and with a list; every history must have a
 * sequential explanation. Few keys, so that the threads meet. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/container_of.h"
#include "lockfree/list.c"
#include "lockfree/map.c"
#include "lockfree/reclaim.c"

#include "tests/support/history.h"

#define THREADS 4
#define OPS     10
#define KEYS    5
#define ROUNDS  1500
#define BUCKETS 8

struct item {
    struct map_node node;
    struct reclaim_node retirement;
};

static struct {
    struct history history;
    struct reclaim domain;
    struct reclaim_thread slots[THREADS];
    struct reclaim_thread *reclaims[THREADS];
    struct map map;
    struct map_thread threads[THREADS];
    LF_ISOLATED struct list_node buckets[BUCKETS];
    struct list list;
    struct item items[THREADS * OPS];
    bool is_list;
} shared;

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    history_init(&shared.history, HISTORY_MAP);
    reclaim_init(&shared.domain, shared.slots, threads, 100);
    memset(shared.buckets, 0, sizeof shared.buckets);
    memset(shared.items, 0, sizeof shared.items);
    map_init(&shared.map,
             &(struct map_options){.buckets = shared.buckets, .buckets_max = BUCKETS, .buckets_initial = 2});
    list_init(&shared.list, NULL);
    for (unsigned i = 0; i < threads; i++) {
        shared.reclaims[i] = reclaim_claim(&shared.domain, NULL);
        map_thread_init(&shared.threads[i], &shared.map, i);
    }
}

static uint64_t hash_of(uint64_t key)
{
    return (key + 1) * UINT64_C(0x2f00000000000000);
}

static uint64_t insert(struct map_thread *self, struct item *item, uint64_t hash)
{
    if (!shared.is_list)
        return map_insert(self, &item->node, hash, NULL) == NULL;
    item->node.link.key = hash;
    return list_insert(&shared.list, &item->node.link, NULL, &self->backoff) == NULL;
}

static void on_release(struct reclaim_node *node, void *context)
{
    (void)context;
    struct item *item = container_of(node, struct item, retirement);
    lf_store(&item->node.link.next, 0xdddd, relaxed);
}

static uint64_t remove_key(unsigned thread, uint64_t hash)
{
    struct map_thread *self = &shared.threads[thread];
    struct list_node *removed = shared.is_list ? list_remove(&shared.list, hash, NULL, &self->backoff)
                                               : (struct list_node *)map_remove(self, hash, NULL);
    if (removed)
        CHECK(reclaim_retire(shared.reclaims[thread], &((struct item *)removed)->retirement, on_release));
    return removed != NULL;
}

static uint64_t find(uint64_t hash, uint64_t key)
{
    struct list_node *found = shared.is_list ? list_find(&shared.list, hash, NULL)
                                             : (struct list_node *)map_find(&shared.map, hash, NULL);
    return found ? key : HISTORY_NONE;
}

static void work(struct stress_worker *worker)
{
    static const enum history_kind kinds[] = {HISTORY_INSERT, HISTORY_INSERT, HISTORY_REMOVE, HISTORY_FIND};
    unsigned self = worker->index;
    reclaim_online(shared.reclaims[self]);
    for (unsigned i = 0; i < OPS; i++) {
        uint64_t key = stress_random(worker, KEYS), hash = hash_of(key), result = 0;
        struct history_op op = {
            .kind = kinds[stress_random(worker, 4)], .thread = self, .arg = key, .value = key};
        struct history_op *recorded = history_begin(&shared.history, op);
        if (op.kind == HISTORY_INSERT)
            result = insert(&shared.threads[self], &shared.items[self * OPS + i], hash);
        else if (op.kind == HISTORY_REMOVE)
            result = remove_key(self, hash);
        else
            result = find(hash, key);
        history_end(&shared.history, recorded, result);
        reclaim_quiescent(shared.reclaims[self]);
    }
    reclaim_offline(shared.reclaims[self]);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    reclaim_fini(&shared.domain);
    if (history_is_linearizable(&shared.history))
        return;
    history_print(&shared.history);
    CHECK(!"the history has an explanation");
}

static void stress(bool is_list, uint64_t seed)
{
    shared.is_list = is_list;
    stress_run(&(struct stress_plan){.threads = THREADS,
                                     .rounds = ROUNDS,
                                     .yield_every = 6,
                                     .seed = seed,
                                     .begin = begin,
                                     .work = work,
                                     .check = check});
}

TEST(map)
{
    stress(false, 21);
}

TEST(list)
{
    stress(true, 22);
}
