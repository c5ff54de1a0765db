/* In which order files are synced, closed, named, and directories and the journal synced: on a disk that writes down
 * what it is asked for. */
#include "engine/disk/syncer.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/check.h"

static char calls[512];
static const char *fails; /* the call that fails; NULL: none */

static int note(const char *what, int result)
{
    size_t len = strlen(calls);
    snprintf(calls + len, sizeof calls - len, "%s%s", len ? " " : "", what);
    return fails && strcmp(fails, what) == 0 ? -EIO : result;
}

static int noted(const char *verb, int fd)
{
    char what[32];
    snprintf(what, sizeof what, "%s%d", verb, fd);
    return note(what, 0);
}

static int next_fd;

static int disk_open(void *owner, const char *path, int flags)
{
    (void)owner, (void)path, (void)flags;
    return next_fd++;
}

static int64_t disk_write(void *owner, int fd, struct slice bytes)
{
    (void)owner, (void)fd;
    return (int64_t)bytes.len;
}

static int64_t disk_size(void *owner, const char *path)
{
    (void)owner, (void)path;
    return 0;
}

static int disk_sync(void *owner, int fd)
{
    (void)owner;
    return noted("sync", fd);
}

static int disk_close(void *owner, int fd)
{
    (void)owner;
    return noted("close", fd);
}

static int disk_rename(void *owner, const char *from, const char *to)
{
    (void)owner, (void)from;
    return note(to, 0);
}

static int disk_sync_directory(void *owner, const char *path)
{
    (void)owner;
    return note(path, 0);
}

static const struct disk disk = {.open = disk_open,
                                 .write = disk_write,
                                 .write_away = disk_write,
                                 .size = disk_size,
                                 .sync = disk_sync,
                                 .close = disk_close,
                                 .rename = disk_rename,
                                 .sync_directory = disk_sync_directory};
static struct files files;
static struct syncer syncer;

static void begin(bool syncs)
{
    next_fd = 1;
    fails = NULL;
    calls[0] = '\0';
    files_init(&files, &disk, "dir");
    syncer_init(&syncer, &files, syncs);
    syncer.directories[0] = "dir";
}

static struct file *file_with(const char *name, const char *text)
{
    int error;
    struct file *file = files_open(&files, name, false, &error);
    CHECK_INT(files_append(&files, file, slice_of(text)), 0);
    return file;
}

static void finish(void)
{
    syncer_fini(&syncer);
    files_fini(&files);
}

TEST(a_file_is_synced_before_it_is_closed_and_named)
{
    begin(true);
    files_finish(file_with("a", "x"));
    syncer_begin(&syncer, 9);
    CHECK_INT(syncer_finish(&syncer), 0);
    CHECK_STR(calls, "sync1 close1 dir/a dir sync9");
    CHECK_INT(files.all->fd, -1);
    finish();
}

TEST(what_has_not_changed_is_left_alone)
{
    begin(true);
    file_with("a", "x");
    syncer_begin(&syncer, -1);
    CHECK_INT(syncer_finish(&syncer), 0);
    CHECK_STR(calls, "sync1 dir");
    calls[0] = '\0';
    syncer_begin(&syncer, 9);
    CHECK_INT(syncer_finish(&syncer), 0);
    CHECK_STR(calls, "sync9");
    calls[0] = '\0';
    syncer_begin_journal(&syncer, 9);
    CHECK_INT(syncer_finish(&syncer), 0);
    CHECK_STR(calls, "sync9");
    finish();
}

TEST(without_syncs_files_are_still_named)
{
    begin(false);
    files_finish(file_with("a", "x"));
    syncer_begin(&syncer, 9);
    CHECK_INT(syncer_finish(&syncer), 0);
    CHECK_STR(calls, "close1 dir/a");
    finish();
}

TEST(the_first_failure_ends_the_work)
{
    begin(true);
    files_finish(file_with("a", "x"));
    fails = "sync1";
    syncer_begin(&syncer, 9);
    CHECK_INT(syncer_finish(&syncer), -EIO);
    CHECK_STR(calls, "sync1");
    calls[0] = '\0';
    finish();
    CHECK_STR(calls, "close1"); /* the file is still open */
}

TEST(the_caller_need_not_wait)
{
    int error = 1;
    begin(true);
    file_with("a", "x");
    syncer_begin(&syncer, 9);
    CHECK(syncer.is_busy);
    while (!syncer_is_done(&syncer, &error))
        ;
    CHECK_INT(error, 0);
    CHECK(!syncer.is_busy);
    finish();
}
