#include "engine/disk/files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/disk/syncer.h"
#include "tests/support/check.h"

static char directory[64];
static struct files files;

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-files-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    files_init(&files, &disk_system, directory);
}

static void finish(void)
{
    files_fini(&files);
    CHECK_INT(rmdir(directory), 0);
}

static const char *path(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", directory, name);
    return text;
}

/* -1: there is no such file. */
static int64_t size_of(const char *name)
{
    struct stat status;
    return stat(path(name), &status) == 0 ? status.st_size : -1;
}

static struct file *open_file(const char *name, bool is_shared)
{
    int error;
    struct file *file = files_open(&files, name, is_shared, &error);
    CHECK_INT(error, 0);
    CHECK(file);
    return file;
}

static void append(struct file *file, const char *text)
{
    CHECK_INT(files_append(&files, file, slice_of(text)), 0);
}

static void sync_all(void)
{
    struct syncer syncer;
    syncer_init(&syncer, &files, true);
    syncer.directories[0] = directory;
    syncer_begin(&syncer, -1);
    CHECK_INT(syncer_finish(&syncer), 0);
    syncer_fini(&syncer);
}

TEST(a_file_has_its_name_once_it_is_synced_and_closed)
{
    begin();
    struct file *file = open_file("a", false);
    append(file, "hello");
    CHECK_INT(size_of("a.open"), 5);
    files_finish(file);
    CHECK_INT(size_of("a"), -1);
    sync_all();
    CHECK_INT(size_of("a"), 5);
    CHECK_INT(size_of("a.open"), -1);
    CHECK(files.all == file); /* no commit has named it yet */
    files_commit(&files);
    CHECK(files.all == NULL);
    unlink(path("a"));
    finish();
}

TEST(a_new_file_never_overwrites_another)
{
    int error;
    begin();
    open_file("a", false);
    CHECK(files_open(&files, "a", false, &error) == NULL);
    CHECK_INT(error, -EEXIST);
    unlink(path("a.open"));
    finish();
}

TEST(a_shared_file_is_one_and_goes_on_behind_what_is_there)
{
    begin();
    struct file *file = open_file("log", true);
    CHECK(open_file("log", true) == file);
    append(file, "one");
    files_commit(&files);
    files_fini(&files);
    files_init(&files, &disk_system, directory);
    file = open_file("log", true);
    CHECK_INT(file->length, 3);
    CHECK_INT(file->committed, 3);
    append(file, "two");
    CHECK_INT(size_of("log"), 6);
    CHECK_INT(files_cut(&files), 0);
    CHECK_INT(size_of("log"), 3);
    unlink(path("log"));
    finish();
}

TEST(a_cut_leaves_what_was_committed)
{
    begin();
    struct file *log = open_file("log", true), *old = open_file("old", false), *now = open_file("now", false);
    append(log, "line ");
    append(old, "record ");
    append(now, "record ");
    files_finish(old);
    files_commit(&files);
    sync_all(); /* "old" has its name */
    append(log, "more");
    append(now, "more");
    struct file *late = open_file("late", false);
    append(late, "x");
    CHECK_INT(files_cut(&files), 0);
    CHECK_INT(size_of("log"), 5);
    CHECK_INT(size_of("old"), 7);
    CHECK_INT(size_of("now"), 7);
    CHECK_INT(size_of("late"), -1);
    CHECK_INT(size_of("late.open"), -1);
    unlink(path("log"));
    unlink(path("old"));
    unlink(path("now"));
    finish();
}

/* A commit names them, and recovery looks for them. */
TEST(a_cut_leaves_files_that_were_committed_empty)
{
    begin();
    struct file *log = open_file("log", true), *now = open_file("now", false);
    files_commit(&files);
    append(log, "more");
    append(now, "more");
    CHECK_INT(files_cut(&files), 0);
    CHECK_INT(size_of("log"), 0);
    CHECK_INT(size_of("now"), 0);
    files_fini(&files);
    files_init(&files, &disk_system, directory);
    append(open_file("log", true), "more"); /* an earlier run has committed it, and this one not yet */
    CHECK_INT(files_cut(&files), 0);
    CHECK_INT(size_of("log"), 0);
    unlink(path("log"));
    unlink(path("now"));
    finish();
}

static size_t bytes_away;

static int64_t count_away(void *owner, int fd, struct slice bytes)
{
    bytes_away += bytes.len;
    return disk_system.write(owner, fd, bytes);
}

/* The page that the next append goes to stays in memory. */
TEST(only_whole_pages_are_written_away)
{
    static char bytes[20000];
    static const struct {
        size_t len, away;
    } steps[] = {{100, 0}, {3996, 3996}, {8192, 8192}, {5000, 4096}, {1, 0}, {20000, 19575}};
    struct disk disk = disk_system;
    size_t total = 0;
    begin();
    disk.write_away = count_away;
    files.disk = &disk;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 23);
    struct file *file = open_file("a", false);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bytes_away = 0;
        CHECK_INT(files_append(&files, file, (struct slice){bytes, steps[i].len}), 0);
        total += steps[i].len;
        CHECK_INT(bytes_away, steps[i].away);
        CHECK_INT(file->length, total);
    }
    size_t len, at = 0;
    char *text = check_read_file(path("a.open"), &len);
    CHECK_INT(len, total);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; at += steps[i++].len)
        CHECK(memcmp(text + at, bytes, steps[i].len) == 0);
    free(text);
    unlink(path("a.open"));
    finish();
}

TEST(recovery_finds_a_file_under_either_name)
{
    begin();
    append(open_file("a", false), "0123456789");
    files_fini(&files);
    CHECK_INT(files_restore(&disk_system, directory, "a", 7), 0);
    CHECK_INT(size_of("a"), 7);
    CHECK_INT(size_of("a.open"), -1);
    CHECK_INT(files_restore(&disk_system, directory, "a", 7), 0); /* again */
    CHECK_INT(files_restore(&disk_system, directory, "a", 3), 0);
    CHECK_INT(size_of("a"), 3);
    CHECK_INT(files_restore(&disk_system, directory, "a", 4), -EBADMSG);
    CHECK_INT(files_restore(&disk_system, directory, "b", 0), -ENOENT);
    unlink(path("a"));
    finish();
}

TEST(only_what_changed_is_said_to_have_changed)
{
    begin();
    struct file *a = open_file("a", false), *b = open_file("b", false);
    CHECK(a->is_changed && b->is_changed);
    files_commit(&files);
    CHECK(!a->is_changed && !b->is_changed && a->is_listed);
    append(a, "x");
    files_finish(b);
    CHECK(a->is_changed && b->is_changed);
    CHECK_INT(a->committed, 0);
    files_commit(&files);
    CHECK_INT(a->committed, 1);
    unlink(path("a.open"));
    unlink(path("b.open"));
    finish();
}
