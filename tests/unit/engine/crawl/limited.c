#include "engine/crawl/limited.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

#define MS CLOCK_NS_PER_MS

static struct limited limited;
static uint64_t shares[LIMITED_COUNT];

/* At the moment 0 of both clocks, which is not 0 for the structure. */
static const uint64_t start_ns = 1000 * MS;

static void begin(void)
{
    limited = (struct limited){0};
    limited_turn(&limited, start_ns);
    CHECK(!limited_settle(&limited, start_ns, 0, shares));
}

/* The loop says `by` at the end of a turn, and turns again at `ms`. */
static void wait_for(enum limited_by by, uint64_t ms)
{
    limited.by = by;
    limited_turn(&limited, start_ns + ms * MS);
}

static uint64_t share_ms(enum limited_by by)
{
    return (shares[by] + MS / 2) / MS;
}

TEST(time_goes_to_what_the_turns_waited_for)
{
    begin();
    wait_for(LIMITED_POLITENESS, 60);
    wait_for(LIMITED_NAMES, 80);
    wait_for(LIMITED_WORK, 100);
    CHECK(limited_settle(&limited, start_ns + 100 * MS, 20 * MS, shares));
    CHECK_INT(share_ms(LIMITED_WORK), 20);
    CHECK_INT(share_ms(LIMITED_POLITENESS), 60);
    CHECK_INT(share_ms(LIMITED_NAMES), 20);
}

/* Receiving is done by the kernel while the loop seems to wait: processor time tells. */
TEST(processor_time_is_work_whatever_the_turns_said)
{
    begin();
    wait_for(LIMITED_SERVERS, 100);
    CHECK(limited_settle(&limited, start_ns + 100 * MS, 90 * MS, shares));
    CHECK_INT(share_ms(LIMITED_WORK), 90);
    CHECK_INT(share_ms(LIMITED_SERVERS), 10);
}

/* Another process has the processor: more of it would help. */
TEST(time_that_nobody_waited_is_work)
{
    begin();
    wait_for(LIMITED_WORK, 100);
    CHECK(limited_settle(&limited, start_ns + 100 * MS, 10 * MS, shares));
    CHECK_INT(share_ms(LIMITED_WORK), 100);
}

TEST(a_clock_that_is_ahead_leaves_nothing_over)
{
    begin();
    wait_for(LIMITED_EMPTY, 10);
    CHECK(limited_settle(&limited, start_ns + 10 * MS, 11 * MS, shares));
    CHECK_INT(share_ms(LIMITED_WORK), 10);
    CHECK_INT(share_ms(LIMITED_EMPTY), 0);
}

TEST(each_time_is_divided_once)
{
    begin();
    wait_for(LIMITED_MEMORY, 50);
    CHECK(limited_settle(&limited, start_ns + 50 * MS, 0, shares));
    CHECK_INT(share_ms(LIMITED_MEMORY), 50);
    wait_for(LIMITED_STORE, 70);
    CHECK(limited_settle(&limited, start_ns + 70 * MS, 0, shares));
    CHECK_INT(share_ms(LIMITED_MEMORY), 0);
    CHECK_INT(share_ms(LIMITED_STORE), 20);
    CHECK(!limited_is_due(&limited, start_ns + 169 * MS, 100 * MS));
    CHECK(limited_is_due(&limited, start_ns + 170 * MS, 100 * MS));
}

TEST(reasons_have_names)
{
    CHECK_STR(limited_name(LIMITED_WORK), "work");
    CHECK_STR(limited_name(LIMITED_EMPTY), "empty");
}
