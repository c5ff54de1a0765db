/* Unbounded queue, many producers, many consumers: Michael and Scott 1996, with a tail that lags.
 *
 * | may run at the same time as | push | pop | count |
 * |-----------------------------|------|-----|-------|
 * | push, pop, count            | yes  | yes | yes   |
 *
 * Each thread has its own struct queue_thread. init is called by one thread, alone.
 *
 * Progress: push and pop are lock-free. A thread stopped anywhere in them stops no other.
 *
 * Order: first in, first out over all threads (linearizable).
 *
 * Values are pointers; push hands over what they point to, pop takes it. NULL is not a value.
 *
 * Nodes are the caller's memory, given with queue_give() and not returned while the queue lives: the queue is
 * unbounded as long as the caller gives. A pop makes one node superfluous; in chains of QUEUE_CHAIN these go
 * through reclaim_retire(), since slow threads may still stand on them, to the queue's spare chains, from
 * which any thread that runs out of nodes takes one. So besides a node per value in the queue, each thread
 * needs some four chains, and what is popped while a thread is online and not quiescent: such a thread keeps
 * all nodes from coming back. push then says that it has none, and never reuses one early. The last chains
 * used are the first to be used again, so that a large reserve costs no cache misses.
 *
 * Queue and nodes outlive the limbo: reclaim_fini() comes before their memory is freed. */
#pragma once

#include <assert.h>

#include "lockfree/atomic.h"
#include "lockfree/backoff.h"
#include "lockfree/reclaim.h"

/* A line each, so that threads at work on neighbours do not disturb each other. */
struct queue_node {
    _Alignas(LF_CACHE_LINE) _Atomic(struct queue_node *) next;
    uint64_t position; /* of the node in the order of pushes; the next node has position + 1 */
    void *value;
    struct queue_node *chain;       /* the next of a chain of unused nodes */
    struct queue_node *spare;       /* in the first of a chain: the next spare chain */
    struct reclaim_node retirement; /* in the first of a chain */
    struct queue *queue;            /* in the first of a chain */
};

struct queue {
    LF_ISOLATED _Atomic(struct queue_node *)
        head; /* its node has been popped; the first value is in the next */
    LF_ISOLATED _Atomic(struct queue_node *) tail; /* the last node or one before it; never a released one */
    LF_ISOLATED _Atomic(struct queue_node *) spares; /* chains of unused nodes */
};

/* Nodes that are retired together: one look at the other threads, and one compare-and-swap on the spares, for
 * so many. */
#define QUEUE_CHAIN LF_SCALE(64, 1)
/* A push moves the tail when it found it this many nodes behind. */
#define QUEUE_LAG_MAX 2

/* One thread's way to the queue. */
struct queue_thread {
    struct queue *queue;
    struct reclaim_thread *reclaim;
    struct queue_node *unused; /* chain, for pushes */
    struct queue_node *popped; /* chain, latest first, to be retired */
    size_t recent_count;
    /* Popped, not yet in that chain. Writing to a node takes its line from whoever pushes next to it; when a
     * chain is complete the lines are fetched all at once. */
    struct queue_node *recent[QUEUE_CHAIN];
    struct backoff backoff;
};

/* `first` is a node that the queue needs for itself. */
void queue_init(struct queue *queue, struct queue_node *first);

void queue_thread_init(struct queue_thread *self, struct queue *queue, struct reclaim_thread *reclaim);
/* Passes the thread's nodes on to the others. False: the limbo is full, call again later. Online only. */
bool queue_thread_fini(struct queue_thread *self);

/* `count` more nodes, for this thread to begin with. */
void queue_give(struct queue_thread *self, struct queue_node *nodes, size_t count);

/* All of these: online only. */

/* Gets a chain of unused nodes; false if there is none. For push. */
bool queue_refill(struct queue_thread *self);
/* Retires what is in `recent`; false if the limbo is full, and then it is tried again with the next chain.
 * For pop. */
bool queue_retire(struct queue_thread *self);

/* The last node, and in *lag how far behind it the tail was. */
static inline struct queue_node *queue_walk_to_last(struct queue_node *tail, unsigned *lag)
{
    struct queue_node *last = tail, *next;
    *lag = 0;
    while ((next = lf_load(&last->next, acquire))) { /* A1, pairs with R1 in push */
        last = next;
        ++*lag;
    }
    return last;
}

/* False: no unused node is to be had at the moment. Give more, or come back after the next quiescent
 * state. */
static inline bool queue_push(struct queue_thread *self, void *value)
{
    assert(value && reclaim_is_online(self->reclaim));
    struct queue *queue = self->queue;
    if (!self->unused && !queue_refill(self))
        return false;
    struct queue_node *node = self->unused;
    self->unused = lf_plain_read(node->chain);
    lf_plain_write(node->value, value);
    lf_store(&node->next, NULL, relaxed);
    for (;;) {
        unsigned lag;
        struct queue_node *tail = lf_load(&queue->tail, acquire); /* A2, pairs with R2 */
        struct queue_node *last = queue_walk_to_last(tail, &lag), *none = NULL;
        lf_plain_write(node->position, lf_plain_read(last->position) + 1);
        /* R1, pairs with A1 in pop and queue_walk_to_last: value and position. */
        if (lf_cas(&last->next, &none, node, release, relaxed)) {
            /* R2, pairs with A2; lost: it is further */
            if (lag >= QUEUE_LAG_MAX)
                lf_cas(&queue->tail, &tail, node, release, relaxed);
            backoff_won(&self->backoff);
            return true;
        }
        backoff_lost(&self->backoff);
    }
}

/* NULL if the queue is empty. */
static inline void *queue_pop(struct queue_thread *self)
{
    assert(reclaim_is_online(self->reclaim));
    struct queue *queue = self->queue;
    for (;;) {
        struct queue_node *head = lf_load(&queue->head, acquire); /* A4, pairs with R4 */
        struct queue_node *next = lf_load(&head->next, acquire);  /* A1, pairs with R1 in push */
        if (!next)
            return NULL;
        /* R4, pairs with A4: the next node's contents, to those who come to it by the head. */
        if (lf_cas(&queue->head, &head, next, release, relaxed)) {
            void *value = lf_plain_read(next->value);
            backoff_won(&self->backoff);
            self->recent[self->recent_count++] = head;
            if (self->recent_count == QUEUE_CHAIN)
                queue_retire(self);
            return value;
        }
        backoff_lost(&self->backoff);
    }
}

/* How many values are in the queue. */
size_t queue_count(const struct queue *queue);
