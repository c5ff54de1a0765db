/* Content codings: gzip, deflate (zlib and raw), br, zstd, and stacks of them. Bounded in what they may
 * become.
 *
 * A `struct decode` belongs to one thread; it allocates at creation and, for codings that it meets the first
 * time, once more. Pages are decoded without allocation after that. */
#pragma once

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
    DECODE_UNKNOWN,   /* a coding that we do not know */
    DECODE_STACKED,   /* more codings on top of each other than DECODE_CODINGS_MAX */
    DECODE_RESULTS,
};

struct decode_options {
    uint64_t bytes_max; /* 0: no bound */
    uint64_t ratio_max; /* 0: no bound; applies beyond DECODE_RATIO_FREE_BYTES of output */
};

struct decode;

struct decode *decode_create(const struct decode_options *options);
void decode_destroy(struct decode *decode);

/* Streaming. `codings` is the value of Content-Encoding: a list, in the order in which they were applied;
 * empty and "identity" mean none. DECODE_MORE, DECODE_UNKNOWN or DECODE_STACKED. */
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

/* Whole body at once: faster than streaming, for one gzip or deflate coding much so. The output never exceeds
 * output->room: DECODE_FULL if there is more. On DECODE_TRUNCATED and DECODE_CORRUPT output->written bytes
 * are what could be decoded. */
enum decode_result decode_whole(struct decode *decode, struct slice codings, struct slice body,
                                struct decode_output *output);

/* "done", "truncated", ... */
const char *decode_result_name(enum decode_result result);
