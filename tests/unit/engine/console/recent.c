#include "engine/console/recent.h"

#include "tests/support/check.h"

static struct recent recent;

static void add(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; i++)
        recent_add(&recent, &(struct sample){.values = {[SAMPLE_pages] = i}});
}

static uint64_t pages_at(unsigned step, uint64_t number)
{
    const struct sample *sample = recent_at(recent_level(&recent, step), number);
    return sample ? sample->values[SAMPLE_pages] : UINT64_MAX;
}

TEST(each_level_has_its_step)
{
    CHECK(recent_init(&recent));
    add(1, 601);
    CHECK_INT(recent_level(&recent, 1)->count, 601);
    CHECK_INT(recent_level(&recent, 10)->count, 61);
    CHECK_INT(recent_level(&recent, 600)->count, 2);
    CHECK(!recent_level(&recent, 2));
    CHECK_INT(pages_at(10, 1), 1);
    CHECK_INT(pages_at(10, 2), 11);
    CHECK_INT(pages_at(60, 11), 601);
    CHECK_INT(pages_at(600, 2), 601);
    recent_fini(&recent);
}

TEST(the_oldest_give_way)
{
    CHECK(recent_init(&recent));
    CHECK_INT(recent_first(recent_level(&recent, 1)), 1);
    CHECK(pages_at(1, 1) == UINT64_MAX);
    add(1, 600);
    CHECK_INT(pages_at(1, 1), 1);
    add(601, 605);
    CHECK_INT(recent_first(recent_level(&recent, 1)), 6);
    CHECK(pages_at(1, 5) == UINT64_MAX);
    CHECK_INT(pages_at(1, 6), 6);
    CHECK_INT(pages_at(1, 605), 605);
    CHECK(pages_at(1, 606) == UINT64_MAX);
    recent_fini(&recent);
}

static void restore(uint64_t wall_s, uint64_t pages)
{
    recent_restore(&recent, &(struct sample){
                                .values = {[SAMPLE_wall_ms] = wall_s * 1000, [SAMPLE_pages] = pages, [SAMPLE_connections] = 9, [SAMPLE_fetch_p99_us] = 9}});
}

static uint64_t seconds_at(unsigned step, uint64_t number)
{
    return recent_at(recent_level(&recent, step), number)->values[SAMPLE_wall_ms] / 1000;
}

/* A resumed crawl: ten minutes, then an hour in which nothing ran, then this process. */
TEST(what_was_before_is_there_and_gaps_are_marked)
{
    CHECK(recent_init(&recent));
    for (uint64_t i = 0; i <= 60; i++)
        restore(1000000 + 10 * i, 100 + i);
    recent_begin(&recent, UINT64_C(1000) * (1000000 + 600 + 3600));
    CHECK_INT(recent_level(&recent, 1)->count, 0);
    CHECK_INT(recent_level(&recent, 10)->count, 61 + 359);
    CHECK_INT(recent_level(&recent, 600)->count, 2 + 5);
    CHECK_INT(pages_at(10, 61), 160);
    CHECK_INT(pages_at(60, 2), 106);
    CHECK_INT(pages_at(600, 2), 160);
    add(161, 161);
    CHECK_INT(pages_at(600, 8), 161);
    for (uint64_t number = 1; number <= 8; number++)
        CHECK_INT(recent_is_gap(recent_level(&recent, 600), number), number >= 3 && number <= 7);
    CHECK_INT(seconds_at(600, 7), 1000000 + 600 + 5 * 600);
    CHECK_INT(pages_at(600, 7), 160); /* its counters stand still */
    CHECK_INT(recent_at(recent_level(&recent, 600), 7)->values[SAMPLE_connections], 0);
    CHECK_INT(recent_at(recent_level(&recent, 600), 2)->values[SAMPLE_fetch_p99_us], 9);
    CHECK_INT(recent_at(recent_level(&recent, 600), 7)->values[SAMPLE_fetch_p99_us], 0);
    recent_fini(&recent);
}

/* A year without the crawl, and a clock that was set back, end by themselves. */
TEST(no_gap_is_longer_than_the_level)
{
    CHECK(recent_init(&recent));
    restore(1000, 1);
    restore(900, 2);
    CHECK_INT(recent_level(&recent, 10)->count, 1);
    restore(1000 + 366 * 86400, 3);
    CHECK_INT(recent_level(&recent, 10)->count, 1 + 720 + 1);
    CHECK_INT(pages_at(10, 722), 3);
    CHECK(recent_is_gap(recent_level(&recent, 10), 3) && !recent_is_gap(recent_level(&recent, 10), 722));
    CHECK_INT(seconds_at(10, 721), 1000 + 366 * 86400 - 10);
    recent_fini(&recent);
}
