/* A response that its owner holds up: the kernel is not asked for more of it, so that its bytes stay with the server.
 * Time-outs and the floor on the rate stand still meanwhile, for it is not the server who is slow. */
#include <assert.h>

#include "lockfree/clock.h"
#include "net/conn_parts.h"

bool conn_hold(struct conn *conn)
{
    if (conn->state != CONN_BODY || conn->held & CONN_OP_RECEIVE)
        return false;
    conn->is_on_hold = true;
    return true;
}

void conn_begin_hold(struct conn *conn)
{
    assert(conn->is_on_hold && conn->state == CONN_BODY);
    conn->hold_ns = clock_now_ns();
    timer_cancel(&conn->loop->ring->timers, &conn->timer);
}

void conn_resume(struct conn *conn)
{
    if (!conn->is_on_hold)
        return;
    const uint64_t now_ns = clock_now_ns(), waited_ns = now_ns - conn->hold_ns;
    conn->is_on_hold = false;
    conn->hold_time_ns += waited_ns;
    conn->rate.since_ns += waited_ns;
    conn->rate.paid_until_ns += waited_ns;
    if (conn->exchange_ends_ns != TIMER_NEVER)
        conn->exchange_ends_ns += waited_ns;
    conn_limit_phase(conn, conn->loop->limits.silence_ms, now_ns);
    conn_receive(conn);
}
