#include "tools/websim/loop.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "tools/websim/conn.h"
#include "tools/websim/dns.h"

/* Receive buffers: requests are short, and a pool that stays in the cache is faster. */
#define RECEIVE_BYTES 4096
#define RECEIVE_COUNT 512
/* Datagrams taken from the socket at a time. */
#define DNS_BATCH 64
/* A reply's buffer beyond this is given back to the system with the reply. */
#define REPLY_BYTES_KEPT (256 * 1024)
/* Connection numbers of different threads must differ in the journal. */
#define ID_SHIFT 28

struct websim_reply *websim_reply_acquire(struct websim_loop *loop)
{
    struct websim_reply *reply = loop->free_replies;
    if (reply) {
        loop->free_replies = reply->next;
        return reply;
    }
    reply = calloc(1, sizeof *reply);
    if (!reply) {
        fprintf(stderr, "websim serve: no memory for a reply\n");
        exit(WEBSIM_EXIT_FAILED);
    }
    return reply;
}

void websim_reply_equip(struct websim_loop *loop, struct websim_reply *reply)
{
    if (!reply->answer.bytes.data && loop->spare_buffer_count)
        reply->answer.bytes = loop->spare_buffers[--loop->spare_buffer_count];
}

void websim_reply_release(struct websim_loop *loop, struct websim_reply *reply)
{
    if (reply->answer.bytes.capacity > REPLY_BYTES_KEPT || loop->spare_buffer_count == WEBSIM_LOOP_BUFFERS)
        websim_buffer_fini(&reply->answer.bytes);
    else if (reply->answer.bytes.data)
        loop->spare_buffers[loop->spare_buffer_count++] = reply->answer.bytes;
    reply->answer.bytes = (struct websim_buffer){0};
    reply->next = loop->free_replies;
    loop->free_replies = reply;
}

static void on_journal(void *owner, const struct ring_event *event)
{
    struct websim_loop *loop = owner;
    loop->spare_busy = false;
    if (event->result < 0)
        loop->journal_error = -event->result;
}

/* Writes the block that is full: by the ring, or at once if the other block is still being written. */
static void flush_records(struct websim_loop *loop, bool at_once)
{
    struct websim_journal *journal = &loop->shared->journal;
    size_t bytes = loop->record_count * sizeof *loop->records;
    /* Each thread gets a stretch of the file of its own: no order is needed. */
    uint64_t offset = lf_fetch_add(&journal->offset, bytes, relaxed);
    loop->record_count = 0;
    if (at_once || loop->spare_busy) {
        if (pwrite(journal->fd, loop->records, bytes, (off_t)offset) != (ssize_t)bytes)
            loop->journal_error = errno ? errno : EIO;
        return;
    }
    struct websim_record *full = loop->records;
    loop->records = loop->records_spare;
    loop->records_spare = full;
    loop->spare_busy = true;
    struct io_uring_sqe *sqe = ring_sqe(&loop->ring);
    io_uring_prep_write(sqe, journal->fd, full, (unsigned)bytes, offset);
    ring_tag(sqe, loop->kind_journal, 0, NULL);
}

void websim_loop_record(struct websim_loop *loop, const struct websim_record *record)
{
    if (!loop->shared->has_journal)
        return;
    loop->records[loop->record_count++] = *record;
    if (loop->record_count == WEBSIM_LOOP_RECORDS)
        flush_records(loop, false);
}

static void arm_accept(struct websim_loop *loop, struct websim_listener *listener, int slot)
{
    struct io_uring_sqe *sqe = ring_sqe(&loop->ring);
    io_uring_prep_accept_direct(sqe, listener->fd, NULL, NULL, 0, (unsigned)slot);
    ring_tag(sqe, loop->kind_accept, (uint8_t)(listener - loop->listeners), &loop->conns[slot]);
    listener->accepts++;
}

/* As many accepts as are wanted and slots are free. */
static void arm_accepts(struct websim_loop *loop)
{
    for (unsigned i = 0; i < loop->listener_count && !loop->stopping; i++) {
        struct websim_listener *listener = &loop->listeners[i];
        int slot;
        while (listener->accepts < listener->accepts_most && (slot = ring_slot_acquire(&loop->ring)) >= 0)
            arm_accept(loop, listener, slot);
    }
}

static void on_accept(void *owner, const struct ring_event *event)
{
    struct websim_loop *loop = owner;
    struct websim_listener *listener = &loop->listeners[event->detail];
    struct websim_conn *conn = event->object;
    listener->accepts--;
    if (event->result >= 0) {
        websim_conn_open(conn, listener->protocol);
    } else {
        ring_slot_release(&loop->ring, (int)conn->slot);
        loop->stats.accept_errors += event->result != -ECANCELED;
    }
    arm_accepts(loop);
}

void websim_loop_on_free(struct websim_loop *loop, uint32_t slot)
{
    ring_slot_release(&loop->ring, (int)slot);
    arm_accepts(loop);
}

void websim_loop_listen(struct websim_loop *loop, int fd, enum websim_protocol protocol, unsigned accepts)
{
    assert(loop->listener_count < WEBSIM_LISTENERS_MAX);
    loop->listeners[loop->listener_count++] =
        (struct websim_listener){.fd = fd, .protocol = protocol, .accepts_most = accepts};
    arm_accepts(loop);
}

static void arm_poll(struct websim_loop *loop, int fd, uint8_t kind)
{
    struct io_uring_sqe *sqe = ring_sqe(&loop->ring);
    io_uring_prep_poll_multishot(sqe, fd, POLLIN);
    ring_tag(sqe, kind, 0, NULL);
}

static void on_stop(void *owner, const struct ring_event *event)
{
    struct websim_loop *loop = owner;
    if (event->result > 0)
        loop->stopping = true;
}

/* Answers the datagrams that are there; false if there were none. */
static bool answer_datagrams(struct websim_loop *loop)
{
    static _Thread_local char queries[DNS_BATCH][WEBSIM_DNS_BYTES_MAX],
        answers[DNS_BATCH][WEBSIM_DNS_BYTES_MAX];
    struct sockaddr_in peers[DNS_BATCH];
    struct iovec in[DNS_BATCH], out[DNS_BATCH];
    struct mmsghdr messages[DNS_BATCH] = {0};
    for (unsigned i = 0; i < DNS_BATCH; i++) {
        in[i] = (struct iovec){queries[i], sizeof queries[i]};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &peers[i], .msg_namelen = sizeof peers[i], .msg_iov = &in[i], .msg_iovlen = 1};
    }
    int got = recvmmsg(loop->dns_fd, messages, DNS_BATCH, MSG_DONTWAIT, NULL);
    unsigned count = 0;
    for (int i = 0; i < got; i++) {
        size_t len = websim_dns_answer(&loop->shared->web, (struct slice){queries[i], messages[i].msg_len},
                                       answers[i]);
        out[count] = (struct iovec){answers[i], len};
        messages[count].msg_hdr = messages[i].msg_hdr;
        messages[count].msg_hdr.msg_iov = &out[count];
        count += len > 0;
    }
    if (got > 0)
        loop->stats.dns_queries += (unsigned)got;
    /* What the socket does not take is lost, as datagrams may be. */
    if (count)
        (void)!sendmmsg(loop->dns_fd, messages, count, MSG_DONTWAIT);
    return got > 0;
}

static void on_dns(void *owner, const struct ring_event *event)
{
    struct websim_loop *loop = owner;
    while (event->result > 0 && answer_datagrams(loop))
        ;
    if (!(event->flags & IORING_CQE_F_MORE) && !loop->stopping)
        arm_poll(loop, loop->dns_fd, loop->kind_dns);
}

static void on_cancel(void *owner, const struct ring_event *event)
{
    (void)owner;
    (void)event;
}

static bool allocate(struct websim_loop *loop)
{
    size_t block = WEBSIM_LOOP_RECORDS * sizeof *loop->records;
    loop->conns = malloc(loop->connections_max * sizeof *loop->conns);
    loop->answerer.encoder = websim_encoder_create();
    if (loop->shared->has_journal) {
        loop->records = malloc(block);
        loop->records_spare = malloc(block);
    }
    return loop->conns && loop->answerer.encoder &&
           (!loop->shared->has_journal || (loop->records && loop->records_spare));
}

static int fail(const char *what, int error)
{
    fprintf(stderr, "websim serve: %s\n", what);
    return error;
}

int websim_loop_init(struct websim_loop *loop, const struct websim_loop_options *options)
{
    struct ring_options ring = {.slots = options->connections, .cpu = options->cpu};
    struct bufring_options buffers = {.count = RECEIVE_COUNT, .bytes = RECEIVE_BYTES};
    struct websim_shared *shared = options->shared;
    memset(loop, 0, sizeof *loop);
    loop->shared = shared;
    loop->connections_max = options->connections;
    loop->next_id = options->number << ID_SHIFT;
    loop->stop_fd = options->stop_fd;
    loop->dns_fd = options->dns_fd;
    loop->receive_form.msg_controllen = shared->has_journal ? WEBSIM_MOMENT_CONTROL_BYTES : 0;
    loop->answerer =
        (struct websim_answerer){.web = &shared->web, .text = &shared->text, .bomb = shared->bomb};
    int error = ring_init(&loop->ring, &ring);
    if (error < 0)
        return fail(loop->ring.error, error);
    error = bufring_init(&loop->buffers, &loop->ring, 0, &buffers);
    if (error < 0)
        return fail("cannot set up receive buffers", error);
    if (!allocate(loop))
        return fail("no memory for connections", -ENOMEM);
    for (uint32_t i = 0; i < loop->connections_max; i++)
        websim_conn_init(&loop->conns[i], loop, i);
    loop->kind_accept = ring_register(&loop->ring, on_accept, loop);
    loop->kind_conn = ring_register(&loop->ring, websim_conn_on_event, loop);
    loop->kind_dns = ring_register(&loop->ring, on_dns, loop);
    loop->kind_stop = ring_register(&loop->ring, on_stop, loop);
    loop->kind_cancel = ring_register(&loop->ring, on_cancel, loop);
    loop->kind_journal = ring_register(&loop->ring, on_journal, loop);
    arm_poll(loop, loop->stop_fd, loop->kind_stop);
    if (loop->dns_fd >= 0)
        arm_poll(loop, loop->dns_fd, loop->kind_dns);
    return 0;
}

static void cancel(struct websim_loop *loop, int fd)
{
    struct io_uring_sqe *sqe = ring_sqe(&loop->ring);
    io_uring_prep_cancel_fd(sqe, fd, IORING_ASYNC_CANCEL_ALL);
    ring_tag(sqe, loop->kind_cancel, 0, NULL);
}

/* Ends what waits without end: accepts and polls. */
static void cancel_endless(struct websim_loop *loop)
{
    for (unsigned i = 0; i < loop->listener_count; i++)
        cancel(loop, loop->listeners[i].fd);
    cancel(loop, loop->stop_fd);
    if (loop->dns_fd >= 0)
        cancel(loop, loop->dns_fd);
}

int websim_loop_run(struct websim_loop *loop)
{
    int error = 0;
    while (!loop->stopping && error == 0)
        error = ring_turn(&loop->ring, TIMER_NEVER);
    cancel_endless(loop);
    for (uint32_t i = 0; i < loop->connections_max; i++)
        websim_conn_abandon(&loop->conns[i]);
    if (error == 0 && !ring_finish(&loop->ring))
        error = -ETIMEDOUT;
    if (loop->record_count)
        flush_records(loop, true);
    return error ? error : -loop->journal_error;
}

void websim_loop_fini(struct websim_loop *loop)
{
    while (loop->free_replies) {
        struct websim_reply *reply = loop->free_replies;
        loop->free_replies = reply->next;
        free(reply);
    }
    while (loop->spare_buffer_count)
        websim_buffer_fini(&loop->spare_buffers[--loop->spare_buffer_count]);
    bufring_fini(&loop->buffers);
    ring_fini(&loop->ring);
    websim_encoder_destroy(loop->answerer.encoder);
    websim_buffer_fini(&loop->answerer.plain);
    websim_buffer_fini(&loop->answerer.packed);
    free(loop->conns);
    free(loop->records);
    free(loop->records_spare);
}
