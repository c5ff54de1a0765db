/* Many producers, one consumer. Nodes go round: the consumer gives each back to its producer, which pushes it
 * again, so a node that the queue still used when it was popped would be seen. Payload is plain memory. */
#include "tests/support/stress.h"

#include "lockfree/queue_mpsc.c"

#include <sched.h>

enum { PER_PRODUCER = 30000, NODES = 16, THREADS_MAX = 64, BATCH = 9 };

struct item {
    struct queue_mpsc_node node;
    uint64_t producer, number;
    _Atomic bool free;
};

static struct {
    struct queue_mpsc queue;
    struct item items[THREADS_MAX][NODES];
    _Atomic uint64_t wakes; /* pushes that found the queue empty */
} shared;

/* Not known to the compiler: a store that it makes of a small memset escapes ThreadSanitizer. */
static volatile size_t node_bytes = sizeof(struct queue_mpsc_node);

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK(threads <= THREADS_MAX);
    queue_mpsc_init(&shared.queue);
    lf_store(&shared.wakes, 0, relaxed);
    for (unsigned i = 0; i < THREADS_MAX; i++)
        for (unsigned n = 0; n < NODES; n++)
            lf_store(&shared.items[i][n].free, true, relaxed);
}

static void produce(struct stress_worker *worker)
{
    for (uint64_t next = 0; next < PER_PRODUCER;) {
        struct item *item = &shared.items[worker->index][stress_random(worker, NODES)];
        if (!lf_load(&item->free, acquire)) { /* pairs with the release in consume */
            sched_yield();
            continue;
        }
        lf_store(&item->free, false, relaxed);
        item->producer = worker->index;
        item->number = next++;
        if (queue_mpsc_push(&shared.queue, &item->node))
            lf_fetch_add(&shared.wakes, 1, relaxed);
    }
}

static void consume(struct stress_worker *worker)
{
    struct queue_mpsc_node *nodes[BATCH];
    uint64_t expected[THREADS_MAX] = {0}, runs = 0, total = (uint64_t)(worker->threads - 1) * PER_PRODUCER;
    for (uint64_t done = 0; done < total;) {
        size_t count = 1 + stress_random(worker, BATCH), popped;
        popped = count == 1 ? (nodes[0] = queue_mpsc_pop(&shared.queue)) != NULL
                            : queue_mpsc_pop_batch(&shared.queue, nodes, count);
        for (size_t i = 0; i < popped; i++) {
            struct item *item = (struct item *)nodes[i];
            CHECK(item->producer < worker->threads);
            CHECK_INT(item->number, expected[item->producer]++);
            item->number = UINT64_MAX;
            /* Plain, as free() would be: the queue and its producers must be done with the node. */
            memset((void *)nodes[i], 0x55, node_bytes);
            lf_store(&item->free, true, release); /* pairs with the acquire in produce */
        }
        done += popped;
        runs += popped > 0;
        if (!popped)
            sched_yield();
    }
    CHECK(queue_mpsc_is_empty(&shared.queue));
    CHECK(queue_mpsc_pop(&shared.queue) == NULL);
    CHECK(runs > 0);
}

static void work(struct stress_worker *worker)
{
    if (worker->index == worker->threads - 1)
        consume(worker);
    else
        produce(worker);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    uint64_t wakes = lf_load(&shared.wakes, relaxed);
    CHECK(wakes > 0 && wakes <= (uint64_t)threads * PER_PRODUCER);
}

TEST(each_producers_nodes_arrive_once_and_in_order)
{
    for (unsigned i = 0; i < 4; i++)
        stress_run(&(struct stress_plan){.threads = i < 2 ? 0 : i,
                                         .begin = begin,
                                         .work = work,
                                         .check = check,
                                         .rounds = 2,
                                         .yield_every = i % 2 ? 0 : 30,
                                         .seed = i});
}

/* A producer stopped at any step: other producers finish their pushes, the consumer's calls return; it gets
 * what was before the stopped one, and the rest when that has gone on. */
static struct item parked[8];
static unsigned popped_meanwhile;

static void park_begin(void *unused)
{
    (void)unused;
    queue_mpsc_init(&shared.queue);
    for (unsigned i = 0; i < 8; i++)
        parked[i].number = 0;
    queue_mpsc_push(&shared.queue, &parked[0].node);
    popped_meanwhile = 0;
}

static void park_push(void *unused)
{
    (void)unused;
    queue_mpsc_push(&shared.queue, &parked[1].node);
}

static void take_all(void)
{
    struct queue_mpsc_node *node;
    while ((node = queue_mpsc_pop(&shared.queue))) {
        ((struct item *)node)->number++;
        popped_meanwhile++;
    }
}

static void park_others(void *unused)
{
    (void)unused;
    take_all();
    for (unsigned i = 2; i < 8; i++) {
        queue_mpsc_push(&shared.queue, &parked[i].node);
        take_all();
    }
    CHECK(popped_meanwhile == 8 || popped_meanwhile == 7 || !queue_mpsc_is_empty(&shared.queue));
}

static void park_finish(void *unused)
{
    (void)unused;
    take_all();
    for (unsigned i = 0; i < 8; i++)
        CHECK_INT(parked[i].number, 1);
    CHECK(queue_mpsc_is_empty(&shared.queue));
}

TEST(a_stopped_producer_holds_up_no_push)
{
    CHECK_INT(stress_park(&(struct stress_parking){
                  .begin = park_begin, .operation = park_push, .others = park_others, .finish = park_finish}),
              3);
}
