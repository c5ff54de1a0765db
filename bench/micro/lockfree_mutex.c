/* The baseline: the simplest structure that does the same, under one mutex. Rings, queues, reclaim. */
#include "micro/lockfree_items.h"

#include <pthread.h>

#include "micro/lockfree_pool.h"
#include "micro/lockfree_reclaim.h"

struct ring {
    _Alignas(128) pthread_mutex_t mutex;
    size_t head, tail;
    uint64_t items[LOCKFREE_RING];
};

static void *begin_ring(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring *ring = lockfree_map(sizeof *ring);
    pthread_mutex_init(&ring->mutex, NULL);
    return ring;
}

static void finish_ring(void *ring)
{
    lockfree_unmap(ring, sizeof(struct ring));
}

LOCKFREE_INLINE bool push_ring(void *shared, void *own, uint64_t item)
{
    (void)own;
    struct ring *ring = shared;
    pthread_mutex_lock(&ring->mutex);
    bool has_room = ring->tail - ring->head < LOCKFREE_RING;
    if (has_room)
        ring->items[ring->tail++ % LOCKFREE_RING] = item;
    pthread_mutex_unlock(&ring->mutex);
    return has_room;
}

LOCKFREE_INLINE bool pop_ring(void *shared, void *own, uint64_t *item)
{
    (void)own;
    struct ring *ring = shared;
    pthread_mutex_lock(&ring->mutex);
    bool has_some = ring->tail != ring->head;
    if (has_some)
        *item = ring->items[ring->head++ % LOCKFREE_RING];
    pthread_mutex_unlock(&ring->mutex);
    return has_some;
}

static const struct lockfree_items ring_items = {push_ring, pop_ring, lockfree_no_pass};

static void pairs_ring(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_pairs(worker, NULL, ring_items);
    lockfree_end(worker);
}

static void transfer_ring(struct lockfree_worker *worker)
{
    lockfree_begin(worker);
    lockfree_transfer(worker, NULL, ring_items, worker->threads / 2);
    lockfree_end(worker);
}

struct node {
    union {
        struct lockfree_pool_node unused;
        struct node *next;
    };
    uint64_t item;
};

struct queue {
    _Alignas(128) pthread_mutex_t mutex;
    struct node *first, *last;
    struct lockfree_pool *pool;
};

struct queue_thread {
    struct queue *queue;
    struct lockfree_pool_thread pool;
};

static void *begin_queue(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct queue *queue = lockfree_map(sizeof *queue);
    pthread_mutex_init(&queue->mutex, NULL);
    queue->pool = lockfree_pool_create(threads);
    return queue;
}

static void reset_queue(void *context)
{
    struct queue *queue = context;
    queue->first = queue->last = NULL;
    lockfree_pool_reset(queue->pool);
}

static void finish_queue(void *context)
{
    struct queue *queue = context;
    lockfree_pool_destroy(queue->pool);
    lockfree_unmap(queue, sizeof *queue);
}

LOCKFREE_INLINE bool push_queue(void *shared, void *own, uint64_t item)
{
    struct queue_thread *self = own;
    struct queue *queue = shared;
    struct node *node = lockfree_pool_take(&self->pool);
    if (!node)
        return false;
    node->item = item;
    node->next = NULL;
    pthread_mutex_lock(&queue->mutex);
    if (queue->first)
        queue->last->next = node;
    else
        queue->first = node;
    queue->last = node;
    pthread_mutex_unlock(&queue->mutex);
    return true;
}

LOCKFREE_INLINE bool pop_queue(void *shared, void *own, uint64_t *item)
{
    struct queue_thread *self = own;
    struct queue *queue = shared;
    pthread_mutex_lock(&queue->mutex);
    struct node *node = queue->first;
    if (node)
        queue->first = node->next;
    pthread_mutex_unlock(&queue->mutex);
    if (!node)
        return false;
    *item = node->item;
    lockfree_pool_give(&self->pool, node);
    return true;
}

static const struct lockfree_items queue_items = {push_queue, pop_queue, lockfree_no_pass};

static void pairs_queue(struct lockfree_worker *worker)
{
    struct queue_thread self = {.queue = worker->state};
    lockfree_pool_thread_init(&self.pool, self.queue->pool);
    lockfree_begin(worker);
    lockfree_pairs(worker, &self, queue_items);
    lockfree_end(worker);
}

static void transfer_queue(struct lockfree_worker *worker)
{
    struct queue_thread self = {.queue = worker->state};
    lockfree_pool_thread_init(&self.pool, self.queue->pool);
    lockfree_begin(worker);
    lockfree_transfer(worker, &self, queue_items, worker->threads / 2);
    lockfree_end(worker);
}

static void transfer_to_one(struct lockfree_worker *worker)
{
    struct queue_thread self = {.queue = worker->state};
    lockfree_pool_thread_init(&self.pool, self.queue->pool);
    lockfree_begin(worker);
    lockfree_transfer(worker, &self, queue_items, worker->threads - 1);
    lockfree_end(worker);
}

static void *begin_reclaim(const struct lockfree_row *row, unsigned threads)
{
    struct lockfree_reclaim *state = lockfree_reclaim_create(row, threads);
    pthread_mutex_t *mutex = lockfree_map(sizeof *mutex);
    pthread_mutex_init(mutex, NULL);
    state->domain = mutex;
    return state;
}

static void finish_reclaim(void *context)
{
    struct lockfree_reclaim *state = context;
    lockfree_unmap(state->domain, sizeof(pthread_mutex_t));
    lockfree_reclaim_destroy(state);
}

static void work_reclaim(struct lockfree_worker *worker)
{
    struct lockfree_reclaim *state = worker->state;
    uint64_t sum = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (unsigned turn = 0; turn < LOCKFREE_BLOCK / state->reads; turn++) {
            pthread_mutex_lock(state->domain);
            for (unsigned i = 0; i < state->reads; i++)
                sum += __atomic_load_n(&state->object, __ATOMIC_RELAXED)->value;
            pthread_mutex_unlock(state->domain);
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_reclaim_check(worker, sum);
    lockfree_end(worker);
}

#define RING  .impl = "mutex", .begin = begin_ring, .finish = finish_ring
#define QUEUE .impl = "mutex", .begin = begin_queue, .reset = reset_queue, .finish = finish_queue
#define RECLAIM                                                                                              \
    .bench = "reclaim", .impl = "mutex", .begin = begin_reclaim, .work = work_reclaim,                       \
    .finish = finish_reclaim, .threads_max = LOCKFREE_RECLAIM_THREADS

static struct lockfree_row rows[] = {
    {RING, .bench = "ring_spsc", .mix = "pairs", .threads_max = 1, .work = pairs_ring},
    {RING, .bench = "ring_spsc", .mix = "producer/consumer", .threads_min = 2, .threads_max = 2,
     .work = transfer_ring},
    {RING, .bench = "ring_mpmc", .mix = "pairs", .work = pairs_ring},
    {RING, .bench = "ring_mpmc", .mix = "producers/consumers", .threads_min = 2, .work = transfer_ring},
    {QUEUE, .bench = "queue", .mix = "pairs", .work = pairs_queue},
    {QUEUE, .bench = "queue", .mix = "producers/consumers", .threads_min = 2, .work = transfer_queue},
    {QUEUE, .bench = "queue_mpsc", .mix = "pairs", .threads_max = 1, .work = pairs_queue},
    {QUEUE, .bench = "queue_mpsc", .mix = "producers/consumer", .threads_min = 2, .work = transfer_to_one},
    {QUEUE, .bench = "inbox", .mix = "pairs", .threads_max = 1, .work = pairs_queue},
    {QUEUE, .bench = "inbox", .mix = "producers/consumer", .threads_min = 2, .work = transfer_to_one},
    {RECLAIM, .mix = LOCKFREE_RECLAIM_ONE, .argument = 1},
    {RECLAIM, .mix = LOCKFREE_RECLAIM_MANY, .argument = LOCKFREE_RECLAIM_READS},
};

LOCKFREE_REGISTER(rows)
