#include "net/bufring.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "lockfree/container_of.h"

/* The task is part of its bufring. */
static struct bufring *bufring_of(struct ring_task *task)
{
    return container_of(task, struct bufring, wake);
}

/* One waiter per free buffer; those who stay get the next ones to be given back. */
static void wake_waiters(struct ring_task *task)
{
    struct bufring *buffers = bufring_of(task);
    for (unsigned left = buffers->count - buffers->lent; left && buffers->waiters; left--) {
        struct bufring_waiter *waiter = buffers->waiters;
        bufring_wait_cancel(buffers, waiter);
        waiter->on_buffer(waiter);
    }
}

static void provide(struct bufring *buffers, unsigned id)
{
    io_uring_buf_ring_add(buffers->shared, buffers->memory + (size_t)id * buffers->bytes, buffers->bytes,
                          (unsigned short)id, io_uring_buf_ring_mask(buffers->count), 0);
    io_uring_buf_ring_advance(buffers->shared, 1);
}

int bufring_init(struct bufring *buffers, struct ring *ring, uint16_t group,
                 const struct bufring_options *options)
{
    *buffers = (struct bufring){
        .ring = ring,
        .group = group,
        .count = options->count ? options->count : BUFRING_COUNT,
        .bytes = options->bytes ? options->bytes : BUFRING_BYTES,
        .wake.run = wake_waiters,
    };
    assert((buffers->count & (buffers->count - 1)) == 0 && buffers->count <= BUFRING_COUNT_MAX);
    buffers->waiters_end = &buffers->waiters;
    buffers->memory = mmap(NULL, (size_t)buffers->count * buffers->bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffers->memory == MAP_FAILED)
        return -errno;
    int error;
    buffers->shared = io_uring_setup_buf_ring(&ring->uring, buffers->count, group, 0, &error);
    if (!buffers->shared) {
        munmap(buffers->memory, (size_t)buffers->count * buffers->bytes);
        return error;
    }
    for (unsigned id = 0; id < buffers->count; id++)
        provide(buffers, id);
    return 0;
}

void bufring_fini(struct bufring *buffers)
{
    assert(buffers->lent == 0 && !buffers->waiters && !buffers->wake.queued);
    io_uring_free_buf_ring(&buffers->ring->uring, buffers->shared, buffers->count, buffers->group);
    munmap(buffers->memory, (size_t)buffers->count * buffers->bytes);
}

static struct io_uring_sqe *select_buffer(const struct bufring *buffers, struct io_uring_sqe *sqe)
{
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
    sqe->buf_group = buffers->group;
    return sqe;
}

struct io_uring_sqe *bufring_receive(struct bufring *buffers, int slot)
{
    struct io_uring_sqe *sqe = ring_sqe(buffers->ring);
    io_uring_prep_recv_multishot(sqe, slot, NULL, 0, 0);
    return select_buffer(buffers, sqe);
}

struct io_uring_sqe *bufring_receive_once(struct bufring *buffers, int slot)
{
    struct io_uring_sqe *sqe = ring_sqe(buffers->ring);
    io_uring_prep_recv(sqe, slot, NULL, buffers->bytes, 0);
    return select_buffer(buffers, sqe);
}

bool bufring_take(struct bufring *buffers, const struct ring_event *event, struct slice *bytes)
{
    if (!(event->flags & IORING_CQE_F_BUFFER))
        return false;
    const unsigned id = event->flags >> IORING_CQE_BUFFER_SHIFT;
    assert(id < buffers->count && buffers->lent < buffers->count);
    buffers->lent++;
    *bytes = (struct slice){buffers->memory + (size_t)id * buffers->bytes,
                            event->result > 0 ? (size_t)event->result : 0};
    return true;
}

void bufring_recycle(struct bufring *buffers, struct slice bytes)
{
    const size_t offset = (size_t)(bytes.ptr - buffers->memory);
    assert(bytes.ptr >= buffers->memory && offset < (size_t)buffers->count * buffers->bytes);
    assert(buffers->lent > 0);
    buffers->lent--;
    provide(buffers, (unsigned)(offset / buffers->bytes));
    if (buffers->waiters)
        ring_defer(buffers->ring, &buffers->wake);
}

void bufring_wait(struct bufring *buffers, struct bufring_waiter *waiter)
{
    assert(!waiter->link);
    buffers->exhausted++;
    waiter->next = NULL;
    waiter->link = buffers->waiters_end;
    *buffers->waiters_end = waiter;
    buffers->waiters_end = &waiter->next;
    if (buffers->lent < buffers->count)
        ring_defer(buffers->ring, &buffers->wake);
}

void bufring_wait_cancel(struct bufring *buffers, struct bufring_waiter *waiter)
{
    if (!waiter->link)
        return;
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    else
        buffers->waiters_end = waiter->link;
    waiter->link = NULL;
}
