/* Bytes of a file by their offset, read in blocks: what the readers of this room stand on. The file may also be memory, for
 * tests.
 *
 * A source belongs to one thread. What it gives is good until the next call. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "net/slice.h"

/* Where what is read goes. */
struct source_room {
    char *bytes;
    size_t size;
};

struct source {
    const char *name; /* for messages; outlives the source */
    /* Bytes read, possibly fewer than asked for; 0: the end; or a negative errno. */
    int64_t (*read)(void *owner, uint64_t offset, struct source_room room);
    void *owner;
    int fd;              /* -1: not a file */
    struct slice memory; /* of source_init_memory */
    char *buffer;        /* SOURCE_BLOCK_BYTES */
    uint64_t offset;     /* of its first byte */
    size_t held;         /* bytes in it */
    uint64_t bytes_read; /* by the system */
};

/* False: the error says why. */
bool source_open(struct source *source, const char *path, struct archive_error *error);
bool source_init_memory(struct source *source, struct slice bytes, struct archive_error *error);
void source_fini(struct source *source);

/* The bytes at `offset`: all that are at hand, and at least `want` of them (SOURCE_BLOCK_BYTES at most) unless the file ends
 * before. Empty: the end of the file, or an error that is set. */
struct slice source_bytes(struct source *source, uint64_t offset, size_t want, struct archive_error *error);

/* How long the file is at this moment. */
uint64_t source_size(const struct source *source);
