#include "engine/crawl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct crawl crawl;

/* A crawl with little memory that ends at once; the error is what it could not begin for. */
static bool run(struct tuning_error *error)
{
    char directory[] = "/tmp/lycosa-crawl-XXXXXX", seed[] = "http://127.0.0.1:1/", *seeds[] = {seed};
    CHECK(mkdtemp(directory) != NULL);
    tuning.sieve_bytes = tuning.frontier_bytes = 1 << 20;
    tuning.hosts_max = 16;
    tuning.max_time_ns = CLOCK_NS_PER_MS;
    tuning.store_kind = TUNING_STORE_NONE;
    struct crawl_options options = {
        .tuning = &tuning, .directory = directory, .seeds = seeds, .seed_count = 1};
    bool began = crawl_run(&crawl, &options, error);
    CHECK(began || rmdir(directory) == 0); /* nothing was left behind */
    return began;
}

/* Where a loop's share has no room for one page, no visit would ever begin. */
TEST(every_loop_needs_memory_for_a_page)
{
    struct tuning_error error = {""};
    tuning_init(&tuning);
    tuning.threads = 16;
    tuning.page_bytes = 1 << 20;
    CHECK(!run(&error));
    CHECK_INT(crawl.end, CRAWL_END_BAD_TUNING);
    CHECK(strstr(error.message, "memory.pages") != NULL);
}
