/* Creating and ending a ring: what the kernel has to bring, and the table of direct descriptors. */
#include "net/ring.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/clock.h"

__attribute__((format(printf, 3, 4))) static int refuse(struct ring *ring, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ring->error, sizeof ring->error, format, arguments);
    va_end(arguments);
    return error;
}

static int refuse_setup(struct ring *ring, int error)
{
    switch (-error) {
    case ENOSYS:
        return refuse(ring, error, "this kernel has no io_uring: Linux 6.1 or newer is needed");
    case EPERM:
        return refuse(ring, error,
                      "io_uring is forbidden here: see sysctl kernel.io_uring_disabled, or the container's "
                      "seccomp profile");
    case EINVAL:
        return refuse(
            ring, error,
            "this kernel's io_uring lacks deferred task work (IORING_SETUP_DEFER_TASKRUN): Linux 6.1 "
            "or newer is needed");
    case ENOMEM:
        return refuse(ring, error, "no memory for the ring: raise the limit of locked memory (ulimit -l)");
    default:
        return refuse(ring, error, "cannot set up io_uring: %s", strerror(-error));
    }
}

static int create(struct ring *ring, const struct ring_options *options)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL |
                 IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = options->cq_entries ? options->cq_entries : RING_CQ_ENTRIES,
    };
    const unsigned entries = options->sq_entries ? options->sq_entries : RING_SQ_ENTRIES;
    const int error = io_uring_queue_init_params(entries, &ring->uring, &params);
    if (error < 0)
        return refuse_setup(ring, error);
    /* Saves looking the descriptor up on each enter; the loop works without. */
    io_uring_register_ring_fd(&ring->uring);
    return 0;
}

static int require_operations(struct ring *ring)
{
    static const struct {
        int opcode;
        const char *what;
    } needed[] = {
        {IORING_OP_SHUTDOWN, "shutdown (Linux 5.11)"},
        {IORING_OP_MSG_RING, "messages between rings (Linux 5.18)"},
        {IORING_OP_SOCKET, "socket creation (Linux 5.19)"},
    };
    struct io_uring_probe *probe = io_uring_get_probe_ring(&ring->uring);
    if (!probe)
        return refuse(ring, -ENOMEM, "cannot ask io_uring for its operations: no memory");
    int result = 0;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && result == 0; i++)
        if (!io_uring_opcode_supported(probe, needed[i].opcode))
            result = refuse(ring, -EOPNOTSUPP, "this kernel's io_uring lacks %s", needed[i].what);
    io_uring_free_probe(probe);
    return result;
}

/* Nothing but an attempt tells whether socket commands are there: they share their opcode with older ones. */
static bool probe_setsockopt(struct ring *ring)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    struct io_uring_cqe *cqe;
    bool works = false;
    if (fd < 0)
        return false;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);
    io_uring_prep_cmd_sock(sqe, SOCKET_URING_OP_SETSOCKOPT, fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (io_uring_submit_and_wait(&ring->uring, 1) == 1 && io_uring_peek_cqe(&ring->uring, &cqe) == 0) {
        works = cqe->res == 0;
        io_uring_cqe_seen(&ring->uring, cqe);
    }
    close(fd);
    return works;
}

/* The kernel allows a table as long as the process's limit of open files, though its entries do not count
 * against it. */
static int raise_file_limit(struct ring *ring, unsigned slots)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (slots <= limit.rlim_cur)
        return 0;
    if (slots > limit.rlim_max)
        return refuse(
            ring, -EMFILE,
            "%u connections per loop are more than the limit of open files, %llu: raise it (ulimit -Hn) "
            "or use fewer",
            slots, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = slots;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return refuse(ring, -errno, "cannot raise the limit of open files to %u: %s", slots, strerror(errno));
    return 0;
}

static int create_slots(struct ring *ring, const struct ring_options *options)
{
    const unsigned total = options->slots + options->slots_accepted;
    if (total == 0)
        return 0;
    int error = raise_file_limit(ring, total);
    if (error < 0)
        return error;
    error = io_uring_register_files_sparse(&ring->uring, total);
    if (error == 0 && options->slots_accepted)
        error = io_uring_register_file_alloc_range(&ring->uring, options->slots, options->slots_accepted);
    if (error < 0)
        return refuse(ring, error, "cannot register a table of %u direct descriptors: %s", total,
                      strerror(-error));
    ring->slot_stack = malloc((options->slots + 1) * sizeof *ring->slot_stack);
    if (!ring->slot_stack)
        return refuse(ring, -ENOMEM, "no memory for %u direct descriptors", options->slots);
    for (unsigned i = 0; i < options->slots; i++)
        ring->slot_stack[i] = options->slots - 1 - i;
    ring->slot_count = ring->slots_free = options->slots;
    return 0;
}

unsigned ring_processors(void)
{
    cpu_set_t allowed;
    /* Fails on machines with more processors than a cpu_set_t holds. */
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (unsigned)CPU_COUNT(&allowed);
    return (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The n-th of a set of processors that is not empty, counted around. */
static unsigned nth_of(const cpu_set_t *set, unsigned n)
{
    unsigned cpu = 0;
    n %= (unsigned)CPU_COUNT(set);
    while (!CPU_ISSET(cpu, set) || n-- > 0)
        cpu++;
    return cpu;
}

static int pin(struct ring *ring, int place)
{
    cpu_set_t allowed, chosen;
    if (place < 0)
        return 0;
    /* Fails on machines with more processors than a cpu_set_t holds: their loops stay unpinned. */
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return 0;
    unsigned cpu = nth_of(&allowed, (unsigned)place);
    CPU_ZERO(&chosen);
    CPU_SET(cpu, &chosen);
    if (sched_setaffinity(0, sizeof chosen, &chosen) < 0)
        return refuse(ring, -errno, "cannot pin the loop to processor %u: %s", cpu, strerror(errno));
    return 0;
}

int ring_init(struct ring *ring, const struct ring_options *options)
{
    memset(ring, 0, sizeof *ring);
    ring->tasks_end = &ring->tasks;
    ring->has_work = options->has_work;
    ring->gather_us = options->gather_us;
    ring->gather_count = options->gather_count;
    ring->owner = options->owner;
    ring->kind_count = RING_KIND_FIRST;
    /* Before the ring, so that its memory comes from the processor's own node. */
    int error = pin(ring, options->cpu);
    if (error < 0)
        return error;
    error = create(ring, options);
    if (error < 0)
        return error;
    error = require_operations(ring);
    if (error == 0)
        error = create_slots(ring, options);
    if (error < 0) {
        io_uring_queue_exit(&ring->uring);
        free(ring->slot_stack);
        return error;
    }
    ring->features.setsockopt = probe_setsockopt(ring);
    ring->now_ns = clock_now_ns();
    timer_wheel_init(&ring->timers, ring->now_ns);
    return 0;
}

void ring_fini(struct ring *ring)
{
    assert(ring->failed || (ring->inflight == 0 && ring->slots_free == ring->slot_count));
    io_uring_queue_exit(&ring->uring);
    free(ring->slot_stack);
}

int ring_slot_acquire(struct ring *ring)
{
    return ring->slots_free ? (int)ring->slot_stack[--ring->slots_free] : -1;
}

void ring_slot_release(struct ring *ring, int slot)
{
    assert(slot >= 0 && (unsigned)slot < ring->slot_count && ring->slots_free < ring->slot_count);
    ring->slot_stack[ring->slots_free++] = (uint32_t)slot;
}
