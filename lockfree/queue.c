/* Michael and Scott's queue.
 *
 * M. Michael and M. Scott, "Simple, fast, and practical non-blocking and blocking concurrent queue
 * algorithms" (1996): a singly linked list with a node at its head that has been popped. A push links its
 * node to the last node's `next`; a pop moves the head to the next node and takes the value there.
 *
 * The tail is a hint and lags: a push starts from it, walks to the last node, and moves it only when it was
 * QUEUE_LAG_MAX nodes behind, where Michael and Scott move it for every node. That saves one of three locked
 * operations per push and pop. The idea is that of Java's ConcurrentLinkedQueue, where a garbage collector
 * keeps what a lagging tail points to; here the third of the following points does.
 *
 * 1. `next` is set once, from NULL, by compare-and-swap. So the nodes are a sequence, each push is
 *    somewhere in it, and `position` counts them.
 * 2. The head moves one node at a time, by compare-and-swap, so each value is taken by exactly one pop, in
 *    order. A pop that reads next == NULL from the node that was the head has seen an empty queue: a node
 *    without successor is the last, and the head cannot have moved past it.
 * 3. The tail only moves forward: by compare-and-swap from a node to one of a higher position. Before
 *    popped nodes are retired, the tail is moved beyond them, if it is not there yet. Whoever reads the
 *    tail after the retirement's epoch therefore gets a node that is not in it, and walks to later ones;
 *    whoever read it before is not quiescent.
 * 4. No ABA on head, tail or next: a node comes back only after all who may have seen it have been
 *    quiescent.
 * 5. The same holds for the spare chains: a chain comes there only through reclaim, so that between a
 *    thread's reading the first and its compare-and-swap the same node cannot have been taken, used and
 *    brought back.
 *
 * Linearization: push at the compare-and-swap on `next`; pop at that on the head, or, if empty, at its
 * reading of `next`.
 *
 * Progress: a lost compare-and-swap on `next`, head or spares means that another push, pop or refill
 * succeeded. The walk from the tail is bounded by QUEUE_LAG_MAX and the number of pushes that go on at the
 * same time. */
#include "lockfree/queue.h"

#include <assert.h>

#include "lockfree/container_of.h"

void queue_init(struct queue *queue, struct queue_node *first)
{
    first->position = 0;
    lf_store(&first->next, NULL, relaxed);
    lf_store(&queue->head, first, relaxed);
    lf_store(&queue->tail, first, relaxed);
    lf_store(&queue->spares, NULL, relaxed);
}

void queue_thread_init(struct queue_thread *self, struct queue *queue, struct reclaim_thread *reclaim)
{
    self->queue = queue;
    self->reclaim = reclaim;
    self->unused = self->popped = NULL;
    self->recent_count = 0;
    backoff_init(&self->backoff, (uintptr_t)self);
}

static void chain_add(struct queue_node **chain, struct queue_node *node)
{
    lf_plain_write(node->chain, *chain);
    *chain = node;
}

void queue_give(struct queue_thread *self, struct queue_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        chain_add(&self->unused, &nodes[i]);
}

/* A whole chain has become free: to the spares. A race lost here is so rare that it does not wait. */
static void on_release(struct reclaim_node *retirement, void *context)
{
    (void)context;
    struct queue_node *first = container_of(retirement, struct queue_node, retirement);
    struct queue *queue = first->queue;
    struct queue_node *spare = lf_load(&queue->spares, relaxed);
    do
        lf_plain_write(first->spare, spare);
    while (!lf_cas_weak(&queue->spares, &spare, first, release,
                        relaxed)); /* R3, pairs with A3 in queue_refill */
}

static bool retire_chain(struct queue_thread *self, struct queue_node **chain)
{
    struct queue_node *first = *chain;
    if (!first)
        return true;
    first->queue = self->queue;
    if (!reclaim_retire(self->reclaim, &first->retirement, on_release))
        return false;
    *chain = NULL;
    return true;
}

/* Moves the tail beyond `node`, which has been popped. */
static void pass_with_tail(struct queue *queue, const struct queue_node *node)
{
    uint64_t position = lf_plain_read(node->position);
    struct queue_node *tail = lf_load(&queue->tail, acquire); /* A2, pairs with R2 */
    while (lf_plain_read(tail->position) <= position) {
        struct queue_node *head = lf_load(&queue->head, acquire); /* A4, pairs with R4 in pop */
        /* R2, pairs with A2, and A2 if it is lost: somebody else moved it, perhaps not far enough. A failure
         * may not be ordered more strongly than a success. */
        if (lf_cas(&queue->tail, &tail, head, acq_rel, acquire))
            break;
    }
}

bool queue_retire(struct queue_thread *self)
{
    for (size_t i = 0; i < self->recent_count; i++)
        chain_add(&self->popped, self->recent[i]);
    self->recent_count = 0;
    if (LF_BUG(queue_tail_left, self->popped, NULL))
        pass_with_tail(self->queue, self->popped); /* the latest: this thread's pops go up in position */
    return retire_chain(self, &self->popped);
}

bool queue_thread_fini(struct queue_thread *self)
{
    return queue_retire(self) && retire_chain(self, &self->unused);
}

/* Takes a spare chain. */
bool queue_refill(struct queue_thread *self)
{
    struct queue *queue = self->queue;
    struct queue_node *first = lf_load(&queue->spares, acquire); /* A3, pairs with R3 in on_release */
    while (first && !lf_cas(&queue->spares, &first, lf_plain_read(first->spare), acquire, acquire)) /* A3 */
        backoff_lost(&self->backoff);
    self->unused = first;
    return first != NULL;
}

size_t queue_count(const struct queue *queue)
{
    struct queue_node *head = lf_load(&queue->head, acquire); /* A4, pairs with R4 in pop */
    unsigned lag;
    struct queue_node *last =
        queue_walk_to_last(lf_load(&queue->tail, acquire), &lag); /* A2, pairs with R2 */
    return (size_t)(lf_plain_read(last->position) - lf_plain_read(head->position));
}
