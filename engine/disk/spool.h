/* A queue on disk between a loop and itself: what does not fit in memory waits here, first in, first out. The loop
 * fills and empties blocks in memory, the housekeeper writes and reads them; a queue that is short never
 * touches the disk.
 *
 *     push -> [block] -> full ----> housekeeper ----> segment files ----> loaded -> [block] -> front, pop
 *                                        '------ nothing is on disk ---------^
 *
 * The files are scratch: they replace memory, mean nothing after the process has ended, and are never synced.
 *
 * | call                                       | by whom         |
 * |--------------------------------------------|-----------------|
 * | has_room, push, front, pop, count          | the loop        |
 * | serve                                      | the housekeeper |
 * | init, fini                                 | one thread, when the others do not run | */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "lockfree/atomic.h"
#include "lockfree/ring_spsc.h"

enum {
    SPOOL_BLOCK_BYTES = 1 << 18,
    SPOOL_BLOCKS_FILLED = 14, /* on their way to the disk */
    SPOOL_BLOCKS_LOADED = 2,  /* on their way back */
    SPOOL_SEGMENT_BLOCKS = 256,
    SPOOL_RECORD_BYTES_MAX = 1 << 16,
    SPOOL_PATH_BYTES = 1100,
};

struct spool_block {
    uint32_t used;
    char bytes[SPOOL_BLOCK_BYTES];
};

struct spool {
    struct spool_block *blocks;
    void *ring_memory;
    struct ring_spsc full, empty;     /* blocks to be written, and back */
    struct ring_spsc loaded, drained; /* blocks that were read, and back */

    /* the loop's */
    struct spool_block *filling;
    struct spool_block *emptying;
    uint32_t emptied;        /* bytes of it that were taken */
    _Atomic(uint64_t) count; /* records; anybody reads it */

    /* the housekeeper's */
    const struct disk *disk;
    char prefix[SPOOL_PATH_BYTES]; /* of the segments' names */
    int write_fd, read_fd;         /* -1: none */
    uint64_t written, read;        /* blocks */
    _Atomic(uint64_t) bytes;       /* on disk; anybody reads it */
};

/* Segments are PREFIX-000001 and so on. 0 or a negative errno. */
int spool_init(struct spool *spool, const struct disk *disk, const char *prefix);
/* Removes the segments that are left. */
void spool_fini(struct spool *spool);

/* Whether so many bytes can be pushed, in records of any size. */
bool spool_has_room(struct spool *spool, size_t bytes);
/* Appends a record of up to SPOOL_RECORD_BYTES_MAX bytes. After spool_has_room. */
void spool_push(struct spool *spool, struct slice record);
/* The oldest record. False: there is none, or it is still on its way. */
bool spool_front(struct spool *spool, struct slice *record);
/* Takes the record that spool_front has given. */
void spool_pop(struct spool *spool);

static inline uint64_t spool_count(const struct spool *spool)
{
    return lf_load(&spool->count, relaxed);
}

/* Writes and reads what there is to do. 0 or a negative errno: the queue has lost records. */
int spool_serve(struct spool *spool);
