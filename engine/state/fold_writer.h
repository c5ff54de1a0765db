/* Writes a journal file frame by frame, with times and epochs that are given. The first error is kept, and what follows it
 * is ignored. */
#pragma once

#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/state/journal.h"

struct fold_writer {
    const struct disk *disk;
    int fd; /* -1: it is not open */
    int error;
    bool has_failed_sync;
    uint64_t epoch;   /* of the frames that follow */
    uint64_t wall_us; /* likewise */
    char *frame;      /* records that wait to be written, with room for their frame before them */
    size_t used;
    uint64_t via;      /* hash of the last VIA record in it; 0: none */
    uint64_t unsynced; /* bytes */
};

/* A new file: none may have that name. 0 or a negative errno. */
int fold_writer_open(struct fold_writer *writer, const struct disk *disk, const char *path);
/* Syncs what was written, and closes. 0, or the first error of all. */
int fold_writer_finish(struct fold_writer *writer);
/* Closes without a sync, if it is open. */
void fold_writer_close(struct fold_writer *writer);

/* A record of a loop, to a frame with others. `via` is that of a URL. */
void fold_writer_add(struct fold_writer *writer, const struct record *record, struct slice via);
/* The frame at hand, also if it is empty. */
void fold_writer_flush(struct fold_writer *writer);
/* A frame with this payload, behind those that wait. */
void fold_writer_put(struct fold_writer *writer, enum journal_kind kind, struct slice payload);
