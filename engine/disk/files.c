#include "engine/disk/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the page cache. */
enum { PAGE_BYTES = 4096 };

struct path {
    char text[FILES_PATH_BYTES];
};

static struct path path_of(const char *directory, const char *name, bool is_open)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s%s", directory, name, is_open ? ".open" : "");
    return path;
}

void files_init(struct files *files, const struct disk *disk, const char *directory)
{
    *files = (struct files){.disk = disk, .directory = directory};
}

void files_fini(struct files *files)
{
    while (files->all) {
        struct file *file = files->all;
        files->all = file->next;
        if (file->fd >= 0)
            files->disk->close(files->disk->owner, file->fd);
        free(file);
    }
}

static struct file *find_shared(const struct files *files, const char *name)
{
    for (struct file *file = files->all; file; file = file->next)
        if (file->is_shared && strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

struct file *files_open(struct files *files, const char *name, bool is_shared, int *error)
{
    const struct disk *disk = files->disk;
    struct file *file = is_shared ? find_shared(files, name) : NULL;
    struct path path = path_of(files->directory, name, !is_shared);
    if (file)
        return file;
    file = calloc(1, sizeof *file);
    *error = -ENOMEM;
    if (!file)
        return NULL;
    snprintf(file->name, sizeof file->name, "%s", name);
    file->is_shared = is_shared;
    file->is_changed = true;
    file->fd = disk->open(disk->owner, path.text, O_WRONLY | O_CREAT | (is_shared ? O_APPEND : O_EXCL));
    int64_t size = file->fd >= 0 ? disk->size(disk->owner, path.text) : file->fd;
    if (size < 0) {
        *error = (int)size;
        if (file->fd >= 0)
            disk->close(disk->owner, file->fd);
        free(file);
        return NULL;
    }
    file->length = file->committed = (uint64_t)size;
    file->next = files->all;
    files->all = file;
    files->has_new_names = true;
    *error = 0;
    return file;
}

/* Whole pages are not read again. The rest of a page has to stay in memory, since the next append goes to the same page. */
int files_append(struct files *files, struct file *file, struct slice bytes)
{
    size_t rest = (size_t)((file->length + bytes.len) % PAGE_BYTES), written, more = 0;
    rest = rest < bytes.len ? rest : bytes.len;
    struct slice whole = {bytes.ptr, bytes.len - rest};
    int error = disk_write_all_away(files->disk, file->fd, whole, &written);
    if (!error)
        error = disk_write_all(files->disk, file->fd, slice_skip(bytes, whole.len), &more);
    file->length += written + more;
    file->is_changed = file->is_unsynced = true;
    return error;
}

void files_finish(struct file *file)
{
    file->is_finished = file->is_changed = true;
}

void files_commit(struct files *files)
{
    for (struct file **at = &files->all; *at;) {
        struct file *file = *at;
        file->committed = file->length;
        file->is_listed = true;
        file->is_changed = false;
        if (file->is_finished && file->fd < 0) {
            *at = file->next;
            free(file);
        } else {
            at = &file->next;
        }
    }
}

int files_name(const struct files *files, const struct file *file)
{
    struct path before = path_of(files->directory, file->name, true);
    struct path after = path_of(files->directory, file->name, false);
    return file->is_shared ? 0 : files->disk->rename(files->disk->owner, before.text, after.text);
}

int files_restore(const struct disk *disk, const char *directory, const char *name, uint64_t length)
{
    struct path open = path_of(directory, name, true), final = path_of(directory, name, false);
    int64_t open_size = disk->size(disk->owner, open.text);
    const char *found = open_size >= 0 ? open.text : final.text;
    int64_t size = open_size >= 0 ? open_size : disk->size(disk->owner, final.text);
    if (size < 0)
        return (int)size;
    if ((uint64_t)size < length)
        return -EBADMSG;
    int error = (uint64_t)size > length ? disk->truncate(disk->owner, found, length) : 0;
    if (!error && open_size >= 0)
        error = disk->rename(disk->owner, open.text, final.text);
    return error;
}

/* The file is of no commit: not one record of it is left. */
static int remove_file(const struct files *files, const struct file *file)
{
    const struct disk *disk = files->disk;
    struct path open = path_of(files->directory, file->name, true);
    struct path final = path_of(files->directory, file->name, false);
    int error = disk->unlink(disk->owner, open.text);
    return error == -ENOENT ? disk->unlink(disk->owner, final.text) : error;
}

int files_cut(struct files *files)
{
    const struct disk *disk = files->disk;
    int first_error = 0;
    for (struct file *file = files->all; file; file = file->next) {
        if (file->fd >= 0)
            disk->close(disk->owner, file->fd);
        file->fd = -1;
        file->length = file->committed;
        int error = file->is_listed || file->is_shared
                        ? files_restore(disk, files->directory, file->name, file->committed)
                        : remove_file(files, file);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}
