/* Producers and consumers on one ring, single items and batches, more threads than cores. Every item carries
 * its producer and number: none may be lost or doubled, and each consumer must see each producer's items in
 * order. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/ring_mpmc.c"

#include <sched.h>

enum { PER_PRODUCER = 20000, THREADS_MAX = 64, BATCH = 5 };

static LF_ISOLATED struct ring_mpmc_slot memory[1024];

static struct {
    struct ring_mpmc ring;
    size_t capacity;
    unsigned producers;
    _Atomic uint64_t popped;
    _Atomic uint8_t times[THREADS_MAX][PER_PRODUCER];
} shared;

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    ring_mpmc_init(&shared.ring, memory, shared.capacity);
    shared.producers = (threads + 1) / 2;
    lf_store(&shared.popped, 0, relaxed);
    memset(shared.times, 0, sizeof shared.times);
}

static void produce(struct stress_worker *worker, uint64_t producer, struct backoff *backoff)
{
    uint64_t items[BATCH];
    for (uint64_t next = 0; next < PER_PRODUCER;) {
        size_t count = stress_random(worker, BATCH + 1), pushed;
        if (count > PER_PRODUCER - next)
            count = PER_PRODUCER - next;
        for (size_t i = 0; i < count; i++)
            items[i] = producer << 32 | (next + i);
        if (count == 1)
            pushed = ring_mpmc_push(&shared.ring, items[0], backoff);
        else
            pushed = ring_mpmc_push_batch(&shared.ring, items, count, backoff);
        CHECK(pushed <= count);
        next += pushed;
        if (pushed < count)
            sched_yield();
    }
}

static void consume(struct stress_worker *worker, uint64_t total, struct backoff *backoff)
{
    uint64_t items[BATCH], expected[THREADS_MAX] = {0};
    while (lf_load(&shared.popped, relaxed) < total) {
        size_t count = stress_random(worker, BATCH + 1), popped;
        if (count == 1)
            popped = ring_mpmc_pop(&shared.ring, items, backoff);
        else
            popped = ring_mpmc_pop_batch(&shared.ring, items, count, backoff);
        CHECK(popped <= count);
        for (size_t i = 0; i < popped; i++) {
            uint64_t producer = items[i] >> 32, number = (uint32_t)items[i];
            CHECK(producer < shared.producers && number < PER_PRODUCER);
            CHECK(number >= expected[producer]);
            expected[producer] = number + 1;
            lf_fetch_add(&shared.times[producer][number], 1, relaxed);
        }
        lf_fetch_add(&shared.popped, popped, relaxed);
        if (popped < count)
            sched_yield();
    }
}

static void work(struct stress_worker *worker)
{
    struct backoff backoff;
    backoff_init(&backoff, worker->index);
    if (worker->index < shared.producers)
        produce(worker, worker->index, &backoff);
    else
        consume(worker, (uint64_t)shared.producers * PER_PRODUCER, &backoff);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    for (unsigned producer = 0; producer < shared.producers; producer++)
        for (unsigned i = 0; i < PER_PRODUCER; i++)
            CHECK_INT(lf_load(&shared.times[producer][i], relaxed), 1);
    CHECK_INT(ring_mpmc_count(&shared.ring), 0);
}

TEST(nothing_is_lost_doubled_or_reordered)
{
    const size_t capacities[] = {2, 4, 64, 1024};
    for (unsigned i = 0; i < 4; i++) {
        shared.capacity = capacities[i];
        stress_run(&(struct stress_plan){.begin = begin,
                                         .work = work,
                                         .check = check,
                                         .rounds = 2,
                                         .yield_every = i % 2 ? 50 : 0,
                                         .seed = i});
    }
}

/* A thread stopped anywhere in a push or a pop: the calls of others return, and once it goes on all is in
 * order. */
static struct backoff operation_backoff, others_backoff;
static uint64_t others_sum;

static void park_begin(void *unused)
{
    (void)unused;
    ring_mpmc_init(&shared.ring, memory, 4);
    backoff_init(&operation_backoff, 1);
    backoff_init(&others_backoff, 2);
    CHECK(ring_mpmc_push(&shared.ring, 100, &others_backoff));
    others_sum = 100;
}

static void park_push(void *unused)
{
    (void)unused;
    CHECK(ring_mpmc_push(&shared.ring, 1000, &operation_backoff));
}

static void park_pop(void *unused)
{
    (void)unused;
    uint64_t item;
    CHECK(ring_mpmc_pop(&shared.ring, &item, &operation_backoff));
    CHECK_INT(item, 100);
}

static void park_others(void *unused)
{
    (void)unused;
    uint64_t item;
    for (uint64_t i = 0; i < 2; i++)
        if (ring_mpmc_push(&shared.ring, i + 1, &others_backoff))
            others_sum += i + 1;
    for (unsigned i = 0; i < 2; i++)
        ring_mpmc_push_batch(&shared.ring, &item, 0, &others_backoff);
}

static void park_others_both(void *unused)
{
    (void)unused;
    uint64_t item;
    for (uint64_t i = 0; i < 20; i++) {
        if (ring_mpmc_push(&shared.ring, i + 1, &others_backoff))
            others_sum += i + 1;
        if (ring_mpmc_pop(&shared.ring, &item, &others_backoff))
            others_sum -= item;
    }
}

static void drain(uint64_t expected)
{
    uint64_t item;
    while (ring_mpmc_pop(&shared.ring, &item, &others_backoff))
        expected -= item;
    CHECK_INT(expected, 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK(ring_mpmc_push(&shared.ring, i, &others_backoff));
    CHECK(!ring_mpmc_push(&shared.ring, 4, &others_backoff));
}

static void park_finish_push(void *unused)
{
    (void)unused;
    drain(others_sum + 1000);
}

static void park_finish_pop(void *unused)
{
    (void)unused;
    drain(others_sum - 100);
}

TEST(a_stopped_thread_holds_up_no_caller)
{
    unsigned places = stress_park(&(struct stress_parking){
        .begin = park_begin, .operation = park_push, .others = park_others_both, .finish = park_finish_push});
    CHECK(places >= 4);
    places = stress_park(&(struct stress_parking){
        .begin = park_begin, .operation = park_pop, .others = park_others, .finish = park_finish_pop});
    CHECK(places >= 4);
}

static uint64_t counted;

static void push_one(void *unused)
{
    (void)unused;
    CHECK(ring_mpmc_push(&shared.ring, 7, &others_backoff));
}

static void pop_one(void *unused)
{
    (void)unused;
    uint64_t item;
    CHECK(ring_mpmc_pop(&shared.ring, &item, &others_backoff));
}

static void pop_second(void *unused)
{
    (void)unused;
    uint64_t item;
    CHECK(ring_mpmc_pop(&shared.ring, &item, &operation_backoff));
}

static void begin_with_two(void *unused)
{
    park_begin(unused);
    push_one(unused);
}

static void finish_count(void *unused)
{
    (void)unused;
    counted += backoff_losses(&operation_backoff);
    CHECK_INT(backoff_losses(&others_backoff), 0);
}

/* Stopped between its look at the position and its claim of it, the thread loses one race. */
TEST(the_race_that_a_first_try_loses_is_counted)
{
    counted = 0;
    stress_park(&(struct stress_parking){
        .begin = park_begin, .operation = park_push, .others = push_one, .finish = finish_count});
    CHECK(counted > 0);
    counted = 0;
    stress_park(&(struct stress_parking){
        .begin = begin_with_two, .operation = pop_second, .others = pop_one, .finish = finish_count});
    CHECK(counted > 0);
}
