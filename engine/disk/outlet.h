/* A stream of bytes from a loop to the disk: the loop fills blocks and hands them over, the housekeeper
 * writes them. The loop never waits: when all blocks are on their way it is told so, and slows down.
 *
 * | call                                | by whom         |
 * |-------------------------------------|-----------------|
 * | room, append, open, close, flush, seal | the loop     |
 * | write, next, done, is_held, release | the housekeeper |
 * | unwritten                           | anybody         |
 * | init, fini                          | one thread, when the others do not run |
 *
 * The stream is cut into files by outlet_open and outlet_close. It is also cut into epochs: the loop seals its outlets when it
 * takes up a new epoch, and the housekeeper writes up to the seal and holds the outlet there. When all
 * outlets of a crawl are held, the files hold whole epochs and nothing of a later one, and their lengths can be
 * committed; then the outlets are released. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/files.h"
#include "lockfree/atomic.h"
#include "lockfree/ring_spsc.h"
#include "net/slice.h"

enum { OUTLET_BLOCK_BYTES = 1 << 18 };

struct outlet_block {
    size_t used;
    struct outlet_block *next;   /* in a draft, or of the spare ones */
    bool ends;                   /* the file: nothing more comes until another is opened */
    char name[FILES_NAME_BYTES]; /* not empty: this block begins a file of that name */
    char bytes[OUTLET_BLOCK_BYTES];
};

struct outlet {
    struct outlet_block *blocks;
    size_t count;
    void *ring_memory;
    struct ring_spsc full;  /* to the housekeeper: blocks, and seals */
    struct ring_spsc empty; /* back */

    /* the loop's */
    struct outlet_block *current; /* NULL: none taken */
    struct outlet_block *spare;   /* empty ones, the last that came back first: its memory is warm */
    size_t spare_count;
    _Atomic(uint64_t) appended;   /* bytes of the stream so far */

    /* the housekeeper's */
    struct files *files;
    struct file *file;       /* NULL: none is open */
    bool is_shared;          /* several outlets append to one file */
    bool is_held;            /* the epoch has been written */
    bool has_failed;         /* what comes is thrown away */
    _Atomic(uint64_t) taken; /* bytes that were written or thrown away */
};

struct outlet_options {
    struct files *files; /* outlives the outlet */
    size_t bytes;        /* of memory; two blocks are the least */
    bool is_shared;      /* others append to the same file */
};

/* 0 or a negative errno. */
int outlet_init(struct outlet *outlet, const struct outlet_options *options);
void outlet_fini(struct outlet *outlet);

/* Bytes that can be appended at this moment. */
size_t outlet_room(struct outlet *outlet);
/* How many whole blocks are free, besides the current one. */
size_t outlet_free_blocks(struct outlet *outlet);
/* An empty block for a draft; NULL: none is free. */
struct outlet_block *outlet_take_block(struct outlet *outlet);
/* Only if there is room for all of it. */
void outlet_append(struct outlet *outlet, struct slice bytes);
/* The same for what must not be parted: several outlets that append to one file take turns by blocks. */
void outlet_append_whole(struct outlet *outlet, struct slice bytes);
/* Contiguous free bytes in the current block; after writing to it, outlet_claim what was used. */
char *outlet_space(struct outlet *outlet, size_t *room);
void outlet_claim(struct outlet *outlet, size_t used);
/* What follows goes to a new file. False: no block is free; nothing has changed. */
bool outlet_open(struct outlet *outlet, const char *name);
/* The file ends here. Not for shared ones; outlet_open comes next. False: no block is free; nothing has changed. */
bool outlet_close(struct outlet *outlet);
/* Hands the current block over though it is not full. */
void outlet_flush(struct outlet *outlet);
/* What was appended so far belongs to the epoch that ends. Not again before the outlet was released. */
void outlet_seal(struct outlet *outlet);

/* Writes one block. 1: done, there may be more; 0: there is none to write, or the outlet is held; or a
 * negative errno: everything later is thrown away, and files_cut is to be called. */
int outlet_write(struct outlet *outlet);
/* Writes all that is there, or up to a seal. 0, or the negative errno of outlet_write. */
int outlet_drain(struct outlet *outlet);
/* After the loop's last outlet_flush: writes the rest, over seals, and finishes the file. */
int outlet_finish(struct outlet *outlet);
/* outlet_write in two parts, for a caller that writes blocks in a way of its own. NULL: as outlet_write's 0. */
struct outlet_block *outlet_next(struct outlet *outlet);
void outlet_done(struct outlet *outlet, struct outlet_block *block);
void outlet_release(struct outlet *outlet);

/* Bytes that have left for the disk; after an error, those that were thrown away, too. */
static inline uint64_t outlet_taken(const struct outlet *outlet)
{
    return lf_load(&outlet->taken, relaxed);
}

/* Bytes on their way to the disk. */
static inline uint64_t outlet_unwritten(const struct outlet *outlet)
{
    uint64_t taken = lf_load(&outlet->taken, relaxed), appended = lf_load(&outlet->appended, relaxed);
    return appended > taken ? appended - taken : 0;
}
