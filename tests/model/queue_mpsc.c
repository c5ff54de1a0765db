/* queue_mpsc: items are freed as soon as they are out, or pushed again. Pushes are explained by one order; a
 * NULL of pop promises nothing while a producer is stopped in a push, so that the history holds what came
 * out, and finish pops the rest. */
#include "lockfree/queue_mpsc.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define ITEMS 16

struct item {
    struct queue_mpsc_node node;
    unsigned index;
};

static struct queue_mpsc queue;
static struct history history;
static _Atomic(unsigned) wakes;
static bool is_weak;

static void begin(void)
{
    queue_mpsc_init(&queue);
    lf_store(&wakes, 0, relaxed);
    history_init(&history, HISTORY_FIFO);
    history.by_happens_before = is_weak;
}

static bool push_item(struct item *item)
{
    struct history_op op = {.kind = HISTORY_PUSH, .thread = model_self(), .arg = item->index};
    struct history_op *recorded = history_begin(&history, op);
    bool is_first = queue_mpsc_push(&queue, &item->node);
    history_end(&history, recorded, 1);
    return is_first;
}

static bool push(unsigned index)
{
    struct item *item = model_alloc(sizeof *item);
    model_write(item->index, index);
    return push_item(item);
}

static struct item *pop_as(unsigned self)
{
    struct history_op *op = history_begin(&history, (struct history_op){.kind = HISTORY_POP, .thread = self});
    struct item *item = (struct item *)queue_mpsc_pop(&queue);
    if (item) {
        model_check(model_read(item->index) < ITEMS);
        history_end(&history, op, item->index);
    } else {
        history_end_void(&history, op);
    }
    return item;
}

static bool pop_and_free(unsigned self)
{
    struct item *item = pop_as(self);
    if (item)
        model_free(item);
    return item != NULL;
}

static void push_two(void)
{
    push(4 * model_self());
    push(4 * model_self() + 1);
}

/* The first that comes out goes in again at once. */
static void pop_three_push_one(void)
{
    struct item *first = pop_as(model_self());
    if (first)
        push_item(first);
    pop_and_free(model_self());
    pop_and_free(model_self());
}

static void finish(void)
{
    unsigned in = 0, out = 0;
    while (pop_and_free(MODEL_THREADS_MAX))
        ;
    model_check(queue_mpsc_is_empty(&queue));
    for (unsigned i = 0; i < history.count; i++) {
        in += history.ops[i].kind == HISTORY_PUSH;
        out += history.ops[i].kind == HISTORY_POP && !history.ops[i].is_void;
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

TEST(one_producer)
{
    verify((struct model_case){
        .name = "queue_mpsc_1p", .threads = {push_two, pop_three_push_one}, .preemptions = 8});
    verify((struct model_case){.name = "queue_mpsc_1p_weak",
                               .threads = {push_two, pop_three_push_one},
                               .preemptions = 6,
                               .weak = 3});
}

TEST(two_producers)
{
    verify((struct model_case){
        .name = "queue_mpsc_2p", .threads = {push_two, push_two, pop_three_push_one}, .preemptions = 4});
    verify((struct model_case){.name = "queue_mpsc_2p_weak",
                               .threads = {push_two, push_two, pop_three_push_one},
                               .preemptions = 3,
                               .weak = 2});
    verify((struct model_case){.name = "queue_mpsc_wait_free",
                               .threads = {push_two, push_two, pop_three_push_one},
                               .preemptions = 2,
                               .lock_free = true});
}

/* A consumer that sleeps only when is_empty says so is woken in time by the pushes that say true. */
static void push_and_wake(void)
{
    for (unsigned i = 0; i < 2; i++)
        if (push(4 * model_self() + i))
            lf_fetch_add(&wakes, 1, release);
}

static void pop_or_sleep(void)
{
    unsigned seen = 0;
    for (unsigned got = 0; got < 4;) {
        if (pop_and_free(model_self())) {
            got++;
            continue;
        }
        if (!queue_mpsc_is_empty(&queue)) {
            lf_pause();
            continue;
        }
        unsigned now;
        while ((now = lf_load(&wakes, acquire)) == seen)
            lf_pause();
        seen = now;
    }
}

TEST(no_lost_wake_up)
{
    verify((struct model_case){.name = "queue_mpsc_wake",
                               .threads = {push_and_wake, push_and_wake, pop_or_sleep},
                               .preemptions = 3});
    verify((struct model_case){.name = "queue_mpsc_wake_weak",
                               .threads = {push_and_wake, push_and_wake, pop_or_sleep},
                               .preemptions = 2,
                               .weak = 1});
}
