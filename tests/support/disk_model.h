/* A disk in memory, for tests of what survives a crash. It keeps for each file what is there and what is durable, and the
 * changes that lie between the two:
 *
 *   a sync of a file         makes its content and length durable, not its name
 *   a sync of a directory    makes the names in it durable, not the content of the files
 *
 * A crash of the process leaves everything that was written, and any prefix of the last write. A crash of the machine
 * leaves any subset of the changes that were not synced: each page of a write for itself, each truncation, each
 * creation, removal and renaming, whatever the order in which they were made. A page that is lost before one that was
 * kept reads as zeros. Not modelled: bytes that turn bad by themselves, and a page that is half old and half new.
 *
 * It may have a capacity: a write or a reservation that needs more answers ENOSPC. Space that was reserved for a file is
 * taken until the file is truncated or the machine crashes.
 *
 * Calls can be made to fail. A sync that fails behaves as on Linux: what it should have written stays readable, will
 * never be durable, and the next sync succeeds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"

enum { DISK_MODEL_FILES_MAX = 96, DISK_MODEL_PATH_BYTES = 64, DISK_MODEL_MOVES_MAX = 256 };

struct disk_model_bytes {
    char *bytes;
    size_t len, room;
};

/* What was done to a file since its last sync. */
struct disk_model_change {
    bool is_truncation; /* to `offset` */
    uint64_t offset;
    size_t len;
    size_t data; /* where the bytes are in the file's `written` */
};

struct disk_model_file {
    struct disk_model_bytes now, durable, written;
    struct disk_model_change *changes;
    size_t change_count, change_room;
    uint64_t reserved; /* space is taken up to here, though the file may be shorter */
};

struct disk_model_name {
    char path[DISK_MODEL_PATH_BYTES];
    int file;
};

struct disk_model_names {
    struct disk_model_name all[DISK_MODEL_FILES_MAX];
    size_t count;
};

/* What was done to a directory since its last sync. */
struct disk_model_move {
    char from[DISK_MODEL_PATH_BYTES]; /* empty: created */
    char to[DISK_MODEL_PATH_BYTES];   /* empty: removed */
    int file;
};

enum disk_model_fault {
    DISK_MODEL_FAULT_NONE,
    DISK_MODEL_FAULT_ERROR, /* nothing is done, `fault_errno` is answered */
    DISK_MODEL_FAULT_SHORT, /* half of a write or read is done; other calls are made as usual */
};

struct disk_model {
    struct disk disk; /* to be given to the engine */
    struct disk_model_file files[DISK_MODEL_FILES_MAX];
    size_t file_count;
    struct disk_model_names now, durable;
    struct disk_model_move moves[DISK_MODEL_MOVES_MAX];
    size_t move_count;
    int opened[DISK_MODEL_FILES_MAX]; /* file of each descriptor; -1: it is free */

    /* The last call, if it was a write. */
    int last_file; /* -1: it was something else */
    uint64_t last_offset;

    size_t page_bytes; /* small ones make more states */
    uint64_t capacity; /* bytes; 0: no limit */
    uint64_t calls;
    uint64_t failed_syncs, syncs_after_failure; /* of one file or directory each */
    uint64_t failed_closes;
    uint64_t fault_at;                          /* the call that fails, from 1 on; 0: none */
    enum disk_model_fault fault;
    int fault_errno;
    uint64_t dies_at; /* from this call on nothing has an effect any more; 0: never */
    const char
        *loses_syncs_of; /* they succeed and do nothing, for files with this in their path; NULL: none */
    bool loses_directory_syncs;     /* likewise */
    const char *loses_renames_of;   /* a sync of the directory right after a file with this in its path was
                                       renamed succeeds and does nothing; NULL: none */
    bool loses_truncations;         /* likewise */
    void (*on_change)(void *owner); /* after each call that has changed something; NULL: nobody asks */
    void *owner;
};

void disk_model_init(struct disk_model *model);
void disk_model_fini(struct disk_model *model);

struct disk_model_crash {
    bool is_machine;
    uint64_t seed;
};
/* What is left after a crash, to `left`, which was set up and is overwritten. */
void disk_model_crash(const struct disk_model *model, struct disk_model *left,
                      const struct disk_model_crash *crash);

/* What a file holds at this moment; {NULL, 0}: there is none. */
struct slice disk_model_content(const struct disk_model *model, const char *path);
/* Puts a file there, durable. */
void disk_model_put(struct disk_model *model, const char *path, struct slice bytes);
/* The space that files take. */
uint64_t disk_model_used(const struct disk_model *model);
size_t disk_model_open_count(const struct disk_model *model);
/* Whether both have the same files with the same content. */
bool disk_model_equals(const struct disk_model *a, const struct disk_model *b);

/* Numbers that look random and are the same in each run (splitmix64). */
uint64_t disk_model_random(uint64_t *state);
