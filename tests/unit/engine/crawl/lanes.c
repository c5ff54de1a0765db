#include "engine/crawl/lanes.h"

#include "engine/crawl/limits.h"
#include "tests/support/check.h"

enum { HOSTS = 1000 };
static struct host hosts[HOSTS];
static struct lanes lanes;

static void begin(void)
{
    memset(hosts, 0, sizeof hosts);
    CHECK(lanes_init(&lanes));
}

/* Hosts from `first` on, all of one domain. */
static void push(unsigned first, unsigned count, uint32_t domain)
{
    for (unsigned i = first; i < first + count; i++) {
        hosts[i].domain = domain;
        lanes_push(&lanes, &hosts[i]);
    }
}

/* The number of the host; -1: none. */
static int pop(bool from_slow)
{
    struct host *host = lanes_pop(&lanes, from_slow);
    if (host)
        lanes_begin(&lanes, host);
    return host ? (int)(host - hosts) : -1;
}

static void end(int number, bool was_overdue, bool is_silent)
{
    lanes_end(&lanes, &hosts[number], (struct lanes_end){.was_overdue = was_overdue, .is_silent = is_silent});
}

/* So many look-ups of the domain of host `number` have had no answer. */
static void fail(int number, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        lanes_begin(&lanes, &hosts[number]);
        end(number, false, true);
    }
}

TEST(domains_take_turns_and_hosts_keep_their_order)
{
    begin();
    push(0, 3, 7);
    push(3, 1, 8);
    push(4, 2, 9);
    static const int expected[] = {0, 3, 4, 1, 5, 2, -1};
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_INT(pop(false), expected[i]);
    push(6, 1, 8);
    CHECK_INT(pop(false), 6);
    CHECK_INT(pop(true), -1);
    lanes_fini(&lanes);
}

TEST(one_domain_has_a_share_of_the_look_ups)
{
    begin();
    push(0, NAMES_PER_LANE_MAX + 10, 7);
    for (int i = 0; i < NAMES_PER_LANE_MAX; i++)
        CHECK_INT(pop(false), i);
    CHECK_INT(pop(false), -1);
    push(500, 1, 8);
    CHECK_INT(pop(false), 500);
    end(0, false, false);
    CHECK_INT(pop(false), NAMES_PER_LANE_MAX);
    CHECK_INT(pop(false), -1);
    lanes_fini(&lanes);
}

TEST(a_domain_without_answers_is_slow_until_it_answers)
{
    begin();
    push(0, 20, 7);
    push(20, 1, 8);
    fail(0, NAMES_SLOW_AT - 1);
    CHECK(!lanes_is_slow(&lanes, &hosts[0]));
    fail(0, 1);
    CHECK(lanes_is_slow(&lanes, &hosts[0]) && !lanes_is_slow(&lanes, &hosts[20]));
    CHECK_INT(pop(false), 20);
    CHECK_INT(pop(false), -1);
    CHECK_INT(pop(true), 0);
    CHECK_INT(pop(true), 1);
    end(0, false, false);
    CHECK(!lanes_is_slow(&lanes, &hosts[0]));
    CHECK_INT(pop(true), -1); /* it waits among the quick ones again */
    CHECK_INT(pop(false), 2);
    lanes_fini(&lanes);
}

TEST(look_ups_that_are_overdue_make_a_domain_slow_at_once)
{
    begin();
    push(0, 20, 7);
    for (int i = 0; i < NAMES_SLOW_AT; i++) {
        CHECK_INT(pop(false), i);
        lanes_overdue(&lanes, &hosts[i]);
    }
    CHECK_INT(pop(false), -1);
    CHECK_INT(pop(true), NAMES_SLOW_AT);
    for (int i = 0; i < NAMES_SLOW_AT; i++)
        end(i, true, false); /* late, but answered */
    CHECK_INT(pop(true), -1);
    CHECK_INT(pop(false), NAMES_SLOW_AT + 1);
    lanes_fini(&lanes);
}

TEST(many_failures_are_forgotten_after_few_answers)
{
    begin();
    push(0, 20, 7);
    fail(0, 1000);
    unsigned answers = 0;
    for (; lanes_is_slow(&lanes, &hosts[0]); answers++) {
        lanes_begin(&lanes, &hosts[0]);
        end(0, false, false);
    }
    CHECK_INT(answers, 3);
    lanes_fini(&lanes);
}

static int draw(void)
{
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)(state >> 33);
}

/* Whatever happens, every host that goes in comes out once. */
TEST(random_use_loses_nobody)
{
    begin();
    bool is_in[HOSTS] = {false};
    static int flying[HOSTS];
    bool overdue[HOSTS] = {false};
    unsigned waiting = 0, in_flight = 0;
    for (unsigned step = 0; step < 200000; step++) {
        int number = draw() % HOSTS;
        switch (draw() % 4) {
        case 0:
            if (is_in[number])
                break;
            is_in[number] = true;
            push((unsigned)number, 1, (uint32_t)number % 5);
            waiting++;
            break;
        case 1:
            number = pop(draw() % 2);
            if (number < 0)
                break;
            CHECK(is_in[number]);
            waiting--;
            flying[in_flight++] = number;
            break;
        case 2:
            if (in_flight && !overdue[flying[number % (int)in_flight]]) {
                overdue[flying[number % (int)in_flight]] = true;
                lanes_overdue(&lanes, &hosts[flying[number % (int)in_flight]]);
            }
            break;
        default:
            if (!in_flight)
                break;
            number = flying[--in_flight];
            end(number, overdue[number], draw() % 3 == 0);
            is_in[number] = overdue[number] = false;
        }
    }
    while (in_flight) {
        int number = flying[--in_flight];
        end(number, overdue[number], false);
    }
    for (bool more = true; more;) {
        more = false;
        for (int slow = 0; slow < 2; slow++)
            for (int number; (number = pop(slow)) >= 0; more = true, waiting--)
                end(number, false, false);
    }
    CHECK_INT(waiting, 0);
    lanes_fini(&lanes);
}
