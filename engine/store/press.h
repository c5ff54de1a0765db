/* Compresses a record at once: into a gzip member, by igzip at store.level 1 and by libdeflate above, or into a zstd
 * frame. Does no I/O.
 *
 * igzip at level 1 spends more time on the Huffman codes of a record than on its bytes. The records of a crawl are much
 * alike, so the press counts the letters of some of them, makes codes of that for all that follow, and counts anew from
 * time to time. A record that is different (other letters, a picture) gets codes of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/store/packer.h"
#include "engine/tuning/tuning.h"
#include "net/slice.h"

struct ZSTD_CCtx_s;
struct ZSTD_CDict_s;
struct libdeflate_compressor;
struct press_codes;

/* Records of a kind are alike, and share codes. */
enum press_kind { PRESS_RESPONSE, PRESS_REQUEST, PRESS_METADATA, PRESS_KINDS };

/* All null: a copy. */
struct press {
    struct isal_zstream *igzip;
    struct press_codes *codes; /* of igzip, one per kind */
    struct libdeflate_compressor *deflate;
    struct ZSTD_CCtx_s *zstd;
};

/* False: no memory. */
bool press_init(struct press *press, const struct tuning *tuning);
/* May be called twice, and after a failed press_init. */
void press_fini(struct press *press);

/* For all records from now on. It outlives the press; only for zstd. */
void press_use_dictionary(struct press *press, const struct ZSTD_CDict_s *dictionary);

/* The most bytes that a record of this length takes. */
size_t press_bound(size_t bytes);
/* `room` has press_bound(record.len) bytes; returns how many were used. Not for plain files. */
size_t press_record(struct press *press, enum press_kind kind, struct slice record, struct packer_room room);
