/* Userspace RCU: rculfqueue and wfcqueue, and quiescent-state reclamation; the hash table is in
 * lockfree_urcu_map.c. All small functions are inlined, as the library offers to programs that may. */
#define _LGPL_SOURCE
#include <urcu-qsbr.h>
#include <urcu/rculfqueue.h>
#include <urcu/wfcqueue.h>

#include "micro/lockfree_items.h"
#include "micro/lockfree_pool.h"
#include "micro/lockfree_reclaim.h"

/* rculfqueue leaves it to the caller when a node may be used again. Here a thread gathers so many and then
 * waits for one grace period: less than a nanosecond per node, where call_rcu would take tens. */
#define GATHERED_MAX 8192

struct lfq_node {
    union {
        struct lockfree_pool_node unused;
        struct cds_lfq_node_rcu queued;
    };
    uint64_t item;
    struct lfq_node *gathered;
};

struct lfq_state {
    _Alignas(128) struct cds_lfq_queue_rcu queue;
    struct lockfree_pool *pool;
    bool is_used;
};

struct lfq_thread {
    struct lfq_state *state;
    struct lfq_node *gathered;
    size_t gathered_count;
    struct lockfree_pool_thread pool;
};

static void *begin_lfq(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct lfq_state *state = lockfree_map(sizeof *state);
    state->pool = lockfree_pool_create(threads);
    return state;
}

static void drain_lfq(struct lfq_state *state)
{
    if (!state->is_used)
        return;
    urcu_qsbr_register_thread();
    while (cds_lfq_dequeue_rcu(&state->queue))
        ;
    cds_lfq_destroy_rcu(&state->queue);
    urcu_qsbr_unregister_thread();
    rcu_barrier();
    state->is_used = false;
}

static void reset_lfq(void *context)
{
    struct lfq_state *state = context;
    drain_lfq(state);
    cds_lfq_init_rcu(&state->queue, call_rcu);
    lockfree_pool_reset(state->pool);
    state->is_used = true;
}

static void finish_lfq(void *context)
{
    struct lfq_state *state = context;
    drain_lfq(state);
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE bool push_lfq(void *shared, void *own, uint64_t item)
{
    struct lfq_thread *self = own;
    struct lfq_state *state = shared;
    struct lfq_node *node = lockfree_pool_take(&self->pool);
    if (!node)
        return false;
    node->item = item;
    cds_lfq_node_init_rcu(&node->queued);
    cds_lfq_enqueue_rcu(&state->queue, &node->queued);
    return true;
}

static void give_gathered(struct lfq_thread *self)
{
    synchronize_rcu();
    while (self->gathered) {
        struct lfq_node *node = self->gathered;
        self->gathered = node->gathered;
        lockfree_pool_give(&self->pool, node);
    }
    self->gathered_count = 0;
}

LOCKFREE_INLINE bool pop_lfq(void *shared, void *own, uint64_t *item)
{
    struct lfq_thread *self = own;
    struct lfq_state *state = shared;
    struct lfq_node *node = (struct lfq_node *)cds_lfq_dequeue_rcu(&state->queue);
    if (!node)
        return false;
    *item = node->item;
    node->gathered = self->gathered;
    self->gathered = node;
    if (++self->gathered_count == GATHERED_MAX)
        give_gathered(self);
    return true;
}

static void pass_lfq(void *context)
{
    (void)context;
    rcu_quiescent_state();
}

LOCKFREE_INLINE void work_lfq(struct lockfree_worker *worker, bool pairs)
{
    static const struct lockfree_items items = {push_lfq, pop_lfq, pass_lfq};
    struct lfq_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    rcu_register_thread();
    lockfree_begin(worker);
    if (pairs)
        lockfree_pairs(worker, &self, items);
    else
        lockfree_transfer(worker, &self, items, worker->threads / 2);
    lockfree_end(worker);
    rcu_unregister_thread();
}

static void pairs_lfq(struct lockfree_worker *worker)
{
    work_lfq(worker, true);
}

static void transfer_lfq(struct lockfree_worker *worker)
{
    work_lfq(worker, false);
}

/* wfcqueue: many producers; one consumer, which takes all there is by a splice and walks along it. */
struct wfc_node {
    union {
        struct lockfree_pool_node unused;
        struct cds_wfcq_node queued;
    };
    uint64_t item;
};

struct wfc_state {
    _Alignas(128) struct __cds_wfcq_head head;
    _Alignas(128) struct cds_wfcq_tail tail;
    struct lockfree_pool *pool;
};

struct wfc_thread {
    struct wfc_state *state;
    struct __cds_wfcq_head head; /* of what was spliced */
    struct cds_wfcq_tail tail;
    struct cds_wfcq_node *first; /* NULL: all of it is used up */
    struct lockfree_pool_thread pool;
};

static void *begin_wfc(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct wfc_state *state = lockfree_map(sizeof *state);
    state->pool = lockfree_pool_create(threads);
    return state;
}

static void reset_wfc(void *context)
{
    struct wfc_state *state = context;
    __cds_wfcq_init(&state->head, &state->tail);
    lockfree_pool_reset(state->pool);
}

static void finish_wfc(void *context)
{
    struct wfc_state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE bool push_wfc(void *shared, void *own, uint64_t item)
{
    struct wfc_thread *self = own;
    struct wfc_state *state = shared;
    struct wfc_node *node = lockfree_pool_take(&self->pool);
    if (!node)
        return false;
    node->item = item;
    cds_wfcq_node_init(&node->queued);
    cds_wfcq_enqueue(&state->head, &state->tail, &node->queued);
    return true;
}

LOCKFREE_INLINE void use_wfc(struct wfc_thread *self, struct cds_wfcq_node *queued, uint64_t *item)
{
    struct wfc_node *node = (struct wfc_node *)queued;
    *item = node->item;
    lockfree_pool_give(&self->pool, node);
}

LOCKFREE_INLINE bool pop_wfc(void *shared, void *own, uint64_t *item)
{
    struct wfc_thread *self = own;
    struct wfc_state *state = shared;
    struct cds_wfcq_node *node = __cds_wfcq_dequeue_nonblocking(&state->head, &state->tail);
    if (!node || node == CDS_WFCQ_WOULDBLOCK)
        return false;
    use_wfc(self, node, item);
    return true;
}

LOCKFREE_INLINE bool pop_wfc_spliced(void *shared, void *own, uint64_t *item)
{
    struct wfc_thread *self = own;
    struct wfc_state *state = shared;
    struct cds_wfcq_node *node = self->first;
    if (!node) {
        __cds_wfcq_init(&self->head, &self->tail);
        enum cds_wfcq_ret spliced =
            __cds_wfcq_splice_nonblocking(&self->head, &self->tail, &state->head, &state->tail);
        if (spliced != CDS_WFCQ_RET_DEST_EMPTY)
            return false;
        node = self->first = __cds_wfcq_first_blocking(&self->head, &self->tail);
    }
    struct cds_wfcq_node *next = __cds_wfcq_next_nonblocking(&self->head, &self->tail, node);
    if (next == CDS_WFCQ_WOULDBLOCK)
        return false;
    self->first = next;
    use_wfc(self, node, item);
    return true;
}

static void work_wfc(struct lockfree_worker *worker)
{
    struct wfc_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    lockfree_begin(worker);
    if (worker->threads == 1)
        lockfree_pairs(worker, &self, (struct lockfree_items){push_wfc, pop_wfc, lockfree_no_pass});
    else
        lockfree_transfer(worker, &self, (struct lockfree_items){push_wfc, pop_wfc_spliced, lockfree_no_pass},
                          worker->threads - 1);
    lockfree_end(worker);
}

static void *begin_reclaim(const struct lockfree_row *row, unsigned threads)
{
    return lockfree_reclaim_create(row, threads);
}

static void work_reclaim(struct lockfree_worker *worker)
{
    struct lockfree_reclaim *state = worker->state;
    uint64_t sum = 0;
    rcu_register_thread();
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (unsigned turn = 0; turn < LOCKFREE_BLOCK / state->reads; turn++) {
            for (unsigned i = 0; i < state->reads; i++) {
                rcu_read_lock();
                sum += rcu_dereference(state->object)->value;
                rcu_read_unlock();
            }
            rcu_quiescent_state();
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_reclaim_check(worker, sum);
    lockfree_end(worker);
    rcu_unregister_thread();
}

#define LFQ .bench = "queue", .impl = "urcu", .begin = begin_lfq, .reset = reset_lfq, .finish = finish_lfq
#define WFC .impl = "urcu", .begin = begin_wfc, .reset = reset_wfc, .work = work_wfc, .finish = finish_wfc
#define RECLAIM                                                                                              \
    .bench = "reclaim", .impl = "urcu", .begin = begin_reclaim, .work = work_reclaim,                        \
    .finish = lockfree_reclaim_destroy, .threads_max = LOCKFREE_RECLAIM_THREADS

static struct lockfree_row rows[] = {
    {LFQ, .mix = "pairs", .work = pairs_lfq},
    {LFQ, .mix = "producers/consumers", .threads_min = 2, .work = transfer_lfq},
    {WFC, .bench = "queue_mpsc", .mix = "pairs", .threads_max = 1},
    {WFC, .bench = "queue_mpsc", .mix = "producers/consumer", .threads_min = 2},
    {WFC, .bench = "inbox", .mix = "pairs", .threads_max = 1},
    {WFC, .bench = "inbox", .mix = "producers/consumer", .threads_min = 2},
    {RECLAIM, .mix = LOCKFREE_RECLAIM_ONE, .argument = 1},
    {RECLAIM, .mix = LOCKFREE_RECLAIM_MANY, .argument = LOCKFREE_RECLAIM_READS},
};

LOCKFREE_REGISTER(rows)
