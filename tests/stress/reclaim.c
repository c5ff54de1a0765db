/* Threads read and replace a few shared items. A replaced item is retired, and poisoned when it is released:
 * a reader that still sees it finds the poison, as AddressSanitizer and ThreadSanitizer find the freed
 * memory. */
#include "tests/support/stress.h"

#include "lockfree/container_of.h"
#include "lockfree/reclaim.c"

#include <sched.h>
#include <stdlib.h>

#define PLACES      8
#define LIMBO       300
#define THREADS_MAX 64
#define OPERATIONS  150000
#define GOOD        UINT64_C(0x600d600d600d600d)
#define POISON      UINT64_C(0xdeaddeaddeaddead)

struct item {
    struct reclaim_node retirement;
    uint64_t payload; /* GOOD ^ serial */
    uint64_t serial;
};

static struct {
    struct reclaim domain;
    struct reclaim_thread threads[THREADS_MAX];
    _Atomic(struct item *) places[PLACES];
    LF_ISOLATED _Atomic int64_t alive;
    _Atomic int64_t alive_max;
    _Atomic uint64_t retired, released, refused;
} shared;

static struct item *item_create(uint64_t serial)
{
    struct item *item = malloc(sizeof *item);
    item->serial = serial;
    item->payload = GOOD ^ serial;
    int64_t alive = lf_fetch_add(&shared.alive, 1, relaxed) + 1, most = lf_load(&shared.alive_max, relaxed);
    while (alive > most && !lf_cas(&shared.alive_max, &most, alive, relaxed, relaxed))
        ;
    return item;
}

static void item_destroy(struct item *item)
{
    item->payload = POISON;
    lf_fetch_sub(&shared.alive, 1, relaxed);
    free(item);
}

static void on_item_release(struct reclaim_node *node, void *context)
{
    uint64_t *released = context;
    ++*released;
    lf_fetch_add(&shared.released, 1, relaxed);
    item_destroy(container_of(node, struct item, retirement));
}

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK(threads <= THREADS_MAX);
    memset(&shared, 0, sizeof shared);
    reclaim_init(&shared.domain, shared.threads, threads, LIMBO);
    for (int i = 0; i < PLACES; i++)
        lf_store(&shared.places[i], item_create((uint64_t)i), relaxed);
}

/* Reads over and over, so that a release in the middle is seen. */
static void read_item(struct stress_worker *worker)
{
    struct item *item = lf_load(&shared.places[stress_random(worker, PLACES)], acquire);
    for (int i = 0; i < 4; i++) {
        LF_POINT();
        CHECK(item->payload == (GOOD ^ item->serial));
    }
}

static void replace_item(struct stress_worker *worker, struct reclaim_thread *self)
{
    if (!reclaim_has_room(self, 1)) {
        lf_fetch_add(&shared.refused, 1, relaxed);
        return;
    }
    struct item *item = item_create(worker->random);
    item = lf_exchange(&shared.places[stress_random(worker, PLACES)], item, acq_rel);
    CHECK(reclaim_retire(self, &item->retirement, on_item_release));
    lf_fetch_add(&shared.retired, 1, relaxed);
}

static void work(struct stress_worker *worker)
{
    uint64_t released = 0;
    struct reclaim_thread *self = reclaim_claim(&shared.domain, &released);
    CHECK(self);
    reclaim_online(self);
    for (int i = 0; i < OPERATIONS; i++) {
        if (stress_random(worker, 4) == 0)
            replace_item(worker, self);
        else
            read_item(worker);
        if (stress_random(worker, 16) == 0)
            reclaim_quiescent(self);
        if (stress_random(worker, 256) == 0) {
            reclaim_offline(self);
            sched_yield();
            reclaim_online(self);
        }
    }
    reclaim_offline(self);
    while (reclaim_poll(self) > 0)
        sched_yield();
    reclaim_leave(self);
    CHECK(released > 0);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    CHECK_INT(lf_load(&shared.released, relaxed), lf_load(&shared.retired, relaxed));
    CHECK_INT(lf_load(&shared.alive, relaxed), PLACES);
    CHECK(lf_load(&shared.alive_max, relaxed) <= PLACES + (int64_t)threads * (LIMBO + 1));
    reclaim_fini(&shared.domain);
    for (int i = 0; i < PLACES; i++)
        item_destroy(lf_load(&shared.places[i], relaxed));
}

TEST(nothing_is_released_under_a_reader)
{
    struct stress_plan plan = {.begin = begin, .work = work, .check = check, .rounds = 3};
    stress_run(&plan);
    plan.yield_every = 32;
    stress_run(&plan);
}

/* One thread is stopped while it is online. The other goes on replacing until its limbo is full, is refused
 * from then on, and has not released anything that the stopped one might read. */
static struct {
    struct reclaim_thread *parked, *other;
    uint64_t released[2];
} stall;

static void stall_begin(void *unused)
{
    begin(unused, 2);
    memset(&stall, 0, sizeof stall);
    stall.parked = reclaim_claim(&shared.domain, &stall.released[0]);
    stall.other = reclaim_claim(&shared.domain, &stall.released[1]);
    reclaim_online(stall.parked);
    reclaim_online(stall.other);
}

static void stall_operation(void *unused)
{
    (void)unused;
    struct stress_worker worker = {.random = 2};
    reclaim_quiescent(stall.parked);
    for (int i = 0; i < 10; i++)
        read_item(&worker);
    replace_item(&worker, stall.parked);
    reclaim_quiescent(stall.parked);
    read_item(&worker);
}

static void stall_others(void *unused)
{
    (void)unused;
    struct stress_worker worker = {.random = 1};
    for (int i = 0; i < 3 * LIMBO; i++) {
        replace_item(&worker, stall.other);
        reclaim_quiescent(stall.other);
        CHECK(reclaim_poll(stall.other) <= LIMBO);
    }
    CHECK(lf_load(&shared.refused, relaxed) >= LIMBO);
}

static void stall_finish(void *unused)
{
    (void)unused;
    reclaim_offline(stall.parked);
    reclaim_offline(stall.other);
    while (reclaim_poll(stall.parked) + reclaim_poll(stall.other) > 0)
        ;
    check(NULL, 2);
}

TEST(a_stopped_thread_costs_memory_and_nothing_else)
{
    const struct stress_parking parking = {
        .begin = stall_begin, .operation = stall_operation, .others = stall_others, .finish = stall_finish};
    CHECK(stress_park(&parking) > 8);
}
