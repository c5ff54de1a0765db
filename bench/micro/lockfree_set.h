/* What all rows of maps and lists do: look keys up, put them in, take them out. A key is a number; a map
 * hashes it. */
#pragma once

#include <stdlib.h>

#include "micro/lockfree.h"
#include "micro/lockfree_items.h"

/* `self` is the calling thread's way to the structure. Each tells whether the key was there (find, remove) or
 * was not (insert). */
typedef bool lockfree_set_operation(void *self, uint64_t key);

struct lockfree_set {
    lockfree_set_operation *find, *insert, *remove;
    lockfree_pass *pass; /* between blocks: a quiescent state */
};

/* A map's keys are 0 to lockfree_set_keys() - 1, and it has one bucket per key, whatever the
 * implementation. */
#define LOCKFREE_SET_NODE_BYTES 64

/* The same names in every implementation's rows. */
#define LOCKFREE_MAP_FIND    "look-ups"
#define LOCKFREE_MAP_INSERT  "inserts"
#define LOCKFREE_MAP_UPDATES "look-ups, 10% updates"
#define LOCKFREE_LIST_SHORT  "20% updates, 64 keys"
#define LOCKFREE_LIST_LONG   "20% updates, 512 keys"

#define LOCKFREE_LIST_PERCENT 20
#define LOCKFREE_MAP_PERCENT  10

struct lockfree_set_updates {
    uint32_t keys, percent;
};

/* All keys are there. */
LOCKFREE_INLINE void lockfree_set_find(struct lockfree_worker *worker, void *self, struct lockfree_set set)
{
    uint32_t keys = (uint32_t)lockfree_set_keys();
    while (!lockfree_is_over(worker)) {
        unsigned found = 0;
        for (int i = 0; i < LOCKFREE_BLOCK; i++)
            found += set.find(self, lockfree_below(lockfree_random(worker), keys));
        if (found != LOCKFREE_BLOCK)
            abort();
        worker->ops += found;
        set.pass(self);
    }
}

/* Every thread its share of all keys. */
LOCKFREE_INLINE void lockfree_set_insert(struct lockfree_worker *worker, void *self, struct lockfree_set set)
{
    uint64_t keys = lockfree_set_keys(), inserted = 0;
    uint64_t begin = keys * worker->index / worker->threads,
             end = keys * (worker->index + 1) / worker->threads;
    for (uint64_t key = begin; key < end; key++) {
        inserted += set.insert(self, key);
        if (key % LOCKFREE_BLOCK == 0)
            set.pass(self);
    }
    if (inserted != end - begin)
        abort();
    worker->ops += inserted;
}

/* updates.percent of the operations change something or try to: half put a key in, half take one out. All
 * count: half of the keys are there, whatever is done. */
LOCKFREE_INLINE void lockfree_set_update(struct lockfree_worker *worker, void *self, struct lockfree_set set,
                                         struct lockfree_set_updates updates)
{
    uint64_t found = 0;
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < LOCKFREE_BLOCK; i++) {
            uint64_t random = lockfree_random(worker);
            uint64_t key = lockfree_below(random, updates.keys);
            uint32_t choice = lockfree_below(random << 32, 200);
            if (choice >= 2 * updates.percent)
                found += set.find(self, key);
            else if (choice < updates.percent)
                found += set.insert(self, key);
            else
                found += set.remove(self, key);
        }
        worker->ops += LOCKFREE_BLOCK;
        set.pass(self);
    }
    if (worker->ops && !found)
        abort();
}
