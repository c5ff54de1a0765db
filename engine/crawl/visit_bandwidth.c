/* How a visit is charged for its bytes under net.bandwidth, and how it waits: between two requests (WAITING), or in the
 * middle of a body that exceeds the cap, which is put on hold (FETCHING). */
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "lockfree/clock.h"

void visit_reserve(struct visit *visit)
{
    struct visits *visits = visit->visits;
    if (visits->tuning->live.net.bandwidth_bytes && !visit->reserved_ns)
        visit->reserved_ns = bandwidth_charge(visits->bandwidth, visits->tuning->live.net.bandwidth_bytes,
                                              visits->bytes_usual, clock_now_ns());
}

void visit_settle(struct visit *visit)
{
    if (!visit->reserved_ns)
        return;
    visits_charge(visit->visits, clock_now_ns());
    bandwidth_refund(visit->visits->bandwidth, visit->reserved_ns);
    visit->reserved_ns = 0;
}

void visit_join_line(struct visits_line *line, struct visit *visit)
{
    visit->next = NULL;
    visit->last = line->last;
    *(line->last ? &line->last->next : &line->first) = visit;
    line->last = visit;
}

void visit_leave_line(struct visits_line *line, struct visit *visit)
{
    *(visit->last ? &visit->last->next : &line->first) = visit->next;
    *(visit->next ? &visit->next->last : &line->last) = visit->last;
}

void visit_hold(struct visit *visit)
{
    struct visits *visits = visit->visits;
    uint64_t now_ns = clock_now_ns();
    visits_charge(visits, now_ns);
    visit_settle(visit); /* what comes from here on is charged as it does */
    if (visit->is_on_hold || visits_have_bandwidth(visits, now_ns + BANDWIDTH_HOLD_NS) ||
        !conn_hold(&visit->conn))
        return;
    visit->is_on_hold = true;
    visit_join_line(&visits->on_hold, visit);
}

void visit_end_hold(struct visit *visit)
{
    if (visit->is_on_hold)
        visit_leave_line(&visit->visits->on_hold, visit);
    visit->is_on_hold = false;
}

void visit_receive_on(struct visit *visit)
{
    visit_end_hold(visit);
    conn_resume(&visit->conn);
}
