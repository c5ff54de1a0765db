#include "net/bufring.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "tests/support/check.h"

enum op { OP_ACCEPT, OP_RECEIVE, OP_CLOSE };

/* One accepted connection and what came over it. The test's own end is a plain socket. */
struct fixture {
    struct ring ring;
    struct bufring buffers;
    struct bufring_waiter waiter;
    uint8_t kind;
    int listener, peer;
    int slot;
    bool accepting, receiving, hold, ended;
    struct slice held[64];
    unsigned held_count;
    unsigned woken;
    size_t received;
    uint8_t expected; /* the next byte of the pattern */
};

static void receive(struct fixture *f)
{
    ring_tag(bufring_receive(&f->buffers, f->slot), f->kind, OP_RECEIVE, f);
    f->receiving = true;
}

static void on_buffer(struct bufring_waiter *waiter)
{
    struct fixture *f = container_of(waiter, struct fixture, waiter);
    f->woken++;
    receive(f);
}

static void on_received(struct fixture *f, const struct ring_event *event)
{
    struct slice bytes;
    if (!(event->flags & IORING_CQE_F_MORE))
        f->receiving = false;
    if (bufring_take(&f->buffers, event, &bytes)) {
        CHECK_INT(bytes.len, event->result);
        for (size_t i = 0; i < bytes.len; i++)
            CHECK_INT((uint8_t)bytes.ptr[i], f->expected++);
        f->received += bytes.len;
        if (f->hold)
            f->held[f->held_count++] = bytes;
        else
            bufring_recycle(&f->buffers, bytes);
    }
    if (event->result == 0)
        f->ended = true;
    else if (event->result == -ENOBUFS)
        bufring_wait(&f->buffers, &f->waiter);
    else if (!f->receiving)
        receive(f);
}

static void on_event(void *owner, const struct ring_event *event)
{
    struct fixture *f = owner;
    switch ((enum op)event->detail) {
    case OP_ACCEPT:
        if (!(event->flags & IORING_CQE_F_MORE))
            f->accepting = false;
        if (event->result >= 0)
            f->slot = event->result;
        break;
    case OP_RECEIVE:
        on_received(f, event);
        break;
    case OP_CLOSE:
        CHECK_INT(event->result, 0);
        break;
    }
}

static void listen_and_connect(struct fixture *f)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    f->listener = socket(AF_INET, SOCK_STREAM, 0);
    f->peer = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_INT(bind(f->listener, (struct sockaddr *)&address, len), 0);
    CHECK_INT(listen(f->listener, 8), 0);
    CHECK_INT(getsockname(f->listener, (struct sockaddr *)&address, &len), 0);
    CHECK_INT(connect(f->peer, (struct sockaddr *)&address, len), 0);
}

static void setup(struct fixture *f, unsigned count, unsigned bytes)
{
    memset(f, 0, sizeof *f);
    if (ring_init(&f->ring, &(struct ring_options){.slots = 2, .slots_accepted = 4, .cpu = -1}) < 0)
        check_failed(__FILE__, __LINE__, "%s", f->ring.error);
    CHECK_INT(
        bufring_init(&f->buffers, &f->ring, 3, &(struct bufring_options){.count = count, .bytes = bytes}), 0);
    f->kind = ring_register(&f->ring, on_event, f);
    f->waiter.on_buffer = on_buffer;
    f->slot = -1;
    listen_and_connect(f);
    struct io_uring_sqe *sqe = ring_sqe(&f->ring);
    io_uring_prep_multishot_accept_direct(sqe, f->listener, NULL, NULL, 0);
    ring_tag(sqe, f->kind, OP_ACCEPT, f);
    f->accepting = true;
    while (f->slot < 0)
        CHECK_INT(ring_turn(&f->ring, TIMER_NEVER), 0);
    /* The kernel chooses above the owner's slots. */
    CHECK(f->slot >= 2);
    receive(f);
}

static void teardown(struct fixture *f)
{
    close(f->peer);
    while (!f->ended)
        CHECK_INT(ring_turn(&f->ring, TIMER_NEVER), 0);
    struct io_uring_sqe *sqe = ring_sqe(&f->ring);
    io_uring_prep_close_direct(sqe, (unsigned)f->slot);
    ring_tag(sqe, f->kind, OP_CLOSE, f);
    shutdown(f->listener, SHUT_RDWR);
    CHECK(ring_finish(&f->ring));
    CHECK(!f->accepting && !f->receiving);
    close(f->listener);
    CHECK_INT(f->buffers.lent, 0);
    bufring_fini(&f->buffers);
    ring_fini(&f->ring);
}

/* Bytes 0, 1, ... 255, 0, ... going on where the last call ended. */
static void send_pattern(struct fixture *f, size_t from, size_t len)
{
    uint8_t chunk[4096];
    while (len) {
        const size_t n = len < sizeof chunk ? len : sizeof chunk;
        for (size_t i = 0; i < n; i++)
            chunk[i] = (uint8_t)(from + i);
        CHECK_INT(send(f->peer, chunk, n, 0), n);
        from += n;
        len -= n;
    }
}

static void turn_until_received(struct fixture *f, size_t len)
{
    while (f->received < len)
        CHECK_INT(ring_turn(&f->ring, TIMER_NEVER), 0);
    CHECK_INT(f->received, len);
}

TEST(bytes_arrive_in_order_through_few_buffers)
{
    static struct fixture f;
    setup(&f, 4, 512);
    size_t sent = 0;
    for (unsigned i = 0; i < 200; i++) {
        send_pattern(&f, sent, 1 + i * 37 % 3000);
        sent += 1 + i * 37 % 3000;
        if (i % 5 == 0)
            turn_until_received(&f, sent);
    }
    turn_until_received(&f, sent);
    teardown(&f);
}

TEST(defaults_come_from_the_limits)
{
    static struct fixture f;
    setup(&f, 0, 0);
    CHECK_INT(f.buffers.count, BUFRING_COUNT);
    CHECK_INT(f.buffers.bytes, BUFRING_BYTES);
    send_pattern(&f, 0, 100000);
    turn_until_received(&f, 100000);
    CHECK_INT(f.buffers.exhausted, 0);
    teardown(&f);
}

/* While all buffers are held there is no receive and no spinning; each one given back lets some bytes
 * through. */
TEST(exhaustion_waits_for_a_buffer)
{
    static struct fixture f;
    enum { COUNT = 4, BYTES = 256, TOTAL = 64 * BYTES };
    setup(&f, COUNT, BYTES);
    f.hold = true;
    send_pattern(&f, 0, TOTAL);
    turn_until_received(&f, COUNT * BYTES);
    while (f.receiving)
        CHECK_INT(ring_turn(&f.ring, TIMER_NEVER), 0);
    CHECK_INT(f.buffers.lent, COUNT);
    CHECK_INT(f.buffers.exhausted, 1);
    const uint64_t enters = f.ring.stats.enters;
    CHECK_INT(ring_turn(&f.ring, 5 * CLOCK_NS_PER_MS), 0);
    CHECK_INT(f.ring.stats.enters, enters + 1);
    CHECK_INT(f.woken, 0);
    /* One at a time: taken again at once, and the receive ends again for want of another. */
    for (unsigned round = 1; round <= 20; round++) {
        bufring_recycle(&f.buffers, f.held[--f.held_count]);
        turn_until_received(&f, (COUNT + round) * BYTES);
        while (f.receiving)
            CHECK_INT(ring_turn(&f.ring, TIMER_NEVER), 0);
        CHECK_INT(f.woken, round);
        CHECK_INT(f.buffers.exhausted, 1 + round);
    }
    f.hold = false;
    while (f.held_count)
        bufring_recycle(&f.buffers, f.held[--f.held_count]);
    turn_until_received(&f, TOTAL);
    teardown(&f);
}

TEST(a_cancelled_waiter_is_not_called)
{
    static struct fixture f;
    struct bufring_waiter others[2] = {{.on_buffer = on_buffer}, {.on_buffer = on_buffer}};
    setup(&f, 2, 256);
    f.hold = true;
    send_pattern(&f, 0, 512);
    turn_until_received(&f, 512);
    bufring_wait(&f.buffers, &others[0]);
    bufring_wait(&f.buffers, &others[1]);
    bufring_wait_cancel(&f.buffers, &others[1]);
    bufring_wait_cancel(&f.buffers, &others[1]);
    bufring_wait_cancel(&f.buffers, &others[0]);
    f.hold = false;
    while (f.held_count)
        bufring_recycle(&f.buffers, f.held[--f.held_count]);
    CHECK_INT(ring_turn(&f.ring, 0), 0);
    CHECK_INT(f.woken, 0);
    CHECK(!f.buffers.waiters && f.buffers.waiters_end == &f.buffers.waiters);
    teardown(&f);
}
