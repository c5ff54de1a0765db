/* What a crawl that goes on later needs to know of a visit. */
#include "tests/unit/engine/crawl/journal_records.h"
#include "tests/unit/engine/crawl/visit_routes.h"

static struct journal_loop book;
static const struct route table[] = {{NULL, "/1", TEXT("1", "a")}, {NULL, NULL, NULL}};

static void start(void)
{
    routes_start();
    CHECK_INT(journal_loop_init(&book, 0), 0);
    frame.ledger.journal = &book;
    frame.ledger.clock_offset_us = 1000000007;
}

static void stop(void)
{
    journal_loop_fini(&book);
    routes_stop();
}

/* The next VISIT record among those of `rest`. */
static struct record_visit next_visit(struct slice *rest)
{
    struct record record = {.type = RECORD_SESSION};
    while (record.type != RECORD_VISIT)
        CHECK(record_read(rest, &record));
    return record.visit;
}

TEST(a_visit_is_told_at_its_beginning_and_at_its_end)
{
    struct journal_frame in;
    struct ip loopback;
    char key[64];
    routes_set_up(table);
    frame.tuning.live.politeness.host_min_idle_ns = 100 * CLOCK_NS_PER_S;
    frame.tuning.live.politeness.address_min_idle_ns = 50 * CLOCK_NS_PER_S;
    start();
    uint64_t before_us = ledger_wall_us(&frame.ledger, clock_now_ns());
    frame_push(&frame, "/1");
    frame_run(&frame);
    uint64_t after_us = ledger_wall_us(&frame.ledger, clock_now_ns());
    struct slice rest = journal_records(&book, &in);
    snprintf(key, sizeof key, "http://127.0.0.1:%u", ntohs(frame.peer.address.v4.sin_port));
    CHECK(ip_parse(&loopback, SLICE("127.0.0.1")));

    struct record_visit begin = next_visit(&rest);
    CHECK(!begin.is_end);
    CHECK_SLICE(begin.key, key);
    CHECK(memcmp(&begin.address, &loopback, sizeof loopback) == 0);
    CHECK(begin.host_us >= before_us && begin.host_us <= after_us);

    const struct host *host = frame_host(&frame);
    struct record_visit end = next_visit(&rest);
    CHECK(end.is_end);
    CHECK_SLICE(end.key, key);
    CHECK(memcmp(&end.address, &loopback, sizeof loopback) == 0);
    CHECK_INT(end.host_us, ledger_wall_us(&frame.ledger, host->next_ns));
    CHECK_INT(end.address_us, ledger_wall_us(&frame.ledger, host->address_next_ns));
    CHECK(end.host_us - end.address_us > 40000000);
    CHECK_INT(end.dead_why, FETCH_DONE);
    CHECK_INT(end.failures, 0);
    CHECK_INT(end.pages, 1);
    CHECK_INT(end.bytes, host->bytes);
    CHECK_INT(end.spent_ns, host->spent_ns);
    CHECK(end.bytes > 0 && end.spent_ns > 0);
    stop();
}

/* Nobody listens: the visit that failed is told, too. */
TEST(a_host_that_fails_is_told_with_its_failures)
{
    struct journal_frame in;
    routes_set_up(table);
    frame.tuning.live.retry.wait_ns = 100 * CLOCK_NS_PER_S;
    frame.tuning.live.retry.wait_max_ns = 100 * CLOCK_NS_PER_S;
    start();
    uint64_t before_us = ledger_wall_us(&frame.ledger, clock_now_ns());
    frame_push_at(&frame, "127.0.0.2", "/1");
    while (!stats_get(&frame.stats.visits) || frame.visits.open)
        frame_turn(&frame);
    struct slice rest = journal_records(&book, &in);
    CHECK(!next_visit(&rest).is_end);
    struct record_visit end = next_visit(&rest);
    CHECK(end.is_end && end.failures == 1);
    CHECK(end.host_us >= before_us + 100000000);
    CHECK_INT(end.pages, 0);
    stop();
}

/* A visit of the test's own, to a host that waits for nothing. */
static struct visit visit_to(struct host *host)
{
    return (struct visit){.visits = &frame.visits,
                          .host = host,
                          .begin_ns = clock_now_ns(),
                          .times = {.spent_ns = 3, .crawl_delay_ns = host->crawl_delay_ns}};
}

static struct record_visit told(void)
{
    struct journal_frame in;
    struct slice rest = journal_records(&book, &in);
    struct record_visit record = next_visit(&rest);
    CHECK_INT(rest.len, 0);
    return record;
}

TEST(the_end_has_all_that_limits_and_rests_depend_on)
{
    routes_set_up(table);
    start();
    frame_push(&frame, "/1");
    struct host *host = frame_host(&frame);
    host->crawl_delay_ns = 1500 * CLOCK_NS_PER_MS;
    host->is_dead = true;
    host->dead_why = FETCH_CONNECT_REFUSED;
    host->failures = 3;
    host->pages = 4;
    host->bytes = 5;
    host->spent_ns = 6;
    struct visit visit = visit_to(host);
    visit_record_begin(&visit);
    struct record_visit record = told();
    CHECK_INT(record.crawl_delay_ms, 1500);
    CHECK_INT(record.host_us, ledger_wall_us(&frame.ledger, visit.begin_ns));
    visit_record_end(&visit, visit.begin_ns);
    record = told();
    CHECK_INT(record.crawl_delay_ms, 1500);
    CHECK_INT(record.dead_why, FETCH_CONNECT_REFUSED);
    CHECK(record.failures == 3 && record.pages == 4 && record.bytes == 5);
    CHECK_INT(record.spent_ns, 9); /* of earlier visits, and of this one */
    CHECK_INT(record.host_us, ledger_wall_us(&frame.ledger, visit.begin_ns + host->crawl_delay_ns));
    host->is_dead = false; /* what it was given up for does not count any more */
    visit_record_end(&visit, visit.begin_ns);
    CHECK_INT(told().dead_why, FETCH_DONE);
    frame_run(&frame);
    stop();
}

TEST(an_end_without_room_is_left_out)
{
    routes_set_up(table);
    start();
    frame_push(&frame, "/1");
    struct visit visit = visit_to(frame_host(&frame));
    journal_fill(&book);
    uint64_t before = lf_load(&book.outlet.appended, relaxed);
    visit_record_end(&visit, visit.begin_ns);
    CHECK_INT(lf_load(&book.outlet.appended, relaxed), before);
    journal_drain(&book);
    visit_record_end(&visit, visit.begin_ns);
    CHECK(told().is_end);
    frame.ledger.journal = NULL;
    visit_record_begin(&visit);
    visit_record_end(&visit, visit.begin_ns);
    frame_run(&frame);
    stop();
}
