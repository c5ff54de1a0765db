/* Cuts a crawl's directory back to a commit. Every step only takes away what the commit does not name, so a step that
 * was interrupted is simply made again.
 *
 * An earlier process may have died before it had synced the commit, and no later one will touch its files again. So
 * they are synced here, and the journal is told: SYNCED takes the place of what came after the commit, and only
 * then the rest of the journal is cut off. At each moment the journal says that the commit is synced, or still says
 * that an earlier one is; a crash of the machine never goes back behind both. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "engine/disk/files.h"
#include "engine/state/resume.h"
#include "lockfree/clock.h"

/* Beside NAME.warc, NAME.warc.gz or NAME.warc.zst may be its index, NAME.cdxj. */
#define INDEX_SUFFIX ".cdxj"

/* Folders of files that hold pages: a crawl has one of them, or none. */
static const char *const folders[] = {"warc", "pages", "incoming"};
enum { FOLDERS = sizeof folders / sizeof folders[0] };

/* Files elsewhere that only grow. */
static const char *const logs[] = {"crawl.log"};

static bool refuse(struct resume *resume, const char *name, const char *what)
{
    snprintf(resume->message, sizeof resume->message, "%s/%s: %s", resume->directory, name, what);
    return false;
}

static bool refuse_error(struct resume *resume, const char *name, int error)
{
    resume->error = error;
    return refuse(resume, name, strerror(-error));
}

enum { INDEX_PATH_BYTES = 2 * FILES_PATH_BYTES };

/* The index of a file that is not as it was committed may tell of records that are gone. It is made again. */
static int remove_index(const struct resume *resume, const struct length *file)
{
    const struct disk *disk = resume->disk;
    char path[INDEX_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", resume->directory, file->name);
    if (disk->size(disk->owner, path) == (int64_t)file->bytes)
        return 0;
    const char *end = strstr(file->name, ".warc");
    if (!end)
        return 0;
    snprintf(path, sizeof path, "%s/%.*s" INDEX_SUFFIX, resume->directory, (int)(end - file->name),
             file->name);
    int error = disk->unlink(disk->owner, path);
    return error == -ENOENT ? 0 : error;
}

static bool restore_file(struct resume *resume, const struct length *file)
{
    int error = remove_index(resume, file);
    if (error)
        return refuse_error(resume, file->name, error);
    error = files_restore(resume->disk, resume->directory, file->name, file->bytes);
    if (error == -EBADMSG)
        return refuse(resume, file->name, "is shorter than it was when it was committed");
    if (error == -ENOENT && lengths_may_be_gone(file))
        return true;
    return error == 0 || refuse_error(resume, file->name, error);
}

static int sync_open(struct resume *resume, int fd)
{
    int error = resume->disk->sync(resume->disk->owner, fd);
    resume->has_failed |= error != 0;
    return error;
}

static int sync_path(struct resume *resume, const char *path)
{
    const struct disk *disk = resume->disk;
    int fd = disk->open(disk->owner, path, O_WRONLY);
    if (fd < 0)
        return fd;
    int error = sync_open(resume, fd), closed = disk->close(disk->owner, fd);
    return error ? error : closed;
}

static int sync_file(struct resume *resume, const struct length *file)
{
    char path[2 * FILES_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", resume->directory, file->name);
    int error = sync_path(resume, path);
    return error == -ENOENT && lengths_may_be_gone(file) ? 0 : error;
}

/* A file of which no commit knows: it was begun after it. */
struct strays {
    struct resume *resume;
    const char *folder;
    int error;
};

/* Whether it is the index of a file that the commit names. */
static bool is_index(const struct resume *resume, const char *name)
{
    static const char *const packings[] = {".gz", ".zst", ""};
    char file[FILES_PATH_BYTES + 16];
    size_t len = strlen(name), suffix = sizeof INDEX_SUFFIX - 1;
    if (len <= suffix || strcmp(name + len - suffix, INDEX_SUFFIX) != 0)
        return false;
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        snprintf(file, sizeof file, "%.*s.warc%s", (int)(len - suffix), name, packings[i]);
        if (lengths_find(&resume->files, file))
            return true;
    }
    return false;
}

static void remove_stray(void *argument, const char *entry)
{
    struct strays *strays = argument;
    const struct disk *disk = strays->resume->disk;
    char name[FILES_PATH_BYTES], path[2 * FILES_PATH_BYTES];
    snprintf(name, sizeof name, "%s/%s", strays->folder, entry);
    if (is_index(strays->resume, name))
        return;
    if (strays->error || lengths_find(&strays->resume->files, name))
        return;
    snprintf(path, sizeof path, "%s/%s", strays->resume->directory, name);
    strays->error = disk->unlink(disk->owner, path);
}

static bool remove_strays_in(struct resume *resume, const char *folder)
{
    struct strays strays = {.resume = resume, .folder = folder};
    char path[FILES_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", resume->directory, folder);
    int error = resume->disk->list(resume->disk->owner, path, remove_stray, &strays);
    if (error == -ENOENT)
        return true; /* pages are not stored there */
    error = error ? error : strays.error;
    return error == 0 || refuse_error(resume, folder, error);
}

static bool remove_strays(struct resume *resume)
{
    for (size_t i = 0; i < FOLDERS; i++)
        if (!remove_strays_in(resume, folders[i]))
            return false;
    return true;
}

static bool remove_logs(struct resume *resume)
{
    const struct disk *disk = resume->disk;
    char path[FILES_PATH_BYTES];
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        if (lengths_find(&resume->files, logs[i]))
            continue;
        snprintf(path, sizeof path, "%s/%s", resume->directory, logs[i]);
        int error = disk->unlink(disk->owner, path);
        if (error && error != -ENOENT)
            return refuse_error(resume, logs[i], error);
    }
    return true;
}

static int sync_directories(struct resume *resume)
{
    const struct disk *disk = resume->disk;
    char path[FILES_PATH_BYTES];
    int error = disk->sync_directory(disk->owner, resume->directory);
    if (!error)
        error = disk->sync_directory(disk->owner, resume->state);
    for (size_t i = 0; i < FOLDERS && !error; i++) {
        snprintf(path, sizeof path, "%s/%s", resume->directory, folders[i]);
        error = disk->sync_directory(disk->owner, path);
        if (error == -ENOENT)
            error = 0; /* pages are not stored there */
    }
    resume->has_failed |= error != 0;
    return error;
}

struct journal_path {
    char text[2 * FILES_PATH_BYTES];
};

static struct journal_path journal_path(const struct resume *resume, unsigned number)
{
    struct journal_path path;
    char name[32];
    journal_name(name, number);
    snprintf(path.text, sizeof path.text, "%s/%s", resume->state, name);
    return path;
}

/* Writes a frame to where the next session goes on, over what is there. */
static int mark(const struct resume *resume, int fd, enum journal_kind kind)
{
    const struct disk *disk = resume->disk;
    struct journal_frame frame = {
        .magic = JOURNAL_MAGIC, .kind = (uint16_t)kind, .epoch = resume->epoch, .wall_us = clock_wall_us()};
    frame.checksum = journal_checksum(&frame, "");
    struct slice bytes = {(const char *)&frame, sizeof frame};
    return disk_write_all_at(disk, fd, resume->end.offset, bytes);
}

/* The files are as the commit says; now that holds for ever. The journal is synced before it says so: SYNCED must not be
 * there without the commit. */
static int sync_commit(struct resume *resume, int journal)
{
    int error = 0;
    for (size_t i = 0; i < resume->files.count && !error; i++)
        error = sync_file(resume, &resume->files.all[i]);
    error = error ? error : sync_directories(resume);
    return error ? error : sync_open(resume, journal);
}

/* A sync that fails tells of data that is lost: the next look at the journal must not trust this commit again. */
static bool make_durable(struct resume *resume)
{
    const struct disk *disk = resume->disk;
    struct journal_path path = journal_path(resume, resume->commit.number);
    int fd = disk->open(disk->owner, path.text, O_WRONLY);
    if (fd < 0)
        return refuse_error(resume, "state", fd);
    resume->has_failed = false; /* what had failed is behind the commit */
    int error = sync_commit(resume, fd);
    if (!error && !resume->is_marked)
        error = mark(resume, fd, JOURNAL_SYNCED);
    error = error ? error : sync_open(resume, fd);
    if (resume->has_failed)
        mark(resume, fd, JOURNAL_FAILED);
    disk->close(disk->owner, fd);
    resume->error = error;
    if (error)
        return refuse_error(resume, "state", error);
    if (!resume->is_marked)
        resume->end.offset += sizeof(struct journal_frame);
    resume->is_marked = true;
    return true;
}

static int remove_if_there(const struct resume *resume, const char *path)
{
    int error = resume->disk->unlink(resume->disk->owner, path);
    return error == -ENOENT ? 0 : error;
}

/* The journal ends with the commit. Files behind it go first: one that were left alone would be read as what comes after
 * the commit. */
static bool cut_journal(struct resume *resume)
{
    const struct disk *disk = resume->disk;
    struct journal_path path = journal_path(resume, resume->end.number);
    int error = 0;
    for (unsigned i = resume->journal.highest; i > resume->commit.number && !error; i--)
        error = remove_if_there(resume, journal_path(resume, i).text);
    if (!error && resume->epoch && disk->size(disk->owner, path.text) != (int64_t)resume->end.offset)
        error = disk->truncate(disk->owner, path.text, resume->end.offset);
    if (!error && resume->epoch)
        error = sync_path(resume, path.text);
    error = error ? error : disk->sync_directory(disk->owner, resume->state);
    return error == 0 || refuse_error(resume, "state", error);
}

/* What a fold has left that was interrupted. The name of the base is durable by this time, unless the sync that should
 * have made it so is the one that had failed: then the files before it may be needed again. */
static bool remove_folded(struct resume *resume, bool had_failed)
{
    char path[2 * FILES_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", resume->state, JOURNAL_FOLD_NAME);
    int error = remove_if_there(resume, path);
    for (unsigned i = resume->journal.lowest; i < resume->journal.first && !had_failed && !error; i++)
        error = remove_if_there(resume, journal_path(resume, i).text);
    return error == 0 || refuse_error(resume, "state", error);
}

bool resume_restore(struct resume *resume)
{
    bool had_failed = resume->has_failed;
    for (size_t i = 0; i < resume->files.count; i++)
        if (!restore_file(resume, &resume->files.all[i]))
            return false;
    return remove_strays(resume) && remove_logs(resume) && (resume->epoch == 0 || make_durable(resume)) &&
           cut_journal(resume) && remove_folded(resume, had_failed);
}
