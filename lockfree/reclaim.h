/* Quiescent-state reclamation: when may a node that was taken out of a shared structure be used again?
 *
 * A thread that reads shared structures is online in a domain. Once in each turn of its loop, when it holds
 * no pointer into any of them, it calls reclaim_quiescent(). Reading costs nothing: there is no call around
 * it. Before a thread sleeps it goes offline. A node handed to reclaim_retire() is released when every thread
 * that was online at that time has since been quiescent or offline.
 *
 *     turn:   reclaim_quiescent(self);  ... find, insert, remove, retire ...
 *     sleep:  reclaim_offline(self);  wait for events;  reclaim_online(self);
 *
 * Who may call what: a claimed struct reclaim_thread belongs to one thread, and all functions that take one
 * are called by that thread only. reclaim_claim may be called by any thread at any time; init and fini by one
 * thread, alone.
 *
 * Progress: all operations are wait-free. They are bounded by the number of slots, plus the release
 * callbacks.
 *
 * When a thread stalls while it is online, nothing retired after its last quiescent state is released, by
 * anybody, until it moves again: never early, whatever the memory pressure. Garbage stays bounded: a thread
 * holds at most `limbo_max` retired nodes; then reclaim_retire() refuses, and the caller keeps its node. One
 * who must not be refused asks reclaim_has_room() before it unlinks. A thread that is offline holds up
 * nobody. */
#pragma once

#include <assert.h>

#include "lockfree/atomic.h"

struct reclaim_node;

/* Called once per retired node, in the thread that polls, with the context of its claim. It may use the
 * node's memory for anything. It retires nothing itself. */
typedef void reclaim_release(struct reclaim_node *node, void *context);

/* Embedded in what is retired. Untouched until reclaim_retire. */
struct reclaim_node {
    struct reclaim_node *next;
    reclaim_release *release;
};

struct reclaim_batch {
    struct reclaim_node *first;
    size_t count;
};

/* One slot per thread of a domain, in the caller's memory. */
struct reclaim_thread {
    LF_ISOLATED _Atomic uint64_t seen; /* the epoch at the last quiescent state; 0: offline */
    _Atomic uint32_t claimed;
    struct reclaim *domain;
    void *context;
    struct reclaim_batch open;   /* retired, no epoch yet */
    struct reclaim_batch closed; /* waits for `goal` */
    uint64_t goal;
    size_t passed; /* the slots below this one have passed `goal` */
};

struct reclaim {
    LF_ISOLATED _Atomic uint64_t epoch;
    LF_ISOLATED struct reclaim_thread *threads;
    size_t threads_max;
    size_t limbo_max;
};

/* A batch is closed, and an epoch begun, at the latest when this many nodes are open. One epoch costs an
 * atomic increment and a look at each thread's line, here spread over 64 nodes. */
#define RECLAIM_BATCH 64

/* `threads` has threads_max slots and lives as long as the domain. limbo_max is at least 1. */
void reclaim_init(struct reclaim *domain, struct reclaim_thread *threads, size_t threads_max,
                  size_t limbo_max);
/* Releases everything that is still in limbo. No thread may be online. */
void reclaim_fini(struct reclaim *domain);

/* A free slot, offline, or NULL if all are taken. `context` goes to the release callbacks. */
struct reclaim_thread *reclaim_claim(struct reclaim *domain, void *context);
/* Offline only. Nodes still in limbo stay with the slot: its next owner, or fini, releases them. */
void reclaim_leave(struct reclaim_thread *self);

void reclaim_online(struct reclaim_thread *self);
void reclaim_offline(struct reclaim_thread *self);
static inline bool reclaim_is_online(const struct reclaim_thread *self)
{
    return lf_load(&self->seen, relaxed) != 0;
}

/* Releases what has become free. Returns how many nodes remain in limbo. Online or offline. */
size_t reclaim_poll(struct reclaim_thread *self);

/* "I hold no pointer into a shared structure." Online only. Releases what has become free. */
static inline void reclaim_quiescent(struct reclaim_thread *self)
{
    assert(reclaim_is_online(self));
    uint64_t epoch = lf_load(&self->domain->epoch, acquire); /* A1, pairs with R1 in close_open */
    lf_store(&self->seen, epoch, release);                   /* R2, pairs with A2 in has_passed */
    if (self->open.first || self->closed.first)
        reclaim_poll(self);
}

/* Hands over a node that no new search can reach. False if the limbo is full: the node remains the caller's,
 * and is still not to be reused. Online only. */
bool reclaim_retire(struct reclaim_thread *self, struct reclaim_node *node, reclaim_release *release);
/* Whether the next `count` calls of reclaim_retire will succeed. */
bool reclaim_has_room(const struct reclaim_thread *self, size_t count);
