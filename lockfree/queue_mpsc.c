/* Push is Vyukov's (intrusive MPSC node-based queue, 1024cores.net): exchange the tail, then link the node
 * that was there to the new one. The consumer differs: it exchanges the tail with the stub and so takes the
 * whole chain at once, after which popping is a walk along its own nodes.
 *
 *     stub -> a -> b -> c          detach:     stub            first = a ... last = c
 *                       ^ tail                  ^ tail
 *
 * Why it is correct:
 *   - The exchanges of tail are in one order, and each push links its predecessor in that order to itself,
 *     so from the stub on, following next gives the nodes in the order of their exchanges, up to the first
 *     push that has not yet made its link.
 *   - The consumer detaches only when it sees stub.next, so `first` is known. It clears stub.next before
 *     its exchange, and a producer writes stub.next only after an exchange that returned the stub: either
 *     before the clearing (that was `first`) or after the consumer's exchange, which it acquired (R2, A2),
 *     so the clearing is not lost and undoes nothing.
 *   - In the same way a node's own next = NULL (before its exchange, R2) comes before its successor's link
 *     (after an exchange that returned it, A2).
 *   - A node before `last` is given out when its next is seen, acquired (A1): its successor's producer has
 *     then done its last access to it, which was that release (R1), so even freeing it is ordered behind.
 *     `last` is given out without a look at next: after the exchange took it from tail nobody gets to know
 *     it.
 *   - All nodes are reached by following next, acquired (A1) from the release (R1) of the node's own
 *     producer, so the consumer sees what the producer wrote before the push. */
#include "lockfree/queue_mpsc.h"

void queue_mpsc_init(struct queue_mpsc *queue)
{
    lf_store(&queue->stub.next, NULL, relaxed);
    lf_store(&queue->tail, &queue->stub, relaxed);
    queue->first = queue->last = NULL;
}

bool queue_mpsc_detach(struct queue_mpsc *queue)
{
    struct queue_mpsc_node *first = lf_load(&queue->stub.next, acquire); /* A1 pairs with R1 in push */
    if (!first)
        return false;
    lf_store(&queue->stub.next, NULL, relaxed);
    queue->last = lf_exchange(&queue->tail, &queue->stub, acq_rel); /* R2 pairs with A2 in push */
    queue->first = first;
    return true;
}

size_t queue_mpsc_pop_batch(struct queue_mpsc *queue, struct queue_mpsc_node **nodes, size_t count)
{
    size_t popped = 0;
    while (popped < count && (nodes[popped] = queue_mpsc_pop(queue)))
        popped++;
    return popped;
}

bool queue_mpsc_is_empty(struct queue_mpsc *queue)
{
    return !queue->first && lf_load(&queue->tail, relaxed) == &queue->stub;
}
