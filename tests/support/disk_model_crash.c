/* What a crash leaves of a disk, and what tests ask about it. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/disk_model.h"

static void set_bytes(struct disk_model_bytes *to, struct slice from)
{
    if (from.len > to->room) {
        to->room = from.len + from.len / 2 + 256;
        to->bytes = realloc(to->bytes, to->room);
        if (!to->bytes)
            abort();
    }
    if (from.len)
        memcpy(to->bytes, from.ptr, from.len);
    to->len = from.len;
}

static struct slice slice_from(const struct disk_model_bytes *bytes)
{
    return (struct slice){bytes->bytes, bytes->len};
}

static void set_durable(struct disk_model_file *file)
{
    set_bytes(&file->durable, slice_from(&file->now));
    file->change_count = 0;
    file->written.len = 0;
}

static void copy_file(struct disk_model_file *to, const struct disk_model_file *from)
{
    set_bytes(&to->now, slice_from(&from->now));
    set_bytes(&to->durable, slice_from(&from->durable));
    set_bytes(&to->written, slice_from(&from->written));
    if (from->change_count > to->change_room) {
        to->change_room = from->change_count;
        to->changes = realloc(to->changes, to->change_room * sizeof *to->changes);
        if (!to->changes)
            abort();
    }
    if (from->change_count)
        memcpy(to->changes, from->changes, from->change_count * sizeof *to->changes);
    to->change_count = from->change_count;
    to->reserved = from->reserved;
}

/* All is there but the end of the last write. */
static void crash_process(const struct disk_model *model, struct disk_model *left, uint64_t seed)
{
    for (size_t i = 0; i < model->file_count; i++)
        copy_file(&left->files[i], &model->files[i]);
    left->now = model->now;
    left->durable = model->durable;
    memcpy(left->moves, model->moves, model->move_count * sizeof model->moves[0]);
    left->move_count = model->move_count;
    if (model->last_file < 0)
        return;
    struct disk_model_file *file = &left->files[model->last_file];
    const char *path = NULL;
    for (size_t i = 0; i < left->now.count; i++)
        if (left->now.all[i].file == model->last_file)
            path = left->now.all[i].path;
    uint64_t len = file->now.len - model->last_offset;
    if (path)
        left->disk.truncate(left, path, model->last_offset + disk_model_random(&seed) % (len + 1));
}

/* Chances in 16 that a change is kept, in turn: nothing, all, and several between. */
static bool is_kept(uint64_t *seed, unsigned style)
{
    static const unsigned chances[] = {0, 16, 8, 2, 14, 8, 5, 11};
    return disk_model_random(seed) % 16 < chances[style];
}

static void apply(struct disk_model_bytes *bytes, const struct disk_model_change *change, const char *data)
{
    uint64_t end = change->offset + (change->is_truncation ? 0 : change->len);
    if (change->is_truncation) {
        bytes->len = bytes->len > end ? end : bytes->len;
        return;
    }
    if (end == change->offset)
        return;
    if (end > bytes->room) {
        bytes->room = end + end / 2;
        bytes->bytes = realloc(bytes->bytes, bytes->room);
        if (!bytes->bytes)
            abort();
    }
    if (change->offset > bytes->len)
        memset(bytes->bytes + bytes->len, 0, change->offset - bytes->len);
    memcpy(bytes->bytes + change->offset, data, change->len);
    bytes->len = end > bytes->len ? end : bytes->len;
}

static void crash_file(const struct disk_model_file *file, struct disk_model_file *left, uint64_t *seed)
{
    unsigned style = disk_model_random(seed) % 8;
    set_bytes(&left->now, slice_from(&file->durable));
    for (size_t i = 0; i < file->change_count; i++) {
        struct disk_model_change change = file->changes[i];
        if (!is_kept(seed, style))
            continue;
        if (i + 1 == file->change_count && !change.is_truncation) /* any prefix of the last one */
            change.len -= disk_model_random(seed) % 2 ? disk_model_random(seed) % (change.len + 1) : 0;
        apply(&left->now, &change, file->written.bytes + change.data);
    }
    set_durable(left);
    left->reserved = 0;
}

static void drop(struct disk_model_names *names, const char *path)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->all[i].path, path) == 0) {
            names->all[i] = names->all[--names->count];
            return;
        }
}

static void crash_machine(const struct disk_model *model, struct disk_model *left, uint64_t seed)
{
    unsigned style = disk_model_random(&seed) % 8;
    for (size_t i = 0; i < model->file_count; i++)
        crash_file(&model->files[i], &left->files[i], &seed);
    left->now = model->durable;
    for (size_t i = 0; i < model->move_count; i++) {
        const struct disk_model_move *move = &model->moves[i];
        if (!is_kept(&seed, style))
            continue;
        drop(&left->now, move->from);
        drop(&left->now, move->to);
        if (move->to[0]) {
            struct disk_model_name *name = &left->now.all[left->now.count++];
            memcpy(name->path, move->to, sizeof name->path);
            name->file = move->file;
        }
    }
    left->durable = left->now;
    left->move_count = 0;
}

void disk_model_crash(const struct disk_model *model, struct disk_model *left,
                      const struct disk_model_crash *crash)
{
    for (int i = 0; i < DISK_MODEL_FILES_MAX; i++)
        left->opened[i] = -1;
    left->file_count = model->file_count;
    left->page_bytes = model->page_bytes;
    left->calls = left->fault_at = left->dies_at = 0;
    if (crash->is_machine)
        crash_machine(model, left, crash->seed);
    else
        crash_process(model, left, crash->seed);
    left->last_file = -1;
    left->calls = 0;
}

struct slice disk_model_content(const struct disk_model *model, const char *path)
{
    for (size_t i = 0; i < model->now.count; i++)
        if (strcmp(model->now.all[i].path, path) == 0) {
            struct slice content = slice_from(&model->files[model->now.all[i].file].now);
            return content.ptr ? content : (struct slice){"", 0};
        }
    return (struct slice){NULL, 0};
}

void disk_model_put(struct disk_model *model, const char *path, struct slice bytes)
{
    struct disk_model_file *file = &model->files[model->file_count];
    struct disk_model_name *name = &model->now.all[model->now.count++];
    if (model->file_count == DISK_MODEL_FILES_MAX || strlen(path) >= sizeof name->path)
        abort();
    memcpy(name->path, path, strlen(path) + 1);
    name->file = (int)model->file_count++;
    set_bytes(&file->now, bytes);
    set_durable(file);
    model->durable = model->now;
}

size_t disk_model_open_count(const struct disk_model *model)
{
    size_t count = 0;
    for (int i = 0; i < DISK_MODEL_FILES_MAX; i++)
        count += model->opened[i] >= 0;
    return count;
}

bool disk_model_equals(const struct disk_model *a, const struct disk_model *b)
{
    if (a->now.count != b->now.count)
        return false;
    for (size_t i = 0; i < a->now.count; i++) {
        struct slice one = disk_model_content(a, a->now.all[i].path);
        struct slice other = disk_model_content(b, a->now.all[i].path);
        if (!other.ptr || !slice_equals(one, other))
            return false;
    }
    return true;
}
