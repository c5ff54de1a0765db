#include "engine/crawl/progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/crawl/status.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static char path[64];
static struct progress progress;
static struct sample sample, last;

static void begin(void)
{
    snprintf(path, sizeof path, "/tmp/lycosa-progress-XXXXXX");
    close(mkstemp(path));
    unlink(path);
    memset(&sample, 0, sizeof sample);
    memset(&last, 0, sizeof last);
}

static void finish(void)
{
    char old[80];
    snprintf(old, sizeof old, "%s.old", path);
    unlink(path);
    unlink(old);
}

static void append(const char *text)
{
    FILE *file = fopen(path, "ae");
    fputs(text, file);
    fclose(file);
}

static unsigned count_lines(void)
{
    unsigned lines = 0;
    FILE *file = fopen(path, "re");
    for (int c; (c = getc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void count(void *owner, const struct sample *found)
{
    unsigned *pages = owner;
    *pages = *pages * 10 + (unsigned)found->values[SAMPLE_pages] % 10;
}

TEST(each_sample_of_the_file_is_told)
{
    unsigned pages = 0;
    begin();
    CHECK(!progress_open(&progress, path, &last));
    for (sample.values[SAMPLE_pages] = 1; sample.values[SAMPLE_pages] < 4; sample.values[SAMPLE_pages]++)
        progress_add(&progress, &sample);
    progress_close(&progress);
    append("1\t2"); /* torn */
    progress = (struct progress){.on_sample = count, .owner = &pages};
    CHECK(progress_open(&progress, path, &last));
    CHECK_INT(pages, 123);
    progress_close(&progress);
    progress = (struct progress){0};
    finish();
}

TEST(what_is_written_is_read_back)
{
    begin();
    CHECK(!progress_open(&progress, path, &last));
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        sample.values[i] = UINT64_MAX - i;
    progress_add(&progress, &sample);
    sample.values[SAMPLE_pages] = 7;
    progress_add(&progress, &sample);
    progress_close(&progress);
    CHECK_INT(count_lines(), 3);
    CHECK(progress_open(&progress, path, &last));
    CHECK(memcmp(&sample, &last, sizeof last) == 0);
    progress_close(&progress);
    finish();
}

/* A process that was killed, or a disk that was full. */
TEST(a_torn_line_is_removed)
{
    begin();
    progress_open(&progress, path, &last);
    sample.values[SAMPLE_pages] = 42;
    progress_add(&progress, &sample);
    progress_close(&progress);
    append("1\t2\t3");
    CHECK(progress_open(&progress, path, &last));
    CHECK_INT(last.values[SAMPLE_pages], 42);
    sample.values[SAMPLE_pages] = 43;
    progress_add(&progress, &sample);
    progress_close(&progress);
    CHECK_INT(count_lines(), 3);
    CHECK(progress_open(&progress, path, &last));
    CHECK_INT(last.values[SAMPLE_pages], 43);
    progress_close(&progress);
    finish();
}

TEST(a_file_of_other_columns_is_put_aside)
{
    begin();
    append("pages\tbytes\n1\t2\n");
    CHECK(!progress_open(&progress, path, &last));
    progress_add(&progress, &sample);
    progress_close(&progress);
    CHECK_INT(count_lines(), 2);
    finish();
}

TEST(without_a_file_nothing_happens)
{
    struct progress none = {0};
    progress_add(&none, &sample);
    progress_close(&none);
    CHECK(!progress_open(&none, "/nowhere/progress.tsv", &last));
    progress_add(&none, &sample);
    progress_close(&none);
}
