/* Concurrency Kit: ck_ring, ck_fifo_mpmc, ck_epoch. Its hash tables admit one writer and are no peers of map;
 * its hazard-pointer queue is faulty in the version that Debian 12 has. */
#include "micro/lockfree_items.h"

#include <ck_epoch.h>
#include <ck_fifo.h>
#include <ck_ring.h>

#include "micro/lockfree_pool.h"
#include "micro/lockfree_reclaim.h"

struct ring_state {
    _Alignas(128) struct ck_ring ring;
    _Alignas(128) struct ck_ring_buffer buffer[LOCKFREE_RING];
};

static void *begin_ring(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring_state *state = lockfree_map(sizeof *state);
    ck_ring_init(&state->ring, LOCKFREE_RING);
    return state;
}

static void finish_ring(void *state)
{
    lockfree_unmap(state, sizeof(struct ring_state));
}

LOCKFREE_INLINE bool push_spsc(void *shared, void *own, uint64_t item)
{
    (void)own;
    struct ring_state *state = shared;
    return ck_ring_enqueue_spsc(&state->ring, state->buffer, (void *)(uintptr_t)item);
}

LOCKFREE_INLINE bool pop_spsc(void *shared, void *own, uint64_t *item)
{
    (void)own;
    struct ring_state *state = shared;
    void *value;
    bool popped = ck_ring_dequeue_spsc(&state->ring, state->buffer, &value);
    if (popped)
        *item = (uintptr_t)value;
    return popped;
}

LOCKFREE_INLINE bool push_mpmc(void *shared, void *own, uint64_t item)
{
    (void)own;
    struct ring_state *state = shared;
    return ck_ring_enqueue_mpmc(&state->ring, state->buffer, (void *)(uintptr_t)item);
}

LOCKFREE_INLINE bool pop_mpmc(void *shared, void *own, uint64_t *item)
{
    (void)own;
    struct ring_state *state = shared;
    void *value;
    bool popped = ck_ring_dequeue_mpmc(&state->ring, state->buffer, &value);
    if (popped)
        *item = (uintptr_t)value;
    return popped;
}

static const struct lockfree_items spsc = {push_spsc, pop_spsc, lockfree_no_pass};
static const struct lockfree_items mpmc = {push_mpmc, pop_mpmc, lockfree_no_pass};

static void work_spsc(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    if (worker->threads == 1)
        lockfree_pairs(worker, NULL, spsc);
    else
        lockfree_transfer(worker, NULL, spsc, 1);
    lockfree_end(worker);
}

static void pairs_mpmc(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_pairs(worker, NULL, mpmc);
    lockfree_end(worker);
}

static void transfer_mpmc(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_transfer(worker, NULL, mpmc, worker->threads / 2);
    lockfree_end(worker);
}

/* ck_fifo_mpmc: a popped node may be pushed again at once, its tag sees to that. */
struct fifo_state {
    _Alignas(128) ck_fifo_mpmc_t fifo;
    _Alignas(128) struct ck_fifo_mpmc_entry stub;
    struct lockfree_pool *pool;
};

struct fifo_thread {
    struct fifo_state *state;
    struct lockfree_pool_thread pool;
};

static void *begin_fifo(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct fifo_state *state = lockfree_map(sizeof *state);
    state->pool = lockfree_pool_create(threads);
    return state;
}

static void reset_fifo(void *context)
{
    struct fifo_state *state = context;
    lockfree_pool_reset(state->pool);
    ck_fifo_mpmc_init(&state->fifo, &state->stub);
}

static void finish_fifo(void *context)
{
    struct fifo_state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE bool push_fifo(void *shared, void *own, uint64_t item)
{
    struct fifo_thread *self = own;
    struct fifo_state *state = shared;
    struct ck_fifo_mpmc_entry *entry = lockfree_pool_take(&self->pool);
    if (!entry)
        return false;
    ck_fifo_mpmc_enqueue(&state->fifo, entry, (void *)(uintptr_t)item);
    return true;
}

LOCKFREE_INLINE bool pop_fifo(void *shared, void *own, uint64_t *item)
{
    struct fifo_thread *self = own;
    struct fifo_state *state = shared;
    struct ck_fifo_mpmc_entry *garbage;
    void *value;
    if (!ck_fifo_mpmc_dequeue(&state->fifo, &value, &garbage))
        return false;
    *item = (uintptr_t)value;
    lockfree_pool_give(&self->pool, garbage);
    return true;
}

LOCKFREE_INLINE void work_fifo(struct lockfree_worker *worker, bool pairs)
{
    static const struct lockfree_items items = {push_fifo, pop_fifo, lockfree_no_pass};
    struct fifo_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    lockfree_begin(worker);
    if (pairs)
        lockfree_pairs(worker, &self, items);
    else
        lockfree_transfer(worker, &self, items, worker->threads / 2);
    lockfree_end(worker);
}

static void pairs_fifo(struct lockfree_worker *worker)
{
    work_fifo(worker, true);
}

static void transfer_fifo(struct lockfree_worker *worker)
{
    work_fifo(worker, false);
}

static ck_epoch_t epoch;
static ck_epoch_record_t records[LOCKFREE_RECLAIM_THREADS];

/* Records stay registered; those of threads that are not there are inactive. */
static void *begin_epoch(const struct lockfree_row *row, unsigned threads)
{
    static bool is_ready;
    if (!is_ready) {
        ck_epoch_init(&epoch);
        for (unsigned i = 0; i < LOCKFREE_RECLAIM_THREADS; i++)
            ck_epoch_register(&epoch, &records[i], NULL);
        is_ready = true;
    }
    return lockfree_reclaim_create(row, threads);
}

static void work_epoch(struct lockfree_worker *worker)
{
    struct lockfree_reclaim *state = worker->state;
    ck_epoch_record_t *record = &records[worker->index];
    uint64_t sum = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (unsigned turn = 0; turn < LOCKFREE_BLOCK / state->reads; turn++) {
            ck_epoch_begin(record, NULL);
            for (unsigned i = 0; i < state->reads; i++)
                sum += ((struct lockfree_reclaim_object *)ck_pr_load_ptr(&state->object))->value;
            ck_epoch_end(record, NULL);
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_reclaim_check(worker, sum);
    lockfree_end(worker);
}

#define CK   .impl = "ck"
#define RING CK, .begin = begin_ring, .finish = finish_ring
#define FIFO CK, .bench = "queue", .begin = begin_fifo, .reset = reset_fifo, .finish = finish_fifo
#define EPOCH                                                                                                \
    CK, .bench = "reclaim", .begin = begin_epoch, .work = work_epoch, .finish = lockfree_reclaim_destroy,    \
        .threads_max = LOCKFREE_RECLAIM_THREADS

static struct lockfree_row rows[] = {
    {RING, .bench = "ring_spsc", .mix = "pairs", .threads_max = 1, .work = work_spsc},
    {RING, .bench = "ring_spsc", .mix = "producer/consumer", .threads_min = 2, .threads_max = 2,
     .work = work_spsc},
    {RING, .bench = "ring_mpmc", .mix = "pairs", .work = pairs_mpmc},
    {RING, .bench = "ring_mpmc", .mix = "producers/consumers", .threads_min = 2, .work = transfer_mpmc},
    {FIFO, .mix = "pairs", .work = pairs_fifo},
    {FIFO, .mix = "producers/consumers", .threads_min = 2, .work = transfer_fifo},
    {EPOCH, .mix = LOCKFREE_RECLAIM_ONE, .argument = 1},
    {EPOCH, .mix = LOCKFREE_RECLAIM_MANY, .argument = LOCKFREE_RECLAIM_READS},
};

LOCKFREE_REGISTER(rows)
