#include "lockfree/arena.h"
#include "lockfree/wheel.h"
#include "tests/support/check.h"

#define TICK        WHEEL_TICK_NS_DEFAULT
#define EPOCH_TICKS UINT64_C(32768)
#define START       (UINT64_C(123456789) * TICK) /* not at the start of an epoch */

struct fixture {
    struct arena arena;
    struct wheel wheel;
};

static void fixture_init(struct fixture *fixture, struct wheel_options options)
{
    size_t bytes = wheel_bytes(options.chunks_max);
    CHECK_INT(arena_init(&fixture->arena, &(struct arena_options){.bytes = bytes, .small_pages = true}), 0);
    wheel_init(&fixture->wheel, arena_take(&fixture->arena, bytes, 64), &options);
}

static struct fixture fixture;
static struct wheel *const wheel = &fixture.wheel;

static void start(uint32_t chunks_max)
{
    fixture_init(&fixture,
                 (struct wheel_options){.tick_ns = TICK, .now_ns = START, .chunks_max = chunks_max});
}

static void stop(void)
{
    arena_fini(&fixture.arena);
}

TEST(an_empty_wheel_has_nothing_due)
{
    uint32_t id;
    start(10);
    CHECK(wheel_next_due(wheel) == WHEEL_NEVER);
    CHECK(!wheel_pop(wheel, START, &id));
    CHECK(!wheel_pop(wheel, START + 1000000 * TICK, &id));
    CHECK_INT(wheel_count(wheel), 0);
    CHECK_INT(wheel_chunks_used(wheel), 0);
    stop();
}

/* For distances around every border of the levels: the id comes out at its tick and not a nanosecond before,
 * if the wheel is asked at each moment that wheel_next_due names, and so a sleeping loop misses nothing. */
TEST(an_id_comes_at_its_tick_and_never_early)
{
    const uint64_t level1 = 4096 * EPOCH_TICKS;
    const uint64_t distances[] = {1,
                                  2,
                                  63,
                                  64,
                                  65,
                                  4095,
                                  4096,
                                  EPOCH_TICKS,
                                  65535,
                                  65536,
                                  65537,
                                  100000,
                                  level1 - EPOCH_TICKS,
                                  level1 - 1,
                                  level1,
                                  level1 + 1,
                                  3 * level1 + 12345};
    for (unsigned i = 0; i < sizeof distances / sizeof *distances; i++) {
        for (unsigned part = 0; part < 3; part++) {
            uint64_t deadline = START + distances[i] * TICK - (part == 1 ? 1 : part == 2 ? TICK - 1 : 0);
            uint64_t due = START + distances[i] * TICK, now = START;
            uint32_t id = 0;
            start(1);
            CHECK_INT(wheel_insert(wheel, 77, deadline), WHEEL_OK);
            while (wheel_next_due(wheel) < due) {
                CHECK(wheel_next_due(wheel) > now);
                now = wheel_next_due(wheel);
                CHECK(!wheel_pop(wheel, now, &id));
            }
            CHECK(!wheel_pop(wheel, due - 1, &id));
            CHECK_INT(wheel_next_due(wheel), due);
            CHECK(wheel_pop(wheel, due, &id));
            CHECK_INT(id, 77);
            CHECK(!wheel_pop(wheel, due, &id));
            CHECK_INT(wheel_chunks_used(wheel), 0);
            stop();
        }
    }
}

TEST(an_id_is_found_by_one_late_pop)
{
    uint32_t id = 0;
    for (uint64_t distance = 1; distance < UINT64_C(1) << 30; distance = distance * 3 + 1) {
        start(1);
        CHECK_INT(wheel_insert(wheel, 5, START + distance * TICK), WHEEL_OK);
        CHECK(wheel_pop(wheel, START + 2 * distance * TICK, &id) && id == 5);
        CHECK(!wheel_pop(wheel, START + 2 * distance * TICK, &id));
        stop();
    }
}

/* Deadlines on the first tick of an epoch, with others of that epoch still at level 1 (no chunk to spare for
 * moving ahead), or parked: nothing is late by a tick, nothing stays behind. */
TEST(the_first_tick_of_an_epoch_is_in_time)
{
    const uint64_t epochs[] = {1, 3, 100, 4095, 4096, 6000};
    for (unsigned i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        uint64_t due = (START / TICK / EPOCH_TICKS + epochs[i]) * EPOCH_TICKS * TICK;
        uint32_t id = 0;
        start(3);
        CHECK_INT(wheel_insert(wheel, 1, due), WHEEL_OK);
        CHECK_INT(wheel_insert(wheel, 2, due + 5 * TICK), WHEEL_OK);
        CHECK(!wheel_pop(wheel, due - TICK, &id));
        CHECK_INT(wheel_insert(wheel, 3, due), WHEEL_OK);
        CHECK(wheel_pop(wheel, due, &id) && (id == 1 || id == 3));
        CHECK(wheel_pop(wheel, due, &id) && (id == 1 || id == 3));
        CHECK(!wheel_pop(wheel, due + 5 * TICK - 1, &id));
        CHECK(wheel_pop(wheel, due + 5 * TICK, &id) && id == 2);
        CHECK_INT(wheel_chunks_used(wheel), 0);
        stop();
    }
}

/* Ids that are put back at once cannot keep the others waiting. */
TEST(what_is_overdue_comes_with_the_next_tick)
{
    uint32_t id;
    start(100);
    for (uint32_t i = 0; i < 40; i++)
        CHECK_INT(wheel_insert(wheel, i, START + (i < 20 ? 1 : 2) * TICK), WHEEL_OK);
    bool seen[40] = {false};
    for (unsigned i = 0; i < 20; i++) {
        CHECK(wheel_pop(wheel, START + TICK, &id));
        CHECK(id < 20 && !seen[id]);
        seen[id] = true;
        CHECK_INT(wheel_insert(wheel, id, 0), WHEEL_OK);
    }
    CHECK(!wheel_pop(wheel, START + TICK, &id));
    CHECK_INT(wheel_next_due(wheel), START + 2 * TICK);
    for (unsigned i = 0; i < 40; i++)
        CHECK(wheel_pop(wheel, START + 2 * TICK, &id));
    CHECK_INT(wheel_count(wheel), 0);
    stop();
}

TEST(a_full_pool_refuses_and_recovers)
{
    uint32_t ids[100], id;
    start(2);
    for (uint32_t i = 0; i < 30; i++)
        CHECK_INT(wheel_insert(wheel, i, START + TICK), WHEEL_OK);
    CHECK_INT(wheel_insert(wheel, 30, START + TICK), WHEEL_FULL);
    CHECK_INT(wheel_insert(wheel, 30, START + 90000 * TICK), WHEEL_FULL);
    CHECK_INT(wheel_insert(wheel, 30, START + (UINT64_C(1) << 40) * TICK), WHEEL_FULL);
    CHECK_INT(wheel_count(wheel), 30);
    for (unsigned i = 0; i < 15; i++)
        CHECK(wheel_pop(wheel, START + TICK, &id));
    CHECK_INT(wheel_insert(wheel, 30, START + 90000 * TICK), WHEEL_OK);
    CHECK_INT(wheel_pop_batch(wheel, START + TICK, ids, 100), 15);
    CHECK_INT(wheel_pop_batch(wheel, START + 90000 * TICK, ids, 100), 1);
    CHECK_INT(ids[0], 30);
    stop();
}

/* Ten ids share the one chunk there is, and no slot of level 0 can have one of its own: they come late,
 * together. */
TEST(moving_with_an_empty_pool_loses_nothing)
{
    uint32_t ids[20];
    start(1);
    uint64_t epoch = (START / TICK / EPOCH_TICKS + 10) * EPOCH_TICKS * TICK;
    for (uint32_t i = 0; i < 10; i++)
        CHECK_INT(wheel_insert(wheel, i, epoch + (100 + i) * TICK), WHEEL_OK);
    CHECK_INT(wheel_insert(wheel, 10, epoch), WHEEL_FULL);
    CHECK_INT(wheel_pop_batch(wheel, epoch + 108 * TICK, ids, 20), 0);
    CHECK_INT(wheel_pop_batch(wheel, epoch + 109 * TICK, ids, 20), 10);
    stop();

    start(1);
    uint64_t beyond = epoch + 5000 * EPOCH_TICKS * TICK;
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(wheel_insert(wheel, i, beyond + i * TICK), WHEEL_OK);
    CHECK_INT(wheel_insert(wheel, 5, beyond), WHEEL_FULL);
    CHECK_INT(wheel_pop_batch(wheel, beyond + 3 * TICK, ids, 20), 0);
    CHECK_INT(wheel_pop_batch(wheel, beyond + 4 * TICK, ids, 20), 5);
    stop();
}

TEST(enough_chunks_for_the_worst_spread)
{
    const uint32_t ids = 140000;
    start(wheel_chunks_for(ids));
    CHECK(wheel_chunks_for(10) == 10 && wheel_chunks_for(0) == 0);
    CHECK(wheel_chunks_for(UINT32_MAX) > UINT32_MAX / 10);
    for (uint32_t i = 0; i < ids; i++) {
        uint64_t ticks = i < 65535 ? i + 1 : 70000 + (uint64_t)(i - 65535) * 1790;
        CHECK_INT(wheel_insert(wheel, i, START + ticks * TICK), WHEEL_OK);
    }
    CHECK_INT(wheel_count(wheel), ids);
    stop();
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

enum { IDS = 600 };

/* What the wheel should do, the slow way: first tick at which the id may come, 0 when it is not in. */
static struct reference {
    uint64_t ticks[IDS];
    uint64_t drained;
    unsigned inside;
    uint64_t late_ticks; /* allowed; 0 unless chunks are scarce */
} reference;

static void reference_insert(uint32_t id, uint64_t deadline, uint64_t tick_ns)
{
    uint64_t tick = deadline / tick_ns + (deadline % tick_ns != 0);
    if (wheel_insert(wheel, id, deadline) == WHEEL_FULL) {
        CHECK(reference.late_ticks);
        return;
    }
    reference.ticks[id] = tick > reference.drained ? tick : reference.drained + 1;
    reference.inside++;
}

/* Pops all that is due; each must be in and due, and nothing that is due may stay behind. */
static void reference_pop(uint64_t now, uint64_t tick_ns)
{
    uint32_t id;
    uint64_t before = 0;
    while (wheel_pop(wheel, now, &id)) {
        CHECK(id < IDS && reference.ticks[id]);
        CHECK(reference.ticks[id] <= now / tick_ns);
        CHECK(reference.late_ticks || reference.ticks[id] >= before);
        before = reference.ticks[id];
        reference.ticks[id] = 0;
        reference.inside--;
    }
    reference.drained = now / tick_ns;
    for (id = 0; id < IDS; id++)
        if (reference.ticks[id])
            CHECK(reference.ticks[id] + reference.late_ticks > now / tick_ns);
    CHECK_INT(wheel_count(wheel), reference.inside);
    CHECK(wheel_next_due(wheel) > now);
    CHECK((wheel_next_due(wheel) == WHEEL_NEVER) == !reference.inside);
}

static void compare_with_reference(uint64_t seed, uint32_t chunks_max, uint64_t late_ticks)
{
    const uint64_t tick_ns = UINT64_C(1) << seed % 12;
    uint64_t now = tick_ns * 1000003 + 1, random = seed * 7919 + 1;
    reference = (struct reference){.drained = now / tick_ns, .late_ticks = late_ticks};
    fixture_init(&fixture,
                 (struct wheel_options){.tick_ns = tick_ns, .now_ns = now, .chunks_max = chunks_max});
    for (unsigned step = 0; step < 3000; step++) {
        for (unsigned i = next_random(&random) % 8; i > 0; i--) {
            uint32_t id = (uint32_t)(next_random(&random) % IDS);
            uint64_t reach = tick_ns << next_random(&random) % 31;
            if (!reference.ticks[id])
                reference_insert(id, now + next_random(&random) % reach, tick_ns);
        }
        now += next_random(&random) % (tick_ns << next_random(&random) % (step % 10 == 0 ? 28 : 12));
        reference_pop(now, tick_ns);
    }
    while (reference.inside) {
        now = wheel_next_due(wheel);
        reference_pop(now, tick_ns);
    }
    CHECK_INT(wheel_chunks_used(wheel), 0);
    stop();
}

TEST(random_deadlines_come_in_order_and_in_time)
{
    for (uint64_t seed = 1; seed <= 24; seed++)
        compare_with_reference(seed, IDS, 0);
}

/* With a pool that is always full, ids may be late by what moving them together costs, but none is early or
 * lost. */
TEST(random_deadlines_with_scarce_chunks_are_late_at_worst)
{
    for (uint64_t seed = 1; seed <= 24; seed++)
        compare_with_reference(seed, 20 + (uint32_t)seed, UINT64_C(1) << 60);
}

/* A crawl in small: records are prefetched, every id goes round many times, and the pool does not leak. */
TEST(ids_go_round_with_records_and_chunks_are_reused)
{
    enum { HOSTS = 20000 };
    static struct {
        uint64_t due, visits;
    } hosts[HOSTS];
    uint64_t now = START, random = 99, pops = 0;
    uint32_t ids[64];
    fixture_init(&fixture, (struct wheel_options){.tick_ns = TICK,
                                                  .now_ns = START,
                                                  .chunks_max = wheel_chunks_for(HOSTS),
                                                  .records = hosts,
                                                  .record_bytes = sizeof *hosts});
    for (uint32_t i = 0; i < HOSTS; i++) {
        hosts[i].due = now + next_random(&random) % (1000 * TICK);
        CHECK_INT(wheel_insert(wheel, i, hosts[i].due), WHEEL_OK);
    }
    for (unsigned step = 0; step < 10000; step++, now += 10 * TICK) {
        for (size_t n = 1; n > 0;) {
            n = wheel_pop_batch(wheel, now, ids, 64);
            for (size_t i = 0; i < n; i++, pops++) {
                CHECK(hosts[ids[i]].due <= now && hosts[ids[i]].due + 12 * TICK > now);
                hosts[ids[i]].due = now + TICK + next_random(&random) % (80000 * TICK);
                CHECK_INT(wheel_insert(wheel, ids[i], hosts[ids[i]].due), WHEEL_OK);
                hosts[ids[i]].visits++;
            }
        }
        CHECK_INT(wheel_count(wheel), HOSTS);
    }
    for (uint32_t i = 0; i < HOSTS; i++)
        CHECK(hosts[i].visits > 0);
    CHECK(pops > 2 * HOSTS);
    stop();
}
