#include "net/ring.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "tests/unit/net/ring_frame.h"

/* What a handler saw. */
struct seen {
    unsigned count;
    struct ring_event last;
};

static void on_event(void *owner, const struct ring_event *event)
{
    struct seen *seen = owner;
    seen->count++;
    seen->last = *event;
}

static void nop(struct ring *ring, uint8_t kind, uint8_t detail, void *object)
{
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_nop(sqe);
    ring_tag(sqe, kind, detail, object);
}

/* A completion that leads to another one, by way of a task. */
struct relay {
    struct ring ring;
    struct ring_task task;
    struct timer timer;
    uint8_t kind;
    unsigned seen, seen_at_expiry;
    uint64_t asked_ns; /* when the last completion was asked for */
    bool has_expired;
};

static void relay_on(struct ring_task *task)
{
    struct relay *relay = container_of(task, struct relay, task);
    relay->asked_ns = clock_now_ns();
    nop(&relay->ring, relay->kind, 0, NULL);
}

static void on_relayed(void *owner, const struct ring_event *event)
{
    struct relay *relay = owner;
    (void)event;
    CHECK(relay->ring.now_ns >= relay->asked_ns); /* no answer comes before its question */
    if (++relay->seen < 3)
        ring_defer(&relay->ring, &relay->task);
}

static void on_relay_expiry(struct timer *timer)
{
    struct relay *relay = container_of(timer, struct relay, timer);
    relay->has_expired = true;
    relay->seen_at_expiry = relay->seen;
}

/* After a pause of the process what waits is handled before time-outs are judged. */
TEST(a_late_timer_comes_after_all_that_has_arrived)
{
    static struct relay relay;
    start(&relay.ring, (struct ring_options){0});
    relay.kind = ring_register(&relay.ring, on_relayed, &relay);
    relay.task.run = relay_on;
    timer_init(&relay.timer, on_relay_expiry);
    timer_arm(&relay.ring.timers, &relay.timer, clock_now_ns() + CLOCK_NS_PER_MS);
    nop(&relay.ring, relay.kind, 0, NULL);
    usleep((RING_LATE_MS + 20) * 1000); /* the pause itself: nothing is waited for */
    CHECK_INT(ring_turn(&relay.ring, TIMER_NEVER), 0);
    CHECK(relay.has_expired);
    CHECK_INT(relay.seen_at_expiry, 3);
    ring_fini(&relay.ring);
}

TEST(completions_reach_the_handler_of_their_kind)
{
    struct ring ring;
    struct seen first = {0}, second = {0};
    int object;
    start(&ring, (struct ring_options){0});
    const uint8_t a = ring_register(&ring, on_event, &first), b = ring_register(&ring, on_event, &second);
    nop(&ring, a, 7, &object);
    nop(&ring, b, 255, NULL);
    CHECK_INT(ring_inflight(&ring), 2);
    CHECK_INT(first.count + second.count, 0);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK(ring_finish(&ring));
    CHECK_INT(first.count, 1);
    CHECK_INT(first.last.detail, 7);
    CHECK(first.last.object == &object);
    CHECK_INT(second.count, 1);
    CHECK_INT(second.last.detail, 255);
    CHECK(!second.last.object);
    ring_fini(&ring);
}

TEST(what_is_queued_can_be_sent_off_before_the_turn_ends)
{
    struct ring ring;
    struct seen seen = {0};
    start(&ring, (struct ring_options){0});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    ring_submit(&ring);
    CHECK_INT(ring.stats.enters, 0);
    nop(&ring, kind, 0, NULL);
    ring_submit(&ring);
    CHECK_INT(ring.stats.enters, 1);
    CHECK_INT(ring.stats.submitted, 1);
    CHECK_INT(seen.count, 0);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.count, 1);
    ring_fini(&ring);
}

TEST(more_operations_than_entries_are_submitted_in_batches)
{
    enum { COUNT = 10000, ENTRIES = 64 };
    struct ring ring;
    struct seen seen = {0};
    start(&ring, (struct ring_options){.sq_entries = ENTRIES});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    for (unsigned i = 0; i < COUNT; i++)
        nop(&ring, kind, 0, NULL);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.count, COUNT);
    CHECK_INT(ring.stats.submitted, COUNT);
    CHECK_INT(ring.stats.completed, COUNT);
    CHECK_INT(ring.stats.queue_full, COUNT / ENTRIES);
    CHECK(ring.stats.enters <= COUNT / ENTRIES + 2);
    ring_fini(&ring);
}

/* The kernel keeps what does not fit into a small completion queue. */
TEST(an_overflown_completion_queue_loses_nothing)
{
    enum { COUNT = 5000 };
    struct ring ring;
    struct seen seen = {0};
    start(&ring, (struct ring_options){.sq_entries = 8, .cq_entries = 16});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    for (unsigned i = 0; i < COUNT; i++)
        nop(&ring, kind, 0, NULL);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.count, COUNT);
    CHECK(ring.stats.overflows > 0);
    ring_fini(&ring);
}

static struct sockaddr_in nobody(void)
{
    /* A port that was just given back. */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_INT(bind(fd, (struct sockaddr *)&address, len), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return address;
}

static void connect_chain(struct ring *ring, uint8_t kind, int family, struct sockaddr_in *address)
{
    const int slot = 0;
    ring_reserve(ring, 2);
    struct io_uring_sqe *sqe = ring_sqe(ring);
    io_uring_prep_socket_direct(sqe, family, SOCK_STREAM, 0, (unsigned)slot, 0);
    sqe->flags |= IOSQE_IO_LINK;
    ring_tag(sqe, kind, 1, NULL);
    ring_silence(ring, sqe);
    sqe = ring_sqe(ring);
    io_uring_prep_connect(sqe, slot, (struct sockaddr *)address, sizeof *address);
    sqe->flags |= IOSQE_FIXED_FILE;
    ring_tag(sqe, kind, 2, NULL);
}

TEST(a_silenced_chain_completes_exactly_once)
{
    struct ring ring;
    struct seen seen = {0};
    struct sockaddr_in address = nobody();
    start(&ring, (struct ring_options){.slots = 4});
    const uint8_t kind = ring_register(&ring, on_event, &seen);

    CHECK_INT(ring_slot_acquire(&ring), 0);
    connect_chain(&ring, kind, AF_INET, &address);
    CHECK_INT(ring_inflight(&ring), 1);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.count, 1);
    CHECK_INT(seen.last.detail, 2);
    CHECK_INT(seen.last.result, -ECONNREFUSED);

    struct io_uring_sqe *sqe = ring_sqe(&ring);
    io_uring_prep_close_direct(sqe, 0);
    ring_tag(sqe, kind, 3, NULL);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.last.result, 0);
    ring_slot_release(&ring, 0);

    /* The first of the chain fails: there is no such family. */
    seen.count = 0;
    connect_chain(&ring, kind, AF_MAX, &address);
    CHECK(ring_finish(&ring));
    CHECK_INT(seen.count, 1);
    CHECK_INT(seen.last.detail, 1);
    CHECK_INT(seen.last.result, -EAFNOSUPPORT);
    CHECK_INT(ring_turn(&ring, CLOCK_NS_PER_MS), 0);
    CHECK_INT(seen.count, 1);
    ring_fini(&ring);
}

TEST(a_reservation_is_not_parted_by_a_submission)
{
    struct ring ring;
    struct seen seen = {0};
    start(&ring, (struct ring_options){.sq_entries = 8});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    for (unsigned i = 0; i < 6; i++)
        nop(&ring, kind, 0, NULL);
    ring_reserve(&ring, 2);
    CHECK_INT(ring.stats.queue_full, 0);
    ring_reserve(&ring, 3);
    CHECK_INT(ring.stats.queue_full, 1);
    for (unsigned i = 0; i < 3; i++)
        nop(&ring, kind, 0, NULL);
    CHECK_INT(ring.stats.queue_full, 1);
    CHECK(ring_finish(&ring));
    ring_fini(&ring);
}

/* Every way into the kernel ends at once, and takes no more than the entries that there are. */
static int try_entering(int error, const char *expected)
{
    enum { ENTRIES = 64 };
    static struct ring ring;
    struct seen seen = {0};
    (void)expected;
    start(&ring, (struct ring_options){.sq_entries = ENTRIES, .slots = 1});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    if (!deny(__NR_io_uring_enter, error))
        return 2;
    for (unsigned i = 0; i < 3 * ENTRIES; i++) {
        nop(&ring, kind, 0, NULL);
        ring.failing_since_ns = 1; /* long ago, for what is worth some tries */
    }
    ring_reserve(&ring, 3);
    const bool is_told = ring_submit(&ring) == -error && ring_turn(&ring, TIMER_NEVER) == -error &&
                         ring_turn(&ring, 0) == -error && !ring_finish(&ring) && seen.count == 0;
    const bool is_spared = ring.stats.enters == 1; /* no more calls once it has failed */
    ring_slot_acquire(&ring);
    ring_fini(&ring);
    return is_told && is_spared ? 0 : 1;
}

TEST(a_ring_that_cannot_be_entered_says_so)
{
    in_child(try_entering, EIO, "");
    in_child(try_entering, EBADF, "");
    in_child(try_entering, EAGAIN, "");
    in_child(try_entering, EBUSY, "");
}

static int try_short_failure(int error, const char *expected)
{
    static struct ring ring;
    (void)expected;
    start(&ring, (struct ring_options){0});
    if (!deny(__NR_io_uring_enter, error))
        return 2;
    for (int i = 0; i < 10; i++)
        if (ring_turn(&ring, CLOCK_NS_PER_MS) != 0)
            return 1;
    return 0;
}

TEST(what_may_pass_is_tried_again)
{
    in_child(try_short_failure, EINTR, "");
    in_child(try_short_failure, EAGAIN, "");
    in_child(try_short_failure, EBUSY, "");
}

struct alarm {
    struct timer timer;
    unsigned fired;
};

static void on_alarm(struct timer *timer)
{
    ((struct alarm *)timer)->fired++;
}

TEST(a_timer_ends_the_wait)
{
    struct ring ring;
    struct alarm alarm = {.fired = 0};
    start(&ring, (struct ring_options){0});
    timer_init(&alarm.timer, on_alarm);
    const uint64_t begin = clock_now_ns(), due = begin + 20 * CLOCK_NS_PER_MS;
    timer_arm(&ring.timers, &alarm.timer, due);
    while (!alarm.fired)
        CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK(clock_now_ns() >= due);
    /* One sleep per level that the timer passes through, and no spinning. */
    CHECK(ring.stats.enters <= 4);
    ring_fini(&ring);
}

struct chore {
    struct ring_task task;
    struct ring *ring;
    unsigned runs;
    unsigned wanted;
};

static void run_chore(struct ring_task *task)
{
    struct chore *chore = (struct chore *)task;
    if (++chore->runs < chore->wanted)
        ring_defer(chore->ring, task);
}

TEST(a_task_runs_once_per_deferral_and_keeps_the_loop_awake)
{
    struct ring ring;
    start(&ring, (struct ring_options){0});
    struct chore chore = {.task.run = run_chore, .ring = &ring, .wanted = 3};
    ring_defer(&ring, &chore.task);
    ring_defer(&ring, &chore.task);
    CHECK_INT(chore.runs, 0);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(chore.runs, 1);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(chore.runs, 3);
    CHECK(!ring.tasks);
    ring_fini(&ring);
}

/* Wakes: a sleeper that waits without end takes what wakers add to a counter, and each of them waits until
 * its own has been taken. A lost wake is a standstill. */
enum { WAKERS = 2, WORK_PER_WAKER = 5000 };

struct sleeper {
    struct ring ring;
    _Atomic uint64_t work;
    _Atomic uint64_t taken;
    atomic_bool up;
    atomic_uint done;
};

static bool has_work(void *owner)
{
    struct sleeper *sleeper = owner;
    return lf_load(&sleeper->work, acquire) != lf_load(&sleeper->taken, relaxed);
}

static void *sleep_and_take(void *argument)
{
    struct sleeper *sleeper = argument;
    start(&sleeper->ring, (struct ring_options){.has_work = has_work, .owner = sleeper});
    lf_store(&sleeper->up, true, release);
    while (lf_load(&sleeper->taken, relaxed) < (uint64_t)WAKERS * WORK_PER_WAKER) {
        CHECK_INT(ring_turn(&sleeper->ring, TIMER_NEVER), 0);
        lf_store(&sleeper->taken, lf_load(&sleeper->work, acquire), release);
    }
    /* The wakers' messages need their target. */
    while (lf_load(&sleeper->done, acquire) < WAKERS)
        ring_turn(&sleeper->ring, CLOCK_NS_PER_MS);
    ring_turn(&sleeper->ring, 0);
    ring_fini(&sleeper->ring);
    return NULL;
}

static void *make_work(void *argument)
{
    struct sleeper *sleeper = argument;
    struct ring ring;
    start(&ring, (struct ring_options){0});
    while (!lf_load(&sleeper->up, acquire))
        sched_yield();
    for (unsigned i = 0; i < WORK_PER_WAKER; i++) {
        const uint64_t mine = lf_fetch_add(&sleeper->work, 1, release) + 1;
        const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
        ring_wake(&ring, &sleeper->ring);
        CHECK_INT(ring_turn(&ring, 0), 0);
        while (lf_load(&sleeper->taken, acquire) < mine) {
            sched_yield();
            CHECK(clock_now_ns() < deadline);
        }
    }
    CHECK(ring_finish(&ring));
    CHECK(ring.stats.wakes_sent <= WORK_PER_WAKER);
    ring_fini(&ring);
    lf_fetch_add(&sleeper->done, 1, release);
    return NULL;
}

TEST(no_wake_is_lost)
{
    static struct sleeper sleeper;
    pthread_t sleeping, waking[WAKERS];
    CHECK_INT(pthread_create(&sleeping, NULL, sleep_and_take, &sleeper), 0);
    for (unsigned i = 0; i < WAKERS; i++)
        CHECK_INT(pthread_create(&waking[i], NULL, make_work, &sleeper), 0);
    for (unsigned i = 0; i < WAKERS; i++)
        pthread_join(waking[i], NULL);
    pthread_join(sleeping, NULL);
    CHECK_INT(lf_load(&sleeper.taken, relaxed), (uint64_t)WAKERS * WORK_PER_WAKER);
    CHECK(sleeper.ring.stats.wakes_received > 0);
}

TEST(one_who_is_awake_gets_no_message)
{
    struct ring ring, target;
    start(&ring, (struct ring_options){0});
    start(&target, (struct ring_options){0});
    ring_wake(&ring, &target);
    CHECK_INT(ring.stats.wakes_sent, 0);
    CHECK_INT(ring_inflight(&ring), 0);
    ring_fini(&target);
    ring_fini(&ring);
}

TEST(gathering_waits_for_company_but_not_for_ever)
{
    struct ring ring;
    struct seen seen = {0};
    start(&ring, (struct ring_options){.gather_us = 3600u * 1000 * 1000, .gather_count = 8});
    const uint8_t kind = ring_register(&ring, on_event, &seen);
    /* Without traffic the first completion ends the sleep: this would last an hour otherwise. */
    nop(&ring, kind, 0, NULL);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(seen.count, 1);
    /* What the turn itself submits is no company, */
    ring.gather_us = 30000;
    const uint64_t begin = clock_now_ns();
    for (unsigned i = 0; i < 20; i++)
        nop(&ring, kind, 0, NULL);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(seen.count, 21);
    CHECK(clock_now_ns() - begin >= 30 * CLOCK_NS_PER_MS);
    /* but is waited for. */
    ring.gather_us = 3600u * 1000 * 1000;
    ring.gather_count = 0;
    for (unsigned i = 0; i < 20; i++)
        nop(&ring, kind, 0, NULL);
    CHECK_INT(ring_turn(&ring, TIMER_NEVER), 0);
    CHECK_INT(seen.count, 41);
    ring_fini(&ring);
}
