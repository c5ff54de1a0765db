/* queue_mpsc: pushes are explained by one order; a NULL of pop promises nothing while a producer is stopped
 * in a push, so that the history holds what came out, and finish pops the rest. */
#include "lockfree/queue_mpsc.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define ITEMS 16

struct item {
    struct queue_mpsc_node node;
    int payload;
};

static struct queue_mpsc queue;
static struct item items[ITEMS];
static struct history history;
static _Atomic(unsigned) wakes;
static bool is_weak;

static void begin(void)
{
    queue_mpsc_init(&queue);
    memset(items, MODEL_FRESH, sizeof items);
    lf_store(&wakes, 0, relaxed);
    history_init(&history, HISTORY_FIFO);
    history.by_happens_before = is_weak;
}

static bool push(unsigned index)
{
    struct history_op *op = history_begin(
        &history, (struct history_op){.kind = HISTORY_PUSH, .thread = model_self(), .arg = index});
    model_write(items[index].payload, 100 + (int)index);
    bool is_first = queue_mpsc_push(&queue, &items[index].node);
    history_end(&history, op, 1);
    return is_first;
}

static bool pop_as(unsigned self, unsigned *index)
{
    struct history_op *op = history_begin(&history, (struct history_op){.kind = HISTORY_POP, .thread = self});
    struct item *item = (struct item *)queue_mpsc_pop(&queue);
    if (!item) {
        history_end_void(&history, op);
        return false;
    }
    *index = (unsigned)(item - items);
    model_check(*index < ITEMS && model_read(item->payload) == 100 + (int)*index);
    history_end(&history, op, *index);
    return true;
}

static void push_two(void)
{
    push(4 * model_self());
    push(4 * model_self() + 1);
}

/* A node that came out goes in again at once. */
static void pop_three_push_one(void)
{
    unsigned index;
    bool has_pushed = false;
    for (int i = 0; i < 3; i++)
        if (pop_as(model_self(), &index) && !has_pushed) {
            has_pushed = true;
            push(index);
        }
}

static void finish(void)
{
    unsigned index, in = 0, out = 0;
    while (pop_as(MODEL_THREADS_MAX, &index))
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
        .name = "queue_mpsc_1p", .threads = {push_two, pop_three_push_one}, .preemptions = 5});
    verify((struct model_case){.name = "queue_mpsc_1p_weak",
                               .threads = {push_two, pop_three_push_one},
                               .preemptions = 3,
                               .weak = 2});
}

TEST(two_producers)
{
    verify((struct model_case){
        .name = "queue_mpsc_2p", .threads = {push_two, push_two, pop_three_push_one}, .preemptions = 3});
    verify((struct model_case){.name = "queue_mpsc_2p_weak",
                               .threads = {push_two, push_two, pop_three_push_one},
                               .preemptions = 2,
                               .weak = 1});
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
    unsigned index, seen = 0;
    for (unsigned got = 0; got < 4;) {
        if (pop_as(model_self(), &index)) {
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
