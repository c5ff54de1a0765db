/* What conn.c and conn_close.c have in common. */
#pragma once

#include "tools/websim/conn.h"

/* In conn.c. */
void websim_conn_set_state(struct websim_conn *conn, enum websim_conn_state state);
void websim_conn_begin_op(struct websim_conn *conn, struct io_uring_sqe *sqe, enum websim_conn_op op);
/* Writes a line of the journal about the answer, if there is one. */
void websim_conn_record(struct websim_conn *conn, enum websim_event event, uint64_t time_ns);
/* The connect, once: when we accepted it, or `time_ns` if that was earlier. */
void websim_conn_record_open(struct websim_conn *conn, uint64_t time_ns);

/* In conn_close.c. */
/* Once, after the answer that was cut short if one was. */
void websim_conn_record_close(struct websim_conn *conn, uint64_t time_ns);
void websim_conn_begin_shutdown(struct websim_conn *conn, int how);
/* Anything that is not closing yet. */
void websim_conn_close_begin(struct websim_conn *conn);
void websim_conn_reset_begin(struct websim_conn *conn);
void websim_conn_on_moment(struct websim_conn *conn, int fd);
/* Closes the descriptor if no operation is left. */
void websim_conn_join(struct websim_conn *conn);
void websim_conn_on_closed(struct websim_conn *conn);
