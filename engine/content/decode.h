/* Content codings: gzip, deflate (zlib and raw), br, zstd, and stacks of them, with limits on the
 * size of the output.
 *
 * A `struct decode` belongs to one thread; it allocates at creation and, for codings that it meets the first
 * time, once more. Pages are decoded without allocation after that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

enum decode_result {
    DECODE_DONE,      /* the whole body is decoded */
    DECODE_MORE,      /* streaming: all input is used, more is needed */
    DECODE_FULL,      /* the output buffer is full: streaming, call again with room; else, with more of it */
    DECODE_TRUNCATED, /* the body ends early: what came out so far is good */
    DECODE_CORRUPT,   /* the body is not in the coding that it claims, or a checksum is wrong */
    DECODE_TOO_LONG,  /* more than bytes_max came out */
    DECODE_BOMB,      /* more than ratio_max times the input came out */
    DECODE_STACKED,   /* more codings on top of each other than DECODE_CODINGS_MAX */
    DECODE_NO_MEMORY, /* a decompressor got no memory; the body may be fine */
    DECODE_RESULTS,
};

struct decode_options {
    uint64_t bytes_max; /* 0: no bound */
    uint64_t ratio_max; /* 0: no bound; applies beyond DECODE_RATIO_FREE_BYTES of output */
};

struct decode;

/* NULL: no memory. */
struct decode *decode_create(const struct decode_options *options);
void decode_destroy(struct decode *decode);

/* Whether a list of codings has a known one. */
bool decode_has_codings(struct slice codings);

/* Streaming. `codings` is the value of Content-Encoding: a list, in the order in which they were applied.
 * Empty and unknown ones are ignored, as in browsers: servers write "UTF-8", "none" or "binary" there.
 * DECODE_MORE, DECODE_STACKED or DECODE_NO_MEMORY. */
enum decode_result decode_begin(struct decode *decode, struct slice codings);

/* Decodes from the front of `*input`, which loses what was used, to `*out`, of which `room` bytes are free;
 * `*written` is how many were used. Errors are sticky until the next decode_begin. Bytes after the end of the
 * coded body are ignored, as browsers do. */
struct decode_output {
    char *ptr;
    size_t room;
    size_t written;
};
enum decode_result decode_push(struct decode *decode, struct slice *input, struct decode_output *output);

/* Call after the last byte: DECODE_DONE or DECODE_TRUNCATED, or the error there was. */
enum decode_result decode_finish(struct decode *decode);

/* Decodes a whole body at once: faster than streaming, much faster for a single gzip or deflate coding. The
 * output never exceeds output->room: DECODE_FULL if there is more. On DECODE_TRUNCATED and DECODE_CORRUPT
 * output->written bytes are what could be decoded. */
enum decode_result decode_whole(struct decode *decode, struct slice codings, struct slice body,
                                struct decode_output *output);

/* "done", "truncated", ... */
const char *decode_result_name(enum decode_result result);
