/* Two loops push to queues, load from them and pass them to each other, also while they are loading, and a
 * housekeeper serves both. Records must come out of each queue in the order in which they went in. The
 * counters of a queue are plain memory that moves with it, so that ThreadSanitizer sees a hand-over that is
 * not ordered. */
#include "tests/support/stress.h"

#include "engine/frontier/slots.c"
#include "lockfree/backoff.c"
#include "lockfree/id_stack.c"
#include "lockfree/ring_spsc.c"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOPS = 2, FEEDS = 40, RECORDS = 50000, BURST = 30, HAND_OVERS = 64 };

struct feed {
    struct slots_queue queue; /* first: a batch's queue leads to its feed */
    uint64_t pushed, popped;
};

/* What one loop has. */
struct side {
    struct slots_loop *loop;
    struct ring_spsc *in, *out;
    struct feed *mine[FEEDS];
    size_t count;
    uint64_t pushed;
    bool has[FEEDS];
    struct slots_buffer *kept[FEEDS]; /* batches of queues that are at the other loop */
};

static LF_ISOLATED uint64_t ring_memory[LOOPS][HAND_OVERS];

static struct {
    char directory[64], path[80];
    struct slots slots;
    struct feed feeds[FEEDS];
    struct side sides[LOOPS];
    struct ring_spsc hand_over[LOOPS]; /* to loop 0, to loop 1 */
    _Atomic(unsigned) running;         /* loops that push */
    _Atomic(unsigned) kept;            /* batches that came while their queue was elsewhere */
} all;

static void begin_slots(uint32_t buffers)
{
    snprintf(all.directory, sizeof all.directory, "/tmp/lycosa-slots-XXXXXX");
    CHECK(mkdtemp(all.directory) != NULL);
    snprintf(all.path, sizeof all.path, "%s/slots", all.directory);
    struct slots_options options = {.disk = &disk_system,
                                    .path = all.path,
                                    .loops = LOOPS,
                                    .buffers = buffers,
                                    .loads = 4,
                                    .slots_max = 100000,
                                    .record_bytes_max = 2048};
    CHECK_INT(slots_init(&all.slots, &options), 0);
    for (uint32_t i = 0; i < FEEDS; i++)
        all.feeds[i] = (struct feed){.queue.host = i};
}

static void finish_slots(void)
{
    slots_fini(&all.slots);
    CHECK_INT(rmdir(all.directory), 0);
}

static void begin(void *shared, unsigned threads)
{
    (void)shared;
    CHECK_INT(threads, LOOPS + 1);
    begin_slots(FEEDS - 10); /* fewer than queues */
    for (unsigned i = 0; i < LOOPS; i++) {
        ring_spsc_init(&all.hand_over[i], ring_memory[i], HAND_OVERS);
        all.sides[i] =
            (struct side){.loop = &all.slots.loops[i], .in = &all.hand_over[i], .out = &all.hand_over[1 - i]};
    }
    for (size_t i = 0; i < FEEDS; i++) {
        struct side *side = &all.sides[i % LOOPS];
        side->mine[side->count++] = &all.feeds[i];
        side->has[i] = true;
    }
    lf_store(&all.running, LOOPS, relaxed);
}

/* A number, and up to 200 bytes that follow from it. */
static bool push(struct slots_loop *loop, struct feed *feed)
{
    char bytes[8 + 200];
    size_t len = 8 + feed->pushed * 7919 % 200;
    memcpy(bytes, &feed->pushed, 8);
    memset(bytes + 8, (int)feed->pushed, len - 8);
    if (!slots_push(loop, &feed->queue, (struct slice){bytes, len}))
        return false;
    feed->pushed++;
    return true;
}

static void take(struct slots_loop *loop, struct slots_buffer *batch)
{
    struct feed *feed = (struct feed *)batch->queue;
    struct slice record;
    CHECK_INT(batch->error, 0);
    slots_accept(loop, batch);
    for (; slots_next(batch, &record); feed->popped++) {
        CHECK_INT(record.len, 8 + feed->popped * 7919 % 200);
        CHECK(memcmp(record.ptr, &feed->popped, 8) == 0);
        CHECK(record.len == 8 || record.ptr[record.len - 1] == (char)feed->popped);
    }
    slots_release(loop, batch);
    CHECK_INT(slots_waiting(&feed->queue), feed->pushed - feed->popped);
}

static void keep(struct side *side, struct slots_buffer *batch, size_t index)
{
    side->kept[index] = batch;
    lf_fetch_add(&all.kept, 1, relaxed);
}

static void receive(struct side *side)
{
    uint64_t item;
    struct slots_buffer *batch;
    while (ring_spsc_pop(side->in, &item)) {
        size_t index = (size_t)item;
        side->mine[side->count++] = &all.feeds[index];
        side->has[index] = true;
        if (side->kept[index])
            take(side->loop, side->kept[index]);
        side->kept[index] = NULL;
    }
    while ((batch = slots_loaded(side->loop))) {
        size_t index = (size_t)((struct feed *)batch->queue - all.feeds);
        if (side->has[index])
            take(side->loop, batch);
        else
            keep(side, batch, index);
    }
}

/* A loop that finds no buffer lets others run: the housekeeper, or the loop that has the other queues. */
static void push_some(struct side *side, struct feed *feed, uint64_t count)
{
    for (; count > 0 && push(side->loop, feed); count--)
        side->pushed++;
    if (count > 0)
        sched_yield();
}

/* The queue and its counters are the other loop's. The last one stays. */
static void pass(struct side *side, size_t chosen)
{
    size_t index = (size_t)(side->mine[chosen] - all.feeds);
    if (side->count == 1)
        return;
    side->mine[chosen] = side->mine[--side->count];
    side->has[index] = false;
    CHECK(ring_spsc_push(side->out, index));
}

static void step(struct side *side, struct stress_worker *worker)
{
    size_t chosen = stress_random(worker, side->count);
    struct slots_queue *queue = &side->mine[chosen]->queue;
    uint64_t dice = stress_random(worker, 16);
    if (dice < 6)
        push_some(side, side->mine[chosen], stress_random(worker, BURST));
    else if (dice < 7)
        CHECK(slots_flush(side->loop, queue));
    else if (dice < 14 && slots_waiting(queue) && !queue->is_loading)
        slots_load(side->loop, queue);
    else
        pass(side, chosen);
}

static void work(struct stress_worker *worker)
{
    if (worker->index == LOOPS) {
        while (lf_load(&all.running, acquire)) { /* A1 pairs with R1 */
            int served = slots_serve(&all.slots);
            CHECK(served >= 0);
            if (!served)
                sched_yield();
        }
        return;
    }
    struct side *side = &all.sides[worker->index];
    while (side->pushed < RECORDS) {
        receive(side);
        step(side, worker);
    }
    lf_fetch_sub(&all.running, 1, release);  /* R1 pairs with A1 */
    while (lf_load(&all.running, acquire)) { /* A1 pairs with R1 */
        receive(side);
        for (size_t i = 0; i < side->count; i++) /* the other loop may need the buffers */
            CHECK(slots_flush(side->loop, &side->mine[i]->queue));
        sched_yield();
    }
}

/* Alone. What is on its way arrives, and all queues are emptied. */
static void check(void *shared, unsigned threads)
{
    (void)shared;
    (void)threads;
    uint64_t total = 0;
    CHECK(slots_serve(&all.slots) >= 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        struct slots_buffer *batch;
        for (size_t n = 0; n < FEEDS; n++)
            if (all.sides[i].kept[n])
                take(all.sides[i].loop, all.sides[i].kept[n]);
        while ((batch = slots_loaded(all.sides[i].loop)))
            take(all.sides[i].loop, batch);
    }
    for (size_t i = 0; i < FEEDS; i++) {
        while (slots_waiting(&all.feeds[i].queue)) {
            CHECK(slots_load(all.sides[0].loop, &all.feeds[i].queue));
            CHECK(slots_serve(&all.slots) >= 0);
            take(all.sides[0].loop, slots_loaded(all.sides[0].loop));
        }
        CHECK_INT(all.feeds[i].popped, all.feeds[i].pushed);
        total += all.feeds[i].pushed;
    }
    CHECK(total >= LOOPS * RECORDS && lf_load(&all.kept, relaxed) > 0);
    struct slots_counts counts = slots_count(&all.slots);
    CHECK(counts.writes > 100 && counts.reads == counts.writes);
    CHECK_INT(counts.in_use, 0);
    finish_slots();
}

TEST(queues_that_move_keep_their_order)
{
    for (unsigned i = 0; i < 4; i++)
        stress_run(&(struct stress_plan){.threads = LOOPS + 1,
                                         .rounds = 3,
                                         .yield_every = i % 2 ? 50 : 0,
                                         .seed = i,
                                         .begin = begin,
                                         .work = work,
                                         .check = check});
}

static void park_begin(void *unused)
{
    (void)unused;
    begin_slots(8);
    struct slots_loop *loop = &all.slots.loops[0];
    for (int i = 0; i < 2; i++)
        CHECK(push(loop, &all.feeds[i]) && slots_flush(loop, &all.feeds[i].queue));
    CHECK(slots_load(loop, &all.feeds[0].queue));
}

static void park_serve(void *unused)
{
    (void)unused;
    CHECK(slots_serve(&all.slots) >= 0);
}

/* All that a loop does by itself. */
static void park_loop(void *unused)
{
    (void)unused;
    struct slots_loop *loop = &all.slots.loops[1];
    for (int i = 2; i < 4; i++)
        CHECK(push(loop, &all.feeds[i]) && slots_flush(loop, &all.feeds[i].queue));
    CHECK(slots_load(loop, &all.feeds[2].queue));
    CHECK(push(loop, &all.feeds[4]) && slots_load(loop, &all.feeds[4].queue));
    struct slots_buffer *batch = slots_loaded(loop);
    CHECK(batch && batch->queue == &all.feeds[4].queue);
    take(loop, batch);
}

static void park_finish(void *unused)
{
    (void)unused;
    struct slots_loop *loop = &all.slots.loops[0], *other = &all.slots.loops[1];
    CHECK(slots_serve(&all.slots) >= 0);
    take(loop, slots_loaded(loop));
    take(other, slots_loaded(other));
    for (int i = 1; i < 4; i += 2) {
        CHECK(slots_load(loop, &all.feeds[i].queue) && slots_serve(&all.slots) == 1);
        take(loop, slots_loaded(loop));
        CHECK_INT(all.feeds[i].popped, 1);
    }
    CHECK_INT(slots_count(&all.slots).in_use, 0);
    finish_slots();
}

TEST(a_stopped_housekeeper_stops_no_loop)
{
    CHECK(stress_park(&(struct stress_parking){
              .begin = park_begin, .operation = park_serve, .others = park_loop, .finish = park_finish}) >
          10);
}

TEST(a_stopped_loop_stops_no_housekeeper)
{
    CHECK(stress_park(&(struct stress_parking){
              .begin = park_begin, .operation = park_loop, .others = park_serve, .finish = park_finish}) >
          10);
}
