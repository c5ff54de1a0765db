#include "net/timer.h"

#include <stdlib.h>

#include "tests/support/check.h"

#define TICK_NS (UINT64_C(1) << TIMER_TICK_SHIFT)
#define START   (UINT64_C(5000) * TICK_NS + 17)

/* A timer that notes when it fired, for comparison with a model that keeps only the moment. */
struct probe {
    struct timer timer;
    struct timer_wheel *wheel;
    uint64_t expires_ns; /* 0: not armed */
    uint64_t now_ns;     /* of the advance that is running */
    unsigned fired;
    struct probe *victim; /* cancelled when this fires */
};

static void on_expiry(struct timer *timer)
{
    struct probe *probe = (struct probe *)timer;
    CHECK(!timer_is_armed(timer));
    CHECK(probe->expires_ns != 0);
    CHECK(probe->now_ns >= probe->expires_ns);
    probe->fired++;
    probe->expires_ns = 0;
    if (probe->victim)
        timer_cancel(probe->wheel, &probe->victim->timer);
}

static void probe_init(struct probe *probe, struct timer_wheel *wheel)
{
    *probe = (struct probe){.wheel = wheel};
    timer_init(&probe->timer, on_expiry);
}

static void probe_arm(struct probe *probe, uint64_t expires_ns)
{
    probe->expires_ns = expires_ns;
    timer_arm(probe->wheel, &probe->timer, expires_ns);
}

static void advance(struct timer_wheel *wheel, struct probe *probes, size_t count, uint64_t now_ns)
{
    for (size_t i = 0; i < count; i++)
        probes[i].now_ns = now_ns;
    timer_wheel_advance(wheel, now_ns);
}

TEST(fires_at_its_moment_at_every_distance)
{
    for (unsigned shift = 0; shift < 40; shift++) {
        struct timer_wheel wheel;
        struct probe probe;
        const uint64_t expires = START + (UINT64_C(3) << shift);
        timer_wheel_init(&wheel, START);
        probe_init(&probe, &wheel);
        probe_arm(&probe, expires);
        advance(&wheel, &probe, 1, expires - 1);
        CHECK_INT(probe.fired, 0);
        advance(&wheel, &probe, 1, expires + 2 * TICK_NS);
        CHECK_INT(probe.fired, 1);
        CHECK_INT(wheel.armed, 0);
        CHECK(timer_wheel_wait(&wheel, expires) == TIMER_NEVER);
    }
}

/* A loop that sleeps exactly as long as it is told fires every timer within two ticks. */
TEST(wait_leads_to_the_moment)
{
    for (unsigned shift = 0; shift < 40; shift++) {
        struct timer_wheel wheel;
        struct probe probe;
        const uint64_t expires = START + (UINT64_C(5) << shift);
        timer_wheel_init(&wheel, START);
        probe_init(&probe, &wheel);
        probe_arm(&probe, expires);
        uint64_t now = START;
        unsigned sleeps = 0;
        while (!probe.fired) {
            const uint64_t wait = timer_wheel_wait(&wheel, now);
            CHECK(wait != TIMER_NEVER);
            now += wait;
            advance(&wheel, &probe, 1, now);
            CHECK(++sleeps <= TIMER_LEVELS + 1);
        }
        CHECK(now < expires + 2 * TICK_NS);
    }
}

TEST(the_past_fires_at_the_next_tick)
{
    struct timer_wheel wheel;
    struct probe probe;
    timer_wheel_init(&wheel, START);
    probe_init(&probe, &wheel);
    probe_arm(&probe, 1);
    CHECK(timer_wheel_wait(&wheel, START) <= TICK_NS);
    advance(&wheel, &probe, 1, START + TICK_NS);
    CHECK_INT(probe.fired, 1);
}

TEST(the_end_of_time_can_be_armed)
{
    struct timer_wheel wheel;
    struct probe probe;
    timer_wheel_init(&wheel, START);
    probe_init(&probe, &wheel);
    probe_arm(&probe, UINT64_MAX - 1);
    advance(&wheel, &probe, 1, UINT64_C(1) << 62);
    CHECK_INT(probe.fired, 0);
    CHECK(timer_is_armed(&probe.timer));
    timer_cancel(&wheel, &probe.timer);
    CHECK_INT(wheel.armed, 0);
}

TEST(cancelled_does_not_fire)
{
    struct timer_wheel wheel;
    struct probe probe;
    timer_wheel_init(&wheel, START);
    probe_init(&probe, &wheel);
    timer_cancel(&wheel, &probe.timer);
    probe_arm(&probe, START + 100 * TICK_NS);
    timer_cancel(&wheel, &probe.timer);
    CHECK(!timer_is_armed(&probe.timer));
    CHECK(timer_wheel_wait(&wheel, START) == TIMER_NEVER);
    advance(&wheel, &probe, 1, START + 1000 * TICK_NS);
    CHECK_INT(probe.fired, 0);
}

TEST(put_off_fires_once_and_later)
{
    struct timer_wheel wheel;
    struct probe probe;
    timer_wheel_init(&wheel, START);
    probe_init(&probe, &wheel);
    probe_arm(&probe, START + 10 * TICK_NS);
    probe_arm(&probe, START + 500 * TICK_NS);
    advance(&wheel, &probe, 1, START + 499 * TICK_NS);
    CHECK_INT(probe.fired, 0);
    probe_arm(&probe, START + 600 * TICK_NS);
    advance(&wheel, &probe, 1, START + 599 * TICK_NS);
    CHECK_INT(probe.fired, 0);
    advance(&wheel, &probe, 1, START + 601 * TICK_NS);
    CHECK_INT(probe.fired, 1);
}

TEST(brought_forward_fires_earlier)
{
    struct timer_wheel wheel;
    struct probe probe;
    timer_wheel_init(&wheel, START);
    probe_init(&probe, &wheel);
    probe_arm(&probe, START + 100000 * TICK_NS);
    probe_arm(&probe, START + 3 * TICK_NS);
    advance(&wheel, &probe, 1, START + 4 * TICK_NS);
    CHECK_INT(probe.fired, 1);
}

TEST(one_that_fires_may_cancel_its_neighbours)
{
    struct timer_wheel wheel;
    struct probe probes[3];
    timer_wheel_init(&wheel, START);
    for (size_t i = 0; i < 3; i++)
        probe_init(&probes[i], &wheel);
    for (size_t i = 0; i < 3; i++) {
        probes[i].victim = &probes[(i + 1) % 3];
        probe_arm(&probes[i], START + 7 * TICK_NS);
    }
    advance(&wheel, probes, 3, START + 9 * TICK_NS);
    /* Whichever comes first takes one of the others along. */
    CHECK_INT(probes[0].fired + probes[1].fired + probes[2].fired, 2);
    CHECK_INT(wheel.armed, 0);
}

/* Random arming, cancelling and advancing against a list of moments. */
TEST(agrees_with_a_plain_list)
{
    enum { COUNT = 300, STEPS = 30000 };
    static struct probe probes[COUNT];
    struct timer_wheel wheel;
    uint64_t now = START, seed = 42;
    timer_wheel_init(&wheel, now);
    for (size_t i = 0; i < COUNT; i++)
        probe_init(&probes[i], &wheel);
    for (unsigned step = 0; step < STEPS; step++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        struct probe *probe = &probes[(seed >> 33) % COUNT];
        switch ((seed >> 60) % 4) {
        case 0:
        case 1:
            probe_arm(probe, now + ((seed >> 20) & ((UINT64_C(1) << (seed % 36)) - 1)));
            break;
        case 2:
            timer_cancel(&wheel, &probe->timer);
            probe->expires_ns = 0;
            break;
        default:
            now += (seed >> 24) & ((UINT64_C(1) << (seed % 30)) - 1);
            advance(&wheel, probes, COUNT, now);
            uint64_t armed = 0;
            for (size_t i = 0; i < COUNT; i++) {
                armed += probes[i].expires_ns != 0;
                CHECK(probes[i].expires_ns == 0 || probes[i].expires_ns + 2 * TICK_NS > now);
                CHECK_INT(timer_is_armed(&probes[i].timer), probes[i].expires_ns != 0);
            }
            CHECK_INT(wheel.armed, armed);
        }
    }
}
