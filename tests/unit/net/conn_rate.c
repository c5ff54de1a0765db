#include "lockfree/clock.h"
#include "net/conn_parts.h"
#include "tests/support/check.h"

enum { RATE_MIN = 64 };

static const struct conn_limits limits = {.rate_min = RATE_MIN, .rate_window_ms = CONN_RATE_WINDOW_MS};
static struct conn_loop loop;
static struct conn conn;

static uint64_t at(double seconds)
{
    return CLOCK_NS_PER_S + (uint64_t)(seconds * CLOCK_NS_PER_S);
}

/* The first bytes of a response come at second 0. */
static void begin(enum conn_state state, size_t len)
{
    loop = (struct conn_loop){.limits = limits};
    conn = (struct conn){.loop = &loop, .state = (uint8_t)state, .times = {.first_byte_ns = at(0)}};
    conn_rate_begin(&conn.rate, at(0));
    CHECK(conn_rate_count(&conn.rate, len, &limits, at(0)));
}

static bool count(size_t len, double seconds)
{
    return conn_rate_count(&conn.rate, len, &limits, at(seconds));
}

TEST(the_floor_is_judged_once_per_window)
{
    begin(CONN_BODY, 1);
    CHECK(count(1, 5));
    CHECK(!count(1, 10));
    begin(CONN_BODY, RATE_MIN * 10);
    CHECK(count(1, 10));
    CHECK(count(1, 19.9)); /* what came in the first window does not count for the second */
    CHECK(!count(1, 20));
}

/* A loop that was stopped for an hour has not asked its servers to send for an hour. */
TEST(a_long_gap_is_our_own)
{
    begin(CONN_BODY, 1);
    CHECK(count(RATE_MIN * CONN_RATE_GAP_MS_MAX / 1000, 3600));
}

TEST(who_drips_is_slow_after_seconds_in_head_and_body)
{
    const enum conn_state states[] = {CONN_HEAD, CONN_BODY};
    for (int i = 0; i < 2; i++) {
        begin(states[i], 1);
        CHECK(!conn_is_slow(&conn, at(2.9)));
        CHECK(conn_is_slow(&conn, at(3.1)));
        CHECK(count(1, 5));
        CHECK(conn_is_slow(&conn, at(5)));
    }
}

/* Much at first and then hardly anything: the first does not pay for the rest. */
TEST(nobody_pays_far_ahead)
{
    begin(CONN_BODY, 1 << 20);
    CHECK(!conn_is_slow(&conn, at(2.9)));
    CHECK(conn_is_slow(&conn, at(3.1)));
}

TEST(who_is_faster_than_the_floor_is_never_slow)
{
    begin(CONN_BODY, 1);
    for (int second = 1; second < 60; second++) {
        CHECK(count(RATE_MIN + 1, second));
        CHECK(!conn_is_slow(&conn, at(second + 0.9)));
    }
}

TEST(who_has_nothing_to_send_is_not_slow)
{
    begin(CONN_READY, 1);
    CHECK(!conn_is_slow(&conn, at(60)));
    begin(CONN_HEAD, 1);
    conn.times.first_byte_ns = 0;
    CHECK(!conn_is_slow(&conn, at(60)));
    begin(CONN_BODY, 1);
    loop.limits.rate_min = 0; /* no floor */
    CHECK(!conn_is_slow(&conn, at(60)));
}
