/* The framing of zstd (RFC 8878): what the heads of frames and blocks tell without unpacking anything; and dictionaries as
 * WARC files carry them. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/parse.h"
#include "net/slice.h"

struct ZSTD_DCtx_s;

enum {
    ZSTD_FRAME_SKIPPABLE_HEAD_BYTES = 8, /* magic and length */
    ZSTD_FRAME_HEAD_BYTES_MAX = 18,
    ZSTD_FRAME_CHECKSUM_BYTES = 4,
    ZSTD_BLOCK_HEAD_BYTES = 3,
};

struct zstd_frame {
    size_t head_len; /* the first block follows */
    bool has_content_bytes, has_checksum;
    uint64_t content_bytes;
};

struct zstd_block {
    bool is_last;
    uint32_t bytes; /* behind its head */
};

/* Whether `bytes` begin a frame of this kind, by their first four. A dictionary is a skippable frame with a magic of
 * its own. */
bool zstd_frame_is_frame(struct slice bytes);
bool zstd_frame_is_skippable(struct slice bytes);
bool zstd_frame_is_dictionary(struct slice bytes);
/* How many bytes follow the head of a skippable frame. 0 if the head is not complete. */
uint32_t zstd_frame_skippable_bytes(struct slice bytes);

/* The head of the frame that begins with `bytes`. */
enum parse zstd_frame_parse(struct zstd_frame *frame, struct slice bytes);
/* False: there is no block. */
bool zstd_block_parse(struct zstd_block *block, struct slice bytes);

/* What is in a dictionary's frame, which may be packed itself. False: no dictionary, or no memory. */
bool zstd_frame_load_dictionary(struct ZSTD_DCtx_s *context, struct slice data);
