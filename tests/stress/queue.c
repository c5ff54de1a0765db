/* Every thread pushes numbered values and pops. Each value must come out once, and each thread must see the
 * values of each pusher in their order. */
#include "tests/support/stress.h"

#include "lockfree/backoff.c"
#include "lockfree/queue.c"
#include "lockfree/reclaim.c"

#include <sched.h>
#include <stdlib.h>

#define THREADS_MAX 64
#define VALUES      60000 /* per thread */
#define NODES       1024  /* per thread: far fewer than values, so that nodes are reused all the time */

static struct {
    struct reclaim domain;
    struct reclaim_thread threads[THREADS_MAX];
    struct queue queue;
    struct queue_node first;
    struct queue_node *nodes;
    _Atomic uint8_t *popped; /* per value */
    LF_ISOLATED _Atomic uint64_t popped_count;
    _Atomic uint64_t refused;
} shared;

static void *value_of(unsigned thread, uint64_t number)
{
    return (void *)(uintptr_t)(thread * (uint64_t)VALUES + number + 1);
}

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK(threads <= THREADS_MAX);
    memset(&shared, 0, sizeof shared);
    reclaim_init(&shared.domain, shared.threads, threads, 100);
    queue_init(&shared.queue, &shared.first);
    shared.nodes = aligned_alloc(_Alignof(struct queue_node), threads * NODES * sizeof *shared.nodes);
    memset(shared.nodes, 0xee, threads * NODES * sizeof *shared.nodes);
    shared.popped = calloc((size_t)threads * VALUES, sizeof *shared.popped);
}

static void take_note(void *value, uint64_t *last)
{
    uint64_t index = (uintptr_t)value - 1, pusher = index / VALUES;
    CHECK(pusher < THREADS_MAX && index % VALUES + 1 > last[pusher]);
    last[pusher] = index % VALUES + 1;
    CHECK_INT(lf_exchange(&shared.popped[index], 1, relaxed), 0);
    lf_fetch_add(&shared.popped_count, 1, relaxed);
}

static void work(struct stress_worker *worker)
{
    uint64_t last[THREADS_MAX] = {0}, pushed = 0;
    uint64_t all = (uint64_t)worker->threads * VALUES;
    struct queue_thread self;
    queue_thread_init(&self, &shared.queue, reclaim_claim(&shared.domain, NULL));
    queue_give(&self, &shared.nodes[worker->index * NODES], NODES);
    reclaim_online(self.reclaim);
    while (lf_load(&shared.popped_count, relaxed) < all) {
        for (uint64_t burst = stress_random(worker, 20); burst > 0 && pushed < VALUES; burst--) {
            if (!queue_push(&self, value_of(worker->index, pushed))) {
                lf_fetch_add(&shared.refused, 1, relaxed);
                break;
            }
            pushed++;
        }
        for (uint64_t burst = stress_random(worker, 20); burst > 0; burst--) {
            void *value = queue_pop(&self);
            if (!value)
                break;
            take_note(value, last);
        }
        reclaim_quiescent(self.reclaim);
        if (self.unused == NULL)
            sched_yield(); /* for the others' quiescent state */
    }
    while (!queue_thread_fini(&self)) {
        reclaim_quiescent(self.reclaim);
        sched_yield();
    }
    reclaim_offline(self.reclaim);
    reclaim_leave(self.reclaim);
}

/* All nodes are in the spare chains again, but for the queue's own one. */
static size_t spare_count(void)
{
    size_t count = 0;
    for (struct queue_node *first = lf_load(&shared.queue.spares, relaxed); first; first = first->spare)
        for (struct queue_node *node = first; node; node = node->chain)
            count++;
    return count;
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    for (size_t i = 0; i < (size_t)threads * VALUES; i++)
        CHECK_INT(lf_load(&shared.popped[i], relaxed), 1);
    CHECK_INT(queue_count(&shared.queue), 0);
    reclaim_fini(&shared.domain);
    CHECK_INT(spare_count(), threads * NODES);
    free((void *)shared.popped);
    free(shared.nodes);
}

TEST(each_value_once_and_in_order)
{
    struct stress_plan plan = {.begin = begin, .work = work, .check = check, .rounds = 2};
    stress_run(&plan);
    plan.yield_every = 16;
    stress_run(&plan);
}

/* Half of the threads only push, the others only pop: all nodes wander through the spares. */
static void work_one_way(struct stress_worker *worker)
{
    uint64_t last[THREADS_MAX] = {0}, pushed = 0;
    bool pushes = worker->index % 2 == 0;
    uint64_t all = (uint64_t)(worker->threads + 1) / 2 * VALUES;
    struct queue_thread self;
    queue_thread_init(&self, &shared.queue, reclaim_claim(&shared.domain, NULL));
    queue_give(&self, &shared.nodes[worker->index * NODES], NODES);
    reclaim_online(self.reclaim);
    while (pushes ? pushed < VALUES : lf_load(&shared.popped_count, relaxed) < all) {
        void *value = NULL;
        if (pushes)
            pushed += queue_push(&self, value_of(worker->index, pushed));
        else if ((value = queue_pop(&self)))
            take_note(value, last);
        reclaim_quiescent(self.reclaim);
        if (pushes ? !self.unused : !value)
            sched_yield();
    }
    reclaim_offline(self.reclaim);
    reclaim_leave(self.reclaim);
}

static void check_one_way(void *unused, unsigned threads)
{
    (void)unused;
    for (size_t i = 0; i < (size_t)threads * VALUES; i++)
        CHECK_INT(lf_load(&shared.popped[i], relaxed), i / VALUES % 2 == 0);
    reclaim_fini(&shared.domain);
    free((void *)shared.popped);
    free(shared.nodes);
}

TEST(producers_and_consumers)
{
    struct stress_plan plan = {.begin = begin, .work = work_one_way, .check = check_one_way, .threads = 4};
    stress_run(&plan);
    plan.yield_every = 16;
    stress_run(&plan);
}

/* A thread is stopped at each atomic operation of a push and a pop. It is online, so that the others live on
 * what they were given. */
#define PARK_NODES 1000
static struct {
    struct queue_thread parked, other;
    unsigned before; /* values in the queue beforehand */
    void *by_parked;
    unsigned popped_by_other;
} park;

static void park_begin(void *unused)
{
    begin(unused, 2);
    queue_thread_init(&park.parked, &shared.queue, reclaim_claim(&shared.domain, NULL));
    queue_thread_init(&park.other, &shared.queue, reclaim_claim(&shared.domain, NULL));
    queue_give(&park.parked, shared.nodes, 2);
    queue_give(&park.other, shared.nodes + 2, PARK_NODES);
    reclaim_online(park.parked.reclaim);
    reclaim_online(park.other.reclaim);
    park.popped_by_other = 0;
    for (unsigned i = 0; i < park.before; i++)
        CHECK(queue_push(&park.other, value_of(1, i)));
}

static void park_operation(void *unused)
{
    (void)unused;
    CHECK(queue_push(&park.parked, value_of(0, 0)));
    park.by_parked = queue_pop(&park.parked);
    CHECK(park.by_parked);
}

static void park_others(void *unused)
{
    (void)unused;
    unsigned pushes = 3 * QUEUE_CHAIN;
    for (unsigned i = 0; i < pushes; i++) {
        CHECK(queue_push(&park.other, value_of(1, park.before + i)));
        if (i % 2 == 0) {
            void *value = queue_pop(&park.other);
            CHECK(value);
            lf_exchange(&shared.popped[(uintptr_t)value - 1], 1, relaxed);
            park.popped_by_other++;
        }
        reclaim_quiescent(park.other.reclaim);
    }
}

static void park_finish(void *unused)
{
    (void)unused;
    uint64_t last[THREADS_MAX] = {0};
    unsigned in_all = 1 + park.before + 3 * QUEUE_CHAIN;
    CHECK_INT(queue_count(&shared.queue), in_all - 1 - park.popped_by_other);
    CHECK_INT(lf_exchange(&shared.popped[(uintptr_t)park.by_parked - 1], 1, relaxed), 0);
    for (void *value; (value = queue_pop(&park.other));)
        take_note(value, last);
    CHECK_INT(lf_load(&shared.popped_count, relaxed), in_all - 1 - park.popped_by_other);
    reclaim_offline(park.parked.reclaim);
    reclaim_offline(park.other.reclaim);
    reclaim_fini(&shared.domain);
    free((void *)shared.popped);
    free(shared.nodes);
}

TEST(a_stopped_thread_stops_nobody)
{
    const struct stress_parking parking = {
        .begin = park_begin, .operation = park_operation, .others = park_others, .finish = park_finish};
    for (park.before = 0; park.before < 6; park.before++)
        CHECK(stress_park(&parking) >= 6);
}
