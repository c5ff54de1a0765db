/* What the files of conn share with each other; nobody else includes it.
 *
 *   conn.c         the states and their edges, from a name to a ready connection, time-outs
 *   conn_stream.c  bytes in and out, through TLS or not, and the exchange made of them
 *   conn_hold.c    a response that its owner holds up
 *   conn_rate.c    how fast a response comes
 *   conn_close.c   the only way out
 *   conn_loop.c    what a loop's connections share, and its resolver's descriptor */
#pragma once

#include "net/conn.h"

/* The one function that assigns conn->state. */
void conn_enter(struct conn *conn, enum conn_state state);

/* Sets the end of a phase that lasts `ms` (0: no end) from now_ns; the end of the exchange stays in force. */
void conn_limit_phase(struct conn *conn, uint32_t ms, uint64_t now_ns);

/* Connected, and TLS done if it was asked for. */
void conn_become_ready(struct conn *conn);

/* The chain that connects is over. */
void conn_on_connected(struct conn *conn, int32_t result);
/* Ends what the kernel holds for the connection: to close it, or to give up one of several addresses. */
void conn_shut_down(struct conn *conn);
void conn_on_shut_down(struct conn *conn, int32_t result);

void conn_begin_tls(struct conn *conn);
void conn_receive(struct conn *conn);
void conn_on_received(struct conn *conn, const struct ring_event *event);
void conn_on_buffer(struct bufring_waiter *waiter);
/* Hands to the kernel what has to go out, unless it still holds a send. */
void conn_flush(struct conn *conn);
void conn_on_sent(struct conn *conn, int32_t result);

/* The owner has called conn_hold, and its event is over. */
void conn_begin_hold(struct conn *conn);

/* A response begins. */
void conn_rate_begin(struct conn_rate *rate, uint64_t now_ns);
/* Counts what came, and once per window judges it: false if that was below the floor. */
bool conn_rate_count(struct conn_rate *rate, size_t len, const struct conn_limits *limits, uint64_t now_ns);

/* The kernel still holds something of a closing connection. */
void conn_insist(struct conn *conn);
/* A completion of a closing connection, whose bit is already cleared. */
void conn_on_join(struct conn *conn, enum conn_op op);
void conn_join(struct ring_task *task);

/* Polls the resolver while it is busy. */
void conn_loop_watch(struct conn_loop *loop);
