/* Reads the records of a WARC file one after the other, in fixed memory, however long they are:
 *
 *     while (warc_read_next(&reader) == WARC_READ_DONE) {
 *         ... reader.record.head ...
 *         while (warc_read_block(&reader, &piece) == WARC_READ_DONE)
 *             ... piece ...
 *     }
 *     if (error.fault) ...
 *
 * warc_read_next passes over what was not read of the record before; so does warc_read_skip. Both are cheap where the file
 * says how long a record is: plain files, zstd frames with a length, gzip members with the field "sl". Then what is
 * passed over is not looked at, and damage in it is not found.
 *
 * A record has a member of its own, or several zstd frames. Several records in one member are read as well, but none of
 * them can be found by an offset: `is_shared`.
 *
 * The first error ends the reading: bytes behind it cannot be relied on. The place of an error within packed data is that
 * of the member. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/archive/members.h"
#include "engine/archive/warc_head.h"

enum warc_read_step {
    WARC_READ_DONE, /* a record; a piece of its block */
    WARC_READ_END,  /* there are no more */
    WARC_READ_BAD,  /* the error is set */
};

struct warc_read_record {
    struct warc_head head; /* good until the next record */
    uint64_t offset;       /* of its first byte in the file: that of a member or of a frame */
    uint64_t length; /* up to the end of its last one. Counts once the record has been read or passed over */
    bool is_shared;  /* the member holds other records as well. Counts as `length` does */
    bool has_lied;   /* the member promised other lengths than it has */
};

struct warc_read {
    struct warc_read_record record;
    struct archive_error *error;
    struct members members;
    char *head;           /* WARC_READ_HEAD_BYTES_MAX */
    struct slice pending; /* content that was unpacked and not used yet */
    uint64_t left;        /* of the block */
    uint64_t used;        /* bytes of the content of this member, or these frames, up to `pending` */
    bool is_in_member;
    bool is_in_record;
    bool is_shared; /* a record of the member at hand has ended already */
};

/* Source and error outlive it; the error is all zero. False: the error is set. */
bool warc_read_init(struct warc_read *reader, struct source *source, struct archive_error *error);
void warc_read_fini(struct warc_read *reader);

enum warc_read_step warc_read_next(struct warc_read *reader);
/* A piece of the block, which is good until the next call. WARC_READ_END: the record is complete, and its end is as it
 * should be. */
enum warc_read_step warc_read_block(struct warc_read *reader, struct slice *piece);
/* To the end of the record. False: the error is set. */
bool warc_read_skip(struct warc_read *reader);

/* The next record is the one at this offset. */
void warc_read_seek(struct warc_read *reader, uint64_t offset);
