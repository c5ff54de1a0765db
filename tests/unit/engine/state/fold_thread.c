/* A fold on a real disk, with its thread. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/state/fold.h"
#include "engine/state/journal_read.h"
#include "tests/support/check.h"

enum { URLS = 20000, FILES = 4 };

static struct journal journal;
static struct journal_loop loop;
static struct fold fold;
static char directory[64], state[80], scratch[80];

static void flush(void)
{
    outlet_flush(&loop.outlet);
    while (journal_write(&journal, &loop) > 0)
        ;
}

/* Half of the URLs of each file are done. */
static void add_file(unsigned number)
{
    static const struct files none;
    for (uint64_t i = 0; i < URLS; i++) {
        uint64_t signature = (number * URLS + i) * 0x9e3779b97f4a7c15;
        if (!journal_has_room(&loop))
            flush();
        journal_add_url(&loop, &(struct record_url){.signature = signature, .text = SLICE("http://a/")},
                        SLICE("http://from/"));
        if (i % 2)
            journal_add_done(&loop, &(struct record_done){.signature = signature, .status = 200});
    }
    flush();
    CHECK_INT(journal_commit(&journal, number, &none), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
}

static void begin_on_disk(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-fold-XXXXXX");
    CHECK(mkdtemp(directory));
    snprintf(state, sizeof state, "%s/state", directory);
    snprintf(scratch, sizeof scratch, "%s/scratch", directory);
    CHECK(mkdir(state, 0755) == 0 && mkdir(scratch, 0755) == 0);
    journal_init(&journal, &disk_system, state);
    journal.file_bytes_max = 1;
    CHECK_INT(journal_loop_init(&loop, 0), 0);
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    for (unsigned i = 1; i <= FILES; i++)
        add_file(i);
}

static void remove_one(void *argument, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", (const char *)argument, name);
    CHECK_INT(unlink(path), 0);
}

static void finish_on_disk(void)
{
    journal_close(&journal);
    journal_loop_fini(&loop);
    CHECK_INT(rmdir(scratch), 0); /* nothing is left in it */
    CHECK_INT(disk_system.list(NULL, state, remove_one, state), 0);
    CHECK(rmdir(state) == 0 && rmdir(directory) == 0);
}

static void init_on_disk(void)
{
    fold_init(
        &fold,
        &(struct fold_options){
            .disk = &disk_system, .directory = state, .scratch = scratch, .bytes_min = 1, .pairs_max = 1000});
}

TEST(a_thread_folds_and_can_be_stopped)
{
    struct journal_files found;
    int error = 0;
    begin_on_disk();
    init_on_disk();
    fold_begin(&fold, FILES, FILES, 0);
    CHECK(fold.is_busy);
    fold_stop(&fold, &error);
    CHECK_INT(error, 0);
    CHECK(fold.error == -ECANCELED || fold.folds == 1);
    CHECK_INT(journal_find(&found, &disk_system, state), 0);
    CHECK_INT(found.first, fold.folds ? FILES : 1);
    init_on_disk();
    fold_begin(&fold, FILES, FILES, 0);
    while (fold.is_busy && !fold_is_done(&fold, 0, &error))
        poll(NULL, 0, 1);
    CHECK_INT(error, 0);
    CHECK_INT(fold.error, 0);
    CHECK_INT(journal_find(&found, &disk_system, state), 0);
    CHECK(found.lowest == FILES && found.first == FILES && found.has_base);
    fold_fini(&fold);
    finish_on_disk();
}
