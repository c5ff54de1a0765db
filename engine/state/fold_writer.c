#include "engine/state/fold_writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/limits.h"
#include "engine/url/hash.h"

int fold_writer_open(struct fold_writer *writer, const struct disk *disk, const char *path)
{
    *writer = (struct fold_writer){.disk = disk, .fd = -1, .frame = malloc(OUTLET_BLOCK_BYTES)};
    writer->used = sizeof(struct journal_frame);
    if (!writer->frame)
        return -ENOMEM;
    writer->fd = disk->open(disk->owner, path, O_WRONLY | O_CREAT | O_EXCL);
    return writer->fd < 0 ? writer->fd : 0;
}

void fold_writer_close(struct fold_writer *writer)
{
    if (writer->fd >= 0) {
        int error = writer->disk->close(writer->disk->owner, writer->fd);
        writer->error = writer->error ? writer->error : error;
    }
    writer->fd = -1;
    free(writer->frame);
    writer->frame = NULL;
}

static void sync_some(struct fold_writer *writer)
{
    writer->unsynced = 0;
    writer->error = writer->disk->sync(writer->disk->owner, writer->fd);
    writer->has_failed_sync = writer->error != 0;
}

/* What is in the buffer becomes a frame. */
static void write_frame(struct fold_writer *writer, enum journal_kind kind)
{
    struct journal_frame frame = {.magic = JOURNAL_MAGIC,
                                  .bytes = (uint32_t)(writer->used - sizeof frame),
                                  .epoch = writer->epoch,
                                  .wall_us = writer->wall_us,
                                  .kind = (uint16_t)kind};
    size_t written;
    frame.checksum = journal_checksum(&frame, writer->frame + sizeof frame);
    memcpy(writer->frame, &frame, sizeof frame);
    if (!writer->error)
        writer->error =
            disk_write_all(writer->disk, writer->fd, (struct slice){writer->frame, writer->used}, &written);
    writer->unsynced += writer->used;
    writer->used = sizeof frame;
    writer->via = 0;
    if (!writer->error && writer->unsynced >= FOLD_SYNC_BYTES)
        sync_some(writer);
}

void fold_writer_flush(struct fold_writer *writer)
{
    write_frame(writer, JOURNAL_DATA);
}

void fold_writer_put(struct fold_writer *writer, enum journal_kind kind, struct slice payload)
{
    assert(payload.len <= OUTLET_BLOCK_BYTES - sizeof(struct journal_frame));
    if (writer->used > sizeof(struct journal_frame))
        fold_writer_flush(writer);
    if (payload.len)
        memcpy(writer->frame + writer->used, payload.ptr, payload.len);
    writer->used += payload.len;
    write_frame(writer, kind);
}

int fold_writer_finish(struct fold_writer *writer)
{
    if (writer->used > sizeof(struct journal_frame))
        fold_writer_flush(writer);
    if (!writer->error)
        sync_some(writer);
    fold_writer_close(writer);
    return writer->error;
}

static char *space_for(struct fold_writer *writer, size_t bytes)
{
    if (writer->used + bytes > OUTLET_BLOCK_BYTES)
        fold_writer_flush(writer);
    return writer->frame + writer->used;
}

static size_t write_url(struct fold_writer *writer, const struct record_url *url, struct slice via)
{
    char *space = space_for(writer, 2 * RECORD_BYTES_MAX + url->text.len + via.len);
    uint64_t hash = via.len ? hash_slice(via) | 1 : 0;
    size_t len = 0;
    if (hash != writer->via) {
        len = record_write_via(space, via);
        writer->via = hash;
    }
    return len + record_write_url(space + len, url);
}

void fold_writer_add(struct fold_writer *writer, const struct record *record, struct slice via)
{
    switch (record->type) {
    case RECORD_URL:
        writer->used += write_url(writer, &record->url, via);
        break;
    case RECORD_DONE:
        writer->used += record_write_done(space_for(writer, RECORD_BYTES_MAX), &record->done);
        break;
    case RECORD_VISIT:
        writer->used +=
            record_write_visit(space_for(writer, RECORD_BYTES_MAX + record->visit.key.len), &record->visit);
        break;
    case RECORD_VIA:
    case RECORD_KNOWN:
    case RECORD_TOTALS:
    case RECORD_SESSION:
        break;
    }
}
