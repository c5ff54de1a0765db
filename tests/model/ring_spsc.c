/* ring_spsc: a ring of two, one producer and one consumer, every interleaving. */
#include "lockfree/ring_spsc.h"
#include "tests/support/check.h"
#include "tests/support/history.h"
#include "tests/support/model.h"

#define CAPACITY 2
#define ITEMS    8

static struct ring_spsc ring;
static _Alignas(LF_CACHE_LINE) uint64_t slots[CAPACITY];
static struct history history;
static int payload[ITEMS];
static bool is_weak;

static void begin(void)
{
    ring_spsc_init(&ring, slots, CAPACITY);
    history_init(&history, HISTORY_RING);
    history.capacity = CAPACITY;
    history.by_happens_before = is_weak;
    memset(payload, 0, sizeof payload);
}

/* Full and empty are answers about one instant only where stores are seen at once. */
static void end(struct history_op *op, bool is_done, uint64_t result)
{
    if (is_weak && !is_done)
        history_end_void(&history, op);
    else
        history_end(&history, op, result);
}

static bool push(uint64_t item)
{
    struct history_op *op =
        history_begin(&history, (struct history_op){.kind = HISTORY_PUSH, .thread = 0, .arg = item});
    model_write(payload[item], 100 + (int)item);
    bool is_in = ring_spsc_push(&ring, item);
    end(op, is_in, is_in);
    return is_in;
}

static bool pop(void)
{
    struct history_op *op = history_begin(&history, (struct history_op){.kind = HISTORY_POP, .thread = 1});
    uint64_t item = HISTORY_NONE;
    bool is_out = ring_spsc_pop(&ring, &item);
    if (is_out)
        model_check(item < ITEMS && model_read(payload[item]) == 100 + (int)item);
    end(op, is_out, is_out ? item : HISTORY_NONE);
    return is_out;
}

static void push_four(void)
{
    for (uint64_t i = 0; i < 4; i++)
        push(i);
}

static void pop_four(void)
{
    for (int i = 0; i < 4; i++)
        pop();
}

static void verify_history(void)
{
    history_verify(&history);
}

TEST(push_and_pop)
{
    struct model_case c = {.name = "ring_spsc",
                           .begin = begin,
                           .threads = {push_four, pop_four},
                           .finish = verify_history,
                           .preemptions = 5};
    is_weak = false;
    model_verify(&c);
    is_weak = true;
    c.name = "ring_spsc_weak";
    c.preemptions = 3;
    c.weak = 2;
    model_verify(&c);
    c.name = "ring_spsc_wait_free";
    c.lock_free = true;
    model_verify(&c);
}

/* The consumer may rely on what it has counted. */
static void pop_counted(void)
{
    for (int i = 0; i < 4; i++)
        if (ring_spsc_count(&ring) > 0)
            model_check(pop());
}

static void push_batch_of_two(void)
{
    const uint64_t items[CAPACITY] = {0};
    for (int i = 0; i < 2; i++)
        ring_spsc_push_batch(&ring, items, CAPACITY);
}

static void pop_batch_counted(void)
{
    uint64_t items[CAPACITY];
    for (int i = 0; i < 2; i++) {
        size_t count = ring_spsc_count(&ring);
        model_check(ring_spsc_pop_batch(&ring, items, count) == count);
    }
}

TEST(what_is_counted_is_there)
{
    struct model_case c = {.name = "ring_spsc_counted",
                           .begin = begin,
                           .threads = {push_four, pop_counted},
                           .preemptions = 3,
                           .weak = 1};
    is_weak = true;
    model_verify(&c);
    c.name = "ring_spsc_batch_counted";
    c.threads[0] = push_batch_of_two;
    c.threads[1] = pop_batch_counted;
    model_verify(&c);
}

/* Batches: everything arrives, once, in order, and with what was written before. */
static unsigned expected;

static void begin_batches(void)
{
    begin();
    expected = 0;
}

static void push_batches(void)
{
    uint64_t items[5];
    for (uint64_t i = 0; i < 5; i++) {
        model_write(payload[i], 100 + (int)i);
        items[i] = i;
    }
    for (size_t sent = 0; sent < 5;) {
        size_t n = ring_spsc_push_batch(&ring, items + sent, 5 - sent);
        if (!n)
            lf_pause();
        sent += n;
    }
}

static void pop_batches(void)
{
    while (expected < 5) {
        uint64_t items[3];
        size_t n = ring_spsc_pop_batch(&ring, items, 3);
        if (!n)
            lf_pause();
        for (size_t i = 0; i < n; i++, expected++)
            model_check(items[i] == expected && model_read(payload[expected]) == 100 + (int)expected);
    }
}

TEST(batches)
{
    struct model_case c = {.name = "ring_spsc_batch",
                           .begin = begin_batches,
                           .threads = {push_batches, pop_batches},
                           .preemptions = 3,
                           .weak = 1};
    model_verify(&c);
}
