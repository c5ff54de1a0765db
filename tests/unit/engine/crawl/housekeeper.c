#include "engine/crawl/housekeeper.h"

#include "tests/support/check.h"

static struct housekeeper keeper;
static char done[64];
static uint64_t slow_wait_ns;

static void add(char *text, char letter)
{
    size_t len = strlen(text);
    CHECK(len + 1 < sizeof done);
    text[len] = letter;
    text[len + 1] = '\0';
}

static uint64_t quick(void *owner, uint64_t now_ns)
{
    (void)now_ns;
    add(owner, 'q');
    return 10;
}

static uint64_t slow(void *owner, uint64_t now_ns)
{
    (void)now_ns;
    add(owner, 's');
    return slow_wait_ns;
}

static void begin(uint64_t wait_ns)
{
    done[0] = '\0';
    slow_wait_ns = wait_ns;
    housekeeper_init(&keeper, done);
    housekeeper_add(&keeper, quick);
    housekeeper_add(&keeper, slow);
}

TEST(each_job_is_called_when_it_wants_to_be)
{
    begin(25);
    CHECK_INT(housekeeper_turn(&keeper, 1000), 10);
    CHECK_STR(done, "qs");
    CHECK_INT(housekeeper_turn(&keeper, 1009), 1);
    CHECK_STR(done, "qs");
    CHECK_INT(housekeeper_turn(&keeper, 1010), 10);
    CHECK_INT(housekeeper_turn(&keeper, 1020), 5);
    CHECK_STR(done, "qsqq");
    CHECK_INT(housekeeper_turn(&keeper, 1025), 5);
    CHECK_STR(done, "qsqqs");
}

/* A job that has always more to do takes a turn each time, and the others come between. */
TEST(a_busy_job_keeps_nobody_waiting)
{
    begin(0);
    for (uint64_t now_ns = 1000; now_ns < 1030; now_ns++)
        CHECK_INT(housekeeper_turn(&keeper, now_ns), 0);
    unsigned quicks = 0;
    for (const char *at = done; *at; at++)
        quicks += *at == 'q';
    CHECK_INT(quicks, 3);
    CHECK_INT(strlen(done), 33);
}

/* Missed periods are not made up for. */
TEST(a_late_turn_calls_each_job_once)
{
    begin(25);
    housekeeper_turn(&keeper, 1000);
    CHECK_INT(housekeeper_turn(&keeper, 1000000), 10);
    CHECK_STR(done, "qsqs");
}

TEST(a_job_may_never_want_to_be_called_again)
{
    begin(UINT64_MAX);
    housekeeper_turn(&keeper, 1000);
    CHECK_INT(housekeeper_turn(&keeper, UINT64_MAX - 1), 1);
    CHECK_STR(done, "qsq");
}
