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
