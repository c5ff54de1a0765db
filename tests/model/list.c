/* list: insert, remove and find by two and three threads on a few keys, with reclamation; the history is that
 * of a set, and a removed node is freed as soon as reclaim allows. */
#include "lockfree/list.h"
#include "lockfree/container_of.h"
#include "lockfree/reclaim.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

struct item {
    struct list_node node;
    struct reclaim_node retirement;
    int payload;
};

static struct list list;
static struct reclaim domain;
static struct reclaim_thread slots[MODEL_THREADS_MAX];
static struct reclaim_thread *self_of[MODEL_THREADS_MAX];
static struct backoff backoffs[MODEL_THREADS_MAX + 1];
static struct history history;
static int removal; /* written before a removal that others notice */
static bool is_weak;

static struct item *new_item(uint64_t key)
{
    struct item *item = model_alloc(sizeof *item);
    model_write(item->node.key, key);
    model_write(item->payload, 100 + (int)key);
    return item;
}

static struct history_op *begin_op(enum history_kind kind, uint64_t key)
{
    unsigned thread = model_is_running() ? model_self() : MODEL_THREADS_MAX;
    return history_begin(&history,
                         (struct history_op){.kind = kind, .thread = thread, .arg = key, .value = key});
}

static struct backoff *own_backoff(void)
{
    return &backoffs[model_is_running() ? model_self() : MODEL_THREADS_MAX];
}

static void insert(uint64_t key)
{
    struct item *item = new_item(key);
    struct history_op *op = begin_op(HISTORY_INSERT, key);
    struct list_node *there = list_insert(&list, &item->node, NULL, own_backoff());
    history_end(&history, op, !there);
    if (there)
        model_check(model_read(((struct item *)there)->payload) == 100 + (int)key);
}

static void on_release(struct reclaim_node *node, void *context)
{
    (void)context;
    model_free(container_of(node, struct item, retirement));
}

static void remove_key(uint64_t key)
{
    struct history_op *op = begin_op(HISTORY_REMOVE, key);
    struct item *item = (struct item *)list_remove(&list, key, NULL, own_backoff());
    history_end(&history, op, item != NULL);
    if (item) {
        model_check(model_read(item->payload) == 100 + (int)key);
        model_check(reclaim_retire(self_of[model_self()], &item->retirement, on_release));
    }
}

static void find(uint64_t key)
{
    struct history_op *op = begin_op(HISTORY_FIND, key);
    struct item *item = (struct item *)list_find(&list, key, NULL);
    if (item)
        model_check(model_read(item->payload) == 100 + (int)key);
    history_end(&history, op, item ? key : HISTORY_NONE);
}

static void begin_with(uint64_t first, uint64_t second)
{
    reclaim_init(&domain, slots, MODEL_THREADS_MAX, 8);
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        self_of[i] = reclaim_claim(&domain, NULL);
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
        backoff_init(&backoffs[i], i);
    removal = 0;
    list_init(&list, NULL);
    history_init(&history, HISTORY_MAP);
    history.by_happens_before = is_weak;
    if (first)
        insert(first);
    if (second)
        insert(second);
}

static void begin_two_four(void)
{
    begin_with(2, 4);
}

static void begin_two(void)
{
    begin_with(2, 0);
}

static void begin_empty(void)
{
    begin_with(0, 0);
}

static void online(void)
{
    reclaim_online(self_of[model_self()]);
}

static void offline(void)
{
    reclaim_quiescent(self_of[model_self()]);
    reclaim_offline(self_of[model_self()]);
}

static void quiescent(void)
{
    reclaim_quiescent(self_of[model_self()]);
}

/* What is in the list is in order, and is what the history says. */
static void finish(void)
{
    uint64_t last = 0;
    for (struct list_node *node = list_first(&list); node; node = list_next(node)) {
        model_check(node->key > last);
        last = node->key;
    }
    for (uint64_t key = 1; key <= 4; key++)
        find(key);
    history_verify(&history);
    reclaim_fini(&domain);
}

static void verify(struct model_case c)
{
    c.finish = finish;
    is_weak = c.weak > 0;
    model_verify(&c);
}

/* The classic: an insert behind a node that is being removed must not be lost. */
static void insert_behind(void)
{
    online();
    insert(3);
    offline();
}

static void remove_first(void)
{
    online();
    remove_key(2);
    offline();
}

static void remove_second(void)
{
    online();
    remove_key(4);
    offline();
}

TEST(neighbours)
{
    verify((struct model_case){.name = "list_insert_behind",
                               .begin = begin_two_four,
                               .threads = {insert_behind, remove_first},
                               .preemptions = 6});
    verify((struct model_case){.name = "list_insert_behind_weak",
                               .begin = begin_two_four,
                               .threads = {insert_behind, remove_first},
                               .preemptions = 4,
                               .weak = 3});
    verify((struct model_case){.name = "list_remove_both",
                               .begin = begin_two_four,
                               .threads = {remove_first, remove_second},
                               .preemptions = 6});
    verify((struct model_case){.name = "list_remove_both_weak",
                               .begin = begin_two_four,
                               .threads = {remove_first, remove_second},
                               .preemptions = 4,
                               .weak = 2});
}

/* One key: of those who insert one wins, of those who remove one. */
static void insert_remove(void)
{
    online();
    insert(2);
    remove_key(2);
    offline();
}

static void remove_insert(void)
{
    online();
    remove_key(2);
    quiescent();
    insert(2);
    offline();
}

static void find_twice(void)
{
    online();
    find(2);
    quiescent();
    find(3);
    offline();
}

TEST(one_key)
{
    verify((struct model_case){.name = "list_one_key",
                               .begin = begin_empty,
                               .threads = {insert_remove, insert_remove},
                               .preemptions = 4});
    verify((struct model_case){.name = "list_one_key_weak",
                               .begin = begin_empty,
                               .threads = {insert_remove, remove_insert},
                               .preemptions = 3,
                               .weak = 2});
    verify((struct model_case){.name = "list_one_key_again",
                               .begin = begin_two,
                               .threads = {remove_insert, remove_insert},
                               .preemptions = 3});
}

/* Who puts a key where it was removed comes after the remover. */
static void remove_noting(void)
{
    online();
    model_write(removal, 1);
    remove_key(2);
    offline();
}

static void insert_after_removal(void)
{
    online();
    struct item *item = new_item(2);
    struct history_op *op = begin_op(HISTORY_INSERT, 2);
    bool is_in = !list_insert(&list, &item->node, NULL, own_backoff());
    history_end(&history, op, is_in);
    if (is_in)
        model_check(model_read(removal) == 1);
    offline();
}

/* A walk is in order, and what it meets is whole. */
static void walk(void)
{
    uint64_t last = 0;
    online();
    for (struct list_node *node = list_first(&list); node; node = list_next(node)) {
        uint64_t key = model_read(node->key);
        model_check(key > last);
        model_check(model_read(((struct item *)node)->payload) == 100 + (int)key);
        last = key;
    }
    offline();
}

static void insert_remove_before(void)
{
    online();
    insert(3);
    remove_key(2);
    offline();
}

/* Meets the deleted node, if the remover was stopped, and unlinks it in his stead. */
static void search_in_vain(void)
{
    online();
    remove_key(1);
    offline();
}

static void insert_two(void)
{
    online();
    insert(3);
    insert(1);
    offline();
}

TEST(order_between_threads)
{
    verify((struct model_case){.name = "list_removal_is_seen",
                               .begin = begin_two,
                               .threads = {remove_noting, insert_after_removal},
                               .preemptions = 3,
                               .weak = 1});
    verify((struct model_case){.name = "list_walk",
                               .begin = begin_two_four,
                               .threads = {insert_two, walk},
                               .preemptions = 3,
                               .weak = 1});
    verify((struct model_case){.name = "list_walk_past_removed",
                               .begin = begin_two_four,
                               .threads = {insert_remove_before, walk},
                               .preemptions = 3,
                               .weak = 1});
    verify((struct model_case){.name = "list_unlinked_by_other",
                               .begin = begin_two_four,
                               .threads = {insert_remove_before, search_in_vain, walk},
                               .preemptions = 2,
                               .weak = 1});
    verify((struct model_case){.name = "list_walk_removal",
                               .begin = begin_two_four,
                               .threads = {remove_insert, walk},
                               .preemptions = 3,
                               .weak = 1});
}

TEST(three_threads)
{
    verify((struct model_case){.name = "list_three",
                               .begin = begin_two_four,
                               .threads = {insert_behind, remove_first, find_twice},
                               .preemptions = 3});
    verify((struct model_case){.name = "list_three_weak",
                               .begin = begin_two_four,
                               .threads = {remove_second, remove_first, insert_behind},
                               .preemptions = 2,
                               .weak = 2});
    verify((struct model_case){.name = "list_three_lock_free",
                               .begin = begin_two,
                               .threads = {insert_behind, remove_insert, find_twice},
                               .preemptions = 2,
                               .lock_free = true});
    verify((struct model_case){.name = "list_three_random",
                               .begin = begin_two_four,
                               .threads = {insert_remove, remove_insert, remove_second, find_twice},
                               .preemptions = 5,
                               .weak = 3,
                               .random = 20000,
                               .seed = 7});
}
