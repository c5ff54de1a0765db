/* One content coding being decoded as its bytes come in. A stage is reused: its memory stays. */
#pragma once

#include <stdbool.h>

#include "engine/content/decode.h"

enum decode_coding {
    DECODE_GZIP,
    DECODE_DEFLATE, /* with zlib's wrapper or without: the first bytes tell */
    DECODE_BROTLI,
    DECODE_ZSTD,
    DECODE_CODINGS,
};

struct inflate_state;
struct BrotliDecoderStateStruct;
struct ZSTD_DCtx_s;
struct decode_block;

struct decode_stage {
    enum decode_coding coding;
    bool has_begun;        /* a byte has come */
    bool has_member;       /* within a member or frame, as opposed to between two */
    bool is_done;          /* everything after is ignored */
    bool is_wrapped;       /* deflate: by zlib */
    bool is_full;          /* zstd: the last run had more output than room */
    unsigned char head[4]; /* the first bytes of a member or frame, until its kind is known */
    unsigned head_len;
    struct inflate_state *inflate;
    struct BrotliDecoderStateStruct *brotli;
    struct ZSTD_DCtx_s *zstd;
    struct decode_block *blocks; /* memory that brotli gave back */
};

/* `stage` is zeroed before its first use. False: no memory. */
bool decode_stage_begin(struct decode_stage *stage, enum decode_coding coding);
void decode_stage_fini(struct decode_stage *stage);

/* Decodes from the front of `*input` to `output`. DECODE_MORE: all input is used. DECODE_FULL: the output is.
 * DECODE_DONE: the body has ended. DECODE_CORRUPT. DECODE_NO_MEMORY. */
enum decode_result decode_stage_run(struct decode_stage *stage, struct slice *input,
                                    struct decode_output *output);

/* Whether the body may end here. */
bool decode_stage_may_end(const struct decode_stage *stage);
