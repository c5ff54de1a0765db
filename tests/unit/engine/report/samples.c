#include "engine/report/samples.h"

#include <stdio.h>

#include "tests/support/check.h"

static struct samples samples;

static void take(const char *line)
{
    samples_take(&samples, slice_of(line));
}

TEST(columns_are_known_by_their_names)
{
    samples_init(&samples);
    take("pages\tnew_thing\trunning_ms");
    take("5\t1\t10000");
    CHECK(!samples_have(&samples, SAMPLES_pages)); /* one sample is no line */
    take("9\t1\t20000");
    CHECK_INT(samples.count, 2);
    CHECK_INT(samples.values[1][SAMPLES_pages], 9);
    CHECK_INT(samples.values[1][SAMPLES_running_ms], 20000);
    CHECK(samples_have(&samples, SAMPLES_pages));
    CHECK(!samples_have(&samples, SAMPLES_queued));
}

TEST(lines_that_are_cut_are_left_out)
{
    samples_init(&samples);
    take("pages\trunning_ms");
    take("5");
    take("5\t");
    take("a\t1");
    take("99999999999999999999999\t1");
    CHECK_INT(samples.count, 0);
    CHECK_INT(samples.bad_lines, 4);
}

TEST(of_many_samples_the_last_one_is_always_there)
{
    char line[64];
    samples_init(&samples);
    take("pages\trunning_ms");
    for (uint64_t i = 0; i < 10 * SAMPLES_MAX; i++) {
        snprintf(line, sizeof line, "%llu\t%llu", (unsigned long long)i, (unsigned long long)i);
        take(line);
        CHECK(samples.count <= SAMPLES_MAX);
        CHECK_INT(samples.values[samples.count - 1][SAMPLES_pages], i);
    }
    CHECK_INT(samples.values[0][SAMPLES_pages], 0);
    for (size_t i = 1; i < samples.count; i++)
        CHECK(samples.values[i][SAMPLES_pages] > samples.values[i - 1][SAMPLES_pages]);
}
