#include "tools/websim/audit.h"

#include <stdlib.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tools/websim/robots.h"

#define MS CLOCK_NS_PER_MS

/* A journal in the making. Times are in milliseconds. */
static struct websim_journal_contents journal;
static struct websim_web web;
static struct websim_audit audit;
static struct websim_record records[4096];
static uint32_t next_connection;
static uint32_t next_page;

static void begin(void)
{
    char *plain[] = {NULL, (char[]){"--plain"}};
    websim_parameters_default(&journal.parameters, 2, plain);
    journal.parameters.hosts = 100;
    journal.parameters.addresses = 10;
    journal.records = records;
    journal.count = 0;
    next_connection = 1;
    next_page = 0;
    websim_web_init(&web, &journal.parameters);
}

static void add(uint32_t connection, enum websim_event event, uint64_t ms, uint64_t url)
{
    CHECK(journal.count < sizeof records / sizeof *records);
    uint64_t time_ns = 1000 * CLOCK_NS_PER_S + ms * MS;
    if (event == WEBSIM_EVENT_REQUEST)
        time_ns++; /* after the end of the one before, if that is in the same millisecond */
    records[journal.count++] =
        (struct websim_record){.time_event = time_ns << 3 | event, .connection = connection, .url = url};
}

static uint64_t url_of(uint32_t host, enum websim_kind kind, uint32_t index)
{
    return websim_url_pack((struct websim_url){.host = host, .kind = (uint8_t)kind, .index = index});
}

static uint32_t connect_at(uint64_t ms)
{
    add(next_connection, WEBSIM_EVENT_CONNECT, ms, UINT64_MAX);
    return next_connection++;
}

static struct websim_record *fetch(uint32_t connection, uint64_t url, uint64_t from_ms, uint64_t to_ms)
{
    add(connection, WEBSIM_EVENT_REQUEST, from_ms, url);
    add(connection, WEBSIM_EVENT_END, to_ms, url);
    records[journal.count - 1].status = 200;
    return &records[journal.count - 1];
}

static void close_at(uint32_t connection, uint64_t ms)
{
    add(connection, WEBSIM_EVENT_CLOSE, ms, UINT64_MAX);
}

static void robots_at(uint32_t host, uint64_t ms)
{
    uint32_t connection = connect_at(ms);
    fetch(connection, url_of(host, WEBSIM_KIND_ROBOTS, 0), ms, ms + 1);
    close_at(connection, ms + 1);
}

/* A visit of `count` requests of 10 ms each, on a connection of its own. Ends at the returned time. */
static uint64_t visit(uint32_t host, uint64_t ms, unsigned count)
{
    uint32_t connection = connect_at(ms);
    for (unsigned i = 0; i < count; i++, ms += 10)
        fetch(connection, url_of(host, WEBSIM_KIND_GONE, next_page++), ms, ms + 10);
    close_at(connection, ms);
    return ms;
}

static int by_time(const void *a, const void *b)
{
    const struct websim_record *left = a, *right = b;
    return left->time_event < right->time_event ? -1 : left->time_event > right->time_event;
}

static uint64_t judge(const struct websim_audit_options *options)
{
    struct websim_audit_options used = *options;
    used.agent = used.agent ? used.agent : "lycosa";
    used.connections_per_address = used.connections_per_address ? used.connections_per_address : 1;
    used.tolerance_ns = MS;
    qsort(records, journal.count, sizeof *records, by_time);
    websim_audit_init(&audit, &journal, &used);
    uint64_t violations = websim_audit_judge(&audit);
    FILE *nowhere = fopen("/dev/null", "w");
    websim_audit_print(&audit, nowhere);
    fclose(nowhere);
    websim_audit_fini(&audit);
    return violations;
}

static uint64_t violations_of(enum websim_rule rule)
{
    return audit.findings[rule].violations;
}

/* Two hosts that share an address, or do not. */
static void find_hosts(bool share, uint32_t *first, uint32_t *second)
{
    for (uint32_t a = 0; a < 100; a++)
        for (uint32_t b = a + 1; b < 100; b++)
            if ((websim_host_address(&web, a) == websim_host_address(&web, b)) == share) {
                *first = a;
                *second = b;
                return;
            }
}

static const struct websim_audit_options known = {.robots_known = true};

TEST(nothing_was_done_wrong_where_nothing_was_done)
{
    begin();
    CHECK_INT(judge(&known), 0);
}

TEST(a_polite_client_breaks_no_rule)
{
    struct websim_audit_options options = {.ratio_ppm = 500000,
                                           .address_ratio_ppm = 500000,
                                           .burst_ns = 100 * MS,
                                           .min_idle_ns = 150 * MS,
                                           .address_min_idle_ns = 150 * MS};
    begin();
    robots_at(3, 0);
    uint64_t at = visit(3, 151, 10); /* 100 ms of fetching: 200 ms of rest */
    at = visit(3, at + 200, 11);     /* the eleventh starts at 100 ms, not after */
    at = visit(3, at + 220, 1);      /* 10 ms: 20 by the ratio, 150 by the minimum */
    visit(3, at + 150, 1);
    CHECK_INT(judge(&options), 0);
    CHECK_INT(audit.visit_count, 5);
    CHECK_INT(audit.rest_count, 4);
}

TEST(too_short_a_rest)
{
    struct websim_audit_options options = {.ratio_ppm = 500000, .burst_ns = 100 * MS, .robots_known = true};
    begin();
    uint64_t at = visit(3, 0, 10);
    visit(3, at + 197, 1);
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_HOST_IDLE), 1);
    CHECK_INT(audit.findings[WEBSIM_RULE_HOST_IDLE].worst[0].excess_ns, 3 * MS);
    begin();
    visit(3, 0, 10);
    visit(3, at + 199, 1); /* within the tolerance of 1 ms */
    CHECK_INT(judge(&options), 0);
}

TEST(a_request_after_the_burst_on_the_same_connection)
{
    struct websim_audit_options options = {.ratio_ppm = 500000, .burst_ns = 100 * MS, .robots_known = true};
    begin();
    visit(3, 0, 12); /* the twelfth starts at 110 ms */
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_HOST_IDLE), 1);
}

TEST(connect_time_belongs_to_the_visit)
{
    struct websim_audit_options options = {.ratio_ppm = 500000, .burst_ns = 100 * MS, .robots_known = true};
    begin();
    uint32_t connection = connect_at(0);
    fetch(connection, url_of(3, WEBSIM_KIND_GONE, 0), 240, 250); /* 250 ms in all: 500 ms of rest */
    fetch(connection, url_of(3, WEBSIM_KIND_GONE, 1), 600, 601);
    CHECK_INT(judge(&options), 1);
}

/* The client may have begun it when the answer before had come, and that was within the burst. */
TEST(a_busy_client_sends_a_request_late)
{
    static const struct {
        uint64_t seen_ms, violations;
    } cases[] = {{90, 0}, {150, 0}, {210, 1}};
    struct websim_audit_options options = {.ratio_ppm = 100000, .burst_ns = 100 * MS, .robots_known = true};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        uint32_t connection = connect_at(0);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 0), 40, 50);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 1), cases[i].seen_ms, 220);
        CHECK_INT(judge(&options), cases[i].violations);
    }
}

TEST(the_minimum_idle_time)
{
    struct websim_audit_options options = {
        .ratio_ppm = 500000, .burst_ns = 5 * MS, .min_idle_ns = 100 * MS, .robots_known = true};
    begin();
    visit(3, 0, 1);
    visit(3, 90, 1); /* 80 ms, where 20 would do for the ratio */
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_MIN_IDLE), 1);
}

TEST(hosts_of_one_address_share_its_rest)
{
    struct websim_audit_options options = {
        .ratio_ppm = 1000000, .address_ratio_ppm = 500000, .burst_ns = 100 * MS, .robots_known = true};
    uint32_t first = 0, second = 0;
    begin();
    find_hosts(true, &first, &second);
    visit(first, 0, 10);
    visit(second, 150, 1); /* 50 ms after, within the first's burst or not: it should be 200 */
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_ADDRESS_IDLE), 1);
    begin();
    visit(first, 0, 2);
    visit(second, 21, 1); /* in the time of the first's burst, but another host */
    CHECK_INT(judge(&options), 1);
    begin();
    find_hosts(false, &first, &second);
    visit(first, 0, 10);
    visit(second, 10, 1);
    CHECK_INT(judge(&options), 0);
}

TEST(an_address_may_have_several_visits_if_told_so)
{
    struct websim_audit_options options = {.address_ratio_ppm = 500000,
                                           .burst_ns = 100 * MS,
                                           .connections_per_address = 2,
                                           .robots_known = true};
    uint32_t first = 0, second = 0;
    begin();
    find_hosts(true, &first, &second);
    visit(first, 0, 10);
    visit(second, 5, 10);
    CHECK_INT(judge(&options), 0);
    begin();
    visit(first, 0, 10);
    visit(second, 5, 10);
    visit(first, 150, 1); /* both lanes rest until 300 and 305 */
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_ADDRESS_IDLE), 1);
}

TEST(simultaneous_connections)
{
    uint32_t first = 0, second = 0;
    begin();
    find_hosts(true, &first, &second);
    visit(first, 0, 3);
    visit(first, 25, 1); /* 5 ms too early */
    CHECK_INT(judge(&known), 2);
    CHECK_INT(violations_of(WEBSIM_RULE_HOST_CONNECTIONS), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_ADDRESS_CONNECTIONS), 1);
    CHECK_INT(audit.findings[WEBSIM_RULE_HOST_CONNECTIONS].worst[0].excess_ns, 5 * MS);
    begin();
    visit(first, 0, 3);
    visit(second, 25, 1);
    CHECK_INT(judge(&known), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_ADDRESS_CONNECTIONS), 1);
    begin();
    visit(first, 0, 3);
    visit(second, 25, 1);
    CHECK_INT(judge(&(struct websim_audit_options){.connections_per_address = 2, .robots_known = true}), 0);
}

TEST(the_fixed_delay)
{
    struct websim_audit_options options = {.delay_ns = 100 * MS, .robots_known = true};
    begin();
    visit(3, 0, 1);
    visit(3, 110, 1);
    CHECK_INT(judge(&options), 0);
    begin();
    visit(3, 0, 1);
    visit(3, 105, 1);
    CHECK_INT(judge(&options), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_DELAY), 1);
}

TEST(crawl_delay)
{
    for (unsigned rude = 0; rude < 2; rude++) {
        begin();
        journal.parameters.robots_delay = WEBSIM_PPM;
        journal.parameters.robots_absent = 0;
        websim_web_init(&web, &journal.parameters);
        uint32_t delay = websim_robots_delay_ms(&web, 3);
        robots_at(3, 0);
        visit(3, 2, 1);
        visit(3, 2 + delay - rude * 2, 1);
        CHECK_INT(judge(&(struct websim_audit_options){0}), rude);
        CHECK_INT(violations_of(WEBSIM_RULE_CRAWL_DELAY), rude);
    }
}

TEST(retry_after)
{
    for (unsigned rude = 0; rude < 2; rude++) {
        begin();
        uint32_t connection = connect_at(0);
        struct websim_record *record = fetch(connection, url_of(3, WEBSIM_KIND_GONE, 0), 0, 10);
        record->status = 429;
        record->retry_after_s = 2;
        close_at(connection, 10);
        visit(3, 2010 - rude * 5, 1);
        CHECK_INT(judge(&known), rude);
        CHECK_INT(violations_of(WEBSIM_RULE_RETRY_AFTER), rude);
    }
}

TEST(robots_first_and_what_it_forbids)
{
    begin();
    visit(3, 0, 1);
    CHECK_INT(judge(&(struct websim_audit_options){0}), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_ROBOTS_FIRST), 1);
    begin();
    journal.parameters.robots_closed = WEBSIM_PPM;
    journal.parameters.robots_absent = 0;
    robots_at(3, 0);
    visit(3, 10, 1);
    CHECK_INT(judge(&(struct websim_audit_options){0}), 1);
    CHECK_INT(violations_of(WEBSIM_RULE_FORBIDDEN), 1);
}

TEST(each_url_once_unless_it_failed)
{
    static const struct {
        unsigned status;
        bool aborted;
        unsigned violations;
    } cases[] = {{200, false, 1}, {404, false, 1}, {429, false, 0}, {503, false, 0}, {200, true, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        uint32_t connection = connect_at(0);
        struct websim_record *record = fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 0, 10);
        record->status = (uint16_t)cases[i].status;
        if (cases[i].aborted)
            record->time_event = (record->time_event & ~UINT64_C(7)) | WEBSIM_EVENT_ABORT;
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 20, 30);
        CHECK_INT(judge(&known), cases[i].violations);
        CHECK_INT(violations_of(WEBSIM_RULE_REPEATED), cases[i].violations);
    }
    begin();
    robots_at(3, 0);
    robots_at(3, 10);
    CHECK_INT(judge(&known), 0);
}

TEST(a_killed_crawler_may_ask_again_once_per_kill)
{
    for (uint64_t kills = 0; kills <= 3; kills++) {
        struct websim_audit_options options = {.kills = kills, .robots_known = true};
        begin();
        uint32_t connection = connect_at(0);
        for (uint64_t i = 0; i < 3; i++)
            fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 20 * i, 20 * i + 10);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 8), 100, 110);
        CHECK_INT(judge(&options), kills < 2 ? 2 - kills : 0);
    }
}

/* Milliseconds of the tests, on the journal's clock. */
static struct websim_audit_options killed_at(uint64_t at_ms, uint64_t heard_ms)
{
    const uint64_t start_ns = 1000 * CLOCK_NS_PER_S;
    return (struct websim_audit_options){.killed = {{start_ns + at_ms * MS, start_ns + heard_ms * MS}},
                                         .killed_count = 1,
                                         .robots_known = true};
}

TEST(a_killed_crawler_may_ask_again_after_its_death)
{
    static const struct {
        uint64_t killed_ms;
        unsigned violations;
    } cases[] = {{5, 0}, {15, 0}, {35, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_audit_options options = killed_at(cases[i].killed_ms, 0);
        begin();
        uint32_t connection = connect_at(0);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 0, 10);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 20, 30);
        CHECK_INT(judge(&options), cases[i].violations);
    }
}

/* A page may wait for its verdict for five seconds, and no longer. */
TEST(a_killed_crawler_does_not_ask_again_for_what_it_has_committed)
{
    static const struct {
        uint64_t heard_ms;
        unsigned violations;
    } cases[] = {{5010, 0}, {5011, 1}, {20000, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_audit_options options = killed_at(20000, cases[i].heard_ms);
        begin();
        uint32_t connection = connect_at(0);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 0, 10);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 20020, 20030);
        CHECK_INT(judge(&options), cases[i].violations);
    }
}

/* What it had time to commit, and what it was told after it had come back, it has to keep in mind. */
TEST(a_killed_crawler_may_forget_what_it_has_just_heard)
{
    static const struct {
        uint64_t killed_ms, heard_ms, end_ms;
        unsigned violations;
    } cases[] = {
        {3000, 2900, 2950, 0}, /* heard after the last commit */
        {3000, 2900, 3010, 0}, /* answered when it was dead already */
        {3000, 2900, 2801, 0}, /* a busy crawler may read an answer so late */
        {3000, 2900, 2799, 1}, /* committed */
        {3000, 0, 1901, 0},    /* it had not committed for long */
        {3000, 0, 1899, 1},    /* for too long */
        {2700, 2700, 2950, 1}, /* it was killed before it asked */
        {4100, 2900, 2950, 1}, /* after it had asked again */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_audit_options options = killed_at(cases[i].killed_ms, cases[i].heard_ms);
        begin();
        uint64_t from_ms = cases[i].end_ms < 2790 ? cases[i].end_ms - 10 : 2790;
        uint32_t connection = connect_at(from_ms);
        struct websim_record *record =
            fetch(connection, url_of(3, WEBSIM_KIND_GONE, 0), from_ms, cases[i].end_ms);
        record->status = 503;
        record->retry_after_s = 5;
        close_at(connection, cases[i].end_ms);
        visit(3, 4000, 1);
        CHECK_INT(judge(&options), cases[i].violations);
        CHECK_INT(violations_of(WEBSIM_RULE_RETRY_AFTER), cases[i].violations);
    }
}

/* The server may hear late that a connection ended with its crawler; but no kill excuses what one process did. */
TEST(connections_end_when_their_crawler_is_killed)
{
    static const struct {
        uint64_t killed_ms;
        unsigned violations;
    } cases[] = {{12, 0}, {24, 0}, {29, 2}, {35, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_audit_options options = killed_at(cases[i].killed_ms, 0);
        begin();
        visit(3, 0, 3); /* until 30 */
        visit(3, 25, 1);
        CHECK_INT(judge(&options), cases[i].violations);
    }
}

/* So do requests: a visit that the server was slow to end asks for no longer rest than it had from its crawler. */
TEST(a_rest_begins_when_the_crawler_is_killed)
{
    static const struct {
        uint64_t next_ms;
        unsigned violations;
    } cases[] = {{119, 0}, {139, 0}, {80, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_audit_options options = killed_at(50, 0);
        options.ratio_ppm = WEBSIM_PPM; /* as long as the visit took */
        begin();
        uint32_t connection = connect_at(0);
        fetch(connection, url_of(3, WEBSIM_KIND_GONE, 7), 0, 110);
        close_at(connection, 115);
        visit(3, cases[i].next_ms, 1);
        CHECK_INT(judge(&options), cases[i].violations);
    }
}

TEST(the_worst_cases_are_kept_in_order)
{
    struct websim_audit_options options = {.delay_ns = 1000 * MS, .robots_known = true};
    begin();
    for (uint32_t host = 0; host < 20; host++) {
        visit(host, 10000 * host, 1);
        visit(host, 10000 * host + 10 + host * 40, 1);
    }
    CHECK_INT(judge(&options), 20);
    for (unsigned i = 0; i < WEBSIM_AUDIT_WORST; i++)
        CHECK_INT(audit.findings[WEBSIM_RULE_DELAY].worst[i].host, i);
}

TEST(a_journal_survives_its_file)
{
    char path[] = "/tmp/websim_audit.XXXXXX";
    struct websim_journal file;
    struct websim_journal_contents back;
    begin();
    visit(3, 0, 2);
    close(mkstemp(path));
    CHECK_INT(websim_journal_create(&file, path, &journal.parameters), 0);
    size_t bytes = journal.count * sizeof *records;
    /* A hole of one record, and the rest in the wrong order. */
    CHECK_INT(pwrite(file.fd, records, bytes, (off_t)(sizeof(struct websim_journal_head) + sizeof *records)),
              bytes);
    CHECK_INT(websim_journal_close(&file), 0);
    CHECK_INT(websim_journal_read(&back, path), 0);
    CHECK_INT(back.count, journal.count);
    CHECK_INT(back.parameters.addresses, 10);
    for (size_t i = 1; i < back.count; i++)
        CHECK(back.records[i - 1].time_event <= back.records[i].time_event);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    websim_journal_dump(&back, out);
    fclose(out);
    CHECK(strstr(text, "0.000000000\t1\tconnect\t0\t0\t-\n"));
    CHECK(strstr(text, "\tend\t200\t0\thttp://h3."));
    free(text);
    websim_journal_free(&back);
    CHECK_INT(truncate(path, (off_t)(sizeof(struct websim_journal_head) + 30)), 0);
    CHECK_INT(websim_journal_read(&back, path), -1);
    CHECK_INT(truncate(path, 100), 0);
    CHECK_INT(websim_journal_read(&back, path), -1);
    unlink(path);
    CHECK_INT(websim_journal_read(&back, path), -1);
}
