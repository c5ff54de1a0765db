/* The turns of a loop: submission, completions, timers, sleep. */
#include "net/ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lockfree/atomic.h"
#include "lockfree/clock.h"

#define NS_PER_US UINT64_C(1000)

#define TAG_KIND_SHIFT   56
#define TAG_DETAIL_SHIFT 48
#define TAG_POINTER      ((UINT64_C(1) << TAG_DETAIL_SHIFT) - 1)

static uint64_t tag_of(uint8_t kind, uint8_t detail, void *object)
{
    const uint64_t pointer = (uint64_t)(uintptr_t)object;
    assert((pointer & ~TAG_POINTER) == 0);
    return (uint64_t)kind << TAG_KIND_SHIFT | (uint64_t)detail << TAG_DETAIL_SHIFT | pointer;
}

uint8_t ring_register(struct ring *ring, ring_handler *run, void *owner)
{
    assert(ring->kind_count < RING_KINDS_MAX);
    ring->kinds[ring->kind_count].run = run;
    ring->kinds[ring->kind_count].owner = owner;
    return (uint8_t)ring->kind_count++;
}

/* What a retry may cure: a signal, the kernel short of memory, completions to be fetched first. If the last
 * two go on for RING_RETRY_MS they are as good as permanent. */
static bool is_transient(struct ring *ring, int error)
{
    if (error == -EINTR)
        return true;
    if (error != -EAGAIN && error != -EBUSY)
        return false;
    const uint64_t now_ns = clock_now_ns();
    if (!ring->failing_since_ns)
        ring->failing_since_ns = now_ns;
    return now_ns - ring->failing_since_ns < RING_RETRY_MS * CLOCK_NS_PER_MS;
}

/* Of each io_uring_enter: 0, or the error that no retry can cure, which is then the ring's for good. */
static int judge(struct ring *ring, int result)
{
    if (result >= 0 || result == -ETIME)
        ring->failing_since_ns = 0;
    else if (!is_transient(ring, result))
        ring->failed = result;
    return ring->failed;
}

static int submit_now(struct ring *ring)
{
    if (ring->failed)
        return ring->failed;
    ring->stats.enters++;
    const int submitted = io_uring_submit(&ring->uring);
    if (submitted > 0)
        ring->stats.submitted += (unsigned)submitted;
    return judge(ring, submitted);
}

static int submit_full(struct ring *ring)
{
    ring->stats.queue_full++;
    return submit_now(ring);
}

int ring_submit(struct ring *ring)
{
    return io_uring_sq_ready(&ring->uring) ? submit_now(ring) : 0;
}

void ring_reserve(struct ring *ring, unsigned count)
{
    while (io_uring_sq_space_left(&ring->uring) < count)
        if (submit_full(ring) < 0)
            return;
}

struct io_uring_sqe *ring_sqe(struct ring *ring)
{
    struct io_uring_sqe *sqe;
    ring->inflight++;
    while (!(sqe = io_uring_get_sqe(&ring->uring)))
        if (submit_full(ring) < 0)
            return &ring->scrap;
    return sqe;
}

void ring_tag(struct io_uring_sqe *sqe, uint8_t kind, uint8_t detail, void *object)
{
    sqe->user_data = tag_of(kind, detail, object);
}

void ring_cancel(struct ring *ring, uint8_t kind, uint8_t detail, void *object)
{
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_cancel64(sqe, tag_of(kind, detail, object), 0);
    ring_tag(sqe, RING_KIND_CANCEL, 0, NULL);
}

void ring_silence(struct ring *ring, struct io_uring_sqe *sqe)
{
    assert(sqe->flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK));
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    ring->inflight--;
}

void ring_defer(struct ring *ring, struct ring_task *task)
{
    if (task->queued)
        return;
    task->queued = true;
    task->next = NULL;
    *ring->tasks_end = task;
    ring->tasks_end = &task->next;
}

static void run_tasks(struct ring *ring)
{
    struct ring_task *task = ring->tasks;
    ring->tasks = NULL;
    ring->tasks_end = &ring->tasks;
    while (task) {
        struct ring_task *next = task->next;
        task->queued = false;
        task->run(task);
        task = next;
    }
}

/* Every access to `asleep` is a read-modify-write, so they are totally ordered and each acquires what those
 * before it released:
 *
 *   S1  sleeper: exchange(true), then has_work()       W1  waker: push the work, then exchange(false)
 *
 * If W1 comes before S1, S1 acquires from W1 and has_work() sees the push. If it comes after, it sees true,
 * and sends. */
static bool announce_sleep(struct ring *ring)
{
    lf_exchange(&ring->asleep, true, acq_rel); /* S1, pairs with W1 in ring_wake */
    return !ring->has_work || !ring->has_work(ring->owner);
}

static int enter_and_wait(struct ring *ring, uint64_t wait_ns)
{
    struct io_uring_cqe *cqe;
    unsigned count = 1;
    if (ring->has_traffic && ring->gather_us && wait_ns > ring->gather_us * NS_PER_US) {
        wait_ns = ring->gather_us * NS_PER_US;
        /* Most of what is queued are sends, which complete at once: they are no company. */
        count = ring->gather_count + io_uring_sq_ready(&ring->uring);
    }
    struct __kernel_timespec timeout = {.tv_sec = (int64_t)(wait_ns / CLOCK_NS_PER_S),
                                        .tv_nsec = (int64_t)(wait_ns % CLOCK_NS_PER_S)};
    return io_uring_submit_and_wait_timeout(&ring->uring, &cqe, count,
                                            wait_ns == TIMER_NEVER ? NULL : &timeout, NULL);
}

static int enter(struct ring *ring, uint64_t wait_ns)
{
    const unsigned queued = io_uring_sq_ready(&ring->uring);
    ring->stats.enters++;
    const int result = wait_ns ? enter_and_wait(ring, wait_ns) : io_uring_submit_and_get_events(&ring->uring);
    ring->stats.submitted += queued - io_uring_sq_ready(&ring->uring);
    return judge(ring, result);
}

static int submit_and_wait(struct ring *ring, uint64_t wait_ns)
{
    const unsigned ready = io_uring_cq_ready(&ring->uring);
    if (ring->failed)
        return ring->failed;
    if (ready && io_uring_sq_ready(&ring->uring) == 0)
        return 0;
    if (ready || ring->tasks || wait_ns == 0)
        return enter(ring, 0);
    const uint64_t timer_ns = timer_wheel_wait(&ring->timers, clock_now_ns());
    if (timer_ns < wait_ns)
        wait_ns = timer_ns;
    if (!announce_sleep(ring))
        wait_ns = 0;
    const int result = enter(ring, wait_ns);
    lf_exchange(&ring->asleep, false, acq_rel); /* S2: takes part in the order above */
    return result;
}

/* Copies up to RING_BATCH completions out and makes their room free for the kernel. */
static unsigned drain(struct ring *ring, struct ring_event *events, uint8_t *kinds)
{
    unsigned head, count = 0;
    struct io_uring_cqe *cqe;
    io_uring_for_each_cqe(&ring->uring, head, cqe)
    {
        if (count == RING_BATCH)
            break;
        kinds[count] = (uint8_t)(cqe->user_data >> TAG_KIND_SHIFT);
        events[count++] = (struct ring_event){
            .object = (void *)(uintptr_t)(cqe->user_data & TAG_POINTER),
            .detail = (uint8_t)(cqe->user_data >> TAG_DETAIL_SHIFT),
            .result = cqe->res,
            .flags = cqe->flags,
        };
    }
    io_uring_cq_advance(&ring->uring, count);
    ring->stats.completed += count;
    return count;
}

static void run_handlers(struct ring *ring)
{
    struct ring_event events[RING_BATCH];
    uint8_t kinds[RING_BATCH];
    unsigned left = io_uring_cq_ready(&ring->uring);
    ring->has_traffic = left > 0;
    while (left) {
        const unsigned count = drain(ring, events, kinds);
        left -= count < left ? count : left;
        for (unsigned i = 0; i < count; i++) {
            if (kinds[i] == RING_KIND_WAKE) {
                ring->stats.wakes_received++;
                continue;
            }
            if (i + 1 < count)
                __builtin_prefetch(events[i + 1].object); /* while this one is handled */
            if (!(events[i].flags & IORING_CQE_F_MORE))
                ring->inflight--;
            /* A message fails only when the target's completion queue is full, and then it does not sleep; a
             * cancellation, when its operation has completed. */
            if (kinds[i] < RING_KIND_FIRST)
                continue;
            assert(kinds[i] < ring->kind_count);
            ring->kinds[kinds[i]].run(ring->kinds[kinds[i]].owner, &events[i]);
        }
    }
}

/* A loop that was held up, by SIGSTOP or for want of a processor, finds time-outs that are due and, behind
 * them, the very bytes that they are about. All that has arrived is handled first. */
static int catch_up(struct ring *ring)
{
    for (int i = 0; i < RING_CATCH_UP_MAX; i++) {
        run_tasks(ring);
        const int result = enter(ring, 0);
        if (result < 0 || io_uring_cq_ready(&ring->uring) == 0)
            return result;
        ring->now_ns = clock_now_ns(); /* these may answer what was asked for in this turn */
        run_handlers(ring);
    }
    return 0;
}

static bool is_late(const struct ring *ring)
{
    return timer_wheel_wait(&ring->timers, ring->now_ns - RING_LATE_MS * CLOCK_NS_PER_MS) == 0;
}

int ring_turn(struct ring *ring, uint64_t wait_ns)
{
    int result = submit_and_wait(ring, wait_ns);
    if (result < 0)
        return result;
    if (io_uring_cq_has_overflow(&ring->uring))
        ring->stats.overflows++;
    ring->now_ns = clock_now_ns();
    run_handlers(ring);
    if (is_late(ring))
        result = catch_up(ring);
    timer_wheel_advance(&ring->timers, ring->now_ns);
    run_tasks(ring);
    return result;
}

bool ring_finish(struct ring *ring)
{
    const uint64_t deadline = clock_now_ns() + RING_FINISH_MS * CLOCK_NS_PER_MS;
    while ((ring->inflight || ring->tasks) && clock_now_ns() < deadline)
        if (ring_turn(ring, 10 * CLOCK_NS_PER_MS) < 0)
            return false;
    return ring->inflight == 0 && !ring->tasks;
}

void ring_wake(struct ring *ring, struct ring *target)
{
    if (!lf_exchange(&target->asleep, false, acq_rel)) /* W1, pairs with S1 */
        return;
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_msg_ring(sqe, target->uring.ring_fd, 0, tag_of(RING_KIND_WAKE, 0, NULL), 0);
    ring_tag(sqe, RING_KIND_WAKE_SENT, 0, target);
    ring->stats.wakes_sent++;
}
