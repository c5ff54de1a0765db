/* What a visit is charged for, and the lines in which visits wait: with connections that only look like some. */
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

enum { RATE = 1000, USUAL_BYTES = 20000 };

static struct tuning tuning;
static struct conn_loop conns;
static struct bandwidth bandwidth;
static struct visits visits;
static struct visit one, two, three;

static void begin(uint64_t rate)
{
    tuning_init(&tuning);
    tuning.live.net.bandwidth_bytes = rate;
    memset(&conns, 0, sizeof conns);
    lf_store(&bandwidth.paid_ns, 0, relaxed);
    visits = (struct visits){
        .tuning = &tuning, .conns = &conns, .bandwidth = &bandwidth, .bytes_usual = USUAL_BYTES};
    one = two = three = (struct visit){.visits = &visits, .conn = {.state = CONN_BODY}};
}

/* Whether what was paid for lasts for `seconds` from now on, give or take some. */
static bool is_paid_for(unsigned seconds)
{
    uint64_t paid_ns = lf_load(&bandwidth.paid_ns, relaxed), now_ns = clock_now_ns();
    return paid_ns < now_ns + seconds * CLOCK_NS_PER_S + CLOCK_NS_PER_S / 10 &&
           paid_ns + 5 * CLOCK_NS_PER_S > now_ns + seconds * CLOCK_NS_PER_S;
}

TEST(a_usual_page_is_charged_in_advance_once)
{
    begin(RATE);
    visit_reserve(&one);
    CHECK_INT(one.reserved_ns, USUAL_BYTES / RATE * CLOCK_NS_PER_S);
    CHECK(is_paid_for(20));
    visit_reserve(&one); /* for the request that follows the connection */
    CHECK(is_paid_for(20));
    visit_reserve(&two);
    CHECK(is_paid_for(40));
}

TEST(the_advance_is_given_back_for_what_has_come)
{
    begin(RATE);
    visit_reserve(&one);
    conns.stats.bytes_received = 7000;
    visit_settle(&one);
    CHECK_INT(one.reserved_ns, 0);
    CHECK(is_paid_for(7));
    visit_settle(&one); /* nothing is reserved any more */
    CHECK(is_paid_for(7));
    CHECK_INT(visits.bytes_charged, 7000);
}

TEST(without_a_cap_nothing_is_charged)
{
    begin(0);
    visit_reserve(&one);
    CHECK_INT(one.reserved_ns, 0);
    conns.stats.bytes_received = 7000;
    visit_settle(&one);
    CHECK_INT(lf_load(&bandwidth.paid_ns, relaxed), 0);
}

/* A reload may lift the cap in between: the advance is in nanoseconds, so it can be given back all the same. */
TEST(an_advance_outlives_its_cap)
{
    begin(RATE);
    visit_reserve(&one);
    tuning.live.net.bandwidth_bytes = 0;
    visit_settle(&one);
    CHECK_INT(one.reserved_ns, 0);
    CHECK(is_paid_for(0));
}

TEST(a_line_keeps_its_order)
{
    struct visits_line line = {NULL, NULL};
    begin(RATE);
    visit_join_line(&line, &one);
    CHECK(line.first == &one && line.last == &one);
    visit_join_line(&line, &two);
    visit_join_line(&line, &three);
    CHECK(line.first == &one && one.next == &two && two.next == &three && !three.next);
    CHECK(line.last == &three && three.last == &two && two.last == &one && !one.last);
}

TEST(a_visit_leaves_its_line_at_either_end_and_within)
{
    struct visits_line line = {NULL, NULL};
    begin(RATE);
    visit_join_line(&line, &one);
    visit_join_line(&line, &two);
    visit_join_line(&line, &three);
    visit_leave_line(&line, &two);
    CHECK(one.next == &three && three.last == &one);
    visit_leave_line(&line, &three);
    CHECK(line.first == &one && line.last == &one && !one.next);
    visit_join_line(&line, &two);
    visit_leave_line(&line, &one);
    CHECK(line.first == &two && line.last == &two && !two.last);
    visit_leave_line(&line, &two);
    CHECK(!line.first && !line.last);
}

/* Most pages are shorter than what is tolerated. The advance ends with the first piece all the same. */
TEST(a_body_within_the_rate_is_not_held_up)
{
    begin(RATE);
    visit_reserve(&one);
    conns.stats.bytes_received = RATE * (BANDWIDTH_CREDIT_NS + BANDWIDTH_HOLD_NS / 2) / CLOCK_NS_PER_S;
    visit_hold(&one);
    CHECK(!one.is_on_hold && !visits.on_hold.first);
    CHECK_INT(one.reserved_ns, 0);
    CHECK(is_paid_for(0));
}

TEST(a_visit_is_on_hold_once)
{
    begin(RATE);
    conns.stats.bytes_received = 90 * RATE;
    visit_hold(&one);
    CHECK(one.is_on_hold && one.conn.is_on_hold);
    conns.stats.bytes_received = 100 * RATE;
    visit_hold(&one);
    CHECK(visits.on_hold.first == &one && visits.on_hold.last == &one && !one.next);
    CHECK(is_paid_for(100)); /* what was on its way is charged */
    two.conn.state = CONN_HEAD; /* cannot be put on hold */
    visit_hold(&two);
    CHECK(!two.is_on_hold && visits.on_hold.last == &one);
    visit_end_hold(&one);
    CHECK(!one.is_on_hold && !visits.on_hold.first);
    visit_end_hold(&one);
    CHECK(!visits.on_hold.first && !visits.on_hold.last);
}
