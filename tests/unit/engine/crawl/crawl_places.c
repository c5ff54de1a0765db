/* The directory of a crawl: which one is taken, what is put into it, and what is left of it after a refusal. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include "engine/crawl/limits.h"

static bool make(struct trial *trial, bool *made)
{
    memset(&trial->error, 0, sizeof trial->error);
    return crawl_make_directory(trial->directory, made, &trial->error);
}

TEST(a_missing_directory_is_made_and_an_empty_one_is_taken)
{
    static struct trial trial;
    bool made = false;
    trial_init(&trial);
    CHECK(make(&trial, &made) && made);
    CHECK(make(&trial, &made) && !made);
    trial_fini(&trial);
}

TEST(a_directory_in_use_is_refused_and_left_alone)
{
    static struct trial trial;
    bool made = true;
    trial_init(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    trial_write(&trial, "crawl/thesis.txt", "years of work");
    CHECK(!make(&trial, &made) && !made);
    CHECK(trial_said(&trial, trial.directory) && trial_said(&trial, "not an empty directory"));
    trial_seed(&trial, "http://127.0.0.1:1/");
    CHECK(!trial_run(&trial));
    trial_check_file(&trial, "crawl/thesis.txt", "years of work");
    CHECK(!trial_has(&trial, "crawl/seeds.txt") && !trial_has(&trial, "crawl/state"));
    trial_fini(&trial);
}

TEST(what_is_no_directory_is_refused)
{
    static struct trial trial;
    bool made = true;
    trial_init(&trial);
    trial_write(&trial, "crawl", "a file");
    CHECK(!make(&trial, &made) && !made && trial_said(&trial, "not an empty directory"));
    snprintf(trial.directory, sizeof trial.directory, "%s/no/crawl", trial.base);
    CHECK(!make(&trial, &made) && !made && trial_said(&trial, "No such file"));
    trial_fini(&trial);
}

TEST(a_path_that_leaves_no_room_for_file_names_is_refused)
{
    struct tuning_error error;
    char path[CRAWL_DIRECTORY_CHARS_MAX + 2];
    bool made;
    memset(path, 'a', sizeof path);
    memcpy(path, "/no/", 4);
    path[CRAWL_DIRECTORY_CHARS_MAX + 1] = '\0';
    CHECK(!crawl_make_directory(path, &made, &error) && strstr(error.message, "at most 800 characters"));
    path[CRAWL_DIRECTORY_CHARS_MAX] = '\0'; /* short enough; what is wrong now is its parent */
    CHECK(!crawl_make_directory(path, &made, &error) && !strstr(error.message, "characters"));
}

TEST(a_directory_that_cannot_be_written_is_refused)
{
    static struct trial trial;
    bool made;
    if (geteuid() == 0)
        SKIP("root may write everywhere");
    trial_init(&trial);
    CHECK_INT(mkdir(trial.directory, 0555), 0);
    CHECK(!make(&trial, &made) && trial_said(&trial, "Permission denied"));
    trial_fini(&trial);
}

/* Seeds of all kinds become one file that can be read again; what a file lacks at its end must not glue two seeds
 * together. */
TEST(seeds_and_tuning_are_kept_as_they_were_given)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES];
    trial_init(&trial);
    trial_write(&trial, "list", "http://127.0.0.1/b\nhttp://127.0.0.1/c");
    trial_write(&trial, "my.ini", "# mine\n[crawl]\nmax-pages = 7\n");
    trial_seed(&trial, trial_path(&trial, "list", path));
    trial_seed(&trial, "http://127.0.0.1/a");
    trial.options.tuning_path = trial_path(&trial, "my.ini", path);
    struct crawl *crawl = trial_begin(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error) && crawl_make_scratch(crawl, &trial.error));
    trial_check_file(&trial, "crawl/seeds.txt",
                     "http://127.0.0.1/b\nhttp://127.0.0.1/c\nhttp://127.0.0.1/a\n");
    trial_check_file(&trial, "crawl/tuning.ini", "# mine\n[crawl]\nmax-pages = 7\n");
    CHECK(trial_has(&trial, "crawl/state") && trial_has(&trial, "crawl/scratch"));
    CHECK(!trial_has(&trial, "crawl/warc")); /* store.kind = none */
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(only_the_folders_that_are_used_are_made)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.store.kind = TUNING_STORE_WARC;
    trial.tuning.fixed.state.journal = trial.tuning.fixed.state.spill = false;
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = trial_begin(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error));
    CHECK(crawl_lock_directory(crawl, &trial.error) && crawl_make_scratch(crawl, &trial.error));
    CHECK_INT(crawl->lock, -1);
    CHECK(trial_has(&trial, "crawl/warc"));
    CHECK(!trial_has(&trial, "crawl/state") && !trial_has(&trial, "crawl/scratch"));
    struct tuning defaults, kept;
    char path[TRIAL_PATH_BYTES];
    tuning_init(&defaults);
    tuning_init(&kept);
    CHECK(tuning_load(&kept, trial_path(&trial, "crawl/tuning.ini", path), &trial.error));
    CHECK(memcmp(&kept, &defaults, sizeof kept) == 0); /* no file was given */
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(lines_have_a_folder_of_their_own)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.store.kind = TUNING_STORE_JSONL;
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = trial_begin(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error));
    CHECK(trial_has(&trial, "crawl/pages") && !trial_has(&trial, "crawl/warc"));
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(a_crawl_that_cannot_begin_leaves_nothing_behind)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES];
    trial_init(&trial);
    trial.tuning.fixed.store.kind = TUNING_STORE_WARC;
    trial_seed(&trial, "http://127.0.0.1:1/");
    trial.options.tuning_path = trial_path(&trial, "gone.ini", path);
    CHECK(!trial_run(&trial)); /* seeds.txt and the folders were made before the tuning file was missed */
    CHECK(trial_said(&trial, "gone.ini: No such file"));
    CHECK(!trial_has(&trial, "crawl"));
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(!trial_run(&trial));
    CHECK(trial_has(&trial, "crawl")); /* the operator's own directory stays, and can be used */
    bool made;
    CHECK(make(&trial, &made));
    trial_fini(&trial);
}

TEST(one_process_at_a_time_has_a_directory)
{
    static struct trial trial;
    static struct crawl other;
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1:1/");
    struct crawl *crawl = trial_begin(&trial);
    other = *crawl;
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error));
    CHECK(crawl_lock_directory(crawl, &trial.error) && crawl->lock >= 0);
    CHECK(!crawl_lock_directory(&other, &trial.error));
    CHECK(trial_said(&trial, trial.directory) && trial_said(&trial, "another process crawls"));
    close(crawl->lock);
    CHECK(crawl_lock_directory(&other, &trial.error));
    close(other.lock);
    crawl->lock = -1;
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(a_directory_without_a_place_for_the_lock_is_refused)
{
    static struct trial trial;
    trial_init(&trial);
    CHECK(!crawl_lock_directory(trial_begin(&trial), &trial.error));
    CHECK(trial_said(&trial, "cannot be locked"));
    trial.options.resumes = true;
    trial.tuning.fixed.state.journal = false;
    CHECK(!crawl_lock_directory(trial_begin(&trial), &trial.error));
    CHECK(trial_said(&trial, "state.journal = no"));
    trial_fini(&trial);
}

/* Scratch files stand for memory that is gone, and the inputs of the first process are those of all later ones. */
TEST(a_resumed_crawl_keeps_its_inputs_and_empties_its_scratch)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.store.kind = TUNING_STORE_WARC;
    trial_seed(&trial, "http://127.0.0.1:1/");
    struct crawl *crawl = trial_begin(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error) && crawl_make_scratch(crawl, &trial.error));
    trial_write(&trial, "crawl/scratch/spool-000-000001", "of a dead process");
    CHECK(!crawl_make_places(crawl, &trial.error)); /* a new crawl does not go into an old one's folders */
    trial_forget_seeds(&trial);
    trial_seed(&trial, "http://127.0.0.1:2/");
    trial.options.resumes = true;
    CHECK(crawl_make_places(crawl, &trial.error));
    trial_check_file(&trial, "crawl/seeds.txt", "http://127.0.0.1:1/\n");
    CHECK(trial_has(&trial, "crawl/scratch/spool-000-000001")); /* it is not locked yet */
    CHECK(crawl_make_scratch(crawl, &trial.error));
    CHECK(!trial_has(&trial, "crawl/scratch/spool-000-000001") && trial_has(&trial, "crawl/scratch"));
    trial_write(&trial, "crawl/scratch/spool-000-000002", "of this one");
    crawl_remove_scratch(crawl);
    CHECK(!trial_has(&trial, "crawl/scratch"));
    trial_end(&trial);
    trial_fini(&trial);
}

/* Files of others, and scratch files of other crawls, are none of its business. */
TEST(scratch_files_may_be_on_another_disk)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES], mine[sizeof trial.crawl.scratch], left[sizeof mine + 16];
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1:1/");
    CHECK_INT(mkdir(trial_path(&trial, "disk", path), 0755), 0);
    snprintf(trial.tuning.fixed.state.scratch, TUNING_TEXT_BYTES, "%s", path);
    trial_write(&trial, "disk/of-somebody-else", "kept");
    struct crawl *crawl = trial_begin(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    CHECK(crawl_make_places(crawl, &trial.error) && crawl_make_scratch(crawl, &trial.error));
    CHECK(!trial_has(&trial, "crawl/scratch"));
    CHECK(strncmp(crawl->scratch, path, strlen(path)) == 0 && crawl->scratch[strlen(path)] == '/');
    snprintf(mine, sizeof mine, "%s", crawl->scratch);
    CHECK(trial_has(&trial, mine + strlen(trial.base) + 1));
    trial_write(&trial, "disk/left", "");
    snprintf(left, sizeof left, "%s/urls-00", mine);
    CHECK_INT(rename(trial_path(&trial, "disk/left", path), left), 0);
    snprintf(path, sizeof path, "%s", trial.directory);
    snprintf(trial.directory, sizeof trial.directory, "%s/moved", trial.base);
    CHECK_INT(rename(path, trial.directory), 0);
    CHECK(crawl_make_scratch(crawl, &trial.error)); /* of the same crawl */
    CHECK(access(left, F_OK) != 0);
    crawl_remove_scratch(crawl);
    CHECK(access(mine, F_OK) != 0);
    trial_check_file(&trial, "disk/of-somebody-else", "kept");
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(a_place_for_scratch_files_that_cannot_be_used_is_refused)
{
    static struct trial trial;
    trial_init(&trial);
    CHECK_INT(mkdir(trial.directory, 0755), 0);
    snprintf(trial.tuning.fixed.state.scratch, TUNING_TEXT_BYTES, "relative/path");
    CHECK(!crawl_make_scratch(trial_begin(&trial), &trial.error));
    CHECK(trial_said(&trial, "state.scratch: 'relative/path' is not an absolute path"));
    snprintf(trial.tuning.fixed.state.scratch, TUNING_TEXT_BYTES, "%s/nowhere", trial.base);
    CHECK(!crawl_make_scratch(trial_begin(&trial), &trial.error));
    CHECK(trial_said(&trial, "/nowhere/lycosa-") && trial_said(&trial, "No such file"));
    trial_end(&trial);
    trial_fini(&trial);
}
