#include "tests/support/disk_model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A test that needs more than this model has is a mistake in the test. */
static void require(bool condition)
{
    if (!condition)
        abort();
}

uint64_t disk_model_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void bytes_resize(struct disk_model_bytes *bytes, size_t len)
{
    if (len > bytes->room) {
        bytes->room = len + len / 2 + 256;
        bytes->bytes = realloc(bytes->bytes, bytes->room);
        require(bytes->bytes);
    }
    if (len > bytes->len)
        memset(bytes->bytes + bytes->len, 0, len - bytes->len);
    bytes->len = len;
}

static void bytes_put(struct disk_model_bytes *bytes, uint64_t offset, struct slice data)
{
    if (offset + data.len > bytes->len)
        bytes_resize(bytes, offset + data.len);
    if (data.len)
        memcpy(bytes->bytes + offset, data.ptr, data.len);
}

static void copy_path(char *to, const char *from)
{
    require(strlen(from) < DISK_MODEL_PATH_BYTES);
    memcpy(to, from, strlen(from) + 1);
}

static struct disk_model_name *find(struct disk_model_names *names, const char *path)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->all[i].path, path) == 0)
            return &names->all[i];
    return NULL;
}

static void set_name(struct disk_model_names *names, const char *path, int file)
{
    struct disk_model_name *name = find(names, path);
    if (!name) {
        require(names->count < DISK_MODEL_FILES_MAX);
        name = &names->all[names->count++];
        copy_path(name->path, path);
    }
    name->file = file;
}

static void drop_name(struct disk_model_names *names, const char *path)
{
    struct disk_model_name *name = find(names, path);
    if (name)
        *name = names->all[--names->count];
}

static void apply_move(struct disk_model_names *names, const struct disk_model_move *move)
{
    if (move->from[0])
        drop_name(names, move->from);
    if (move->to[0])
        set_name(names, move->to, move->file);
}

static void note_change(struct disk_model_file *file, const struct disk_model_change *change)
{
    if (file->change_count == file->change_room) {
        file->change_room = 2 * file->change_room + 16;
        file->changes = realloc(file->changes, file->change_room * sizeof *file->changes);
        require(file->changes);
    }
    file->changes[file->change_count++] = *change;
}

/* Each page that a write touches is a change of its own. */
static void write_file(const struct disk_model *model, struct disk_model_file *file, uint64_t offset,
                       struct slice data)
{
    bytes_put(&file->now, offset, data);
    while (data.len) {
        size_t room = model->page_bytes - offset % model->page_bytes;
        size_t len = data.len < room ? data.len : room;
        struct disk_model_change change = {.offset = offset, .len = len, .data = file->written.len};
        bytes_put(&file->written, file->written.len, (struct slice){data.ptr, len});
        note_change(file, &change);
        offset += len;
        data = slice_skip(data, len);
    }
}

static void truncate_file(struct disk_model_file *file, uint64_t length)
{
    file->reserved = 0;
    bytes_resize(&file->now, length);
    note_change(file, &(struct disk_model_change){.is_truncation = true, .offset = length});
}

/* Not a copy of what is there: what an earlier sync has failed to write is in memory only, and stays there. */
static void apply_changes(struct disk_model_file *file)
{
    for (size_t i = 0; i < file->change_count; i++) {
        const struct disk_model_change *change = &file->changes[i];
        if (change->is_truncation)
            bytes_resize(&file->durable, change->offset);
        else
            bytes_put(&file->durable, change->offset,
                      (struct slice){file->written.bytes + change->data, change->len});
    }
}

static void forget_changes(struct disk_model_file *file)
{
    file->change_count = 0;
    file->written.len = 0;
}

/* Whether this call is the one that fails. */
static bool is_fault(struct disk_model *model)
{
    model->calls++;
    model->last_file = -1;
    return model->calls == model->fault_at;
}

static bool is_dead(const struct disk_model *model)
{
    return model->dies_at && model->calls >= model->dies_at;
}

/* What the call answers before anything is done; 0: it can be made. */
static int enter(struct disk_model *model)
{
    bool is_failing = is_fault(model);
    if (is_dead(model))
        return -EIO;
    return is_failing && model->fault == DISK_MODEL_FAULT_ERROR ? -model->fault_errno : 0;
}

static int changed(struct disk_model *model, int result)
{
    if (model->on_change)
        model->on_change(model->owner);
    return result;
}

static void note_move(struct disk_model *model, const char *from, const char *to, int file)
{
    require(model->move_count < DISK_MODEL_MOVES_MAX);
    struct disk_model_move *move = &model->moves[model->move_count++];
    copy_path(move->from, from);
    copy_path(move->to, to);
    move->file = file;
    apply_move(&model->now, move);
}

static struct disk_model_file *file_of(struct disk_model *model, int fd)
{
    if (fd < 3 || fd >= DISK_MODEL_FILES_MAX || model->opened[fd] < 0)
        return NULL;
    return &model->files[model->opened[fd]];
}

static int model_open(void *owner, const char *path, int flags)
{
    struct disk_model *model = owner;
    int error = enter(model), fd = 3;
    if (error)
        return error;
    struct disk_model_name *name = find(&model->now, path);
    if (!name && !(flags & O_CREAT))
        return -ENOENT;
    if (name && flags & O_EXCL)
        return -EEXIST;
    int file = name ? name->file : (int)model->file_count;
    while (model->opened[fd] >= 0)
        require(++fd < DISK_MODEL_FILES_MAX);
    model->opened[fd] = file;
    if (name)
        return fd;
    require(model->file_count < DISK_MODEL_FILES_MAX);
    model->file_count++;
    note_move(model, "", path, file);
    return changed(model, fd);
}

uint64_t disk_model_used(const struct disk_model *model)
{
    uint64_t used = 0;
    for (size_t i = 0; i < model->now.count; i++) {
        const struct disk_model_file *file = &model->files[model->now.all[i].file];
        used += file->reserved > file->now.len ? file->reserved : file->now.len;
    }
    return used;
}

/* Whether a file can reach up to `end`. */
static bool has_space(const struct disk_model *model, const struct disk_model_file *file, uint64_t end)
{
    uint64_t taken = file->reserved > file->now.len ? file->reserved : file->now.len;
    return !model->capacity || end <= taken || disk_model_used(model) + (end - taken) <= model->capacity;
}

static int64_t put(struct disk_model *model, int fd, uint64_t offset, struct slice bytes)
{
    struct disk_model_file *file = file_of(model, fd);
    bool is_short = model->calls == model->fault_at && model->fault == DISK_MODEL_FAULT_SHORT;
    if (!file)
        return -EBADF;
    bytes.len = is_short && bytes.len > 1 ? bytes.len / 2 : bytes.len;
    if (offset == UINT64_MAX) {
        offset = file->now.len;
        model->last_file = model->opened[fd];
        model->last_offset = offset;
    }
    if (!has_space(model, file, offset + bytes.len))
        return -ENOSPC;
    write_file(model, file, offset, bytes);
    return changed(model, 0) + (int64_t)bytes.len;
}

static int64_t model_write(void *owner, int fd, struct slice bytes)
{
    int error = enter(owner);
    return error ? error : put(owner, fd, UINT64_MAX, bytes);
}

static int64_t model_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    int error = enter(owner);
    return error ? error : put(owner, fd, offset, bytes);
}

static int64_t model_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_file *file = file_of(model, fd);
    if (error || !file)
        return error ? error : -EBADF;
    if (offset >= file->now.len)
        return 0;
    size_t left = file->now.len - offset, len = left < room.size ? left : room.size;
    if (model->calls == model->fault_at && len > 1)
        len /= 2;
    memcpy(room.bytes, file->now.bytes + offset, len);
    return (int64_t)len;
}

static bool is_sync_lost(const struct disk_model *model, int file)
{
    for (size_t i = 0; i < model->now.count && model->loses_syncs_of; i++)
        if (model->now.all[i].file == file && strstr(model->now.all[i].path, model->loses_syncs_of))
            return true;
    return false;
}

static int model_sync(void *owner, int fd)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_file *file = file_of(model, fd);
    if (is_dead(model) || !file)
        return error ? error : -EBADF;
    model->failed_syncs += error != 0;
    model->syncs_after_failure += !error && model->failed_syncs;
    if (error || !is_sync_lost(model, model->opened[fd])) {
        if (!error)
            apply_changes(file);
        forget_changes(file);
    }
    return error ? error : changed(model, 0);
}

static int model_close(void *owner, int fd)
{
    struct disk_model *model = owner;
    int error = enter(model);
    if (is_dead(model) || !file_of(model, fd))
        return error ? error : -EBADF;
    model->opened[fd] = -1; /* also if it fails, as on Linux */
    model->failed_closes += error != 0;
    return error;
}

static int model_truncate(void *owner, const char *path, uint64_t length)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_name *name = find(&model->now, path);
    if (error || !name)
        return error ? error : -ENOENT;
    if (!model->loses_truncations)
        truncate_file(&model->files[name->file], length);
    return changed(model, 0);
}

static int model_reserve(void *owner, int fd, uint64_t offset, uint64_t end)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_file *file = file_of(model, fd);
    (void)offset;
    if (error || !file)
        return error ? error : -EBADF;
    if (!has_space(model, file, end))
        return -ENOSPC;
    file->reserved = end > file->reserved ? end : file->reserved;
    return 0;
}

static int64_t model_size(void *owner, const char *path)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_name *name = find(&model->now, path);
    if (error || !name)
        return error ? error : -ENOENT;
    return (int64_t)model->files[name->file].now.len;
}

static int model_rename(void *owner, const char *from, const char *to)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_name *name = find(&model->now, from);
    if (error || !name)
        return error ? error : -ENOENT;
    if (strlen(to) >= DISK_MODEL_PATH_BYTES)
        return -ENAMETOOLONG;
    note_move(model, from, to, name->file);
    return changed(model, 0);
}

static int model_unlink(void *owner, const char *path)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_name *name = find(&model->now, path);
    if (error || !name)
        return error ? error : -ENOENT;
    note_move(model, path, "", name->file);
    return changed(model, 0);
}

/* The name of an entry below a directory, or NULL. */
static const char *entry_of(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    if (strncmp(path, directory, len) != 0 || path[len] != '/' || strchr(path + len + 1, '/'))
        return NULL;
    return path + len + 1;
}

/* Whether the sync of a directory is to have no effect. */
static bool is_directory_sync_lost(const struct disk_model *model)
{
    const char *name = model->loses_renames_of;
    return model->loses_directory_syncs ||
           (name && model->move_count && strstr(model->moves[model->move_count - 1].from, name) &&
            model->moves[model->move_count - 1].to[0]);
}

static int model_sync_directory(void *owner, const char *path)
{
    struct disk_model *model = owner;
    int error = enter(model);
    size_t kept = 0;
    bool is_lost = is_directory_sync_lost(model);
    if (is_dead(model))
        return error;
    model->failed_syncs += error != 0;
    model->syncs_after_failure += !error && model->failed_syncs;
    for (size_t i = 0; i < model->move_count; i++) {
        struct disk_model_move move = model->moves[i];
        bool is_here = entry_of(move.from[0] ? move.from : move.to, path);
        if (!is_here || (!error && is_lost))
            model->moves[kept++] = move;
        else if (!error)
            apply_move(&model->durable, &move);
    }
    model->move_count = kept;
    return error ? error : changed(model, 0);
}

static int model_list(void *owner, const char *path, void (*each)(void *, const char *), void *argument)
{
    struct disk_model *model = owner;
    int error = enter(model);
    struct disk_model_names names;
    if (error)
        return error;
    names = model->now; /* `each` may remove what it is told of */
    for (size_t i = 0; i < names.count; i++) {
        const char *entry = entry_of(names.all[i].path, path);
        if (entry)
            each(argument, entry);
    }
    return 0;
}

void disk_model_init(struct disk_model *model)
{
    memset(model, 0, sizeof *model);
    model->page_bytes = 4096;
    model->last_file = -1;
    for (int i = 0; i < DISK_MODEL_FILES_MAX; i++)
        model->opened[i] = -1;
    model->disk = (struct disk){.owner = model,
                                .open = model_open,
                                .write = model_write,
                                .write_away = model_write,
                                .write_at = model_write_at,
                                .read = model_read,
                                .sync = model_sync,
                                .close = model_close,
                                .truncate = model_truncate,
                                .reserve = model_reserve,
                                .size = model_size,
                                .rename = model_rename,
                                .unlink = model_unlink,
                                .sync_directory = model_sync_directory,
                                .list = model_list};
}

void disk_model_fini(struct disk_model *model)
{
    for (size_t i = 0; i < DISK_MODEL_FILES_MAX; i++) {
        struct disk_model_file *file = &model->files[i];
        free(file->now.bytes);
        free(file->durable.bytes);
        free(file->written.bytes);
        free(file->changes);
    }
}
