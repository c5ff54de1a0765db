#include "engine/disk/syncer.h"

#include <errno.h>
#include <stdlib.h>

void syncer_init(struct syncer *syncer, struct files *files, bool syncs)
{
    *syncer = (struct syncer){.files = files, .syncs = syncs, .journal = -1};
}

void syncer_fini(struct syncer *syncer)
{
    if (syncer->is_busy)
        syncer_finish(syncer);
    free(syncer->items);
    syncer->items = NULL;
}

/* Of a sync or a close. After an error the kernel may have dropped what was written, and the next sync succeeds. */
static int take_result(struct syncer *syncer, int error)
{
    syncer->has_lost |= error != 0;
    return error;
}

static int sync_file(struct syncer *syncer, int fd)
{
    const struct disk *disk = syncer->files->disk;
    return take_result(syncer, disk->sync(disk->owner, fd));
}

static int sync_item(struct syncer *syncer, struct syncer_item *item)
{
    const struct disk *disk = syncer->files->disk;
    int error = syncer->syncs && item->is_unsynced ? sync_file(syncer, item->fd) : 0;
    if (error || !item->is_finished)
        return error;
    error = take_result(syncer, disk->close(disk->owner, item->fd)); /* after the sync: a close loses errors */
    item->is_closed = true;
    return error ? error : files_name(syncer->files, item->file);
}

static int sync_directories(struct syncer *syncer)
{
    const struct disk *disk = syncer->files->disk;
    int error = 0;
    for (unsigned i = 0; i < SYNCER_DIRECTORIES && syncer->directories[i] && !error; i++)
        error = take_result(syncer, disk->sync_directory(disk->owner, syncer->directories[i]));
    return error;
}

static void *work(void *argument)
{
    struct syncer *syncer = argument;
    int error = 0;
    for (size_t i = 0; i < syncer->count && !error; i++)
        error = sync_item(syncer, &syncer->items[i]);
    if (!error && syncer->syncs && syncer->wants_directories)
        error = sync_directories(syncer);
    if (!error && syncer->syncs && syncer->journal >= 0)
        error = sync_file(syncer, syncer->journal);
    syncer->error = error;
    return NULL;
}

/* False: no memory. */
static bool note(struct syncer *syncer, struct file *file)
{
    if (syncer->count == syncer->room) {
        size_t room = syncer->room ? 2 * syncer->room : 64;
        struct syncer_item *items = realloc(syncer->items, room * sizeof *items);
        if (!items)
            return false;
        syncer->items = items;
        syncer->room = room;
    }
    syncer->items[syncer->count++] = (struct syncer_item){
        .file = file, .fd = file->fd, .is_unsynced = file->is_unsynced, .is_finished = file->is_finished};
    file->is_unsynced = false;
    return true;
}

static void begin(struct syncer *syncer, int journal)
{
    syncer->count = 0;
    syncer->error = 0;
    syncer->journal = journal;
    syncer->is_busy = true;
    syncer->wants_directories = false;
}

static void start(struct syncer *syncer)
{
    syncer->has_thread = !syncer->is_inline && pthread_create(&syncer->thread, NULL, work, syncer) == 0;
    if (!syncer->has_thread)
        work(syncer);
}

void syncer_begin(struct syncer *syncer, int journal)
{
    begin(syncer, journal);
    syncer->wants_directories = syncer->files->has_new_names;
    syncer->files->has_new_names = false;
    for (struct file *file = syncer->files->all; file; file = file->next)
        if (file->fd >= 0 && (file->is_unsynced || file->is_finished) && !note(syncer, file))
            syncer->error = -ENOMEM;
    for (size_t i = 0; i < syncer->count; i++)
        syncer->wants_directories |= syncer->items[i].is_finished;
    if (!syncer->error)
        start(syncer);
}

void syncer_begin_journal(struct syncer *syncer, int journal)
{
    begin(syncer, journal);
    start(syncer);
}

/* The thread's work is the housekeeper's again. */
static int take_back(struct syncer *syncer)
{
    syncer->has_thread = syncer->is_busy = false;
    for (size_t i = 0; i < syncer->count; i++)
        if (syncer->items[i].is_closed)
            syncer->items[i].file->fd = -1;
    return syncer->error;
}

bool syncer_is_done(struct syncer *syncer, int *error)
{
    if (syncer->has_thread && pthread_tryjoin_np(syncer->thread, NULL) == EBUSY)
        return false;
    *error = take_back(syncer);
    return true;
}

int syncer_finish(struct syncer *syncer)
{
    if (syncer->has_thread)
        pthread_join(syncer->thread, NULL);
    return take_back(syncer);
}
