#include "engine/report/timeline.h"

#include "tests/support/check.h"

static struct timeline timeline;

static uint64_t pages(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < timeline.count; i++)
        sum += timeline.slots[i].pages;
    return sum;
}

TEST(slots_double_when_the_time_outgrows_them)
{
    timeline_init(&timeline);
    for (uint64_t s = 0; s < 5000; s++)
        timeline_at(&timeline, (1700000000 + s) * 1000)->pages++;
    CHECK_INT(pages(), 5000);
    CHECK_INT(timeline.slot_ms, 8000);
    CHECK(timeline.count <= TIMELINE_SLOTS);
    CHECK_INT(timeline.slots[1].pages, 8);
}

/* Lines of several loops are not quite in order; a log may jump back by years. */
TEST(moments_may_come_in_any_order)
{
    static const uint64_t seconds[] = {1700000000, 1699999990, 1700000005,  1600000000,
                                       1800000000, 0,          253402300799};
    timeline_init(&timeline);
    for (unsigned i = 0; i < 7; i++)
        timeline_at(&timeline, seconds[i] * 1000)->pages++;
    CHECK_INT(pages(), 7);
    CHECK_INT(timeline.slots[0].pages, 1);
    CHECK_INT(timeline_at(&timeline, seconds[6] * 1000)->pages, 1);
    CHECK(timeline.count <= TIMELINE_SLOTS);
}
