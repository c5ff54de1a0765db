#include "engine/crawl/outlook.h"

#include <math.h>

#include "tests/support/check.h"

static struct outlook outlook;
static struct outlook_facts facts;

static void begin(void)
{
    outlook = (struct outlook){0};
    facts = (struct outlook_facts){.running_s = 0.5, .found = 1000, .queued = 1000};
    outlook_update(&outlook, &facts);
}

/* A second later: so many pages are done, and so many URLs are found. */
static void pass(uint64_t pages, uint64_t found)
{
    facts.running_s += 1;
    facts.pages += pages;
    facts.found += found;
    facts.queued += found;
    facts.queued -= pages;
    outlook_update(&outlook, &facts);
}

TEST(without_a_goal_nothing_is_known_while_the_queue_grows)
{
    begin();
    for (int i = 0; i < 100; i++)
        pass(10, 11);
    CHECK(outlook.by == OUTLOOK_UNKNOWN && outlook.share < 0 && outlook.left_s < 0);
    CHECK_STR(outlook_name(outlook.by), "unknown");
}

TEST(a_queue_that_shrinks_has_an_end)
{
    begin();
    for (int i = 0; i < 8; i++)
        pass(10, 5);
    CHECK(outlook.by == OUTLOOK_UNKNOWN); /* too early to tell */
    for (int i = 0; i < 32; i++)
        pass(10, 5);
    CHECK(outlook.by == OUTLOOK_QUEUE);
    CHECK(fabs(outlook.left_s - (double)facts.queued / 5) < 1);
    CHECK(fabs(outlook.share - 400.0 / 1200) < 0.001);
}

/* A small crawl: status lines every five seconds. */
TEST(growth_at_the_start_is_soon_forgotten)
{
    begin();
    facts.running_s += 5;
    facts.queued = facts.found = 2700;
    outlook_update(&outlook, &facts);
    CHECK(outlook.by == OUTLOOK_UNKNOWN);
    facts.running_s += 5;
    facts.queued = 790;
    outlook_update(&outlook, &facts);
    CHECK(outlook.by == OUTLOOK_QUEUE && outlook.left_s > 2 && outlook.left_s < 10);
}

TEST(pages_against_their_limit)
{
    begin();
    facts.pages_max = 1000;
    for (int i = 0; i < 25; i++)
        pass(10, 20);
    CHECK(outlook.by == OUTLOOK_PAGES);
    CHECK(fabs(outlook.share - 0.25) < 1e-9 && fabs(outlook.left_s - 75) < 0.1);
}

TEST(the_time_left_follows_the_rate_of_the_last_minute)
{
    begin();
    facts.pages_max = 100000;
    for (int i = 0; i < 600; i++)
        pass(1, 2);
    for (int i = 0; i < 600; i++)
        pass(10, 20);
    CHECK(fabs(outlook.pages_per_s - 10) < 0.01);
}

TEST(the_end_that_comes_first_is_told)
{
    begin();
    facts.pages_max = 1000;
    facts.time_max_s = 60;
    for (int i = 0; i < 20; i++)
        pass(10, 20);
    CHECK(outlook.by == OUTLOOK_TIME && fabs(outlook.left_s - 39.5) < 0.001);
    facts.time_max_s = 6000;
    pass(10, 20);
    CHECK(outlook.by == OUTLOOK_PAGES && fabs(outlook.left_s - 79) < 0.1);
}

/* No page so far: the share is known, the time is not. */
TEST(a_goal_without_a_rate)
{
    begin();
    facts.pages_max = 1000;
    pass(0, 1);
    CHECK(outlook.by == OUTLOOK_PAGES && outlook.share == 0 && outlook.left_s < 0);
}

TEST(a_pause_changes_nothing)
{
    begin();
    facts.pages_max = 1000;
    for (int i = 0; i < 25; i++)
        pass(10, 20);
    double left_s = outlook.left_s;
    for (int i = 0; i < 1000; i++)
        outlook_update(&outlook, &facts); /* running_s stands still */
    CHECK(outlook.left_s == left_s);
}

TEST(beyond_the_goal_all_is_done)
{
    begin();
    facts.pages_max = 100;
    facts.time_max_s = 5;
    for (int i = 0; i < 20; i++)
        pass(10, 20);
    CHECK(outlook.share == 1 && outlook.left_s == 0);
}
