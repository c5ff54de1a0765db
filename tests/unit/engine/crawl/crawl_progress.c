/* DIR/progress.tsv of a crawl without threads: when it gets lines, and what a resumed crawl takes from it. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include "engine/crawl/limits.h"

static struct trial trial;

static struct crawl *begin(void)
{
    struct crawl *crawl = trial_begin_bare(&trial);
    crawl->directory = trial.base;
    crawl->begin_ns = clock_now_ns();
    crawl_begin_progress(crawl);
    return crawl;
}

static void end(struct crawl *crawl)
{
    progress_close(&crawl->progress);
    free(crawl->loops);
}

/* The lines below the header; the last one to `last`. */
static unsigned lines(struct sample *last)
{
    char path[TRIAL_PATH_BYTES], *at;
    size_t len;
    unsigned count = 0;
    char *text = check_read_file(trial_path(&trial, "progress.tsv", path), &len);
    CHECK(len > 0 && text[len - 1] == '\n');
    for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, count++) {
        at = line;
        for (unsigned i = 0; last && i < SAMPLE_COUNT; i++, at++)
            last->values[i] = strtoull(at, &at, 10);
    }
    free(text);
    return count;
}

TEST(there_is_a_line_every_ten_seconds)
{
    struct sample last;
    trial_init(&trial);
    struct crawl *crawl = begin();
    const uint64_t begin_ns = crawl->begin_ns;
    CHECK_INT(lines(NULL), 0); /* the header is there from the start */
    CHECK_INT(crawl_add_progress(crawl, begin_ns), CRAWL_PROGRESS_NS);
    CHECK_INT(crawl_add_progress(crawl, begin_ns + CRAWL_PROGRESS_NS - 1), 1);
    CHECK_INT(lines(NULL), 0);
    stats_set(&crawl->loops[0].stats.pages, 12);
    CHECK_INT(crawl_add_progress(crawl, begin_ns + CRAWL_PROGRESS_NS), CRAWL_PROGRESS_NS);
    CHECK_INT(lines(&last), 1);
    CHECK_INT(last.values[SAMPLE_pages], 12);
    uint64_t wall_ms = clock_wall_us() / 1000;
    CHECK(last.values[SAMPLE_wall_ms] <= wall_ms && last.values[SAMPLE_wall_ms] + 60000 > wall_ms);
    stats_set(&crawl->loops[0].stats.pages, 15);
    CHECK_INT(crawl_add_progress(crawl, begin_ns + 2 * CRAWL_PROGRESS_NS), CRAWL_PROGRESS_NS);
    CHECK_INT(lines(&last), 2);
    CHECK_INT(last.values[SAMPLE_pages], 15);
    end(crawl);
    trial_fini(&trial);
}

/* The last line is what summary.json says, also of a crawl that lasted no ten seconds. */
TEST(the_last_line_is_that_of_the_summary)
{
    struct sample last;
    trial_init(&trial);
    struct crawl *crawl = begin();
    stats_set(&crawl->loops[0].stats.stored, 9);
    status_update(&crawl->status, crawl);
    stats_set(&crawl->status.now.stored, 7); /* as the files were cut back to the last commit */
    crawl_finish_progress(crawl);
    CHECK(!crawl->progress.file);
    CHECK_INT(lines(&last), 1);
    CHECK_INT(last.values[SAMPLE_stored], 7);
    end(crawl);
    trial_fini(&trial);
}

TEST(a_resumed_crawl_goes_on_with_its_counters)
{
    struct sample last;
    trial_init(&trial);
    struct crawl *crawl = begin();
    CHECK_INT(crawl->ran_before_ns, 0);
    stats_set(&crawl->loops[0].stats.pages, 100);
    stats_set(&crawl->loops[0].stats.requests, 120);
    stats_set(&crawl->loops[0].stats.limited_ns[LIMITED_NAMES], 3 * CLOCK_NS_PER_S);
    crawl->begin_ns -= 30 * CLOCK_NS_PER_S;
    status_update(&crawl->status, crawl);
    crawl_finish_progress(crawl);
    end(crawl);

    crawl = begin();
    CHECK(crawl->ran_before_ns >= 30 * CLOCK_NS_PER_S && crawl->ran_before_ns < 90 * CLOCK_NS_PER_S);
    CHECK_INT(stats_get(&crawl->before.requests), 120);
    CHECK_INT(stats_get(&crawl->before.limited_ns[LIMITED_NAMES]), 3 * CLOCK_NS_PER_S);
    CHECK_INT(stats_get(&crawl->before.pages), 0); /* the journal has them */
    stats_set(&crawl->loops[0].stats.requests, 5);
    CHECK_INT(crawl_add_progress(crawl, crawl->begin_ns + CRAWL_PROGRESS_NS), CRAWL_PROGRESS_NS);
    CHECK_INT(lines(&last), 2);
    CHECK_INT(last.values[SAMPLE_requests], 125);
    CHECK(last.values[SAMPLE_running_ms] >= crawl->ran_before_ns / CLOCK_NS_PER_MS);
    end(crawl);
    trial_fini(&trial);
}

/* What an earlier version wrote is put aside, and nothing is taken from it. */
TEST(a_file_of_other_columns_counts_nothing)
{
    trial_init(&trial);
    trial_write(&trial, "progress.tsv", "wall_ms\trunning_ms\n1\t30000\n");
    struct crawl *crawl = begin();
    CHECK_INT(crawl->ran_before_ns, 0);
    CHECK_INT(lines(NULL), 0);
    trial_check_file(&trial, "progress.tsv.old", "wall_ms\trunning_ms\n1\t30000\n");
    end(crawl);
    trial_fini(&trial);
}

TEST(nothing_depends_on_the_file)
{
    trial_init(&trial);
    struct crawl *crawl = begin();
    progress_close(&crawl->progress);
    crawl->directory = "/nowhere";
    crawl_begin_progress(crawl);
    CHECK(!crawl->progress.file && crawl->ran_before_ns == 0);
    CHECK_INT(crawl_add_progress(crawl, crawl->begin_ns + CRAWL_PROGRESS_NS), CRAWL_PROGRESS_NS);
    crawl_finish_progress(crawl);
    end(crawl);
    trial_fini(&trial);
}
