/* Compresses one record at a time, step by step, each short enough for a loop: into a gzip member, by igzip at level 1
 * and by zlib above, or into a zstd frame. Without compression it copies. Does no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/store/gzip_head.h"
#include "engine/tuning/tuning.h"
#include "net/slice.h"

/* igzip's level: fast, and a third less output than level 0. */
enum { PACKER_IGZIP_LEVEL = 1 };

struct ZSTD_CCtx_s;
struct ZSTD_CDict_s;
struct isal_zstream;
struct z_stream_s;

struct packer {
    struct isal_zstream *igzip; /* one of the three, or none: a copy */
    struct z_stream_s *zlib;
    struct ZSTD_CCtx_s *zstd;
    struct slice head; /* of igzip's member: what of it is not written yet */
    char head_bytes[GZIP_HEAD_BYTES];
    size_t record_bytes;
};

/* Where the output goes; packer_step moves it on. */
struct packer_room {
    char *out;
    size_t len;
};

/* False: no memory. */
bool packer_init(struct packer *packer, const struct tuning *tuning);
/* May be called twice, after a failed packer_init and in the middle of a record. */
void packer_fini(struct packer *packer);

/* For all records from now on, between two of them. It outlives the packer; only for zstd. */
void packer_use_dictionary(struct packer *packer, const struct ZSTD_CDict_s *dictionary);

/* Begins a record of this length, whatever became of the last one. */
void packer_begin(struct packer *packer, size_t bytes);
/* Takes some of `in`, which is all of the record that was not taken yet, and moves it on. True if the record is
 * complete; false without progress if there is no room. */
bool packer_step(struct packer *packer, struct slice *in, struct packer_room *room);
/* Writes the lengths of the complete record into the head of its member. `packed` bytes came out, and the first
 * GZIP_HEAD_BYTES of them are at `first`. No-op if it is no gzip member. */
void packer_seal(const struct packer *packer, char *first, size_t packed);

/* The level of zstd: store.level, up to PACKER_ZSTD_LEVEL_MAX. */
int packer_zstd_level(const struct tuning *tuning);
/* A context whose frames have their length and a checksum, as WARC files need them; NULL: no memory. */
struct ZSTD_CCtx_s *packer_make_zstd(const struct tuning *tuning);
