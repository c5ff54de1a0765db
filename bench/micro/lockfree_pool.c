#include "micro/lockfree_pool.h"

#define NODE_BYTES 64

size_t lockfree_pool_nodes(void)
{
    return lockfree_scaled((size_t)1 << 16, 256);
}

struct lockfree_pool *lockfree_pool_create(unsigned threads)
{
    size_t bytes = sizeof(struct lockfree_pool) + threads * lockfree_pool_nodes() * NODE_BYTES;
    struct lockfree_pool *pool = lockfree_map(bytes);
    pthread_mutex_init(&pool->mutex, NULL);
    pool->bytes = bytes;
    lockfree_pool_reset(pool);
    return pool;
}

void lockfree_pool_destroy(struct lockfree_pool *pool)
{
    lockfree_unmap(pool, pool->bytes);
}

void lockfree_pool_reset(struct lockfree_pool *pool)
{
    struct lockfree_pool_thread self;
    char *end = (char *)pool + pool->bytes;
    pool->spares = NULL;
    lockfree_pool_thread_init(&self, pool);
    for (char *node = (char *)(pool + 1); node < end; node += NODE_BYTES)
        lockfree_pool_give(&self, node);
    lockfree_pool_flush(&self);
}

void lockfree_pool_thread_init(struct lockfree_pool_thread *self, struct lockfree_pool *pool)
{
    *self = (struct lockfree_pool_thread){.pool = pool};
}

bool lockfree_pool_refill(struct lockfree_pool_thread *self)
{
    struct lockfree_pool_node *chain = self->full;
    if (!chain) {
        pthread_mutex_lock(&self->pool->mutex);
        chain = self->pool->spares;
        if (chain)
            self->pool->spares = chain->spare;
        pthread_mutex_unlock(&self->pool->mutex);
    }
    self->full = NULL;
    self->open = chain;
    self->open_count = chain ? LOCKFREE_POOL_CHAIN : 0;
    return chain != NULL;
}

void lockfree_pool_flush(struct lockfree_pool_thread *self)
{
    if (self->full) {
        pthread_mutex_lock(&self->pool->mutex);
        self->full->spare = self->pool->spares;
        self->pool->spares = self->full;
        pthread_mutex_unlock(&self->pool->mutex);
    }
    self->full = self->open;
    self->open = NULL;
    self->open_count = 0;
}
