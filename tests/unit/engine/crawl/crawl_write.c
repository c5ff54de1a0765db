/* The housekeeper's jobs: commits, the disk's errors and its reserve, summary.json. */
#include "tests/unit/engine/crawl/crawl_fault.h"

#include <errno.h>

static int port; /* where nobody listens */

static void init(struct trial *trial)
{
    trial_init(trial);
    trial->tuning.fixed.state.sync_ns = 0;
    trial->tuning.fixed.state.commit_ns = CLOCK_NS_PER_S;
    port = trial_seed_in_vain(trial);
}

static void fini(struct trial *trial)
{
    close(port);
    trial_fini(trial);
}

static void seal(struct crawl *crawl)
{
    for (unsigned i = 0; i < crawl->loop_count; i++)
        ledger_adopt(&crawl->loops[i].ledger);
}

/* A turn of the housekeeper ends early on a busy machine: it goes on until there is a commit. */
static void write_to_commit(struct crawl *crawl, uint64_t now_ns)
{
    for (uint64_t commits = crawl->commit.commits; crawl->commit.commits == commits;)
        crawl_write(crawl, now_ns);
}

/* What a summary says is stored has to be in the files after a failure, so it counts from the commit on. */
TEST(pages_count_as_stored_when_they_are_committed)
{
    static struct trial trial;
    init(&trial);
    trial.tuning.fixed.crawl.threads = 2;
    struct crawl *crawl = fault_open(&trial);
    uint64_t commits = crawl->commit.commits;
    stats_set(&crawl->loops[0].stats.stored, 3);
    stats_set(&crawl->loops[1].stats.stored, 4);
    crawl_write(crawl, CLOCK_NS_PER_S); /* asks the loops to seal */
    CHECK_INT(crawl->commit.commits, commits);
    seal(crawl);
    stats_set(&crawl->loops[0].stats.stored, 5); /* after the seal: of the next commit */
    CHECK_INT(crawl->stored_committed, 0);
    write_to_commit(crawl, CLOCK_NS_PER_S);
    CHECK_INT(crawl->commit.commits, commits + 1);
    CHECK_INT(crawl->stored_committed, 7);
    seal(crawl);
    crawl_write(crawl, CLOCK_NS_PER_S * 3 / 2); /* too early for another */
    CHECK_INT(crawl->stored_committed, 7);
    crawl_write(crawl, 2 * CLOCK_NS_PER_S);
    seal(crawl);
    write_to_commit(crawl, 2 * CLOCK_NS_PER_S);
    CHECK_INT(crawl->stored_committed, 9);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), 0);
    trial_end(&trial);
    fini(&trial);
}

/* Likewise, with the disk: until its error is told, if there is one. */
static void write_through(struct crawl *crawl, uint64_t now_ns)
{
    crawl_write(crawl, now_ns);
    seal(crawl);
    for (int i = 0; i < 100; i++)
        crawl_write(crawl, now_ns);
}

TEST(a_full_disk_is_told_and_commits_nothing)
{
    static struct trial trial;
    init(&trial);
    struct crawl *crawl = fault_open(&trial);
    uint64_t commits = crawl->commit.commits;
    stats_set(&crawl->loops[0].stats.stored, 3);
    fault = -ENOSPC;
    write_through(crawl, CLOCK_NS_PER_S);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC);
    CHECK_INT(crawl->commit.commits, commits);
    CHECK_INT(crawl->stored_committed, 0); /* no commit has them */
    fault = -EIO;
    write_through(crawl, 3 * CLOCK_NS_PER_S);
    crawl_write_rest(crawl);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC);
    trial_end(&trial);
    fini(&trial);
}

TEST(an_error_of_the_last_write_is_not_lost)
{
    static struct trial trial;
    init(&trial);
    struct crawl *crawl = fault_open(&trial);
    fault = -EIO;
    crawl_write_rest(crawl);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -EIO);
    trial_end(&trial);
    fini(&trial);
}

/* Links to hosts for which memory has no room, until the buffers are full. */
static void pour(struct crawl *crawl)
{
    struct harvest *harvest = &crawl->loops[0].harvest;
    for (unsigned i = 0; harvest_has_room(harvest); i++) {
        char text[URL_BYTES_MAX], link[64];
        struct url url;
        CHECK(i < 10000000);
        url_init(&url, text, sizeof text);
        snprintf(link, sizeof link, "http://127.%u.%u.1/%u", i / 200 % 200 + 1, i % 200 + 1, i);
        CHECK(url_parse(&url, NULL, slice_of(link)) == URL_OK);
        struct harvest_source source = {.url = &url, .base = &url};
        harvest_link(harvest, &source, slice_of(link), HOST_ITEM_SEED);
    }
}

/* A disk that cannot take what waits is an error like any other. */
TEST(an_error_of_a_scratch_file_is_one_of_the_disk)
{
    static struct trial trial;
    init(&trial);
    trial.tuning.fixed.scope.mode = TUNING_SCOPE_ANY;
    trial.tuning.fixed.memory.sieve_bytes = 16 << 20;
    trial.tuning.fixed.state.journal = false; /* scratch files are all that is written */
    struct crawl *crawl = fault_open(&trial);
    pour(crawl);
    CHECK(crawl_make_room(crawl));
    CHECK(harvest_has_room(&crawl->loops[0].harvest));
    pour(crawl);
    fault = -ENOSPC;
    CHECK(!crawl_make_room(crawl));
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC); /* that is how the start of a crawl knows why */
    crawl_write(crawl, CLOCK_NS_PER_S);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC);
    trial_end(&trial);
    fini(&trial);
}

static void queue_many(struct crawl *crawl, unsigned count)
{
    struct harvest *harvest = &crawl->loops[0].harvest;
    char text[URL_BYTES_MAX], link[64];
    struct url url;
    url_init(&url, text, sizeof text);
    for (unsigned i = 0; i < count; i++) {
        snprintf(link, sizeof link, "http://127.0.0.9/%u", i);
        CHECK(url_parse(&url, NULL, slice_of(link)) == URL_OK);
        struct harvest_source source = {.url = &url, .base = &url};
        harvest_link(harvest, &source, slice_of(link), HOST_ITEM_SEED);
    }
    harvest_flush(harvest);
}

/* So is one of the file with the long queues, while the crawl runs and before. */
TEST(an_error_of_the_slots_is_one_of_the_disk)
{
    static struct trial trial;
    init(&trial);
    trial.tuning.fixed.scope.mode = TUNING_SCOPE_ANY;
    trial.tuning.fixed.memory.sieve_bytes = 16 << 20;
    trial.tuning.fixed.state.journal = false;
    struct crawl *crawl = fault_open(&trial);
    queue_many(crawl, 2000);
    frontier_turn(&crawl->loops[0].frontier, clock_now_ns());
    CHECK(crawl->loops[0].frontier.stock.stowed > 1000);
    CHECK(crawl_write(crawl, CLOCK_NS_PER_S) <= CLOCK_NS_PER_MS); /* more may come soon */
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), 0);
    queue_many(crawl, 20000);
    CHECK(!frontier_is_roomy(&crawl->loops[0].frontier));
    fault = -ENOSPC;
    CHECK(!crawl_make_room(crawl));
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC); /* that is how the start of a crawl knows why */
    crawl_write(crawl, CLOCK_NS_PER_S);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -ENOSPC);
    trial_end(&trial);
    fini(&trial);
}

/* The operator has to see what went wrong first: the rest is its consequence. */
TEST(the_first_error_of_the_disk_is_kept)
{
    static struct trial trial;
    init(&trial);
    trial.tuning.fixed.scope.mode = TUNING_SCOPE_ANY;
    trial.tuning.fixed.memory.sieve_bytes = 16 << 20;
    struct crawl *crawl = fault_open(&trial);
    pour(crawl);
    fault = -EIO;
    later_fault = -ENOSPC;
    crawl_write(crawl, CLOCK_NS_PER_S);
    CHECK_INT(crawl_serve_spills(crawl), -ENOSPC);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -EIO);
    trial_end(&trial);
    fini(&trial);
}

TEST(a_journal_that_cannot_be_begun_is_refused_with_its_place)
{
    static struct trial trial;
    init(&trial);
    struct crawl *crawl = trial_begin(&trial);
    CHECK(crawl_check_tuning(crawl, &trial.error) && crawl_open_parts(crawl, &trial.error));
    CHECK(!crawl_begin_writing(crawl, &trial.error)); /* its folder is not there */
    CHECK(trial_said(&trial, "/crawl/state: No such file"));
    trial_end(&trial);
    fini(&trial);
}

TEST(the_reserve_is_compared_with_what_the_disk_has_left)
{
    static struct trial trial;
    static const struct {
        uint64_t reserve;
        bool is_low;
    } cases[] = {{0, false}, {1, false}, {UINT64_MAX, true}};
    init(&trial);
    snprintf(trial.directory, sizeof trial.directory, "%s", trial.base);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trial.tuning.fixed.state.reserve_bytes = cases[i].reserve;
        struct crawl *crawl = trial_begin(&trial);
        crawl_watch_disk(crawl, 0);
        CHECK_INT(lf_load(&crawl->is_disk_low, relaxed), cases[i].is_low);
    }
    fini(&trial);
}

/* In order: what waits is committed, and the crawl can go on when there is room again. */
TEST(a_crawl_without_its_reserve_ends_and_can_be_resumed)
{
    static struct trial trial;
    init(&trial);
    trial.tuning.fixed.state.reserve_bytes = UINT64_MAX;
    CHECK(trial_run(&trial));
    CHECK_STR(end_name(trial.crawl.end.why), "disk-full");
    trial.tuning.fixed.state.reserve_bytes = 0;
    trial.tuning.live.crawl.max_time_ns = 50 * CLOCK_NS_PER_MS;
    trial.options.resumes = true;
    CHECK(trial_run(&trial));
    CHECK(trial.crawl.resume.has_ended);
    CHECK_STR(end_name(trial.crawl.end.why), "time");
    CHECK_INT(trial.crawl.status.queued, 1);
    fini(&trial);
}

TEST(the_summary_of_a_running_crawl_is_there_to_be_read)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES];
    size_t len;
    init(&trial);
    struct crawl *crawl = fault_open(&trial);
    crawl->tuning.live.status.interval_ns = 7;
    stats_set(&crawl->loops[0].stats.pages, 41);
    CHECK_INT(crawl_sum(crawl, 0), 7);
    stats_set(&crawl->loops[0].stats.pages, 42);
    crawl_sum(crawl, 0);
    char *text = check_read_file(trial_path(&trial, "crawl/summary.json", path), &len);
    CHECK(strstr(text, "\"end\": \"running\"") && strstr(text, "\"pages\": 42,"));
    CHECK(strstr(text, "\"seeds\": {\"count\": 1, \"queued\": 1,"));
    free(text);
    CHECK(!trial_has(&trial, "crawl/summary.json.open"));
    trial_end(&trial);
    fini(&trial);
}
