/* queue, queue_mpsc and inbox. */
#include "micro/lockfree_items.h"

#include "lockfree/inbox.h"
#include "lockfree/queue.h"
#include "lockfree/queue_mpsc.h"
#include "lockfree/reclaim.h"
#include "micro/lockfree_pool.h"

struct queue_state {
    struct queue queue;
    struct reclaim domain;
    unsigned threads;
    size_t nodes; /* per thread; behind this struct, with one more and those for LOCKFREE_QUEUED items */
    size_t bytes;
    struct reclaim_thread *slots;
    struct queue_node *first;
};

static void *begin_queue(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    size_t nodes = lockfree_pool_nodes();
    size_t bytes = sizeof(struct queue_state) + threads * sizeof(struct reclaim_thread) +
                   (threads * nodes + 1) * sizeof(struct queue_node);
    struct queue_state *state = lockfree_map(bytes);
    *state = (struct queue_state){.threads = threads, .nodes = nodes, .bytes = bytes};
    state->slots = (struct reclaim_thread *)(state + 1);
    state->first = (struct queue_node *)(state->slots + threads);
    return state;
}

/* A new queue in the old memory. */
static void reset_queue(void *context)
{
    struct queue_state *state = context;
    reclaim_init(&state->domain, state->slots, state->threads, SIZE_MAX);
    queue_init(&state->queue, state->first);
}

static void finish_queue(void *context)
{
    struct queue_state *state = context;
    lockfree_unmap(state, state->bytes);
}

LOCKFREE_INLINE bool push_queue(void *shared, void *own, uint64_t item)
{
    (void)shared;
    return queue_push(own, (void *)(uintptr_t)item);
}

LOCKFREE_INLINE bool pop_queue(void *shared, void *own, uint64_t *item)
{
    (void)shared;
    uint64_t popped = (uintptr_t)queue_pop(own);
    *item = popped ? popped : *item;
    return popped != 0;
}

static void pass_queue(void *self)
{
    reclaim_quiescent(((struct queue_thread *)self)->reclaim);
}

static void work_queue(struct lockfree_worker *worker, bool pairs)
{
    static const struct lockfree_items items = {push_queue, pop_queue, pass_queue};
    struct queue_state *state = worker->state;
    struct queue_thread self;
    queue_thread_init(&self, &state->queue, reclaim_claim(&state->domain, NULL));
    queue_give(&self, state->first + 1 + worker->index * state->nodes, state->nodes);
    reclaim_online(self.reclaim);
    lockfree_begin(worker);
    if (pairs)
        lockfree_pairs(worker, &self, items);
    else
        lockfree_transfer(worker, &self, items, worker->threads / 2);
    worker->losses = backoff_losses(&self.backoff);
    lockfree_end(worker);
    reclaim_offline(self.reclaim);
}

static void pairs_queue(struct lockfree_worker *worker)
{
    work_queue(worker, true);
}

static void transfer_queue(struct lockfree_worker *worker)
{
    work_queue(worker, false);
}

/* Intrusive nodes, from a pool; the same for both. */
struct mpsc_node {
    union {
        struct lockfree_pool_node unused;
        struct queue_mpsc_node queued;
        struct inbox_node sent;
    };
    uint64_t item;
};

struct mpsc_state {
    struct queue_mpsc queue;
    LF_ISOLATED struct inbox inbox;
    struct lockfree_pool *pool;
};

struct mpsc_thread {
    struct mpsc_state *state;
    struct inbox_node *taken; /* from the inbox, oldest first */
    struct lockfree_pool_thread pool;
};

static void *begin_mpsc(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct mpsc_state *state = lockfree_map(sizeof *state);
    state->pool = lockfree_pool_create(threads);
    return state;
}

static void reset_mpsc(void *context)
{
    struct mpsc_state *state = context;
    queue_mpsc_init(&state->queue);
    inbox_init(&state->inbox);
    lockfree_pool_reset(state->pool);
}

static void finish_mpsc(void *context)
{
    struct mpsc_state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE bool push_mpsc(void *shared, void *own, uint64_t item)
{
    struct mpsc_thread *self = own;
    struct mpsc_state *state = shared;
    struct mpsc_node *node = lockfree_pool_take(&self->pool);
    if (!node)
        return false;
    node->item = item;
    queue_mpsc_push(&state->queue, &node->queued);
    return true;
}

LOCKFREE_INLINE bool pop_mpsc(void *shared, void *own, uint64_t *item)
{
    struct mpsc_thread *self = own;
    struct mpsc_state *state = shared;
    struct mpsc_node *node = (struct mpsc_node *)queue_mpsc_pop(&state->queue);
    if (!node)
        return false;
    *item = node->item;
    lockfree_pool_give(&self->pool, node);
    return true;
}

LOCKFREE_INLINE bool push_inbox(void *shared, void *own, uint64_t item)
{
    struct mpsc_thread *self = own;
    struct mpsc_state *state = shared;
    struct mpsc_node *node = lockfree_pool_take(&self->pool);
    if (!node)
        return false;
    node->item = item;
    inbox_push(&state->inbox, &node->sent);
    return true;
}

LOCKFREE_INLINE bool pop_inbox(void *shared, void *own, uint64_t *item)
{
    struct mpsc_thread *self = own;
    struct mpsc_state *state = shared;
    if (!self->taken && !(self->taken = inbox_take(&state->inbox)))
        return false;
    struct mpsc_node *node = (struct mpsc_node *)self->taken;
    self->taken = node->sent.next;
    *item = node->item;
    lockfree_pool_give(&self->pool, node);
    return true;
}

LOCKFREE_INLINE void work_mpsc(struct lockfree_worker *worker, struct lockfree_items items)
{
    struct mpsc_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    lockfree_begin(worker);
    if (worker->threads == 1)
        lockfree_pairs(worker, &self, items);
    else
        lockfree_transfer(worker, &self, items, worker->threads - 1);
    lockfree_end(worker);
}

static void work_queue_mpsc(struct lockfree_worker *worker)
{
    work_mpsc(worker, (struct lockfree_items){push_mpsc, pop_mpsc, lockfree_no_pass});
}

static void work_inbox(struct lockfree_worker *worker)
{
    work_mpsc(worker, (struct lockfree_items){push_inbox, pop_inbox, lockfree_no_pass});
}

#define QUEUE                                                                                                \
    .bench = "queue", .impl = "lycosa", .begin = begin_queue, .reset = reset_queue, .finish = finish_queue,  \
    .counts_losses = true
#define MPSC .impl = "lycosa", .begin = begin_mpsc, .reset = reset_mpsc, .finish = finish_mpsc

static struct lockfree_row rows[] = {
    {QUEUE, .mix = "pairs", .work = pairs_queue},
    {QUEUE, .mix = "producers/consumers", .threads_min = 2, .work = transfer_queue},
    {MPSC, .bench = "queue_mpsc", .mix = "pairs", .threads_max = 1, .work = work_queue_mpsc},
    {MPSC, .bench = "queue_mpsc", .mix = "producers/consumer", .threads_min = 2, .work = work_queue_mpsc},
    {MPSC, .bench = "inbox", .mix = "pairs", .threads_max = 1, .work = work_inbox},
    {MPSC, .bench = "inbox", .mix = "producers/consumer", .threads_min = 2, .work = work_inbox},
};

LOCKFREE_REGISTER(rows)
