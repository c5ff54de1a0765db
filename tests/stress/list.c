/* Threads insert, remove and find a few keys. Who inserted and removed what is counted per key, so that at
 * the end the list must hold exactly the difference. Items carry a payload that is poisoned on release. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/container_of.h"
#include "lockfree/list.c"
#include "lockfree/reclaim.c"

#include <stdlib.h>

#define KEYS        48
#define LIMBO       500
#define THREADS_MAX 64
#define OPERATIONS  100000
#define GOOD        UINT64_C(0x600d600d600d600d)
#define POISON      UINT64_C(0xdeaddeaddeaddead)

struct item {
    struct list_node node;
    struct reclaim_node retirement;
    uint64_t payload; /* GOOD ^ key */
};

static struct {
    struct reclaim domain;
    struct reclaim_thread threads[THREADS_MAX];
    struct list list;
    LF_ISOLATED _Atomic int64_t present[KEYS]; /* successful inserts less successful removes */
    _Atomic int64_t alive;
} shared;

static struct item *item_create(uint64_t key)
{
    struct item *item = malloc(sizeof *item);
    item->node.key = key;
    item->payload = GOOD ^ key;
    lf_fetch_add(&shared.alive, 1, relaxed);
    return item;
}

static struct item *item_of(struct list_node *node)
{
    struct item *item = container_of(node, struct item, node);
    CHECK(item->payload == (GOOD ^ item->node.key));
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

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK(threads <= THREADS_MAX);
    memset(&shared, 0, sizeof shared);
    reclaim_init(&shared.domain, shared.threads, threads, LIMBO);
    list_init(&shared.list, NULL);
}

static void insert_key(uint64_t key, struct backoff *backoff)
{
    struct item *item = item_create(key);
    struct list_node *there = list_insert(&shared.list, &item->node, NULL, backoff);
    if (there) {
        CHECK_INT(item_of(there)->node.key, key);
        item_destroy(item);
    } else {
        lf_fetch_add(&shared.present[key], 1, relaxed);
    }
}

static struct item *remove_key(uint64_t key, struct backoff *backoff)
{
    struct list_node *node = list_remove(&shared.list, key, NULL, backoff);
    if (!node)
        return NULL;
    CHECK_INT(node->key, key);
    lf_fetch_sub(&shared.present[key], 1, relaxed);
    return item_of(node);
}

/* In order, and nothing twice. */
static void walk(void)
{
    int64_t last = -1;
    for (struct list_node *node = list_first(&shared.list); node; node = list_next(node)) {
        CHECK((int64_t)item_of(node)->node.key > last);
        last = (int64_t)node->key;
    }
}

static void operate(struct stress_worker *worker, struct reclaim_thread *self, struct backoff *backoff)
{
    uint64_t key = stress_random(worker, KEYS);
    switch (stress_random(worker, 5)) {
    case 0:
    case 1:
        insert_key(key, backoff);
        break;
    case 2:
    case 3:
        if (reclaim_has_room(self, 1)) {
            struct item *item = remove_key(key, backoff);
            if (item)
                CHECK(reclaim_retire(self, &item->retirement, on_item_release));
        }
        break;
    default: {
        struct list_node *node = list_find(&shared.list, key, NULL);
        if (node)
            CHECK_INT(item_of(node)->node.key, key);
    }
    }
}

static void work(struct stress_worker *worker)
{
    struct reclaim_thread *self = reclaim_claim(&shared.domain, NULL);
    struct backoff backoff;
    backoff_init(&backoff, worker->random);
    reclaim_online(self);
    for (int i = 0; i < OPERATIONS; i++) {
        operate(worker, self, &backoff);
        if (i % 256 == 0)
            walk();
        if (i % 16 == 0)
            reclaim_quiescent(self);
    }
    reclaim_offline(self);
    reclaim_leave(self);
}

/* The list holds what the counts say, and frees it. */
static void check_contents(void)
{
    struct list_node *node = list_first(&shared.list);
    int64_t held = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        int64_t present = lf_load(&shared.present[key], relaxed);
        CHECK(present == 0 || present == 1);
        CHECK((node && node->key == key) == (present == 1));
        CHECK(!list_find(&shared.list, key, NULL) == (present == 0));
        held += present;
        if (present)
            node = list_next(node);
    }
    CHECK(!node);
    CHECK_INT(lf_load(&shared.alive, relaxed), held);
    while ((node = list_first(&shared.list))) {
        struct backoff backoff;
        backoff_init(&backoff, 1);
        CHECK(list_remove(&shared.list, node->key, NULL, &backoff) == node);
        item_destroy(item_of(node));
    }
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    int64_t in_list = 0;
    for (int i = 0; i < KEYS; i++)
        in_list += lf_load(&shared.present[i], relaxed);
    CHECK(lf_load(&shared.alive, relaxed) <= in_list + (int64_t)threads * LIMBO);
    reclaim_fini(&shared.domain);
    check_contents();
}

TEST(counts_and_contents_agree)
{
    struct stress_plan plan = {.begin = begin, .work = work, .check = check, .rounds = 2};
    stress_run(&plan);
    plan.yield_every = 32;
    stress_run(&plan);
}

/* A thread is stopped at each atomic operation of an insert or a remove of the key in the middle. */
#define MIDDLE (KEYS / 2)
static struct {
    struct item *removed[8 * KEYS]; /* not to be reused while the stopped thread may stand on them */
    size_t removed_count;
    struct item *by_parked;
    bool inserts;
} park;

static void park_begin(void *unused)
{
    struct backoff backoff;
    backoff_init(&backoff, 1);
    begin(unused, 1);
    park.removed_count = 0;
    park.by_parked = NULL;
    for (uint64_t key = 0; key < KEYS; key++)
        if (!(park.inserts && key == MIDDLE))
            insert_key(key, &backoff);
}

static void park_operation(void *unused)
{
    (void)unused;
    struct backoff backoff;
    backoff_init(&backoff, 2);
    if (park.inserts)
        insert_key(MIDDLE, &backoff);
    else
        park.by_parked = remove_key(MIDDLE, &backoff);
}

static void park_others(void *unused)
{
    (void)unused;
    struct backoff backoff;
    backoff_init(&backoff, 3);
    for (int round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < KEYS; key++) {
            struct item *item = remove_key(key, &backoff);
            if (item)
                park.removed[park.removed_count++] = item;
            CHECK(!list_find(&shared.list, key, NULL) || key == MIDDLE);
        }
        for (uint64_t key = KEYS; key-- > 0;) {
            insert_key(key, &backoff);
            CHECK(list_find(&shared.list, key, NULL) || key == MIDDLE);
        }
        walk();
    }
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
    CHECK(stress_park(&parking) > MIDDLE);
}

TEST(a_stopped_remove_stops_nobody)
{
    const struct stress_parking parking = {
        .begin = park_begin, .operation = park_operation, .others = park_others, .finish = park_finish};
    park.inserts = false;
    CHECK(stress_park(&parking) > MIDDLE);
}
