/* ring_spsc and ring_mpmc: single items, and batches of BATCH. */
#include "micro/lockfree_items.h"

#include "lockfree/backoff.h"
#include "lockfree/ring_mpmc.h"
#include "lockfree/ring_spsc.h"

#define BATCH 16

static size_t memory_bytes(void)
{
    return ring_mpmc_bytes(LOCKFREE_RING) + sizeof(struct ring_mpmc);
}

static void *begin_spsc(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring_spsc *ring = lockfree_map(memory_bytes());
    ring_spsc_init(ring, ring + 1, LOCKFREE_RING);
    return ring;
}

static void *begin_mpmc(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring_mpmc *ring = lockfree_map(memory_bytes());
    ring_mpmc_init(ring, ring + 1, LOCKFREE_RING);
    return ring;
}

static void finish(void *state)
{
    lockfree_unmap(state, memory_bytes());
}

LOCKFREE_INLINE bool push_spsc(void *shared, void *own, uint64_t item)
{
    (void)own;
    return ring_spsc_push(shared, item);
}

LOCKFREE_INLINE bool pop_spsc(void *shared, void *own, uint64_t *item)
{
    (void)own;
    return ring_spsc_pop(shared, item);
}

static const struct lockfree_items spsc = {push_spsc, pop_spsc, lockfree_no_pass};

static void pairs_spsc(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_pairs(worker, NULL, spsc);
    lockfree_end(worker);
}

static void transfer_spsc(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_transfer(worker, NULL, spsc, 1);
    lockfree_end(worker);
}

/* Producer or consumer, BATCH at a time. */
static void transfer_spsc_batch(struct lockfree_worker *worker)
{
    uint64_t items[BATCH];
    for (int i = 0; i < BATCH; i++)
        items[i] = 1;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        size_t done = worker->index == 0 ? ring_spsc_push_batch(worker->state, items, BATCH)
                                         : ring_spsc_pop_batch(worker->state, items, BATCH);
        if (!done)
            lockfree_pause();
        worker->ops += worker->index == 0 ? 0 : done;
    }
    lockfree_end(worker);
}

LOCKFREE_INLINE bool push_mpmc(void *shared, void *own, uint64_t item)
{
    return ring_mpmc_push(shared, item, own);
}

LOCKFREE_INLINE bool pop_mpmc(void *shared, void *own, uint64_t *item)
{
    return ring_mpmc_pop(shared, item, own);
}

static const struct lockfree_items mpmc = {push_mpmc, pop_mpmc, lockfree_no_pass};

static void pairs_mpmc(struct lockfree_worker *worker)
{
    struct backoff backoff;
    backoff_init(&backoff, worker->index);
    lockfree_begin(worker);
    lockfree_pairs(worker, &backoff, mpmc);
    worker->losses = backoff_losses(&backoff);
    lockfree_end(worker);
}

static void transfer_mpmc(struct lockfree_worker *worker)
{
    struct backoff backoff;
    backoff_init(&backoff, worker->index);
    lockfree_begin(worker);
    lockfree_transfer(worker, &backoff, mpmc, worker->threads / 2);
    worker->losses = backoff_losses(&backoff);
    lockfree_end(worker);
}

static void pairs_mpmc_batch(struct lockfree_worker *worker)
{
    uint64_t items[BATCH];
    struct backoff backoff;
    for (int i = 0; i < BATCH; i++)
        items[i] = 1;
    backoff_init(&backoff, worker->index);
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        worker->ops += ring_mpmc_push_batch(worker->state, items, BATCH, &backoff);
        worker->ops += ring_mpmc_pop_batch(worker->state, items, BATCH, &backoff);
    }
    worker->losses = backoff_losses(&backoff);
    lockfree_end(worker);
}

#define SPSC .bench = "ring_spsc", .impl = "lycosa", .begin = begin_spsc, .finish = finish
#define MPMC                                                                                                 \
    .bench = "ring_mpmc", .impl = "lycosa", .begin = begin_mpmc, .finish = finish, .counts_losses = true

static struct lockfree_row rows[] = {
    {SPSC, .mix = "pairs", .threads_max = 1, .work = pairs_spsc},
    {SPSC, .mix = "producer/consumer", .threads_min = 2, .threads_max = 2, .work = transfer_spsc},
    {SPSC, .mix = "p/c, batches of 16", .threads_min = 2, .threads_max = 2, .work = transfer_spsc_batch},
    {MPMC, .mix = "pairs", .work = pairs_mpmc},
    {MPMC, .mix = "producers/consumers", .threads_min = 2, .work = transfer_mpmc},
    {MPMC, .mix = "pairs, batches of 16", .work = pairs_mpmc_batch},
};

LOCKFREE_REGISTER(rows)
