/* ring_mpmc: a ring of two with producers and consumers. `false` says nothing about the ring at one instant,
 * so the history holds what went through; finish pops the rest, so that nothing may be missing. */
#include "lockfree/backoff.h"
#include "lockfree/ring_mpmc.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define CAPACITY 2
#define ITEMS    16

static struct ring_mpmc ring;
static _Alignas(LF_CACHE_LINE) struct ring_mpmc_slot slots[CAPACITY];
static struct backoff backoffs[MODEL_THREADS_MAX + 1];
static struct history history;
static int payload[ITEMS];
static bool is_weak;
static unsigned pushed[MODEL_THREADS_MAX + 1], popped[MODEL_THREADS_MAX + 1];

static void begin(void)
{
    ring_mpmc_init(&ring, slots, CAPACITY);
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
        backoff_init(&backoffs[i], i);
    history_init(&history, HISTORY_RING);
    history.capacity = CAPACITY;
    history.by_happens_before = is_weak;
    memset(payload, 0, sizeof payload);
    memset(pushed, 0, sizeof pushed);
    memset(popped, 0, sizeof popped);
}

static bool push(uint64_t item)
{
    unsigned self = model_self();
    model_write(payload[item], 100 + (int)item);
    struct history_op *op =
        history_begin(&history, (struct history_op){.kind = HISTORY_PUSH, .thread = self, .arg = item});
    bool is_in = ring_mpmc_push(&ring, item, &backoffs[self]);
    if (is_in)
        history_end(&history, op, 1);
    else
        history_end_void(&history, op);
    pushed[self] += is_in;
    return is_in;
}

static bool pop_as(unsigned self)
{
    struct history_op *op = history_begin(&history, (struct history_op){.kind = HISTORY_POP, .thread = self});
    uint64_t item = ITEMS;
    bool is_out = ring_mpmc_pop(&ring, &item, &backoffs[self]);
    if (!is_out) {
        history_end_void(&history, op);
        return false;
    }
    model_check(item < ITEMS && model_read(payload[item]) == 100 + (int)item);
    history_end(&history, op, item);
    popped[self]++;
    return true;
}

static void push_two(void)
{
    push(4 * model_self());
    push(4 * model_self() + 1);
}

static void push_three(void)
{
    push_two();
    push(4 * model_self() + 2);
}

static void pop_two(void)
{
    pop_as(model_self());
    pop_as(model_self());
}

static void push_and_pop(void)
{
    push(4 * model_self());
    pop_as(model_self());
}

static void finish(void)
{
    unsigned in = 0, out = 0;
    while (pop_as(MODEL_THREADS_MAX))
        ;
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
        in += pushed[i];
        out += popped[i];
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

TEST(two_threads)
{
    verify((struct model_case){.name = "ring_mpmc_1p1c", .threads = {push_three, pop_two}, .preemptions = 8});
    verify((struct model_case){
        .name = "ring_mpmc_1p1c_weak", .threads = {push_three, pop_two}, .preemptions = 4, .weak = 2});
    verify((struct model_case){
        .name = "ring_mpmc_both_weak", .threads = {push_and_pop, push_and_pop}, .preemptions = 3, .weak = 2});
}

TEST(three_threads)
{
    verify((struct model_case){
        .name = "ring_mpmc_2p1c", .threads = {push_two, push_two, pop_two}, .preemptions = 3});
    verify((struct model_case){
        .name = "ring_mpmc_1p2c", .threads = {push_three, pop_two, pop_two}, .preemptions = 3});
    verify((struct model_case){.name = "ring_mpmc_2p1c_weak",
                               .threads = {push_two, push_two, pop_two},
                               .preemptions = 2,
                               .weak = 2});
    verify((struct model_case){.name = "ring_mpmc_1p2c_weak",
                               .threads = {push_three, pop_two, pop_two},
                               .preemptions = 2,
                               .weak = 1});
}

TEST(four_threads_at_random)
{
    verify((struct model_case){.name = "ring_mpmc_2p2c_random",
                               .threads = {push_three, push_three, pop_two, push_and_pop},
                               .preemptions = 5,
                               .weak = 3,
                               .random = 20000,
                               .seed = 1});
}

/* A batch comes out in one piece, and what it does not take is still the caller's. */
static void push_batch(void)
{
    unsigned self = model_self();
    uint64_t items[2] = {4 * self, 4 * self + 1};
    for (unsigned i = 0; i < 2; i++)
        model_write(payload[items[i]], 100 + (int)items[i]);
    pushed[self] += (unsigned)ring_mpmc_push_batch(&ring, items, 2, &backoffs[self]);
}

static void pop_batch(void)
{
    unsigned self = model_self();
    uint64_t items[2];
    size_t n = ring_mpmc_pop_batch(&ring, items, 2, &backoffs[self]);
    for (size_t i = 0; i < n; i++)
        model_check(items[i] < ITEMS && model_read(payload[items[i]]) == 100 + (int)items[i]);
    popped[self] += (unsigned)n;
}

static void finish_batches(void)
{
    uint64_t item, last[MODEL_THREADS_MAX] = {0};
    unsigned left = 0, in = 0, out = 0;
    for (; ring_mpmc_pop(&ring, &item, &backoffs[MODEL_THREADS_MAX]); left++) {
        model_check(item % 4 >= last[item / 4]);
        last[item / 4] = item % 4;
    }
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++) {
        in += pushed[i];
        out += popped[i];
    }
    model_check(in == out + left);
}

TEST(batches)
{
    struct model_case c = {.name = "ring_mpmc_batch",
                           .begin = begin,
                           .threads = {push_batch, push_batch, pop_batch},
                           .finish = finish_batches,
                           .preemptions = 2,
                           .weak = 1};
    model_verify(&c);
}
