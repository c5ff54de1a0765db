#include "engine/state/commit.h"

#include <errno.h>

#include "engine/state/journal_read.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

enum { LOOPS = 2, COMMIT_NS = 100, SYNC_NS = 1000 };

static struct disk_model model;
static struct commit commit;
static struct outlet stores[LOOPS], logs[LOOPS];
static struct journal_loop journals[LOOPS];
static uint64_t now_ns;

static void begin(uint64_t sync_ns, bool has_journal)
{
    struct commit_options options = {.disk = &model.disk,
                                     .directory = "d",
                                     .commit_ns = COMMIT_NS,
                                     .sync_ns = sync_ns,
                                     .has_journal = has_journal,
                                     .store_folder = "warc"};
    struct journal_session session = {.version = "1.0"};
    disk_model_init(&model);
    commit_init(&commit, &options);
    commit.syncer.is_inline = true;
    for (unsigned i = 0; i < LOOPS; i++) {
        struct outlet_options outlet = {.files = &commit.files};
        CHECK_INT(outlet_init(&stores[i], &outlet), 0);
        outlet.is_shared = true;
        CHECK_INT(outlet_init(&logs[i], &outlet), 0);
        CHECK_INT(journal_loop_init(&journals[i], i), 0);
        outlet_open(&logs[i], "crawl.log");
        commit_add_loop(&commit, &(struct commit_loop){.store = &stores[i],
                                                       .log = &logs[i],
                                                       .journal = has_journal ? &journals[i] : NULL});
    }
    CHECK_INT(commit_begin(&commit, &session, (struct journal_place){.number = 1}, 0), 0);
    now_ns = 0;
}

static void finish(void)
{
    commit_fini(&commit);
    for (unsigned i = 0; i < LOOPS; i++) {
        outlet_fini(&stores[i]);
        outlet_fini(&logs[i]);
        journal_loop_fini(&journals[i]);
    }
    CHECK_INT(disk_model_open_count(&model), 0);
    disk_model_fini(&model);
}

static void add_line(unsigned loop, const char *line)
{
    outlet_append_whole(&logs[loop], slice_of(line));
    journal_add_done(&journals[loop], &(struct record_done){.signature = loop});
}

static void seal(unsigned loop)
{
    outlet_seal(&stores[loop]);
    outlet_seal(&logs[loop]);
    journal_seal(&journals[loop], lf_load(&commit.epoch, relaxed)); /* there is one thread */
}

static int turn(uint64_t later_ns)
{
    uint64_t wait_ns;
    now_ns += later_ns;
    return commit_turn(&commit, now_ns, &wait_ns);
}

static const char *log_text(void)
{
    static char text[256];
    struct slice content = disk_model_content(&model, "d/crawl.log");
    snprintf(text, sizeof text, "%.*s", (int)content.len, content.ptr ? content.ptr : "");
    return text;
}

/* The kinds of all frames in the journal, a letter each. */
static const char *frames(void)
{
    static char text[256];
    struct journal_reader reader;
    size_t len = 0;
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), 0);
    while (journal_reader_next(&reader) == JOURNAL_FOUND_FRAME)
        text[len++] = "?DCYSFE"[reader.frame.kind];
    text[len] = '\0';
    journal_reader_fini(&reader);
    return text;
}

TEST(an_epoch_is_committed_when_every_loop_has_sealed_it)
{
    begin(0, true);
    add_line(0, "a\n");
    CHECK_INT(turn(0), 0);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 2); /* there is one thread */
    seal(0);
    CHECK_INT(turn(COMMIT_NS), 0);
    CHECK_INT(turn(COMMIT_NS), 0);
    CHECK_INT(commit.committed, 0);                /* the other one is late */
    CHECK_INT(lf_load(&commit.epoch, relaxed), 2); /* there is one thread */
    CHECK_STR(log_text(), "a\n");
    add_line(0, "of the next epoch\n");
    outlet_flush(&logs[0]);
    add_line(1, "b\n");
    seal(1);
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit.committed, 1);
    CHECK_INT(commit.commits, 1);
    CHECK_STR(log_text(), "a\nb\n"); /* nothing of the next epoch when the lengths were taken */
    CHECK_STR(frames(), "SDDC");
    CHECK_INT(turn(0), 0);
    CHECK_STR(log_text(), "a\nb\nof the next epoch\n");
    finish();
}

TEST(commits_come_at_their_intervals)
{
    begin(0, true);
    CHECK_INT(turn(0), 0);
    seal(0), seal(1);
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit.committed, 1);
    CHECK_INT(turn(COMMIT_NS - 1), 0);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 2); /* there is one thread */
    CHECK_INT(turn(1), 0);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 3); /* there is one thread */
    finish();
}

/* Whatever the loops have done, be it in the epoch that is being sealed or in the next one. */
TEST(a_hurried_commit_comes_at_once_and_is_synced)
{
    begin(SYNC_NS, true);
    CHECK_INT(turn(0), 0);
    seal(0), seal(1);
    for (int i = 0; i < 4; i++)
        CHECK_INT(turn(0), 0);
    CHECK_INT(commit.synced, 1);
    add_line(0, "a\n");
    CHECK_INT(commit_hurry(&commit), 2);
    CHECK_INT(turn(1), 0);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 3); /* there is one thread */
    seal(0);                                       /* what it does from here on is of epoch 3 */
    add_line(0, "b\n");
    CHECK_INT(commit_hurry(&commit), 3);
    seal(1);
    CHECK_INT(turn(1), 0);
    CHECK_INT(commit.committed, 2);
    CHECK_INT(turn(1), 0);
    seal(0), seal(1);
    for (int i = 0; i < 6; i++)
        CHECK_INT(turn(1), 0);
    CHECK_INT(commit.committed, 3);
    CHECK_INT(commit.synced, 3);
    CHECK_STR(log_text(), "a\nb\n");
    CHECK(now_ns < COMMIT_NS);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 4); /* and nobody hurries any more */
    finish();
}

TEST(without_syncs_a_hurried_commit_is_not_synced_either)
{
    begin(0, true);
    CHECK_INT(turn(0), 0);
    seal(0), seal(1);
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit_hurry(&commit), 2);
    CHECK_INT(turn(1), 0);
    seal(0), seal(1);
    for (int i = 0; i < 6; i++)
        CHECK_INT(turn(1), 0);
    CHECK_INT(commit.committed, 2);
    CHECK_INT(commit.synced, 0);
    CHECK(!strchr(frames(), 'Y'));
    finish();
}

TEST(what_is_synced_is_told_afterwards)
{
    begin(SYNC_NS, true);
    CHECK_INT(turn(0), 0);
    seal(0), seal(1);
    CHECK_INT(turn(0), 0); /* commits and syncs */
    CHECK_STR(frames(), "SC");
    CHECK_INT(commit.sync, COMMIT_SYNC_FILES);
    CHECK_INT(turn(0), 0);
    CHECK_STR(frames(), "SCY");
    CHECK_INT(commit.sync, COMMIT_SYNC_JOURNAL);
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit.sync, COMMIT_SYNC_NONE);
    CHECK_INT(turn(SYNC_NS - 1), 0);
    CHECK_INT(commit.sync, COMMIT_SYNC_NONE);
    CHECK_INT(turn(1), 0);
    CHECK_INT(commit.sync, COMMIT_SYNC_FILES);
    finish();
}

TEST(the_end_commits_syncs_and_names_all)
{
    begin(SYNC_NS, true);
    CHECK_INT(turn(0), 0);
    seal(0); /* a commit is under way */
    outlet_open(&stores[1], "warc/w");
    outlet_append(&stores[1], SLICE("page"));
    add_line(1, "b\n");
    for (unsigned i = 0; i < LOOPS; i++) {
        outlet_flush(&stores[i]);
        outlet_flush(&logs[i]);
        outlet_flush(&journals[i].outlet);
    }
    CHECK_INT(commit_finish(&commit), 0);
    CHECK_STR(log_text(), "b\n");
    CHECK_SLICE(disk_model_content(&model, "d/warc/w"), "page");
    CHECK_STR(frames(), "SDCYE");
    finish();
}

/* Without syncs nobody may say that anything is synced. */
TEST(without_syncs_the_end_says_so)
{
    begin(0, true);
    CHECK_INT(commit_finish(&commit), 0);
    CHECK_STR(frames(), "SCE");
    finish();
}

TEST(without_a_journal_files_are_still_written)
{
    begin(SYNC_NS, false);
    outlet_append_whole(&logs[0], SLICE("a\n"));
    CHECK_INT(turn(0), 0);
    for (unsigned i = 0; i < LOOPS; i++) {
        outlet_seal(&stores[i]);
        outlet_seal(&logs[i]);
    }
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit.committed, 1);
    CHECK_STR(log_text(), "a\n");
    CHECK_INT(commit_finish(&commit), 0);
    CHECK(!disk_model_content(&model, "d/state/journal-000001").ptr);
    finish();
}

/* As long as a commit was the last one; and how long while a fold ran beside it. */
TEST(the_longest_age_of_a_commit_is_known)
{
    begin(0, true);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t ages_ns[] = {20, 40, 10};
        lf_store(&commit.last_ns, clock_now_ns() - ages_ns[i] * CLOCK_NS_PER_S, relaxed); /* there is one thread */
        commit.fold.is_busy = i == 2;
        CHECK_INT(commit_now(&commit), 0);
        commit.fold.is_busy = false;
        seal(0), seal(1);
    }
    CHECK_INT(lf_load(&commit.age_max_ns, relaxed) / CLOCK_NS_PER_S, 40); /* there is one thread */
    CHECK_INT(lf_load(&commit.folding_age_max_ns, relaxed) / CLOCK_NS_PER_S, 10);
    finish();
}

TEST(what_is_there_before_the_loops_run_is_committed_at_once)
{
    begin(SYNC_NS, true);
    add_line(0, "a\n");
    CHECK_INT(commit_now(&commit), 0);
    CHECK_INT(commit.committed, 1);
    CHECK_INT(lf_load(&commit.epoch, relaxed), 2); /* there is one thread */
    CHECK_STR(frames(), "SDC");
    finish();
}

static void commit_a_line(void)
{
    add_line(0, "a\n");
    CHECK_INT(turn(COMMIT_NS), 0);
    seal(0), seal(1);
    CHECK_INT(turn(0), 0);
}

static void fail_next(int number)
{
    model.fault_at = model.calls + 1;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = number;
}

TEST(a_full_disk_leaves_the_last_commit)
{
    begin(0, true);
    commit_a_line();
    add_line(0, "b\n");
    outlet_flush(&logs[0]);
    CHECK_INT(turn(0), 0);
    CHECK_STR(log_text(), "a\nb\n");
    add_line(0, "c\n");
    outlet_flush(&logs[0]);
    fail_next(ENOSPC);
    CHECK_INT(turn(0), -ENOSPC);
    CHECK_STR(log_text(), "a\n");
    CHECK_STR(frames(), "SDC"); /* and no FAILED */
    uint64_t calls = model.calls;
    add_line(0, "d\n");
    outlet_flush(&logs[0]);
    CHECK_INT(turn(COMMIT_NS), 0); /* thrown away */
    CHECK_INT(commit_finish(&commit), 0);
    CHECK_INT(model.calls, calls);
    finish();
}

TEST(a_sync_that_fails_is_the_end)
{
    begin(SYNC_NS, true);
    commit_a_line(); /* and synced */
    CHECK_STR(frames(), "SDC");
    CHECK_INT(turn(0), 0);
    CHECK_INT(turn(0), 0);
    CHECK_STR(frames(), "SDCY");
    fail_next(EIO);
    CHECK_INT(turn(SYNC_NS), 0); /* nothing has changed: the journal alone is synced */
    CHECK_INT(model.failed_syncs, 1);
    CHECK_INT(turn(0), -EIO);
    CHECK_STR(frames(), "SDCYF");
    CHECK_INT(turn(SYNC_NS), 0);
    CHECK_INT(commit_finish(&commit), 0);
    CHECK_INT(model.syncs_after_failure, 0);
    finish();
}

/* A file system may find out only at a sync that it has no room for what it took: then the data is gone, and the next sync
 * succeeds. */
TEST(a_sync_that_finds_the_disk_full_is_not_trusted_either)
{
    begin(SYNC_NS, true);
    commit_a_line(); /* and synced */
    CHECK_INT(turn(0), 0);
    CHECK_INT(turn(0), 0);
    fail_next(ENOSPC);
    CHECK_INT(turn(SYNC_NS), 0);
    CHECK_INT(turn(0), -ENOSPC);
    CHECK_STR(frames(), "SDCYF");
    finish();
}

TEST(a_sync_that_fails_while_a_write_finds_the_disk_full_is_told)
{
    begin(SYNC_NS, true);
    commit_a_line();
    CHECK_INT(turn(0), 0);
    CHECK_INT(turn(0), 0);
    fail_next(EDQUOT);
    CHECK_INT(turn(SYNC_NS), 0); /* the sync is under way */
    add_line(0, "b\n");
    outlet_flush(&logs[0]);
    fail_next(ENOSPC);
    CHECK_INT(turn(0), -ENOSPC); /* of the write */
    CHECK_STR(frames(), "SDCYF");
    finish();
}

/* Commits, and begins the next file of the journal; the k-th call to the disk finds it full. 0 or the commit's error. */
static int turn_over_with_fault(uint64_t k)
{
    begin(0, true); /* the only sync is that of the journal's last file */
    commit.journal.file_bytes_max = 1;
    add_line(0, "a\n");
    CHECK_INT(turn(COMMIT_NS), 0);
    seal(0), seal(1);
    fail_next(ENOSPC);
    model.fault_at += k;
    return turn(0);
}

TEST(a_journal_that_cannot_be_synced_for_lack_of_room_is_not_trusted)
{
    int error = 0;
    bool has_failed = false;
    for (uint64_t k = 0; !has_failed; k++) {
        error = turn_over_with_fault(k);
        has_failed = model.failed_syncs > 0;
        CHECK(model.calls >= model.fault_at);
        if (!has_failed)
            finish();
    }
    CHECK_INT(error, -ENOSPC);
    CHECK_STR(frames(), "SDCF");
    finish();
}

/* What the next file of the journal says is lost if the machine forgets its name. */
TEST(the_name_of_the_next_journal_is_synced)
{
    struct disk_model left;
    begin(SYNC_NS, true);
    commit.journal.file_bytes_max = 1;
    commit_a_line();
    CHECK_INT(commit.journal.end.number, 2);
    CHECK_INT(turn(0), 0);
    CHECK_INT(commit.sync, COMMIT_SYNC_JOURNAL);
    disk_model_init(&left);
    for (uint64_t seed = 0; seed < 50; seed++) {
        disk_model_crash(&model, &left, &(struct disk_model_crash){.is_machine = true, .seed = seed});
        CHECK(disk_model_content(&left, "d/state/journal-000002").len > 0);
    }
    disk_model_fini(&left);
    finish();
}
