/* One producer, one consumer, random batches, small and large rings: the consumer must see 0, 1, 2, ... The
 * items point to plain memory that the producer has written, so that ThreadSanitizer sees a hand-over that is
 * not ordered. */
#include "tests/support/stress.h"

#include "lockfree/ring_spsc.c"

#include <sched.h>

enum { ITEMS = 60000, BATCH = 7 };

static LF_ISOLATED uint64_t memory[256];

static struct {
    struct ring_spsc ring;
    size_t capacity;
    uint64_t payload[ITEMS]; /* plain: written by the producer, read by the consumer */
} shared;

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK_INT(threads, 2);
    ring_spsc_init(&shared.ring, memory, shared.capacity);
    memset(shared.payload, 0, sizeof shared.payload);
}

static void produce(struct stress_worker *worker)
{
    uint64_t items[BATCH];
    for (uint64_t next = 0; next < ITEMS;) {
        size_t count = stress_random(worker, BATCH + 1), pushed;
        if (count > ITEMS - next)
            count = ITEMS - next;
        for (size_t i = 0; i < count; i++) {
            shared.payload[next + i] = (next + i) * 3 + worker->round;
            items[i] = next + i;
        }
        pushed = count == 1 ? ring_spsc_push(&shared.ring, items[0])
                            : ring_spsc_push_batch(&shared.ring, items, count);
        next += pushed;
        if (pushed < count)
            sched_yield();
    }
}

static void consume(struct stress_worker *worker)
{
    uint64_t items[BATCH];
    for (uint64_t next = 0; next < ITEMS;) {
        size_t count = stress_random(worker, BATCH + 1);
        size_t popped =
            count == 1 ? ring_spsc_pop(&shared.ring, items) : ring_spsc_pop_batch(&shared.ring, items, count);
        for (size_t i = 0; i < popped; i++, next++) {
            CHECK_INT(items[i], next);
            CHECK_INT(shared.payload[next], next * 3 + worker->round);
        }
        CHECK(ring_spsc_count(&shared.ring) <= shared.capacity);
        if (popped < count)
            sched_yield();
    }
    uint64_t item;
    CHECK(!ring_spsc_pop(&shared.ring, &item));
}

static void work(struct stress_worker *worker)
{
    if (worker->index == 0)
        produce(worker);
    else
        consume(worker);
}

TEST(everything_arrives_in_order)
{
    const size_t capacities[] = {1, 2, 8, 256};
    for (unsigned i = 0; i < 4; i++) {
        shared.capacity = capacities[i];
        stress_run(&(struct stress_plan){.threads = 2,
                                         .begin = begin,
                                         .work = work,
                                         .rounds = 2,
                                         .yield_every = i % 2 ? 40 : 0,
                                         .seed = i});
    }
}

static void park_begin(void *unused)
{
    (void)unused;
    ring_spsc_init(&shared.ring, memory, 4);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ring_spsc_push(&shared.ring, i));
}

static void park_push(void *unused)
{
    (void)unused;
    uint64_t items[3] = {3, 4, 5};
    CHECK(ring_spsc_push(&shared.ring, items[0]));
    ring_spsc_push_batch(&shared.ring, items + 1, 2);
}

/* What was pushed before can be popped while the producer stands still. */
static void park_others(void *unused)
{
    (void)unused;
    uint64_t item;
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ring_spsc_pop(&shared.ring, &item) && item == i);
}

static void park_finish(void *unused)
{
    (void)unused;
    uint64_t item, next = 3;
    while (ring_spsc_pop(&shared.ring, &item))
        CHECK_INT(item, next++);
    CHECK(next >= 4);
}

TEST(a_stopped_producer_blocks_nothing_that_was_pushed)
{
    CHECK(stress_park(&(struct stress_parking){
              .begin = park_begin, .operation = park_push, .others = park_others, .finish = park_finish}) >=
          4);
}
