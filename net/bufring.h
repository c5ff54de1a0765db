/* Receive buffers that the kernel picks from as data arrives: one pool for all connections of a loop.
 *
 * A completion with a buffer lends it to its handler, who gives it back with bufring_recycle, before it
 * returns or later. When all buffers are lent a receive ends with -ENOBUFS: a normal event. The handler then
 * calls bufring_wait, and is told when there is a buffer again and the receive can be armed anew.
 *
 * Belongs to the thread of its ring. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/ring.h"
#include "net/slice.h"

struct bufring_options {
    unsigned count; /* a power of two; 0: BUFRING_COUNT */
    unsigned bytes; /* of each; 0: BUFRING_BYTES */
};

/* A receive that ended for want of a buffer. */
struct bufring_waiter {
    struct bufring_waiter *next;
    struct bufring_waiter **link; /* NULL while not waiting */
    void (*on_buffer)(struct bufring_waiter *waiter);
};

struct bufring {
    struct ring *ring;
    struct io_uring_buf_ring *shared;
    char *memory;
    unsigned count;
    unsigned bytes;
    unsigned lent;      /* buffers that handlers hold */
    uint16_t group;     /* for io_uring_sqe.buf_group */
    uint64_t exhausted; /* receives that ended with -ENOBUFS */
    struct bufring_waiter *waiters;
    struct bufring_waiter **waiters_end;
    struct ring_task wake;
};

/* 0, or a negative errno; `group` is a number of the owner's that no other bufring of the ring has. */
int bufring_init(struct bufring *buffers, struct ring *ring, uint16_t group,
                 const struct bufring_options *options);
/* No buffer may be lent, no receive armed. */
void bufring_fini(struct bufring *buffers);

/* Queues a multishot receive from direct descriptor `slot`; the caller tags it. It goes on until a completion
 * without IORING_CQE_F_MORE. */
struct io_uring_sqe *bufring_receive(struct bufring *buffers, int slot);
/* Likewise a receive that ends with its first completion. */
struct io_uring_sqe *bufring_receive_once(struct bufring *buffers, int slot);

/* True if the event brings a buffer (it may be of zero bytes): it is now lent to the caller. */
bool bufring_take(struct bufring *buffers, const struct ring_event *event, struct slice *bytes);
/* Gives back the buffer that bytes taken from this pool lie in. */
void bufring_recycle(struct bufring *buffers, struct slice bytes);

/* After -ENOBUFS: on_buffer is called once, after handlers, as soon as a buffer is free. */
void bufring_wait(struct bufring *buffers, struct bufring_waiter *waiter);
/* No-op if it does not wait. */
void bufring_wait_cancel(struct bufring *buffers, struct bufring_waiter *waiter);
