/* Inbox of one word: many producers, one consumer that takes everything at once and can go to sleep on it.
 *
 * | call              | by whom      | at the same time as |
 * |-------------------|--------------|---------------------|
 * | push, try_push    | any thread   | anything but init   |
 * | unpark            | any thread   | push, unpark        |
 * | take, park, close | the consumer | push, unpark        |
 * | init              | one thread   | nothing             |
 *
 * Progress: push is lock-free, take and park are wait-free. A stopped producer blocks nobody: a node is in
 * the inbox or it is not. Order is first in, first out.
 *
 * A parked inbox is empty and has no consumer. The push that finds it parked is told so, exactly one of all,
 * and calls the consumer: it is woken, or given the right to consume. A new inbox is parked. So "is there
 * somebody who will see this?" needs no second flag and no order between two flags.
 *
 * Who unparks an inbox has become its consumer without a push. A consumer that finds nothing may close the
 * inbox for good: whatever it belongs to is on its way out, and every later try_push is told so. Where an inbox
 * may be closed, only try_push is used.
 *
 * Consumer is a role: it may move to another thread if the hand-over itself is ordered (release to acquire).
 *
 * Ownership: push hands over the node and what it is part of; the consumer sees all that the producer wrote
 * before. From take on the nodes are the consumer's, linked by `next` from oldest to newest. */
#pragma once

#include "lockfree/atomic.h"

struct inbox_node {
    struct inbox_node *next;
};

struct inbox {
    _Atomic(struct inbox_node *) newest; /* NULL: empty; INBOX_PARKED: empty and nobody looks; INBOX_CLOSED */
};

#define INBOX_PARKED ((struct inbox_node *)1)
#define INBOX_CLOSED ((struct inbox_node *)2)

static inline void inbox_init(struct inbox *inbox)
{
    lf_store(&inbox->newest, INBOX_PARKED, relaxed);
}

/* Empty, with the caller as its consumer. */
static inline void inbox_init_open(struct inbox *inbox)
{
    lf_store(&inbox->newest, NULL, relaxed);
}

/* True if the inbox was parked: the caller has to call the consumer. Races lost to other producers are added
 * to *losses, which is the calling thread's own. */
static inline bool inbox_push_counted(struct inbox *inbox, struct inbox_node *node, uint64_t *losses)
{
    struct inbox_node *seen = lf_load(&inbox->newest, relaxed);
    for (;; ++*losses) {
        lf_plain_write(node->next, seen == INBOX_PARKED ? NULL : seen);
        /* R1 pairs with A1 in take: the node's content is published. Acquire (A2 pairs with R2 in park):
         * whoever ends the parking continues after the consumer that parked. */
        if (lf_cas_weak(&inbox->newest, &seen, node, acq_rel, relaxed))
            return seen == INBOX_PARKED;
    }
}

static inline bool inbox_push(struct inbox *inbox, struct inbox_node *node)
{
    uint64_t losses = 0;
    return inbox_push_counted(inbox, node, &losses);
}

/* False: the inbox is closed, and the node still the caller's. *was_parked: the caller has to call the
 * consumer. */
static inline bool inbox_try_push(struct inbox *inbox, struct inbox_node *node, bool *was_parked,
                                  uint64_t *losses)
{
    struct inbox_node *seen = lf_load(&inbox->newest, acquire); /* A3 pairs with R3 in close */
    for (;; ++*losses) {
        if (seen == INBOX_CLOSED)
            return false;
        lf_plain_write(node->next, seen == INBOX_PARKED ? NULL : seen);
        /* R1 pairs with A1 in take, A2 with R2 in park, A3 with R3 in close. */
        if (lf_cas_weak(&inbox->newest, &seen, node, acq_rel, acquire)) {
            *was_parked = seen == INBOX_PARKED;
            return true;
        }
    }
}

/* Everything, oldest first; NULL if there is nothing. A consumer that never changes may take from its parked
 * inbox: that ends the parking. */
struct inbox_node *inbox_take(struct inbox *inbox);

/* True: parked, and the consumer's role is over until a push ends it. False: there is something to take. */
bool inbox_park(struct inbox *inbox);

/* True: it was parked, and the caller is the consumer now. */
bool inbox_unpark(struct inbox *inbox);
/* True: closed for good. False: there is something to take. */
bool inbox_close(struct inbox *inbox);
/* Who sees it closed sees what its last consumer did before. */
static inline bool inbox_is_closed(const struct inbox *inbox)
{
    return lf_load(&inbox->newest, acquire) == INBOX_CLOSED; /* A3 pairs with R3 in close */
}

/* A look without taking: false may be out of date at once, true holds until the consumer takes. */
static inline bool inbox_has_some(struct inbox *inbox)
{
    struct inbox_node *newest = lf_load(&inbox->newest, relaxed);
    return newest != NULL && newest != INBOX_PARKED && newest != INBOX_CLOSED;
}
