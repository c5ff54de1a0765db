/* Unbounded queue, many producers, one consumer, intrusive.
 *
 * | call                      | by whom      | at the same time as    |
 * |---------------------------|--------------|------------------------|
 * | push                      | any thread   | anything but init      |
 * | pop, pop_batch, is_empty  | the consumer | push                   |
 * | init                      | one thread   | nothing                |
 *
 * Progress: push is wait-free, one exchange and one store. pop ends after a fixed number of steps too, but a
 * producer stopped between those two steps hides its node and all pushed behind it: pop gives NULL until it
 * goes on. Producers are never held up, whatever the consumer or another producer does. is_empty tells the
 * two kinds of NULL apart.
 *
 * Consumer is a role: it may move to another thread if the hand-over itself is ordered (release to acquire).
 *
 * Ownership: push hands the node and what it is part of to the consumer, who sees all that the producer wrote
 * before the push. From the moment pop returns a node, the queue does not touch it: it may be freed or pushed
 * again at once. Order is first in, first out. */
#pragma once

#include "lockfree/atomic.h"

struct queue_mpsc_node {
    _Atomic(struct queue_mpsc_node *) next;
};

/* Tail and stub share a line: a push to an empty queue writes both, and so does detaching. */
struct queue_mpsc {
    LF_ISOLATED _Atomic(struct queue_mpsc_node *) tail; /* the node pushed last; &stub when there is none */
    struct queue_mpsc_node stub;               /* stands before the first node that is not detached */
    LF_ISOLATED struct queue_mpsc_node *first; /* the consumer's: detached nodes, first to last */
    struct queue_mpsc_node *last;
};

void queue_mpsc_init(struct queue_mpsc *queue);

/* True when nothing was pushed since the consumer last detached all there was. A consumer that sleeps only
 * after is_empty said true is woken in time if each producer wakes it when its push says true: one wake-up
 * for a whole run of pushes. */
static inline bool queue_mpsc_push(struct queue_mpsc *queue, struct queue_mpsc_node *node)
{
    lf_store(&node->next, NULL, relaxed);
    struct queue_mpsc_node *previous =
        lf_exchange(&queue->tail, node, acq_rel); /* R2, A2: with one another */
    lf_store(&previous->next, node, release);     /* R1 pairs with A1 in pop */
    return previous == &queue->stub;
}

/* Takes all there is from the producers into the consumer's own chain, which must be used up. False when
 * there is nothing to take. For pop and pop_batch. */
bool queue_mpsc_detach(struct queue_mpsc *queue);

/* The oldest node, or NULL. */
static inline struct queue_mpsc_node *queue_mpsc_pop(struct queue_mpsc *queue)
{
    if (!queue->first && !queue_mpsc_detach(queue))
        return NULL;
    struct queue_mpsc_node *node = queue->first;
    struct queue_mpsc_node *next = lf_load(&node->next, acquire); /* A1 pairs with R1 in push */
    if (LF_BUG(queue_mpsc_given_early, !next, false) && node != queue->last)
        return NULL;
    queue->first = next;
    return node;
}
/* Up to `count` nodes, oldest first; returns how many. */
size_t queue_mpsc_pop_batch(struct queue_mpsc *queue, struct queue_mpsc_node **nodes, size_t count);

/* True when no push has begun that was not popped. */
bool queue_mpsc_is_empty(struct queue_mpsc *queue);
