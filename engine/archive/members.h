/* The parts of which a WARC file consists, unpacked piece by piece, whatever it is packed with:
 *
 *     gzip     members, one after the other. An extra field "sl" may tell how long one is, packed and unpacked
 *     zstd     frames, as "Zstandard Compression for WARC Files 1.0" asks for; a dictionary may come first
 *     plain    the whole file is one member
 *
 * What a file is packed with is seen by its first bytes.
 *
 *     members_begin -> members_next ... MEMBERS_END -> members_begin ... MEMBERS_END
 *
 * Memory: a decompressor (gzip 90 KB, zstd the window of the frame), a piece, the dictionary if there is one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/archive/source.h"
#include "net/slice.h"

struct inflate_state;
struct ZSTD_DCtx_s;

enum members_format { MEMBERS_PLAIN, MEMBERS_GZIP, MEMBERS_ZSTD };

enum members_step {
    MEMBERS_PIECE, /* members_begin: a member has begun; members_next: a piece, never empty */
    MEMBERS_END,   /* members_begin: the file has ended; members_next: the member has */
    MEMBERS_BAD,   /* the error is set */
};

struct members {
    struct source *source;
    struct archive_error *error;
    enum members_format format;
    uint64_t offset; /* where the member at hand begins */
    uint64_t next;   /* the first byte of the file that was not taken yet; behind a member, its end */
    uint64_t given;  /* bytes of the member's content so far */
    /* What the head of the member promises. */
    bool has_lengths;  /* gzip: both; zstd: that of its content */
    bool has_lied;     /* of a member that was unpacked to its end */
    bool has_checksum; /* of a zstd frame */
    bool is_unpacked;  /* zstd: the frame is at its end */
    uint64_t packed_promised, content_promised;
    uint64_t body; /* where the packed data begins */
    struct inflate_state *inflate;
    struct ZSTD_DCtx_s *zstd;
    char *piece;
};

/* Source and error outlive it. False: the error is set, and nothing is to be given back. */
bool members_init(struct members *members, struct source *source, struct archive_error *error);
void members_fini(struct members *members);

enum members_step members_begin(struct members *members);
/* The piece is good until the next call. */
enum members_step members_next(struct members *members, struct slice *piece);

/* Leaves the member at hand without unpacking it, if it is known that exactly `rest` bytes of its content are still to
 * come. False: not known, or what its head promises is not so; nothing has changed. */
bool members_skip(struct members *members, uint64_t rest);
/* The same for the next `bytes` of a plain file. */
bool members_drop(struct members *members, uint64_t bytes);
/* The next member to begin is that at `offset`. */
void members_seek(struct members *members, uint64_t offset);

/* "gzip", "zstd", "plain". */
const char *members_format_name(enum members_format format);
