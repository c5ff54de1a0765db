#include "tools/websim/moment.h"

#include <liburing.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct msghdr form = {.msg_controllen = WEBSIM_MOMENT_CONTROL_BYTES};

/* What the kernel leaves in a buffer: a head, control messages, the bytes. */
static size_t fill(char *buffer, const struct timespec *stamp, const char *bytes)
{
    struct io_uring_recvmsg_out out = {.payloadlen = (uint32_t)strlen(bytes)};
    char *control = buffer + sizeof out;
    struct scm_timestamping stamps = {.ts = {{0}}};
    struct cmsghdr part = {
        .cmsg_len = CMSG_LEN(sizeof stamps), .cmsg_level = SOL_SOCKET, .cmsg_type = SO_TIMESTAMPING};
    if (stamp) {
        stamps.ts[0] = *stamp;
        memcpy(control, &part, sizeof part);
        memcpy(control + CMSG_LEN(0), &stamps, sizeof stamps);
        out.controllen = CMSG_LEN(sizeof stamps);
    }
    memcpy(buffer, &out, sizeof out);
    memcpy(control + form.msg_controllen, bytes, out.payloadlen);
    return sizeof out + form.msg_controllen + out.payloadlen;
}

static struct websim_moment_receive read_stamped(const struct timespec *stamp, uint64_t now_ns)
{
    static _Alignas(16) char buffer[256];
    struct websim_moment_clock clock = {0};
    struct slice all = {buffer, fill(buffer, stamp, "GET")};
    return websim_moment_read(&clock, all, &form, now_ns);
}

TEST(bytes_came_when_the_kernel_says)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t before = clock_now_ns();
    wall.tv_sec -= 3;
    struct websim_moment_receive receive = read_stamped(&wall, before);
    CHECK(slice_equals(receive.bytes, SLICE("GET")));
    CHECK(receive.arrived_ns > before - 4 * CLOCK_NS_PER_S &&
          receive.arrived_ns < before - 2 * CLOCK_NS_PER_S);
}

/* A turn of the loop takes its time. */
TEST(bytes_may_come_after_the_turn_began)
{
    struct timespec wall;
    uint64_t turn = clock_now_ns();
    usleep(1000);
    clock_gettime(CLOCK_REALTIME, &wall);
    CHECK(read_stamped(&wall, turn).arrived_ns > turn + CLOCK_NS_PER_MS / 2);
}

TEST(bytes_without_a_stamp_came_now)
{
    CHECK_INT(read_stamped(NULL, 12345).arrived_ns, 12345);
    CHECK_INT(read_stamped(&(struct timespec){0}, 12345).arrived_ns, 12345);
}

TEST(nothing_comes_from_the_future)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t now = clock_now_ns();
    wall.tv_sec += 100;
    uint64_t arrived = read_stamped(&wall, now).arrived_ns;
    CHECK(arrived >= now && arrived <= clock_now_ns());
}

TEST(the_end_of_a_stream_has_no_bytes)
{
    _Alignas(16) char buffer[256];
    struct websim_moment_clock clock = {0};
    struct slice all = {buffer, fill(buffer, NULL, "")};
    CHECK_INT(websim_moment_read(&clock, all, &form, 1).bytes.len, 0);
    CHECK_INT(websim_moment_read(&clock, (struct slice){buffer, 3}, &form, 1).bytes.len, 0);
}

TEST(a_client_left_when_its_last_segment_came)
{
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof where;
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    char byte;
    CHECK(bind(listener, (struct sockaddr *)&where, sizeof where) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&where, &len) == 0);
    CHECK(connect(client, (struct sockaddr *)&where, sizeof where) == 0);
    int server = accept(listener, NULL, NULL);
    usleep(200000); /* so that the connect is no longer the last that came */
    uint64_t begun = clock_now_ns();
    close(client);
    uint64_t ended = clock_now_ns();
    CHECK(recv(server, &byte, 1, 0) == 0);
    usleep(50000); /* we are late */
    uint64_t moment = websim_moment_of_last_segment(server, clock_now_ns());
    CHECK(moment + 15 * WEBSIM_MOMENT_TICK_NS > begun && moment < ended);
    close(server);
    close(listener);
}
