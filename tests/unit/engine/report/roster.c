#include "engine/report/roster.h"

#include <stdio.h>

#include "tests/support/check.h"

static struct slice numbered(char text[16], unsigned i)
{
    return (struct slice){text, (size_t)snprintf(text, 16, "host%u", i)};
}

TEST(every_name_is_counted_by_itself)
{
    struct roster roster;
    char text[16];
    CHECK_INT(roster_init(&roster, 1 << 20), 0);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 5000; i++)
            roster_find(&roster, numbered(text, i))->pages += i;
    CHECK_INT(roster.count, 5000);
    CHECK_INT(roster.names_missed, 0);
    for (unsigned i = 0; i < 5000; i++)
        CHECK_INT(roster_find(&roster, numbered(text, i))->pages, 3 * i);
    roster_fini(&roster);
}

TEST(beyond_the_bound_names_are_others)
{
    struct roster roster;
    char text[16];
    CHECK_INT(roster_init(&roster, 10), 0);
    for (unsigned i = 0; i < 25; i++)
        roster_find(&roster, numbered(text, i))->pages++;
    CHECK_INT(roster.count, 10);
    CHECK_INT(roster.others.pages, 15);
    CHECK_INT(roster.names_missed, 15);
    CHECK_INT(roster_find(&roster, numbered(text, 3))->pages, 1);
    roster_fini(&roster);
}

TEST(most_pages_come_first_then_names)
{
    struct roster roster;
    CHECK_INT(roster_init(&roster, 10), 0);
    roster_find(&roster, SLICE("b"))->pages = 1;
    roster_find(&roster, SLICE("a"))->pages = 1;
    roster_find(&roster, SLICE(""))->pages = 7;
    roster_sort(&roster);
    CHECK_INT(roster.entries[0].pages, 7);
    CHECK(slice_equals(roster_name(&roster.entries[1]), SLICE("a")));
    roster_fini(&roster);
}

TEST(an_empty_name_may_be_the_first)
{
    struct roster roster;
    CHECK(roster_init(&roster, 4) == 0);
    CHECK(roster_find(&roster, SLICE("")) == roster_find(&roster, SLICE("")));
    roster_fini(&roster);
}
