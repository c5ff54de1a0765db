/* A stream of bytes from a loop to the disk: the loop fills blocks and hands them over, the housekeeper
 * writes them. The loop never waits: when all blocks are on their way it is told so, and slows down.
 *
 * | call                                       | by whom         |
 * |--------------------------------------------|-----------------|
 * | room, append, mark, open, flush            | the loop        |
 * | drain, finish                              | the housekeeper |
 * | init, fini                                 | one thread, when the other does not run |
 *
 * The stream is cut into files by outlet_open. A file is `NAME.open` until it is closed, and then NAME. Marks
 * tell where a record ends: if the disk is full, the file is cut back to the last mark that was written, so
 * that it stays valid. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockfree/ring_spsc.h"
#include "net/slice.h"

enum { OUTLET_BLOCK_BYTES = 1 << 18, OUTLET_NAME_BYTES = 192 };

struct outlet_block {
    size_t used;
    size_t mark;                  /* bytes of this block up to the last mark; 0: none in it */
    char name[OUTLET_NAME_BYTES]; /* not empty: this block begins a file of that name */
    char bytes[OUTLET_BLOCK_BYTES];
};

struct outlet {
    struct outlet_block *blocks;
    size_t count;
    void *ring_memory;
    struct ring_spsc full;        /* to the housekeeper */
    struct ring_spsc empty;       /* back */
    struct outlet_block *current; /* the loop's; NULL: none taken */

    /* the housekeeper's */
    const char *directory;
    int fd;       /* -1: no file is open */
    bool appends; /* files keep their name and are appended to, not renamed */
    char name[OUTLET_NAME_BYTES];
    uint64_t size, marked; /* bytes written to the file, and those up to the last mark */
};

/* Memory of `bytes` (at least two blocks). The directory's name outlives the outlet. 0 or a negative errno.
 */
int outlet_init(struct outlet *outlet, const char *directory, size_t bytes);
void outlet_fini(struct outlet *outlet);

/* Bytes that can be appended at this moment. */
size_t outlet_room(struct outlet *outlet);
/* Only if there is room for all of it. */
void outlet_append(struct outlet *outlet, struct slice bytes);
/* The same for what must not be parted: several outlets that append to one file take turns by blocks. */
void outlet_append_whole(struct outlet *outlet, struct slice bytes);
/* Contiguous free bytes in the current block; after writing to it, outlet_claim what was used. */
char *outlet_space(struct outlet *outlet, size_t *room);
void outlet_claim(struct outlet *outlet, size_t used);
/* What was appended so far is whole. */
void outlet_mark(struct outlet *outlet);
/* What follows goes to a new file. False: no block is free; nothing has changed. */
bool outlet_open(struct outlet *outlet, const char *name);
/* Hands the current block over though it is not full. */
void outlet_flush(struct outlet *outlet);

/* Writes what is there. 0, or a negative errno: then the file was cut back to its last mark and closed, and
 * everything later is thrown away. */
int outlet_drain(struct outlet *outlet);
/* After the loop's last outlet_flush: writes the rest and closes the file. */
int outlet_finish(struct outlet *outlet);
