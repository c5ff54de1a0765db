/* queue: pushes and pops by two and three threads, with nodes that come back through reclaim and are used
 * again. */
#include "lockfree/queue.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define ITEMS            16
#define NODES_PER_THREAD 3

static struct queue queue;
static struct queue_thread threads[MODEL_THREADS_MAX + 1];
static struct queue_node nodes[1 + NODES_PER_THREAD * MODEL_THREADS_MAX];
static struct reclaim domain;
static struct reclaim_thread slots[MODEL_THREADS_MAX + 1];
static struct reclaim_thread *reclaims[MODEL_THREADS_MAX + 1];
static struct history history;
static int payload[ITEMS];
static bool is_weak;

static void begin(void)
{
    memset(nodes, MODEL_FRESH, sizeof nodes);
    memset(payload, 0, sizeof payload);
    queue_init(&queue, &nodes[0]);
    reclaim_init(&domain, slots, MODEL_THREADS_MAX + 1, 16);
    history_init(&history, HISTORY_FIFO);
    history.by_happens_before = is_weak;
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
        reclaims[i] = reclaim_claim(&domain, NULL);
        queue_thread_init(&threads[i], &queue, reclaims[i]);
    }
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        queue_give(&threads[i], &nodes[1 + NODES_PER_THREAD * i], NODES_PER_THREAD);
}

static bool push_as(unsigned self, unsigned index)
{
    model_write(payload[index], 100 + (int)index);
    struct history_op *op =
        history_begin(&history, (struct history_op){.kind = HISTORY_PUSH, .thread = self, .arg = index});
    bool is_in = queue_push(&threads[self], &payload[index]);
    if (is_in)
        history_end(&history, op, 1);
    else
        history_end_void(&history, op);
    return is_in;
}

static bool push(unsigned index)
{
    return push_as(model_self(), index);
}

static bool pop_as(unsigned self)
{
    struct history_op *op = history_begin(&history, (struct history_op){.kind = HISTORY_POP, .thread = self});
    int *value = queue_pop(&threads[self]);
    size_t index = value ? (size_t)(value - payload) : 0;
    if (value)
        model_check(index < ITEMS && model_read(*value) == 100 + (int)index);
    history_end(&history, op, value ? index : HISTORY_NONE);
    return value != NULL;
}

static void finish(void)
{
    unsigned in = 0, out = 0;
    reclaim_online(reclaims[MODEL_THREADS_MAX]);
    while (pop_as(MODEL_THREADS_MAX))
        ;
    reclaim_offline(reclaims[MODEL_THREADS_MAX]);
    for (unsigned i = 0; i < history.count; i++) {
        const struct history_op *op = &history.ops[i];
        in += op->kind == HISTORY_PUSH && !op->is_void;
        out += op->kind == HISTORY_POP && op->result != HISTORY_NONE;
    }
    model_check(in == out);
    history_verify(&history);
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
    reclaim_online(reclaims[model_self()]);
}

static void offline(void)
{
    reclaim_offline(reclaims[model_self()]);
}

static void push_two(void)
{
    online();
    push(4 * model_self());
    push(4 * model_self() + 1);
    offline();
}

static void pop_two(void)
{
    online();
    pop_as(model_self());
    pop_as(model_self());
    offline();
}

static void push_and_pop(void)
{
    online();
    push(4 * model_self());
    pop_as(model_self());
    offline();
}

/* Uses up its nodes, so that the last push takes one that has been in the queue before. */
static void push_with_used_nodes(void)
{
    online();
    for (unsigned i = 0; i < 4; i++) {
        push(4 * model_self() + i);
        pop_as(model_self());
        reclaim_quiescent(reclaims[model_self()]);
    }
    offline();
}

TEST(two_threads)
{
    verify((struct model_case){.name = "queue_1p1c", .threads = {push_two, pop_two}, .preemptions = 6});
    verify((struct model_case){
        .name = "queue_1p1c_weak", .threads = {push_two, pop_two}, .preemptions = 5, .weak = 3});
    verify(
        (struct model_case){.name = "queue_both", .threads = {push_and_pop, push_and_pop}, .preemptions = 4});
    verify((struct model_case){
        .name = "queue_both_weak", .threads = {push_and_pop, push_and_pop}, .preemptions = 3, .weak = 2});
}

/* The tail lags and is moved by whoever finds it too far behind; it must not go back to a node that may come
 * to new use. The other thread here makes it do so: it has a single node of its own. */
static void begin_lagging(void)
{
    begin();
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        threads[i].unused = NULL;
    queue_give(&threads[0], &nodes[1], 1);
    queue_give(&threads[1], &nodes[2], 1);
    queue_give(&threads[MODEL_THREADS_MAX], &nodes[3], 2);
    reclaim_online(reclaims[MODEL_THREADS_MAX]);
    for (unsigned i = 12; i < 14; i++)
        push_as(MODEL_THREADS_MAX, i);
    reclaim_offline(reclaims[MODEL_THREADS_MAX]);
}

static void push_one(void)
{
    online();
    push(4 * model_self());
    offline();
}

static void use_all_nodes(void)
{
    unsigned self = model_self();
    online();
    for (unsigned i = 0; i < 3; i++)
        pop_as(self);
    reclaim_poll(reclaims[self]); /* what is popped next comes back last, and is used first */
    push(4 * self);
    pop_as(self);
    offline();
    for (unsigned i = 0; i < 3; i++)
        reclaim_poll(reclaims[self]);
    online();
    for (unsigned i = 1; i < 4; i++)
        push(4 * self + i);
    offline();
}

TEST(lagging_tail)
{
    struct model_case c = {.name = "queue_tail",
                           .begin = begin_lagging,
                           .threads = {push_one, use_all_nodes},
                           .finish = finish,
                           .preemptions = 3};
    is_weak = false;
    model_verify(&c);
    is_weak = true;
    c.name = "queue_tail_weak";
    c.preemptions = 2;
    c.weak = 1;
    model_verify(&c);
}

TEST(used_nodes)
{
    verify((struct model_case){
        .name = "queue_used_nodes", .threads = {push_with_used_nodes, push_and_pop}, .preemptions = 2});
    verify((struct model_case){.name = "queue_used_nodes_weak",
                               .threads = {push_with_used_nodes, pop_two},
                               .preemptions = 2,
                               .weak = 1});
}

/* Nobody has a node of his own: pushes live on what pops by anybody have given back. */
static void begin_spares(void)
{
    begin();
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        threads[i].unused = NULL;
    queue_give(&threads[MODEL_THREADS_MAX], &nodes[1], 3);
    reclaim_online(reclaims[MODEL_THREADS_MAX]);
    for (unsigned i = 12; i < 15; i++)
        push_as(MODEL_THREADS_MAX, i);
    reclaim_offline(reclaims[MODEL_THREADS_MAX]);
}

static void pop_then_push(void)
{
    unsigned self = model_self();
    online();
    pop_as(self);
    reclaim_quiescent(reclaims[self]);
    offline();
    reclaim_poll(reclaims[self]);
    reclaim_poll(reclaims[self]);
    online();
    push_as(self, 4 * self);
    offline();
}

static void push_what_comes(void)
{
    unsigned self = model_self();
    online();
    for (unsigned i = 0; i < 2; i++)
        push_as(self, 4 * self + i);
    offline();
}

TEST(spares)
{
    struct model_case c = {.name = "queue_spares",
                           .begin = begin_spares,
                           .threads = {pop_then_push, pop_then_push},
                           .finish = finish,
                           .preemptions = 3};
    is_weak = false;
    model_verify(&c);
    is_weak = true;
    c.name = "queue_spares_weak";
    c.preemptions = 2;
    c.weak = 1;
    model_verify(&c);
    c.name = "queue_spares_three_weak";
    c.threads[2] = push_what_comes;
    c.preemptions = 1;
    model_verify(&c);
}

/* The count is between what is surely in and what was ever pushed. */
static void count_twice(void)
{
    online();
    for (int i = 0; i < 2; i++)
        model_check(queue_count(&queue) <= 4);
    offline();
}

TEST(counting)
{
    struct model_case c = {.name = "queue_count",
                           .begin = begin,
                           .threads = {push_two, push_and_pop, count_twice},
                           .preemptions = 2,
                           .weak = 1};
    is_weak = true;
    model_verify(&c);
}

TEST(three_threads)
{
    verify((struct model_case){
        .name = "queue_three", .threads = {push_and_pop, push_and_pop, push_and_pop}, .preemptions = 3});
    verify((struct model_case){.name = "queue_three_weak",
                               .threads = {push_two, push_and_pop, pop_two},
                               .preemptions = 2,
                               .weak = 1});
    verify((struct model_case){.name = "queue_three_lock_free",
                               .threads = {push_two, push_and_pop, pop_two},
                               .preemptions = 2,
                               .lock_free = true});
    verify((struct model_case){.name = "queue_random",
                               .threads = {push_with_used_nodes, push_two, push_and_pop, pop_two},
                               .preemptions = 5,
                               .weak = 3,
                               .random = 20000,
                               .seed = 5});
}
