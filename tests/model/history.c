/* The linearizability checker: histories with a known answer. Also under real threads, since stress tests
 * record with it. */
#include "tests/support/check.h"
#include "tests/support/history.h"

#include <pthread.h>

static struct history h;

/* An operation with its interval given. */
static void add(unsigned thread, enum history_kind kind, uint64_t arg, uint64_t result)
{
    struct history_op *op =
        history_begin(&h, (struct history_op){.kind = kind, .thread = thread, .arg = arg});
    op->result = result;
}

static void between(unsigned index, uint64_t begin, uint64_t end)
{
    h.ops[index].begin = begin;
    h.ops[index].end = end;
}

static void add_in_sequence(enum history_kind kind, uint64_t arg, uint64_t result)
{
    struct history_op *op = history_begin(&h, (struct history_op){.kind = kind, .arg = arg, .value = arg});
    history_end(&h, op, result);
}

TEST(queue_in_sequence)
{
    history_init(&h, HISTORY_FIFO);
    add_in_sequence(HISTORY_POP, 0, HISTORY_NONE);
    add_in_sequence(HISTORY_PUSH, 1, 1);
    add_in_sequence(HISTORY_PUSH, 2, 1);
    add_in_sequence(HISTORY_POP, 0, 1);
    add_in_sequence(HISTORY_POP, 0, 2);
    add_in_sequence(HISTORY_POP, 0, HISTORY_NONE);
    CHECK(history_is_linearizable(&h));
    h.ops[3].result = 2;
    CHECK(!history_is_linearizable(&h));
    h.ops[4].result = 1;
    CHECK(!history_is_linearizable(&h));
}

TEST(queue_overlapping)
{
    history_init(&h, HISTORY_FIFO);
    add(0, HISTORY_PUSH, 1, 1);
    add(1, HISTORY_PUSH, 2, 1);
    add(2, HISTORY_POP, 0, 2);
    add(2, HISTORY_POP, 0, 1);
    between(0, 0, 10);
    between(1, 1, 9);
    between(2, 11, 12);
    between(3, 13, 14);
    CHECK(history_is_linearizable(&h));
    /* Once the first push ends before the second begins, the order is fixed. */
    between(0, 0, 1);
    between(1, 2, 9);
    CHECK(!history_is_linearizable(&h));
}

TEST(queue_lost_and_doubled)
{
    history_init(&h, HISTORY_FIFO);
    add_in_sequence(HISTORY_PUSH, 1, 1);
    add_in_sequence(HISTORY_POP, 0, HISTORY_NONE);
    CHECK(!history_is_linearizable(&h));
    history_init(&h, HISTORY_FIFO);
    add(0, HISTORY_PUSH, 1, 1);
    add(1, HISTORY_POP, 0, 1);
    add(2, HISTORY_POP, 0, 1);
    for (unsigned i = 0; i < 3; i++)
        between(i, 0, 10);
    CHECK(!history_is_linearizable(&h));
    h.ops[2].result = HISTORY_NONE;
    CHECK(history_is_linearizable(&h));
}

TEST(ring_has_a_bound)
{
    history_init(&h, HISTORY_RING);
    h.capacity = 2;
    add_in_sequence(HISTORY_PUSH, 1, 1);
    add_in_sequence(HISTORY_PUSH, 2, 1);
    add_in_sequence(HISTORY_PUSH, 3, 0);
    add_in_sequence(HISTORY_POP, 0, 1);
    add_in_sequence(HISTORY_PUSH, 4, 1);
    CHECK(history_is_linearizable(&h));
    h.capacity = 3;
    CHECK(!history_is_linearizable(&h));
}

TEST(map_in_sequence)
{
    history_init(&h, HISTORY_MAP);
    add_in_sequence(HISTORY_FIND, 5, HISTORY_NONE);
    add_in_sequence(HISTORY_INSERT, 5, 1);
    add_in_sequence(HISTORY_INSERT, 5, 0);
    add_in_sequence(HISTORY_FIND, 5, 5);
    add_in_sequence(HISTORY_REMOVE, 5, 1);
    add_in_sequence(HISTORY_REMOVE, 5, 0);
    CHECK(history_is_linearizable(&h));
    h.ops[2].result = 1;
    CHECK(!history_is_linearizable(&h));
}

TEST(map_two_winners)
{
    history_init(&h, HISTORY_MAP);
    add(0, HISTORY_INSERT, 1, 1);
    add(1, HISTORY_INSERT, 1, 1);
    between(0, 0, 10);
    between(1, 0, 10);
    CHECK(!history_is_linearizable(&h));
    add(2, HISTORY_REMOVE, 1, 1);
    between(2, 0, 10);
    CHECK(history_is_linearizable(&h));
}

/* Order by clocks: what nobody was told of may be overlooked, but not after it was seen. */
TEST(by_happens_before)
{
    history_init(&h, HISTORY_MAP);
    h.by_happens_before = true;
    add(0, HISTORY_INSERT, 1, 1);
    add(1, HISTORY_FIND, 1, HISTORY_NONE);
    between(0, 0, 1);
    between(1, 2, 3);
    h.ops[0].time_end = 7;
    CHECK(history_is_linearizable(&h));
    h.ops[1].time_seen[0] = 7;
    CHECK(!history_is_linearizable(&h));
}

/* Eight rounds of four pushes at once and four pops: 24 to the eighth orders without the memory of visited
 * states. The wrong answer comes last. */
TEST(many_orders)
{
    history_init(&h, HISTORY_FIFO);
    for (unsigned i = 0; i < 64; i++) {
        unsigned moment = i / 8 * 100;
        if (i % 8 < 4) {
            add(i % 4, HISTORY_PUSH, i % 4, 1);
            between(i, moment, moment + 9);
        } else {
            add(4 + i % 4, HISTORY_POP, 0, 3 - i % 4);
            between(i, moment + 5, moment + 20);
        }
    }
    CHECK_INT(h.count, HISTORY_MAX);
    CHECK(history_is_linearizable(&h));
    h.ops[63].result = 1;
    CHECK(!history_is_linearizable(&h));
}

/* Eight pushes at once and eight more, popped later in one order: the pops tell the order of the pushes. */
TEST(pops_tell_the_order)
{
    history_init(&h, HISTORY_FIFO);
    for (unsigned i = 0; i < 16; i++) {
        add(i % 8, HISTORY_PUSH, i, 1);
        between(i, i / 8 * 20, i / 8 * 20 + 15);
    }
    for (unsigned i = 0; i < 12; i++) {
        add(8, HISTORY_POP, 0, 15 - i);
        between(16 + i, 100 + 2 * i, 101 + 2 * i);
    }
    CHECK(!history_is_linearizable(&h)); /* 15 came after 7 */
    for (unsigned i = 0; i < 12; i++)
        h.ops[16 + i].result = i < 8 ? 7 - i : 23 - i;
    CHECK(history_is_linearizable(&h));
    h.ops[27].result = HISTORY_NONE;
    CHECK(!history_is_linearizable(&h));
}

static void *push_some(void *arg)
{
    unsigned thread = *(const unsigned *)arg;
    for (unsigned i = 0; i < 16; i++) {
        struct history_op *op =
            history_begin(&h, (struct history_op){.kind = HISTORY_PUSH, .thread = thread, .arg = i});
        history_end(&h, op, 1);
    }
    return NULL;
}

TEST(recording_by_threads)
{
    pthread_t threads[4];
    unsigned numbers[4];
    uint64_t seen[2] = {0};
    history_init(&h, HISTORY_FIFO);
    for (unsigned i = 0; i < 4; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, push_some, &numbers[i]) == 0);
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_INT(h.count, 64);
    for (unsigned i = 0; i < 64; i++) {
        CHECK(h.ops[i].begin < h.ops[i].end);
        seen[h.ops[i].begin / 64] |= 1ull << h.ops[i].begin % 64;
        seen[h.ops[i].end / 64] |= 1ull << h.ops[i].end % 64;
    }
    CHECK(seen[0] == UINT64_MAX && seen[1] == UINT64_MAX);
}
