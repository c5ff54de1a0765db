/* A connection from a client: one request at a time, the next when the answer is out.
 *
 *              accept            request             last byte, keep
 *      FREE ----------> READING ---------> ANSWERING ----------------> READING
 *        ^                 |                 |    | last byte, close
 *        |          end of |                 |    v
 *        |          input  |                 |  DRAINING (our side is shut, the client's not yet)
 *        |                 v                 v    |
 *        +------------- CLOSING <-----------------+
 *
 *      FREE -> READING       [websim_conn_open]
 *      READING -> ANSWERING  [begin_reply]
 *      ANSWERING -> READING  [finish_reply]
 *      ANSWERING -> DRAINING [finish_reply]
 *      any -> CLOSING        [close_begin]
 *      CLOSING -> FREE       [on_closed]
 *
 *  FREE      no operation in flight, nothing owned
 *  READING   a receive is armed or waits for a buffer; no reply
 *  ANSWERING a reply; it is sent, or its timer runs, or it is held; what comes in meanwhile is kept as input
 *  DRAINING  a reply whose timer bounds the wait for the client's end
 *  CLOSING   operations are being joined; when none is left the descriptor is closed */
#pragma once

#include "tools/websim/loop.h"

enum websim_conn_state {
    WEBSIM_CONN_FREE,
    WEBSIM_CONN_READING,
    WEBSIM_CONN_ANSWERING,
    WEBSIM_CONN_DRAINING,
    WEBSIM_CONN_CLOSING,
};

/* What the kernel holds: a bit each. */
enum websim_conn_op {
    WEBSIM_OP_RECV = 1,
    WEBSIM_OP_SEND = 2,
    WEBSIM_OP_SHUTDOWN = 4,
    WEBSIM_OP_LINGER = 8,
    WEBSIM_OP_CANCEL = 16,
    WEBSIM_OP_CLOSE = 32,
    WEBSIM_OP_ROOM = 64,    /* for more bytes to send */
    WEBSIM_OP_MOMENT = 128, /* when did it end? */
};

/* The input that may wait for an answer: a client that pipelines more is cut off. */
#define WEBSIM_CONN_INPUT_MAX (4 * WEBSIM_REQUEST_BYTES_MAX)

struct websim_conn {
    struct websim_loop *loop;
    struct websim_reply *reply;
    struct websim_buffer *input; /* NULL most of the time */
    struct websim_tls_conn *tls;
    struct bufring_waiter waiter;
    struct slice out;    /* what is being sent and was not taken yet */
    uint64_t sent_ns;    /* when we last gave the kernel something to send */
    uint64_t arrived_ns; /* when the last bytes came */
    uint64_t ended_ns;   /* when the last answer had left, or the connection was accepted */
    uint32_t slot;
    uint32_t id; /* in the journal */
    uint32_t host;
    uint32_t requests;
    uint32_t limit_slot;
    uint8_t state, ops, protocol;
    bool has_host : 1, over_limit : 1, open_recorded : 1, close_recorded : 1;
    bool cut_short : 1;    /* the answer in progress */
    bool in_handshake : 1; /* the send in flight is TLS's own */
    bool send_due : 1;     /* the answer waits for it */
};

/* An answer on its way. */
struct websim_reply {
    struct websim_answer answer;
    struct timer timer;
    struct websim_conn *conn;
    size_t sent; /* from answer.begin on */
    struct websim_reply *next;
};

void websim_conn_init(struct websim_conn *conn, struct websim_loop *loop, uint32_t slot);
/* The kernel has put an accepted socket into the connection's slot. */
void websim_conn_open(struct websim_conn *conn, enum websim_protocol protocol);
void websim_conn_on_event(void *loop, const struct ring_event *event);
/* At the end of the loop. */
void websim_conn_abandon(struct websim_conn *conn);
