#include "engine/crawl/sample.h"

#include <string.h>

#include "engine/crawl/status.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct status status;
static struct stats before;
static struct sample sample;

TEST(every_column_has_a_name_of_its_own)
{
    char one[SAMPLE_NAME_BYTES], other[SAMPLE_NAME_BYTES];
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        for (unsigned k = 0; k < i; k++)
            CHECK(strcmp(sample_name(i, one), sample_name(k, other)) != 0);
    CHECK_STR(sample_name(SAMPLE_pages, one), "pages");
    CHECK_STR(sample_name(SAMPLE_limited_ms + LIMITED_NAMES, one), "limited_names_ms");
}

TEST(a_sample_has_what_the_status_says)
{
    status = (struct status){
        .running_s = 1.5, .queued = 9, .failing_count = -1, .fetch_us = {50, 90, 99}, .written.store = 77};
    stats_set(&status.now.looking_up, 8);
    status.hosts[HOST_RESTING] = 3;
    status.hosts[HOST_LOADING] = 2;
    status.hosts[HOST_VISITING] = -1;
    stats_set(&status.now.pages, 10);
    stats_set(&status.now.links, 20);
    stats_set(&status.now.limited_ns[LIMITED_WORK], 3 * CLOCK_NS_PER_MS);
    sample_take(&sample, &status, 1234);
    CHECK_INT(sample.values[SAMPLE_wall_ms], 1234);
    CHECK_INT(sample.values[SAMPLE_running_ms], 1500);
    CHECK_INT(sample.values[SAMPLE_queued], 9);
    CHECK_INT(sample.values[SAMPLE_looking_up], 8);
    CHECK_INT(sample.values[SAMPLE_fetch_p50_us], 50);
    CHECK_INT(sample.values[SAMPLE_fetch_p90_us], 90);
    CHECK_INT(sample.values[SAMPLE_fetch_p99_us], 99);
    CHECK_INT(sample.values[SAMPLE_written_bytes], 77);
    CHECK_INT(sample.values[SAMPLE_hosts_failing], 0);
    CHECK_INT(sample.values[SAMPLE_hosts_resting], 5);
    CHECK_INT(sample.values[SAMPLE_hosts_visiting], 0);
    CHECK_INT(sample.values[SAMPLE_pages], 10);
    CHECK_INT(sample.values[SAMPLE_links], 20);
    CHECK_INT(sample.values[SAMPLE_limited_ms + LIMITED_WORK], 3);
}

/* What the journal brings back is left alone: it would count twice. */
TEST(counters_go_on_after_a_resume)
{
    sample_restore(&sample, &before);
    CHECK_INT(stats_get(&before.links), 20);
    CHECK_INT(stats_get(&before.pages), 0);
    CHECK_INT(stats_get(&before.limited_ns[LIMITED_WORK]), 3 * CLOCK_NS_PER_MS);
}

/* Each counter of its own number: none is taken for another, and none is forgotten. */
TEST(every_counter_is_taken)
{
    uint64_t value = 100;
    status = (struct status){0};
#define FILL(name) stats_set(&status.now.name, ++value);
    SAMPLE_JOURNALED(FILL)
    SAMPLE_COUNTERS(FILL)
#undef FILL
    sample_take(&sample, &status, 0);
#define COMPARE(name) CHECK_INT(sample.values[SAMPLE_##name], stats_get(&status.now.name));
    SAMPLE_JOURNALED(COMPARE)
    SAMPLE_COUNTERS(COMPARE)
#undef COMPARE
}

/* What is restored is added to what is counted from then on: a sample of that is the next of the same row. */
TEST(a_resumed_crawl_samples_what_it_was_restored_from)
{
    uint64_t value = 100;
    before = (struct stats){0};
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        sample.values[i] = ++value;
    sample_restore(&sample, &before);
    status = (struct status){.now = before};
    struct sample again;
    sample_take(&again, &status, 0);
#define COMPARE(name) CHECK_INT(again.values[SAMPLE_##name], sample.values[SAMPLE_##name]);
    SAMPLE_COUNTERS(COMPARE)
#undef COMPARE
    for (unsigned by = 0; by < LIMITED_COUNT; by++)
        CHECK_INT(again.values[SAMPLE_limited_ms + by], sample.values[SAMPLE_limited_ms + by]);
    CHECK_INT(again.values[SAMPLE_urls_out], 0); /* of the journal */
}

TEST(hosts_without_an_address_are_one_column)
{
    status = (struct status){.host_count = 50, .address_count = 40, .unwritten_bytes = 30, .failed = 20};
    status.hosts[HOST_RESOLVING] = 3;
    status.hosts[HOST_ARRIVING] = -1;
    status.hosts[HOST_READY] = 8;
    stats_set(&status.now.connections, 7);
    sample_take(&sample, &status, 0);
    CHECK_INT(sample.values[SAMPLE_hosts_unresolved], 2);
    CHECK_INT(sample.values[SAMPLE_hosts_ready], 8);
    CHECK_INT(sample.values[SAMPLE_hosts], 50);
    CHECK_INT(sample.values[SAMPLE_addresses], 40);
    CHECK_INT(sample.values[SAMPLE_unwritten_bytes], 30);
    CHECK_INT(sample.values[SAMPLE_failed], 20);
    CHECK_INT(sample.values[SAMPLE_connections], 7);
}
