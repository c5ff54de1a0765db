/* The cap on a simulated clock: servers that answer after a while, pages of many sizes. */
#include "engine/crawl/bandwidth.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

#define RATE UINT64_C(1000000)

TEST(without_a_rate_everything_is_allowed_and_free)
{
    struct bandwidth bandwidth = {0};
    CHECK_INT(bandwidth_charge(&bandwidth, 0, 1 << 30, CLOCK_NS_PER_S), 0);
    CHECK(bandwidth_allows(&bandwidth, 0, 0));
    CHECK_INT(bandwidth_next_ns(&bandwidth, 0), 0);
}

TEST(bytes_cost_time)
{
    struct bandwidth bandwidth = {0};
    const uint64_t now_ns = 100 * CLOCK_NS_PER_S;
    CHECK(bandwidth_allows(&bandwidth, RATE, now_ns));
    CHECK_INT(bandwidth_charge(&bandwidth, RATE, RATE / 2, now_ns), CLOCK_NS_PER_S / 2);
    CHECK(!bandwidth_allows(&bandwidth, RATE, now_ns));
    uint64_t next_ns = bandwidth_next_ns(&bandwidth, RATE);
    CHECK(next_ns > now_ns + CLOCK_NS_PER_S * 3 / 10 && next_ns <= now_ns + CLOCK_NS_PER_S / 2);
    CHECK(!bandwidth_allows(&bandwidth, RATE, next_ns - 1) && bandwidth_allows(&bandwidth, RATE, next_ns));
}

TEST(what_is_refunded_was_never_charged)
{
    struct bandwidth bandwidth = {0};
    const uint64_t now_ns = 100 * CLOCK_NS_PER_S;
    bandwidth_charge(&bandwidth, RATE, RATE, now_ns);
    uint64_t next_ns = bandwidth_next_ns(&bandwidth, RATE);
    uint64_t cost_ns = bandwidth_charge(&bandwidth, RATE, 12345, now_ns);
    CHECK(bandwidth_next_ns(&bandwidth, RATE) > next_ns);
    bandwidth_refund(&bandwidth, cost_ns);
    CHECK_INT(bandwidth_next_ns(&bandwidth, RATE), next_ns);
}

TEST(a_long_pause_is_not_made_up_for)
{
    struct bandwidth bandwidth = {0};
    bandwidth_charge(&bandwidth, RATE, 1, CLOCK_NS_PER_S);
    const uint64_t now_ns = 1000 * CLOCK_NS_PER_S;
    bandwidth_charge(&bandwidth, RATE, RATE, now_ns);
    CHECK(!bandwidth_allows(&bandwidth, RATE, now_ns + CLOCK_NS_PER_S / 2));
}

/* Requests in flight: when each is over, and what it was charged. */
enum { FLIGHTS = 4096 };
struct flight {
    uint64_t end_ns;
    uint64_t bytes;
    uint64_t cost_ns;
};
static struct flight flights[FLIGHTS];

/* The bytes that arrive in `seconds` from servers that take `latency_ns`, with as many requests as are allowed. */
static uint64_t simulate(uint64_t seconds, uint64_t latency_ns, uint64_t (*size)(unsigned))
{
    struct bandwidth bandwidth = {0};
    uint64_t arrived = 0, expected = 16384;
    unsigned count = 0, made = 0;
    const uint64_t begin_ns = 50 * CLOCK_NS_PER_S, end_ns = begin_ns + seconds * CLOCK_NS_PER_S;
    for (uint64_t now_ns = begin_ns; now_ns < end_ns; now_ns += CLOCK_NS_PER_MS / 4) {
        for (unsigned i = 0; i < count;) {
            if (flights[i].end_ns > now_ns) {
                i++;
                continue;
            }
            arrived += flights[i].bytes;
            expected = (15 * expected + flights[i].bytes) / 16;
            bandwidth_charge(&bandwidth, RATE, flights[i].bytes, now_ns);
            bandwidth_refund(&bandwidth, flights[i].cost_ns);
            flights[i] = flights[--count];
        }
        while (bandwidth_allows(&bandwidth, RATE, now_ns) && count < FLIGHTS)
            flights[count++] =
                (struct flight){.end_ns = now_ns + latency_ns,
                                .bytes = size(made++),
                                .cost_ns = bandwidth_charge(&bandwidth, RATE, expected, now_ns)};
    }
    return arrived;
}

static uint64_t small_pages(unsigned number)
{
    return 2000 + number % 7 * 100;
}

static uint64_t mixed_pages(unsigned number)
{
    return number % 50 == 49 ? 200000 : 1000 + number % 13 * 1500;
}

/* Within 5% over ten seconds; what is still in flight at the end is not counted, a second's worth at most. */
TEST(the_rate_holds_whatever_the_servers_are_like)
{
    const uint64_t latencies_ms[] = {1, 20, 200};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t in_flight = RATE * latencies_ms[i] / 1000;
        uint64_t small = simulate(10, latencies_ms[i] * CLOCK_NS_PER_MS, small_pages);
        uint64_t mixed = simulate(10, latencies_ms[i] * CLOCK_NS_PER_MS, mixed_pages);
        CHECK(small >= 10 * RATE * 95 / 100 - in_flight && small <= 10 * RATE * 105 / 100);
        CHECK(mixed >= 10 * RATE * 95 / 100 - in_flight && mixed <= 10 * RATE * 105 / 100);
    }
}
