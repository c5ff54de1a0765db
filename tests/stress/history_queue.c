/* Real threads record what they do with a queue and with a ring, a few operations each and many rounds; every
 * history must have a sequential explanation, by the moments at which operations began and ended. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/queue.c"
#include "lockfree/reclaim.c"
#include "lockfree/ring_mpmc.c"

#include "tests/support/history.h"

#define THREADS       4
#define OPS           6
#define ROUNDS        1500
#define RING_CAPACITY 4

static struct {
    struct history history;
    struct reclaim domain;
    struct reclaim_thread slots[THREADS];
    struct reclaim_thread *reclaims[THREADS];
    struct queue queue;
    struct queue_thread threads[THREADS];
    struct queue_node nodes[1 + THREADS * OPS];
    struct ring_mpmc ring;
    LF_ISOLATED struct ring_mpmc_slot ring_slots[RING_CAPACITY];
    struct backoff backoffs[THREADS];
    unsigned char values[THREADS * OPS];
} shared;

static void begin_queue(void *unused, unsigned threads)
{
    (void)unused;
    history_init(&shared.history, HISTORY_FIFO);
    reclaim_init(&shared.domain, shared.slots, threads, 100);
    queue_init(&shared.queue, &shared.nodes[0]);
    for (unsigned i = 0; i < threads; i++) {
        shared.reclaims[i] = reclaim_claim(&shared.domain, NULL);
        queue_thread_init(&shared.threads[i], &shared.queue, shared.reclaims[i]);
        queue_give(&shared.threads[i], &shared.nodes[1 + i * OPS], OPS);
    }
}

static void work_queue(struct stress_worker *worker)
{
    unsigned self = worker->index;
    reclaim_online(shared.reclaims[self]);
    for (unsigned i = 0; i < OPS; i++) {
        unsigned char *value = &shared.values[self * OPS + i];
        struct history_op op = {.kind = stress_random(worker, 2) ? HISTORY_PUSH : HISTORY_POP,
                                .thread = self,
                                .arg = (uint64_t)(value - shared.values)};
        struct history_op *recorded = history_begin(&shared.history, op);
        if (op.kind == HISTORY_PUSH) {
            history_end(&shared.history, recorded, queue_push(&shared.threads[self], value));
        } else {
            unsigned char *popped = queue_pop(&shared.threads[self]);
            history_end(&shared.history, recorded,
                        popped ? (uint64_t)(popped - shared.values) : HISTORY_NONE);
        }
    }
    reclaim_offline(shared.reclaims[self]);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    if (history_is_linearizable(&shared.history))
        return;
    history_print(&shared.history);
    CHECK(!"the history has an explanation");
}

TEST(queue)
{
    stress_run(&(struct stress_plan){.threads = THREADS,
                                     .rounds = ROUNDS,
                                     .yield_every = 4,
                                     .seed = 11,
                                     .begin = begin_queue,
                                     .work = work_queue,
                                     .check = check});
}

static void begin_ring(void *unused, unsigned threads)
{
    (void)unused;
    history_init(&shared.history, HISTORY_RING);
    shared.history.capacity = RING_CAPACITY;
    ring_mpmc_init(&shared.ring, shared.ring_slots, RING_CAPACITY);
    for (unsigned i = 0; i < threads; i++)
        backoff_init(&shared.backoffs[i], i);
}

/* A `false` of this ring says nothing about it at one instant. */
static void work_ring(struct stress_worker *worker)
{
    unsigned self = worker->index;
    for (unsigned i = 0; i < OPS; i++) {
        struct history_op op = {.kind = stress_random(worker, 2) ? HISTORY_PUSH : HISTORY_POP,
                                .thread = self,
                                .arg = self * OPS + i};
        struct history_op *recorded = history_begin(&shared.history, op);
        uint64_t item = 1;
        bool is_done = op.kind == HISTORY_PUSH ? ring_mpmc_push(&shared.ring, op.arg, &shared.backoffs[self])
                                               : ring_mpmc_pop(&shared.ring, &item, &shared.backoffs[self]);
        if (is_done)
            history_end(&shared.history, recorded, item);
        else
            history_end_void(&shared.history, recorded);
    }
}

TEST(ring)
{
    stress_run(&(struct stress_plan){.threads = THREADS,
                                     .rounds = ROUNDS,
                                     .yield_every = 4,
                                     .seed = 12,
                                     .begin = begin_ring,
                                     .work = work_ring,
                                     .check = check});
}
