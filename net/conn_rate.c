#include "lockfree/clock.h"
#include "net/conn_parts.h"

void conn_rate_begin(struct conn_rate *rate, uint64_t now_ns)
{
    *rate = (struct conn_rate){.since_ns = now_ns, .paid_until_ns = now_ns + CONN_SLOW_MS * CLOCK_NS_PER_MS};
}

/* Every byte pays for its time at the lowest rate, and nobody can pay far ahead. */
static void pay(struct conn_rate *rate, size_t len, uint32_t rate_min, uint64_t now_ns)
{
    const uint64_t latest_ns = now_ns + CONN_SLOW_MS * CLOCK_NS_PER_MS;
    if (rate_min)
        rate->paid_until_ns += len * CLOCK_NS_PER_S / rate_min;
    if (rate->paid_until_ns > latest_ns)
        rate->paid_until_ns = latest_ns;
}

bool conn_rate_count(struct conn_rate *rate, size_t len, const struct conn_limits *limits, uint64_t now_ns)
{
    const uint64_t gap_ns_max = CONN_RATE_GAP_MS_MAX * CLOCK_NS_PER_MS;
    uint64_t spent_ns = now_ns - rate->since_ns;
    rate->bytes += len;
    pay(rate, len, limits->rate_min, now_ns);
    if (spent_ns < limits->rate_window_ms * CLOCK_NS_PER_MS)
        return true;
    spent_ns = spent_ns < gap_ns_max ? spent_ns : gap_ns_max;
    const bool is_fast = rate->bytes >= limits->rate_min * spent_ns / CLOCK_NS_PER_S;
    rate->since_ns = now_ns;
    rate->bytes = 0;
    return is_fast;
}

bool conn_is_slow(const struct conn *conn, uint64_t now_ns)
{
    const bool is_coming =
        (conn->state == CONN_HEAD || conn->state == CONN_BODY) && conn->times.first_byte_ns;
    return is_coming && !conn->is_on_hold && conn->loop->limits.rate_min && now_ns > conn->rate.paid_until_ns;
}
