/* When a crawl has a sieve on disk, of which kind, and when it is told to hurry. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include <errno.h>

#include "engine/crawl/limits.h"

static struct trial trial;

/* A crawl with a sieve of this kind in memory, and a directory for scratch files. */
static struct crawl *begin(enum tuning_sieve kind, bool spills)
{
    trial_init(&trial);
    trial.tuning.fixed.memory.sieve_kind = kind;
    trial.tuning.fixed.state.spill = spills;
    trial.tuning.fixed.crawl.threads = 2;
    struct crawl *crawl = trial_begin_bare(&trial);
    snprintf(crawl->scratch, sizeof crawl->scratch, "%s", trial.base);
    CHECK_INT(sieve_init(&crawl->sieve, &crawl->tuning), 0);
    return crawl;
}

static void finish(void)
{
    struct crawl *crawl = &trial.crawl;
    mill_fini(&crawl->mill);
    sieve_fini(&crawl->sieve);
    free(crawl->loops);
    trial_fini(&trial);
}

TEST(a_sieve_on_disk_needs_a_place_for_urls_that_wait)
{
    struct crawl *crawl = begin(TUNING_SIEVE_MERCATOR, false);
    CHECK(!crawl_init_mill(crawl, &trial.error));
    CHECK_STR(trial.error.message, "memory.sieve-kind: a sieve on disk needs state.spill = yes");
    CHECK(!crawl->mill.loops);
    finish();
}

TEST(what_asks_no_disk_has_no_mill)
{
    struct crawl *crawl = begin(TUNING_SIEVE_SIGNATURES, false);
    CHECK(crawl_init_mill(crawl, &trial.error) && !crawl->mill.loops);
    crawl_hurry_mill(crawl);
    CHECK(!lf_load(&crawl->mill.hurries, relaxed));
    finish();
    crawl = begin(TUNING_SIEVE_BLOOM, true);
    CHECK(crawl_init_mill(crawl, &trial.error) && !crawl->mill.loops);
    finish();
}

/* Signatures in memory may never be full: nothing is made on disk before. */
TEST(behind_signatures_the_disk_is_opened_when_it_is_needed)
{
    struct crawl *crawl = begin(TUNING_SIEVE_SIGNATURES, true);
    CHECK(crawl_init_mill(crawl, &trial.error));
    CHECK(crawl->mill.loops && !crawl->mill.sieve && !crawl->mill.is_running);
    CHECK(!trial_has(&trial, "sieve"));
    CHECK_INT(crawl->mill.options.kind, SIEVE_DISK_MERCATOR);
    CHECK_INT(crawl->mill.options.loops, 2);
    CHECK_INT(crawl_start_mill(crawl), 0);
    CHECK(crawl->mill.sieve && crawl->mill.is_running);
    finish();
}

TEST(it_is_opened_and_started_once)
{
    struct crawl *crawl = begin(TUNING_SIEVE_SIGNATURES, true);
    CHECK(crawl_init_mill(crawl, &trial.error));
    CHECK_INT(crawl_open_mill(crawl), 0);
    struct sieve_disk *sieve = crawl->mill.sieve;
    CHECK_INT(mill_learn(&crawl->mill, 42), 0);
    CHECK_INT(crawl_open_mill(crawl), 0);
    CHECK_INT(crawl_start_mill(crawl), 0);
    pthread_t thread = crawl->mill.thread;
    CHECK_INT(crawl_start_mill(crawl), 0);
    CHECK(crawl->mill.sieve == sieve && pthread_equal(crawl->mill.thread, thread));
    finish();
}

TEST(sieves_on_disk_are_opened_at_once)
{
    static const struct {
        enum tuning_sieve kind;
        enum sieve_disk_kind on_disk;
    } kinds[] = {{TUNING_SIEVE_MERCATOR, SIEVE_DISK_MERCATOR}, {TUNING_SIEVE_OFFLINE, SIEVE_DISK_OFFLINE}};
    for (unsigned i = 0; i < 2; i++) {
        struct crawl *crawl = begin(kinds[i].kind, true);
        CHECK(crawl_init_mill(crawl, &trial.error));
        CHECK(crawl->mill.sieve && !crawl->mill.is_running);
        CHECK_INT(crawl->mill.options.kind, kinds[i].on_disk);
        CHECK_INT(crawl->mill.options.runs, crawl->tuning.fixed.memory.sieve_runs);
        CHECK_INT(crawl->mill.options.bytes, sieve_mill_bytes(&crawl->tuning));
        finish();
    }
}

TEST(a_directory_that_cannot_be_made_is_told)
{
    char path[TRIAL_PATH_BYTES];
    struct crawl *crawl = begin(TUNING_SIEVE_MERCATOR, true);
    trial_write(&trial, "file", "");
    snprintf(crawl->scratch, sizeof crawl->scratch, "%s", trial_path(&trial, "file", path));
    CHECK(!crawl_init_mill(crawl, &trial.error));
    CHECK(trial_said(&trial, "memory.sieve-kind: ") && trial_said(&trial, path));
    finish();
    crawl = begin(TUNING_SIEVE_SIGNATURES, true); /* it is found out when the disk is needed */
    trial_write(&trial, "file", "");
    snprintf(crawl->scratch, sizeof crawl->scratch, "%s", trial_path(&trial, "file", path));
    CHECK(crawl_init_mill(crawl, &trial.error));
    CHECK_INT(crawl_start_mill(crawl), -ENOTDIR);
    CHECK(!crawl->mill.is_running);
    finish();
}

static bool hurries(struct crawl *crawl)
{
    crawl_hurry_mill(crawl);
    return lf_load(&crawl->mill.hurries, relaxed);
}

/* So many URLs wait in the frontier of a loop. */
static void let_wait(struct loop *loop, uint64_t waiting, uint64_t out)
{
    stats_set(&loop->stats.urls_out, out);
    stats_set(&loop->stats.urls_in, waiting + out);
    stats_set(&loop->stats.asked, 0);
    stats_set(&loop->stats.urls_known, 0);
}

TEST(it_hurries_while_few_urls_wait)
{
    const uint64_t enough = 2 * (uint64_t)CRAWL_HURRY_URLS;
    struct crawl *crawl = begin(TUNING_SIEVE_SIGNATURES, true);
    CHECK(hurries(crawl));
    let_wait(&crawl->loops[0], enough - 1, 0);
    CHECK(hurries(crawl));
    let_wait(&crawl->loops[1], 1, 0); /* the sum counts */
    CHECK(!hurries(crawl));
    stats_add(&crawl->loops[0].stats.asked, 1); /* it waits for the sieve itself */
    CHECK(hurries(crawl));
    let_wait(&crawl->loops[0], enough - 1, 0);
    stats_add(&crawl->loops[1].stats.urls_known, 1);
    CHECK(hurries(crawl));
    let_wait(&crawl->loops[1], 1, 0);
    CHECK(!hurries(crawl));
    /* Counters of running loops may be read in the wrong order: then nothing waits. */
    stats_set(&crawl->loops[0].stats.asked, 10 * enough);
    CHECK(hurries(crawl));
    finish();
}

/* A fast crawl uses up what waits while the sieve works. */
TEST(it_hurries_in_time)
{
    enum { PER_LOOK = 1000 };
    const uint64_t least = 2 * (uint64_t)CRAWL_HURRY_URLS;
    uint64_t out = PER_LOOK;
    struct crawl *crawl = begin(TUNING_SIEVE_SIGNATURES, true);
    let_wait(&crawl->loops[0], least, out);
    CHECK(!hurries(crawl)); /* the first look: its pace is not known, whatever was done before */
    for (int i = 0; i < 20 * CRAWL_HURRY_LOOKS; i++) {
        out += PER_LOOK;
        let_wait(&crawl->loops[0], least, out);
        CHECK(hurries(crawl));
    }
    CHECK(crawl->pace.per_look > 0.99 * PER_LOOK && crawl->pace.per_look <= PER_LOOK);
    out += PER_LOOK;
    let_wait(&crawl->loops[0], least + CRAWL_HURRY_TIMES * PER_LOOK, out);
    CHECK(!hurries(crawl));
    lf_store(&crawl->mill.work_ns, 9 * CRAWL_LOOK_NS, relaxed); /* it takes ten looks until it has answered */
    out += PER_LOOK;
    let_wait(&crawl->loops[0], least + 9 * CRAWL_HURRY_TIMES * PER_LOOK, out);
    CHECK(hurries(crawl));
    out += PER_LOOK;
    let_wait(&crawl->loops[0], least + 10 * CRAWL_HURRY_TIMES * PER_LOOK, out);
    CHECK(!hurries(crawl));
    for (int i = 0; i < 20 * CRAWL_HURRY_LOOKS; i++) /* it stands still: its pace is forgotten */
        hurries(crawl);
    let_wait(&crawl->loops[0], least, out);
    CHECK(!hurries(crawl));
    finish();
}
