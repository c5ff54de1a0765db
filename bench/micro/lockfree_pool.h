/* Unused nodes for queues that leave it to their caller to get a node for a push and to do something with the
 * node after a pop. Each thread keeps chains of its own; what it has too many of goes to the others in chains
 * of LOCKFREE_POOL_CHAIN, so that a consumer's nodes come back to a producer. The chain that came last goes
 * first: a large reserve costs no cache misses. */
#pragma once

#include <pthread.h>

#include "micro/lockfree.h"

#define LOCKFREE_POOL_CHAIN 64

/* What an unused node begins with. */
struct lockfree_pool_node {
    struct lockfree_pool_node *chain; /* the next of the chain */
    struct lockfree_pool_node *spare; /* in the first of a chain: the next chain in the pool */
};

struct lockfree_pool {
    _Alignas(128) pthread_mutex_t mutex; /* once per chain, to the cost of which it adds little */
    struct lockfree_pool_node *spares;
    size_t bytes;
};

/* One thread's part. */
struct lockfree_pool_thread {
    struct lockfree_pool *pool;
    struct lockfree_pool_node *open, *full; /* being used; NULL or a whole chain */
    size_t open_count;
};

/* Nodes that a queue is given per thread. */
size_t lockfree_pool_nodes(void);
/* With lockfree_pool_nodes() for each thread. A node is 64 bytes. */
struct lockfree_pool *lockfree_pool_create(unsigned threads);
void lockfree_pool_destroy(struct lockfree_pool *pool);
/* Puts all nodes back, wherever they are. */
void lockfree_pool_reset(struct lockfree_pool *pool);

void lockfree_pool_thread_init(struct lockfree_pool_thread *self, struct lockfree_pool *pool);
/* Gets another chain from the pool, or hands one to it. */
bool lockfree_pool_refill(struct lockfree_pool_thread *self);
void lockfree_pool_flush(struct lockfree_pool_thread *self);

/* NULL when there is none at the moment. */
static inline void *lockfree_pool_take(struct lockfree_pool_thread *self)
{
    if (!self->open && !lockfree_pool_refill(self))
        return NULL;
    struct lockfree_pool_node *node = self->open;
    self->open = node->chain;
    self->open_count--;
    return node;
}

static inline void lockfree_pool_give(struct lockfree_pool_thread *self, void *given)
{
    struct lockfree_pool_node *node = given;
    node->chain = self->open;
    self->open = node;
    if (++self->open_count == LOCKFREE_POOL_CHAIN)
        lockfree_pool_flush(self);
}
