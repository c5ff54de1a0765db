#include "micro/lockfree_reclaim.h"

#include <stdlib.h>

#include "lockfree/reclaim.h"
#include "micro/lockfree_items.h"

struct lockfree_reclaim *lockfree_reclaim_create(const struct lockfree_row *row, unsigned threads)
{
    (void)threads;
    struct lockfree_reclaim *state = lockfree_map(4096);
    *state = (struct lockfree_reclaim){.object = (struct lockfree_reclaim_object *)((char *)state + 1024),
                                       .reads = (unsigned)row->argument};
    state->object->value = 1;
    return state;
}

void lockfree_reclaim_destroy(void *state)
{
    lockfree_unmap(state, 4096);
}

void lockfree_reclaim_check(const struct lockfree_worker *worker, uint64_t sum)
{
    if (sum != worker->ops)
        abort();
}

struct domain {
    struct reclaim domain;
    struct reclaim_thread threads[LOCKFREE_RECLAIM_THREADS];
};

static void *begin(const struct lockfree_row *row, unsigned threads)
{
    struct lockfree_reclaim *state = lockfree_reclaim_create(row, threads);
    struct domain *domain = lockfree_map(sizeof *domain);
    reclaim_init(&domain->domain, domain->threads, LOCKFREE_RECLAIM_THREADS, 1);
    state->domain = domain;
    return state;
}

static void finish(void *context)
{
    struct lockfree_reclaim *state = context;
    lockfree_unmap(state->domain, sizeof(struct domain));
    lockfree_reclaim_destroy(state);
}

static void work(struct lockfree_worker *worker)
{
    struct lockfree_reclaim *state = worker->state;
    struct domain *domain = state->domain;
    struct reclaim_thread *self = reclaim_claim(&domain->domain, NULL);
    uint64_t sum = 0;
    reclaim_online(self);
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (unsigned turn = 0; turn < LOCKFREE_BLOCK / state->reads; turn++) {
            for (unsigned i = 0; i < state->reads; i++)
                sum += __atomic_load_n(&state->object, __ATOMIC_ACQUIRE)->value;
            reclaim_quiescent(self);
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_reclaim_check(worker, sum);
    lockfree_end(worker);
    reclaim_offline(self);
    reclaim_leave(self);
}

#define RECLAIM                                                                                              \
    .bench = "reclaim", .impl = "lycosa", .begin = begin, .work = work, .finish = finish,                    \
    .threads_max = LOCKFREE_RECLAIM_THREADS

static struct lockfree_row rows[] = {
    {RECLAIM, .mix = LOCKFREE_RECLAIM_ONE, .argument = 1},
    {RECLAIM, .mix = LOCKFREE_RECLAIM_MANY, .argument = LOCKFREE_RECLAIM_READS},
};

LOCKFREE_REGISTER(rows)
