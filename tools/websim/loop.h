/* One serving thread: a ring, its listeners, its connections, its page of the journal. */
#pragma once

#include "net/bufring.h"
#include "net/ring.h"
#include "tools/websim/answer.h"
#include "tools/websim/journal.h"
#include "tools/websim/limit.h"
#include "tools/websim/moment.h"

struct websim_conn;
struct websim_reply;
struct websim_tls;

enum websim_protocol {
    WEBSIM_PROTOCOL_HTTP,
    WEBSIM_PROTOCOL_HTTPS,
    WEBSIM_PROTOCOL_DNS,
};

/* One per protocol. */
#define WEBSIM_LISTENERS_MAX 3

/* A listening socket, shared by all threads. Each accept that waits on it has a slot of its own, so that none
 * is accepted that has no place; a thread whose slots are all taken leaves the others to accept. */
struct websim_listener {
    int fd;
    enum websim_protocol protocol;
    unsigned accepts, accepts_most; /* that wait */
};

/* What all threads share. */
struct websim_shared {
    struct websim_web web;
    struct websim_text text;
    struct slice bomb;
    struct websim_limits limits;
    struct websim_journal journal;
    struct websim_tls *tls; /* NULL without https */
    bool has_journal;
};

struct websim_loop_stats {
    uint64_t connections, requests, ends, aborts, bytes, dns_queries, accept_errors;
    uint64_t open, open_most;
};

struct websim_loop_options {
    struct websim_shared *shared;
    unsigned number;      /* of the thread */
    unsigned connections; /* at most, at a time */
    int cpu;              /* -1: not pinned */
    int stop_fd;          /* an eventfd: readable when it is time to end */
    int dns_fd;           /* UDP; -1: another thread has it */
};

/* Buffers that are kept for the next replies: as many as one turn has use for. */
#define WEBSIM_LOOP_BUFFERS 256

/* Records of 24 bytes: two blocks of 768 KiB. */
#define WEBSIM_LOOP_RECORDS 32768

struct websim_loop {
    struct ring ring;
    struct bufring buffers;
    struct websim_shared *shared;
    struct websim_answerer answerer;
    struct websim_conn *conns;
    struct websim_reply *free_replies;
    struct websim_buffer spare_buffers[WEBSIM_LOOP_BUFFERS]; /* of replies that are out */
    unsigned spare_buffer_count;
    unsigned connections_max;
    uint32_t next_id;
    struct msghdr receive_form; /* what every receive is to tell beside the bytes */
    struct websim_moment_clock clock;
    uint8_t kind_accept, kind_conn, kind_dns, kind_stop, kind_journal, kind_cancel;
    int stop_fd, dns_fd;
    bool stopping;
    struct websim_listener listeners[WEBSIM_LISTENERS_MAX];
    unsigned listener_count;
    struct websim_record *records; /* the block that is being filled */
    struct websim_record *records_spare;
    unsigned record_count;
    bool spare_busy;
    int journal_error;
    struct websim_loop_stats stats;
};

/* In the thread that will run it. 0, or a negative errno after one line on stderr. */
int websim_loop_init(struct websim_loop *loop, const struct websim_loop_options *options);
/* `accepts`: how many clients can be accepted in one turn. */
void websim_loop_listen(struct websim_loop *loop, int fd, enum websim_protocol protocol, unsigned accepts);
/* Until stop_fd is readable; then ends all connections. 0 or a negative errno. */
int websim_loop_run(struct websim_loop *loop);
void websim_loop_fini(struct websim_loop *loop);

/* For connections. */
void websim_loop_record(struct websim_loop *loop, const struct websim_record *record);
/* The connection's slot has become free. */
void websim_loop_on_free(struct websim_loop *loop, uint32_t slot);
struct websim_reply *websim_reply_acquire(struct websim_loop *loop);
/* Gives it a buffer for its bytes, one that is warm if there is one. */
void websim_reply_equip(struct websim_loop *loop, struct websim_reply *reply);
void websim_reply_release(struct websim_loop *loop, struct websim_reply *reply);
