/* Reads a journal frame by frame, over all its files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/state/journal.h"

enum journal_found {
    JOURNAL_FOUND_FRAME,
    JOURNAL_FOUND_END,  /* the last file ends with a whole frame */
    JOURNAL_FOUND_TORN, /* what is at this place is not a whole frame */
};

/* Which files of a journal there are. */
struct journal_files {
    unsigned lowest, highest; /* 0: there is none */
    unsigned first;           /* where to begin to read: earlier ones are left over from a fold. 0: none */
    bool has_base;            /* the first one begins with BASE */
};

/* 0 or a negative errno. Without a directory there are no files. */
int journal_find(struct journal_files *files, const struct disk *disk, const char *directory);
/* The number of a file of a journal with this name; 0: it is none. */
unsigned journal_number(const char *name);

struct journal_reader {
    const struct disk *disk;
    const char *directory; /* DIR/state */
    int fd;                /* -1: none is open */
    struct journal_place next;
    char *buffer;
    uint64_t buffered_at; /* offset of the buffer in the file */
    size_t buffered;
    int error; /* negative errno of a file that could not be opened or read */

    /* The frame that was found. */
    struct journal_frame frame;
    struct slice payload; /* good until the next call */
};

/* From file `number` on. 0 or a negative errno; -ENOENT: there is no such file. */
int journal_reader_init(struct journal_reader *reader, const struct disk *disk, const char *directory,
                        unsigned number);
void journal_reader_fini(struct journal_reader *reader);

/* The next frame. What cannot be read is told as TORN, with `error` set. */
enum journal_found journal_reader_next(struct journal_reader *reader);
/* After TORN: looks behind the damage. True: a whole frame of one of the kinds (a bit for each) comes later, so
 * this is not just the end of what was written. False: there is none, or `error` is set. */
bool journal_reader_has_later(struct journal_reader *reader, unsigned kinds);

/* The files of a COMMIT, one after the other; begins with *rest = its payload. False: there are no more. */
bool journal_next_file(struct slice *rest, struct slice *name, uint64_t *length);
