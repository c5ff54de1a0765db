/* What a ring needs of the kernel and the machine, and its table of direct descriptors. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "tests/unit/net/ring_frame.h"

TEST(slots_are_handed_out_once)
{
    enum { COUNT = 100 };
    struct ring ring;
    bool taken[COUNT] = {false};
    start(&ring, (struct ring_options){.slots = COUNT, .slots_accepted = 10});
    for (unsigned i = 0; i < COUNT; i++) {
        const int slot = ring_slot_acquire(&ring);
        CHECK(slot >= 0 && slot < COUNT && !taken[slot]);
        taken[slot] = true;
    }
    CHECK_INT(ring_slot_acquire(&ring), -1);
    ring_slot_release(&ring, 42);
    CHECK_INT(ring_slot_acquire(&ring), 42);
    for (int i = 0; i < COUNT; i++)
        ring_slot_release(&ring, i);
    ring_fini(&ring);
}

TEST(a_table_longer_than_the_file_limit_is_refused_with_the_remedy)
{
    struct ring ring;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= UINT32_MAX)
        SKIP("no limit of open files");
    const struct ring_options options = {.slots = (unsigned)limit.rlim_max, .slots_accepted = 1, .cpu = -1};
    CHECK_INT(ring_init(&ring, &options), -EMFILE);
    CHECK(strstr(ring.error, "ulimit -Hn"));
}

static void *pin_twice(void *argument)
{
    cpu_set_t allowed, now;
    (void)argument;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const unsigned count = (unsigned)CPU_COUNT(&allowed);
    struct ring ring;
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((unsigned)last, &allowed))
        last--;
    start(&ring, (struct ring_options){.cpu = (int)(3 * count - 1)}); /* counted around: the last one */
    CHECK_INT(sched_getaffinity(0, sizeof now, &now), 0);
    CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET((unsigned)last, &now));
    ring_fini(&ring);
    start(&ring, (struct ring_options){.cpu = 1}); /* of one processor, each is that one */
    CHECK_INT(sched_getaffinity(0, sizeof now, &now), 0);
    CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET((unsigned)last, &now));
    ring_fini(&ring);
    return NULL;
}

/* In a thread of its own: a thread that was pinned stays so. */
TEST(a_loop_is_pinned_to_a_processor_that_it_may_run_on)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, pin_twice, NULL), 0);
    pthread_join(thread, NULL);
}

static int try_set_up(int error, const char *expected)
{
    static struct ring ring;
    if (!deny(__NR_io_uring_setup, error))
        return 2;
    const int result = ring_init(&ring, &(struct ring_options){.cpu = -1});
    return result == -error && strstr(ring.error, expected) ? 0 : 1;
}

TEST(each_missing_feature_is_named_with_its_version)
{
    in_child(try_set_up, ENOSYS, "Linux 6.1");
    in_child(try_set_up, EINVAL, "IORING_SETUP_DEFER_TASKRUN");
    in_child(try_set_up, EPERM, "kernel.io_uring_disabled");
    in_child(try_set_up, ENOMEM, "ulimit -l");
}

TEST(defaults_are_those_of_limits_h)
{
    struct ring ring;
    start(&ring, (struct ring_options){0});
    CHECK_INT(ring.uring.sq.ring_entries, RING_SQ_ENTRIES);
    CHECK_INT(ring.uring.cq.ring_entries, RING_CQ_ENTRIES);
    CHECK_INT(ring_slot_acquire(&ring), -1); /* without a table there is no slot */
    CHECK(ring.now_ns != 0 && !ring.failed);
    ring_fini(&ring);
}

/* What the kernel hands out on its own is never handed out by the ring. */
TEST(slots_that_the_kernel_chooses_are_a_range_of_their_own)
{
    struct ring ring;
    start(&ring, (struct ring_options){.slots = 2, .slots_accepted = 3});
    CHECK_INT(ring.slot_count, 2);
    CHECK(ring_slot_acquire(&ring) < 2 && ring_slot_acquire(&ring) < 2);
    CHECK_INT(ring_slot_acquire(&ring), -1);
    struct io_uring_sqe *sqe = ring_sqe(&ring);
    io_uring_prep_socket_direct_alloc(sqe, AF_INET, SOCK_STREAM, 0, 0);
    io_uring_submit_and_wait(&ring.uring, 1);
    struct io_uring_cqe *cqe;
    CHECK_INT(io_uring_peek_cqe(&ring.uring, &cqe), 0);
    CHECK(cqe->res >= 2 && cqe->res < 5);
    io_uring_cqe_seen(&ring.uring, cqe);
    ring.inflight = 0;
    ring_slot_release(&ring, 0);
    ring_slot_release(&ring, 1);
    ring_fini(&ring);
}

static void *count_processors(void *argument)
{
    cpu_set_t allowed, one;
    (void)argument;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CHECK_INT(ring_processors(), CPU_COUNT(&allowed));
    CPU_ZERO(&one);
    for (unsigned cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_INT(ring_processors(), 1);
    return NULL;
}

/* In a thread of its own: a thread that was confined stays so. */
TEST(processors_that_a_thread_may_not_run_on_do_not_count)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, count_processors, NULL), 0);
    pthread_join(thread, NULL);
}
