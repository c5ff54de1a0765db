#include <errno.h>

#include "tests/unit/engine/state/resume_frame.h"

TEST(files_are_cut_named_or_removed)
{
    begin(NULL);
    add_epoch(3);
    put_file("d/warc/a.open", 45);
    put_file("d/warc/b.open", 9);
    put_file("d/warc/c", 9);
    put_file("d/pages/a.jsonl.open", 9);
    put_file("d/crawl.log", 7);
    put_file("d/summary.json", 7);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_restore(&resume));
    CHECK_INT(disk_model_content(&model, "d/warc/a").len, 30);
    CHECK(!disk_model_content(&model, "d/warc/a.open").ptr);
    CHECK(!disk_model_content(&model, "d/warc/b.open").ptr);
    CHECK(!disk_model_content(&model, "d/warc/c").ptr);
    CHECK(!disk_model_content(&model, "d/pages/a.jsonl.open").ptr);
    CHECK(!disk_model_content(&model, "d/crawl.log").ptr); /* no commit names it */
    CHECK_INT(disk_model_content(&model, "d/summary.json").len, 7);
    resume_fini(&resume);
    finish();
}

TEST(a_file_that_is_shorter_than_its_commit_is_refused)
{
    begin(NULL);
    add_epoch(3);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(!resume_restore(&resume));
    CHECK_STR(resume.message, "d/warc/a: No such file or directory");
    put_file("d/warc/a", 29);
    CHECK(!resume_restore(&resume));
    CHECK_STR(resume.message, "d/warc/a: is shorter than it was when it was committed");
    resume_fini(&resume);
    finish();
}

TEST(files_of_the_journal_behind_the_commit_are_removed)
{
    begin("another boot");
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    for (unsigned i = 2; i <= 4; i++) {
        journal.file_bytes_max = 1;
        CHECK_INT(journal_turn_over(&journal), 0);
        add_epoch(i);
    }
    put_file("d/warc/a", 40);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_restore(&resume));
    CHECK_INT(resume.end.number, 1);
    CHECK(!disk_model_content(&model, "d/state/journal-000002").ptr);
    CHECK(!disk_model_content(&model, "d/state/journal-000004").ptr);
    resume_fini(&resume);
    finish();
}

/* A second crash, of the machine, right after the restore, must not go back behind the first. */
TEST(a_restore_says_that_its_commit_is_synced)
{
    begin(NULL);
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    size_t end = journal.end.offset;
    add_data(3);
    put_file("d/warc/a", 20);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_restore(&resume));
    CHECK_INT(resume.end.offset, end + sizeof(struct journal_frame));
    CHECK_INT(disk_model_content(&model, "d/state/journal-000001").len, resume.end.offset);
    resume_fini(&resume);
    CHECK_INT(chosen(RESUME_TRUST_SYNCED), 2);
    CHECK_INT(look(RESUME_TRUST_SYNCED), RESUME_READY); /* again: it is said once */
    CHECK(resume_restore(&resume));
    CHECK_INT(resume.end.offset, end + sizeof(struct journal_frame));
    resume_fini(&resume);
    finish();
}

/* Commits these WARC files as ten bytes long each. */
static void commit_warcs(uint64_t epoch, const char *first, const char *second)
{
    struct file later = {.is_changed = true, .length = 10};
    struct file file = {.next = &later, .is_changed = true, .length = 10};
    struct files list = {.all = &file};
    snprintf(file.name, sizeof file.name, "%s", first);
    snprintf(later.name, sizeof later.name, "%s", second);
    CHECK_INT(journal_commit(&journal, epoch, &list), 0);
}

static bool is_there(const char *path)
{
    return disk_model_content(&model, path).ptr != NULL;
}

/* An index may tell of records that are cut off, or be of a file that is gone. */
TEST(an_index_stays_with_a_file_that_is_as_it_was_committed)
{
    begin(NULL);
    commit_warcs(1, "warc/same.warc.gz", "warc/cut.warc.zst");
    put_file("d/warc/same.warc.gz", 10);
    put_file("d/warc/same.cdxj", 5);
    put_file("d/warc/cut.warc.zst", 20);
    put_file("d/warc/cut.cdxj", 5);
    put_file("d/warc/stray.warc", 10);
    put_file("d/warc/stray.cdxj", 5);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_restore(&resume));
    CHECK(is_there("d/warc/same.warc.gz") && is_there("d/warc/same.cdxj"));
    CHECK_INT(disk_model_content(&model, "d/warc/cut.warc.zst").len, 10);
    CHECK(!is_there("d/warc/cut.cdxj"));
    CHECK(!is_there("d/warc/stray.warc") && !is_there("d/warc/stray.cdxj"));
    resume_fini(&resume);
    finish();
}

/* With store.kind = directory, a file is removed once its pages are unpacked. */
TEST(a_file_whose_pages_were_unpacked_may_be_gone)
{
    begin(NULL);
    commit_warcs(1, "incoming/gone.warc", "incoming/here.warc");
    put_file("d/incoming/here.warc", 10);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_restore(&resume));
    CHECK(is_there("d/incoming/here.warc") && !is_there("d/incoming/gone.warc"));
    resume_fini(&resume);
    finish();
}

/* A crawl whose last commit, the second, is not synced yet. */
static void begin_unsynced(void)
{
    begin(NULL);
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    journal.file_bytes_max = 1;
    CHECK_INT(journal_turn_over(&journal), 0);
    add_data(3);
    put_file("d/warc/a.open", 25);
    put_file("d/warc/b.open", 9);
    put_file("d/crawl.log", 7);
    put_file("d/state/" JOURNAL_FOLD_NAME, 7);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK_INT(resume.epoch, 2);
}

static void check_restored(void)
{
    CHECK_INT(disk_model_content(&model, "d/warc/a").len, 20);
    CHECK(!is_there("d/warc/a.open") && !is_there("d/warc/b.open") && !is_there("d/crawl.log"));
    CHECK(!is_there("d/state/journal-000002") && !is_there("d/state/" JOURNAL_FOLD_NAME));
    CHECK_INT(disk_model_content(&model, "d/state/journal-000001").len, resume.end.offset);
    resume_fini(&resume);
    CHECK_INT(chosen(RESUME_TRUST_SYNCED), 2);
}

TEST(a_restore_that_is_killed_can_be_made_again)
{
    bool is_killed = true;
    for (uint64_t call = 1; is_killed; call++) {
        begin_unsynced();
        model.dies_at = model.calls + call;
        resume_restore(&resume);
        is_killed = model.calls >= model.dies_at;
        model.dies_at = 0;
        resume_fini(&resume);
        CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
        CHECK_INT(resume.epoch, 2);
        CHECK(resume_restore(&resume));
        check_restored();
        finish();
    }
}

/* After a sync that failed only what was synced before can be trusted: the commit itself, once the journal says so. */
TEST(a_sync_that_fails_is_remembered)
{
    unsigned failed_syncs = 0;
    bool has_failed = true;
    for (uint64_t call = 1; has_failed; call++) {
        begin_unsynced();
        model.fault_at = model.calls + call;
        model.fault = DISK_MODEL_FAULT_ERROR;
        model.fault_errno = EIO;
        bool good = resume_restore(&resume), is_marked = resume.is_marked;
        has_failed = model.calls >= model.fault_at;
        model.fault_at = 0;
        failed_syncs += model.failed_syncs != 0;
        CHECK(good ? !model.failed_syncs : has_failed); /* to close a file or to ask for its size may fail */
        CHECK(good || resume.message[0]);
        resume_fini(&resume);
        CHECK_INT(chosen(RESUME_TRUST_LAST), model.failed_syncs && !is_marked ? 1 : 2);
        finish();
    }
    CHECK(failed_syncs > 3);
}

TEST(what_is_restored_survives_the_machine)
{
    static struct disk_model left;
    begin_unsynced();
    CHECK(resume_restore(&resume));
    resume_fini(&resume);
    disk_model_init(&left);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        disk_model_crash(&model, &left, &(struct disk_model_crash){.is_machine = true, .seed = seed});
        CHECK_INT(resume_look(&resume, &left.disk, "d", RESUME_TRUST_SYNCED), RESUME_READY);
        CHECK_INT(resume.epoch, 2);
        CHECK_INT(disk_model_content(&left, "d/warc/a").len, 20);
        resume_fini(&resume);
    }
    disk_model_fini(&left);
    finish();
}
