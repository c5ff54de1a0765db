/* What all rows of rings and queues do, whatever the implementation. The functions of an implementation are
 * known where these are used, and inlined. */
#pragma once

#include <stdlib.h>

#include "micro/lockfree.h"

#define LOCKFREE_INLINE __attribute__((always_inline)) static inline

/* Operations between two looks at the clock's flag. */
#define LOCKFREE_BLOCK 128
/* Slots of the rings; items that wait in a ring or queue while pairs go on, so that it does not run empty. */
#define LOCKFREE_RING   1024
#define LOCKFREE_QUEUED 64

/* Items are numbers from 1 on. `shared` is the row's state, `own` what the calling thread has. False: full,
 * empty. */
typedef bool lockfree_push(void *shared, void *own, uint64_t item);
typedef bool lockfree_pop(void *shared, void *own, uint64_t *item);
/* Between blocks, where an implementation wants it. */
typedef void lockfree_pass(void *own);

struct lockfree_items {
    lockfree_push *push;
    lockfree_pop *pop;
    lockfree_pass *pass;
};

/* Each thread pushes one and pops one; both count. */
LOCKFREE_INLINE void lockfree_pairs(struct lockfree_worker *worker, void *own, struct lockfree_items items)
{
    void *shared = worker->state;
    uint64_t item = 1, sum = 0, pushed = worker->index + 1;
    for (int i = 0; i < LOCKFREE_QUEUED; i++)
        items.push(shared, own, pushed);
    while (!lockfree_is_over(worker)) {
        uint64_t done = 0;
        for (int i = 0; i < LOCKFREE_BLOCK / 2; i++) {
            done += items.push(shared, own, pushed);
            done += items.pop(shared, own, &item);
            sum += item;
        }
        worker->ops += done;
        items.pass(own);
    }
    for (int i = 0; i < LOCKFREE_QUEUED; i++)
        items.pop(shared, own, &item);
    if (worker->ops && !sum)
        abort();
}

/* The first `producers` threads push, the others pop; what is popped counts. */
LOCKFREE_INLINE void lockfree_transfer(struct lockfree_worker *worker, void *own, struct lockfree_items items,
                                       unsigned producers)
{
    bool produces = worker->index < producers;
    void *shared = worker->state;
    uint64_t item = 1, sum = 0, pushed = worker->index + 1;
    while (!lockfree_is_over(worker)) {
        uint64_t done = 0;
        for (int i = 0; i < LOCKFREE_BLOCK; i++) {
            if (produces ? items.push(shared, own, pushed) : items.pop(shared, own, &item)) {
                done++;
                sum += item;
            } else {
                lockfree_pause();
            }
        }
        worker->ops += produces ? 0 : done;
        items.pass(own);
    }
    if (worker->ops && !sum)
        abort();
}

LOCKFREE_INLINE void lockfree_no_pass(void *own)
{
    (void)own;
}
