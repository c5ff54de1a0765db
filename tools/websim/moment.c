#include "tools/websim/moment.h"

#include <errno.h>
#include <liburing.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <time.h>

#include "lockfree/clock.h"

/* The wall's clock may be set while we serve. */
#define OFFSET_FRESH_NS (100 * CLOCK_NS_PER_MS)
/* Two readings of one clock with one of the other between them: no further apart than this, or somebody kept
 * us. */
#define OFFSET_ERROR_NS 20000
#define OFFSET_TRIES    16

int websim_moment_listen(int fd)
{
    int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0 ? 0 : -errno;
}

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * (int64_t)CLOCK_NS_PER_S + time->tv_nsec;
}

static void measure_offset(struct websim_moment_clock *clock)
{
    for (unsigned i = 0; i < OFFSET_TRIES; i++) {
        struct timespec wall;
        uint64_t before = clock_now_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        uint64_t after = clock_now_ns();
        if (after - before > OFFSET_ERROR_NS && (i + 1 < OFFSET_TRIES || clock->read_ns))
            continue;
        clock->offset_ns = nanoseconds(&wall) - (int64_t)before;
        clock->read_ns = after;
        return;
    }
}

/* The stamp among the control messages, on our clock: 0 if there is none. */
static uint64_t find_stamp(struct websim_moment_clock *clock, struct io_uring_recvmsg_out *out,
                           struct msghdr *message)
{
    for (struct cmsghdr *part = io_uring_recvmsg_cmsg_firsthdr(out, message); part;
         part = io_uring_recvmsg_cmsg_nexthdr(out, message, part)) {
        struct scm_timestamping stamps;
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPING)
            continue;
        memcpy(&stamps, CMSG_DATA(part), sizeof stamps);
        int64_t wall = nanoseconds(&stamps.ts[0]);
        return wall > clock->offset_ns ? (uint64_t)(wall - clock->offset_ns) : 0;
    }
    return 0;
}

struct websim_moment_receive websim_moment_read(struct websim_moment_clock *clock, struct slice buffer,
                                                struct msghdr *message, uint64_t now_ns)
{
    struct websim_moment_receive receive = {.arrived_ns = now_ns};
    struct io_uring_recvmsg_out *out =
        io_uring_recvmsg_validate((void *)(uintptr_t)buffer.ptr, (int)buffer.len, message);
    if (!out)
        return receive;
    receive.bytes = (struct slice){io_uring_recvmsg_payload(out, message),
                                   io_uring_recvmsg_payload_length(out, (int)buffer.len, message)};
    if (now_ns - clock->read_ns > OFFSET_FRESH_NS)
        measure_offset(clock);
    uint64_t stamp = find_stamp(clock, out, message);
    /* A turn that catches up reads what came after it had begun. Nothing comes from the future, though. */
    if (stamp > now_ns)
        receive.arrived_ns = now_ns = clock_now_ns();
    if (stamp && stamp < now_ns)
        receive.arrived_ns = stamp;
    return receive;
}

uint64_t websim_moment_of_last_segment(int fd, uint64_t now_ns)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0)
        return now_ns;
    uint64_t age_ns = info.tcpi_last_ack_recv * CLOCK_NS_PER_MS + WEBSIM_MOMENT_TICK_NS;
    return age_ns < now_ns ? now_ns - age_ns : 0;
}
