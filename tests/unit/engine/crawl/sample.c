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
    status = (struct status){.running_s = 1.5, .queued = 9, .failing_count = -1};
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
