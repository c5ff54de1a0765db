/* The loop of one thread: an io_uring, its table of direct descriptors, its timers.
 *
 * A ring is created, turned and ended by one thread; the kernel refuses every other. An operation is queued
 * by taking an entry and filling it with liburing's io_uring_prep_*, then naming it:
 *
 *     struct io_uring_sqe *sqe = ring_sqe(ring);
 *     io_uring_prep_recv_multishot(sqe, slot, NULL, 0, 0);
 *     sqe->flags |= IOSQE_FIXED_FILE;
 *     ring_tag(sqe, kind, detail, object);
 *
 * Nothing is submitted before the next turn, unless the submission queue is full: memory that an operation
 * names, such as a socket address, has to live until the operation has completed.
 *
 * A turn submits what is queued, waits until something completes, a timer is due or another thread wakes it,
 * copies the completions out, then runs the handler of each one's kind. Every operation ends in exactly one
 * completion without IORING_CQE_F_MORE; ring_inflight() counts the operations that still owe theirs. */
#pragma once

#include <liburing.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/limits.h"
#include "net/timer.h"

#define RING_ERROR_BYTES 256

/* One completion: `detail` and `object` are what ring_tag was given. */
struct ring_event {
    void *object;
    uint8_t detail;
    int32_t result; /* negative errno, or a count */
    uint32_t flags; /* IORING_CQE_F_* */
};

/* The ring's own kinds of completion; those of ring_register follow. */
enum ring_kind {
    RING_KIND_WAKE,      /* the message of another ring: no operation of ours */
    RING_KIND_WAKE_SENT, /* our message to another ring */
    RING_KIND_CANCEL,    /* our own ring_cancel */
    RING_KIND_FIRST,
};

typedef void ring_handler(void *owner, const struct ring_event *event);

/* Something to do before the loop sleeps, outside the handler that thought of it. */
struct ring_task {
    struct ring_task *next;
    void (*run)(struct ring_task *task);
    bool queued;
};

struct ring_options {
    unsigned sq_entries;     /* 0: RING_SQ_ENTRIES */
    unsigned cq_entries;     /* 0: RING_CQ_ENTRIES */
    unsigned slots;          /* direct descriptors that ring_slot_acquire hands out */
    unsigned slots_accepted; /* direct descriptors that the kernel chooses (multishot accept_direct) */
    int cpu; /* the thread is pinned to the n-th processor that it may run on; -1: it is left as it is */
    /* While there is traffic a sleep goes on until gather_count completions are there, beside those of what
     * it submits, or gather_us have passed: fewer and larger turns for a loop that is faster than its peers.
     * 0: every completion ends a sleep. */
    unsigned gather_us;
    unsigned gather_count;
    /* Asked after the loop announced that it goes to sleep: true if there is work, and then it does not. May
     * be NULL. */
    bool (*has_work)(void *owner);
    void *owner;
};

/* Written by the loop's thread alone. */
struct ring_stats {
    uint64_t enters; /* calls of io_uring_enter */
    uint64_t submitted;
    uint64_t completed;
    uint64_t queue_full; /* submissions because the submission queue was full */
    uint64_t overflows;  /* turns that found the completion queue overflown */
    uint64_t wakes_sent;
    uint64_t wakes_received;
};

/* What the kernel can do beyond the floor. */
struct ring_features {
    bool setsockopt; /* socket options of direct descriptors through the ring: Linux 6.7 */
};

struct ring {
    struct io_uring uring;
    struct timer_wheel timers;
    uint64_t now_ns; /* the time at the start of the handlers of this turn */
    uint64_t inflight;
    struct ring_stats stats;
    struct ring_features features;
    struct ring_task *tasks;
    struct ring_task **tasks_end;
    struct {
        ring_handler *run;
        void *owner;
    } kinds[RING_KINDS_MAX];
    unsigned kind_count;
    unsigned gather_us;
    unsigned gather_count;
    bool has_traffic;    /* the last turn had completions */
    unsigned slot_count; /* of ring_slot_acquire */
    unsigned slots_free;
    uint32_t *slot_stack;
    bool (*has_work)(void *owner);
    void *owner;
    int failed;                /* negative errno of io_uring_enter; 0: none. The ring is of no more use */
    uint64_t failing_since_ns; /* since when io_uring_enter has failed; 0: the last call succeeded */
    struct io_uring_sqe scrap; /* what a ring that has failed gives out */
    char error[RING_ERROR_BYTES];
    _Alignas(128) atomic_bool asleep;
};

/* How many processors the calling thread may run on: what taskset, a cpuset or a container leaves of the machine. */
unsigned ring_processors(void);

/* In the thread that will turn it. 0, or a negative errno with one line in ring->error that says what is
 * missing, the kernel version that brings it, or the limit that has to be raised; then there is nothing to
 * end. */
int ring_init(struct ring *ring, const struct ring_options *options);
/* Nothing may be in flight, unless the ring has failed. */
void ring_fini(struct ring *ring);
/* Turns until nothing is in flight or RING_FINISH_MS have passed; the owner has begun to close all. False:
 * something is left. */
bool ring_finish(struct ring *ring);

/* A new kind of completion. At most RING_KINDS_MAX per ring; they are never given back. */
uint8_t ring_register(struct ring *ring, ring_handler *run, void *owner);

/* A free entry. If there is none, what is queued is submitted first. A ring that has failed gives out an entry that
 * is never submitted. */
struct io_uring_sqe *ring_sqe(struct ring *ring);
/* `count` entries can be taken without a submission between them: for linked operations, which a submission
 * would part. */
void ring_reserve(struct ring *ring, unsigned count);
/* Submits what is queued, without waiting: for a handler that is about to take long. Not between linked
 * entries. Returns as ring_turn. */
int ring_submit(struct ring *ring);
void ring_tag(struct io_uring_sqe *sqe, uint8_t kind, uint8_t detail, void *object);
/* Asks the kernel to give up the operation so tagged, which then completes with -ECANCELED. Its cost grows
 * with what is in flight: not for connections, which are ended by a shutdown. */
void ring_cancel(struct ring *ring, uint8_t kind, uint8_t detail, void *object);
/* For each but the last of a linked chain (IOSQE_IO_LINK): it completes silently if it succeeds. If it fails,
 * its completion takes the place of the last one's: the chain as a whole still gives exactly one. */
void ring_silence(struct ring *ring, struct io_uring_sqe *sqe);

static inline uint64_t ring_inflight(const struct ring *ring)
{
    return ring->inflight;
}

/* A number in the table of direct descriptors, below ring_options.slots; -1: all are in use. */
int ring_slot_acquire(struct ring *ring);
/* After the completion of its close_direct. */
void ring_slot_release(struct ring *ring, int slot);

/* Runs `task` after the handlers of this turn, or of the next turn if none is under way. No-op if it is queued
 * already. */
void ring_defer(struct ring *ring, struct ring_task *task);

/* One turn: it waits at most wait_ns (TIMER_NEVER: as long as timers allow), not at all if completions or
 * tasks are there. 0, or the negative errno of io_uring_enter that no retry can cure: from then on the
 * ring does nothing, operations in flight do not complete, and every turn says so. */
int ring_turn(struct ring *ring, uint64_t wait_ns);

/* Ends the sleep of `target`, a ring of another thread, if it sleeps: to be called after the work was put
 * where its has_work finds it, once per batch. The message leaves with the next turn of `ring`, the caller's
 * own. Both rings outlive the message. */
void ring_wake(struct ring *ring, struct ring *target);
