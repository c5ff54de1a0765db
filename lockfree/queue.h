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

/* One thread's way to the queue. */
struct queue_thread {
    struct queue *queue;
    struct reclaim_thread *reclaim;
    struct queue_node *unused; /* chain, for pushes */
    struct queue_node *popped; /* chain, latest first, to be retired */
    size_t popped_count;
    struct backoff backoff;
};

/* Nodes that are retired together: one look at the other threads, and one compare-and-swap on the spares, for
 * so many. */
#define QUEUE_CHAIN LF_SCALE(64, 1)
/* A push moves the tail when it found it this many nodes behind. */
#define QUEUE_LAG_MAX LF_SCALE(4, 2)

/* `first` is a node that the queue needs for itself. */
void queue_init(struct queue *queue, struct queue_node *first);

void queue_thread_init(struct queue_thread *self, struct queue *queue, struct reclaim_thread *reclaim);
/* Passes the thread's nodes on to the others. False: the limbo is full, call again later. Online only. */
bool queue_thread_fini(struct queue_thread *self);

/* `count` more nodes, for this thread to begin with. */
void queue_give(struct queue_thread *self, struct queue_node *nodes, size_t count);

/* All of these: online only. */

/* False: no unused node is to be had at the moment. Give more, or come back after the next quiescent state.
 */
bool queue_push(struct queue_thread *self, void *value);
/* NULL if the queue is empty. */
void *queue_pop(struct queue_thread *self);
/* How many values are in the queue. */
size_t queue_count(const struct queue *queue);
