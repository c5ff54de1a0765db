#include "engine/crawl/past.h"

#include "engine/crawl/limits.h"
#include "engine/outcome/fetch_outcome.h"
#include "tests/support/check.h"

/* Moments of the wall clock, in microseconds: the last commit, and the last request that there can have been. */
enum { C = 1000000, E = 3000000, S = 1000000, LONGEST = 30 * S };

static struct tuning tuning;
static struct past past;

static void init(uint64_t commit_us, uint64_t end_us)
{
    past_init(&past, &(struct past_options){.politeness = &tuning.live.politeness,
                                            .limits = &tuning.live.limits,
                                            .longest_us = LONGEST,
                                            .commit_us = commit_us,
                                            .end_us = end_us});
}

/* A host rests as long as its visit took, and a second at least; its address half as long, and half a second. */
static void begin(void)
{
    tuning = (struct tuning){.live.politeness.mode = TUNING_POLITENESS_RATIO,
                             .live.politeness.host_ratio = 1,
                             .live.politeness.host_min_idle_ns = 1000 * (uint64_t)S,
                             .live.politeness.address_ratio = 2,
                             .live.politeness.address_min_idle_ns = 500 * (uint64_t)S,
                             .live.politeness.crawl_delay_max_ns = 60000 * (uint64_t)S};
    init(C, E);
}

static void note_begin(const char *key, uint64_t at_us)
{
    past_note_visit(&past, &(struct record_visit){.host_us = at_us, .key = slice_of(key)});
}

static void note_end(const char *key, uint64_t host_us, uint64_t address_us)
{
    past_note_visit(&past,
                    &(struct record_visit){
                        .is_end = true, .host_us = host_us, .address_us = address_us, .key = slice_of(key)});
}

/* NULL: nothing is said of it that does not hold for all. */
static const struct past_host *find(const char *key)
{
    const struct past_host *host;
    size_t cursor = 0;
    while ((host = past_next(&past, &cursor)))
        if (slice_equals((struct slice){host->key, host->key_len}, slice_of(key)))
            return host;
    return NULL;
}

/* Politeness rounds up, and so does the past. */
static void is_about(uint64_t us, uint64_t expected_us)
{
    CHECK(us >= expected_us && us <= expected_us + 3);
}

TEST(the_rests_are_those_of_the_table)
{
    static const struct {
        const char *what;
        bool has_end;
        uint64_t host_next_us, address_next_us; /* the last visit that ended says */
        uint64_t begin_us;                      /* a visit that is open began; 0: none is */
        uint64_t host_us, address_us;           /* expected */
    } cases[] = {
        {"a visit is open", false, 0, 0, 2 * S, E + 1 * S, E + S / 2},
        {"and began long ago", false, 0, 0, S / 2, E + 5 * S / 2, E + 5 * S / 4},
        {"after one that had ended", true, 9 * S, 9 * S, 2 * S, E + 1 * S, E + S / 2},
        {"it may be visited later than all", true, 9 * S, 8 * S, 0, 9 * S, 8 * S},
        {"it might have been visited since the commit", true, C - 1, C - 1, 0, E + 2 * S, E + 1 * S},
        {"it might have been visited since it may", true, 2 * S, 2 * S, 0, E + 1 * S, E + S / 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        tuning.live.limits.pages_per_host_max = 1; /* so that no host is left out */
        past_init(&past, &past.options);
        if (cases[i].has_end)
            note_end("http://a", cases[i].host_next_us, cases[i].address_next_us);
        if (cases[i].begin_us)
            note_begin("http://a", cases[i].begin_us);
        const struct past_host *host = find("http://a");
        CHECK(host);
        is_about(past_host_us(&past, host), cases[i].host_us);
        is_about(past_address_us(&past, host), cases[i].address_us);
        is_about(past_everybody_us(&past), E + 2 * S);
        past_fini(&past);
    }
}

TEST(a_crawl_delay_makes_the_rest_longer)
{
    begin();
    past_note_visit(
        &past, &(struct record_visit){.host_us = 2 * S, .crawl_delay_ms = 30000, .key = SLICE("http://a")});
    is_about(past_host_us(&past, find("http://a")), E + 30 * (uint64_t)S);
    is_about(past_address_us(&past, find("http://a")), E + S / 2);
    past_fini(&past);
}

/* Nobody knows how long a visit was whose begin is after its end. It may have been a long one. */
TEST(by_a_clock_that_was_set_back_a_visit_was_as_long_as_it_can_be)
{
    begin();
    note_begin("http://a", 10 * S); /* after the end */
    is_about(past_host_us(&past, find("http://a")), E + LONGEST);
    is_about(past_address_us(&past, find("http://a")), E + LONGEST / 2);
    note_begin("http://b", E);
    is_about(past_host_us(&past, find("http://b")), E + S); /* it had just begun */
    past_fini(&past);
    init(E, C);
    is_about(past_everybody_us(&past), C + LONGEST);
    past_fini(&past);
}

TEST(so_was_one_of_an_earlier_process)
{
    begin();
    past.options.end_us = 20 * S;
    past.options.commit_us = 19 * S;
    note_begin("http://a", 18 * S);
    past_note_session(&past, &(struct record_session){.begin_us = 17 * S, .last_us = 16 * S, .last_lag_max_us = 2 * S});
    is_about(past_host_us(&past, find("http://a")), 17 * S + LONGEST + PAST_TEARDOWN_US);
    past_fini(&past);
}

TEST(only_hosts_of_which_something_matters_are_told)
{
    begin();
    note_end("http://rested", C, C);
    note_end("http://rests", 9 * S, C);
    note_end("http://address-rests", C, 9 * S);
    note_begin("http://open", 2 * S);
    past_note_visit(&past, &(struct record_visit){.is_end = true,
                                                  .dead_why = FETCH_OUTCOME_COUNT - 1,
                                                  .key = SLICE("http://dead")});
    past_note_visit(&past,
                    &(struct record_visit){.is_end = true, .failures = 2, .key = SLICE("http://fails")});
    CHECK(!find("http://rested"));
    CHECK(find("http://rests") && find("http://address-rests") && find("http://open"));
    CHECK_INT(find("http://dead")->dead_why, FETCH_OUTCOME_COUNT - 1);
    CHECK_INT(find("http://fails")->failures, 2);
    past_fini(&past);
}

TEST(limits_are_counted_on_from_the_last_visit)
{
    struct record_done done = {
        .host = record_host_signature(SLICE("http://a")), .body_bytes = 7, .is_page = true};
    begin();
    tuning.live.limits.pages_per_host_max = 100;
    past_init(&past, &past.options);
    past_note_done(&past, &done); /* of a host of which nothing is known yet */
    note_begin("http://a", C);
    past_note_done(&past, &done);
    CHECK_INT(find("http://a")->pages, 1);
    past_note_visit(&past,
                    &(struct record_visit){
                        .is_end = true, .pages = 5, .bytes = 50, .spent_ns = 9, .key = SLICE("http://a")});
    CHECK_INT(find("http://a")->pages, 5); /* the end of a visit has the sums */
    note_begin("http://a", C);
    past_note_done(&past, &done);
    done.is_page = false;
    past_note_done(&past, &done);
    CHECK_INT(find("http://a")->pages, 6);
    CHECK_INT(find("http://a")->bytes, 57);
    CHECK_INT(find("http://a")->spent_ns, 9);
    past_fini(&past);
}

/* Many more hosts than the table begins with; those of which nothing matters leave it when it grows. */
TEST(the_table_grows_with_what_matters)
{
    enum { HOSTS = 20000 };
    char key[32];
    begin();
    for (unsigned i = 0; i < HOSTS; i++) {
        snprintf(key, sizeof key, "http://h%u", i);
        note_end(key, i % 10 == 0 ? 9 * S : C, C);
    }
    size_t told = 0, cursor = 0;
    while (past_next(&past, &cursor))
        told++;
    CHECK_INT(told, HOSTS / 10);
    CHECK(past.room < HOSTS);
    CHECK(!past.is_short_of_memory);
    for (unsigned i = 0; i < HOSTS; i += 1000) {
        snprintf(key, sizeof key, "http://h%u", i);
        CHECK_INT(find(key)->host_us, 9 * S);
    }
    past_fini(&past);
}

/* The first process wrote last at 1 s and may have gone on for two more; the second began at 10 s. */
TEST(a_visit_of_an_earlier_process_ended_with_it)
{
    begin();
    past.options.end_us = 20 * S;
    past.options.commit_us = 19 * S;
    note_begin("http://a.it", S / 2);
    past_note_session(&past, &(struct record_session){.begin_us = 10 * S, .last_us = 1 * S, .last_lag_max_us = 2 * S});
    CHECK(find("http://a.it") == NULL); /* it rested until 5.5 s */
    past_fini(&past);
    begin();
    tuning.live.politeness.host_ratio = 0.1;
    past.options.end_us = 5 * S;
    past.options.commit_us = 9 * S / 2;
    note_begin("http://a.it", S / 2);
    past_note_session(&past, &(struct record_session){.begin_us = 4 * S, .last_us = 1 * S, .last_lag_max_us = 2 * S});
    const struct past_host *host = find("http://a.it");
    CHECK(host && !host->is_open);
    /* ten times the 2.5 s until 3 s, and its connections were closed a little later */
    is_about(past_host_us(&past, host), 3 * S + 25 * S + 11 * PAST_TEARDOWN_US);
    past_fini(&past);
}

TEST(what_the_last_process_had_to_wait_for_is_waited_for)
{
    begin();
    uint64_t usual_us = past_everybody_us(&past);
    past.options.opens_us = usual_us - 1;
    CHECK_INT(past_everybody_us(&past), usual_us);
    past.options.opens_us = usual_us + S;
    CHECK_INT(past_everybody_us(&past), usual_us + S);
    past_fini(&past);
}
