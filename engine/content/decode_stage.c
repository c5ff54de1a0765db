#include "engine/content/decode_stage.h"

#include <assert.h>
#include <brotli/decode.h>
#include <isa-l.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "engine/content/limits.h"
#include "lockfree/container_of.h"

/* brotli allocates memory for each stream. What it frees is kept here for the next stream. */
struct decode_block {
    struct decode_block *next;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

static void *take_block(void *context, size_t size)
{
    struct decode_stage *stage = context;
    for (struct decode_block **at = &stage->blocks; *at; at = &(*at)->next) {
        struct decode_block *block = *at;
        if (block->size >= size && block->size / 2 <= size) {
            *at = block->next;
            return block->bytes;
        }
    }
    struct decode_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = size;
    return block->bytes;
}

static void give_block(void *context, void *bytes)
{
    struct decode_stage *stage = context;
    if (!bytes)
        return;
    struct decode_block *block = container_of(bytes, struct decode_block, bytes);
    block->next = stage->blocks;
    stage->blocks = block;
}

static void begin_inflate(struct decode_stage *stage, uint32_t wrapper)
{
    isal_inflate_reset(stage->inflate);
    stage->inflate->crc_flag = wrapper;
    stage->inflate->hist_bits = 0;
    stage->has_member = true;
}

static void begin_brotli(struct decode_stage *stage)
{
    if (stage->brotli)
        BrotliDecoderDestroyInstance(stage->brotli);
    stage->brotli = BrotliDecoderCreateInstance(take_block, give_block, stage);
}

/* Creates the decoder on first use. False: no memory. */
static bool begin_zstd(struct decode_stage *stage)
{
    if (!stage->zstd)
        stage->zstd = ZSTD_createDCtx();
    if (!stage->zstd)
        return false;
    ZSTD_DCtx_reset(stage->zstd, ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(stage->zstd, ZSTD_d_windowLogMax, DECODE_ZSTD_WINDOW_LOG_MAX);
    return true;
}

bool decode_stage_begin(struct decode_stage *stage, enum decode_coding coding)
{
    stage->coding = coding;
    stage->has_begun = stage->has_member = stage->is_done = stage->is_wrapped = stage->is_full = false;
    stage->head_len = 0;
    switch (coding) {
    case DECODE_GZIP:
    case DECODE_DEFLATE:
        if (stage->inflate)
            return true;
        stage->inflate = malloc(sizeof(*stage->inflate));
        if (stage->inflate)
            isal_inflate_init(stage->inflate);
        return stage->inflate;
    case DECODE_BROTLI:
        begin_brotli(stage);
        return stage->brotli;
    case DECODE_ZSTD:
        return begin_zstd(stage);
    case DECODE_CODINGS:
        break;
    }
    assert(!"a coding");
    return false;
}

void decode_stage_fini(struct decode_stage *stage)
{
    free(stage->inflate);
    if (stage->brotli)
        BrotliDecoderDestroyInstance(stage->brotli);
    ZSTD_freeDCtx(stage->zstd);
    while (stage->blocks) {
        struct decode_block *next = stage->blocks->next;
        free(stage->blocks);
        stage->blocks = next;
    }
}

/* Runs ISA-L over `bytes`; the caller sees how much of them is left. */
static int inflate(struct decode_stage *stage, struct slice *bytes, struct decode_output *output)
{
    struct inflate_state *state = stage->inflate;
    size_t room = output->room - output->written;
    state->next_in = (uint8_t *)(uintptr_t)bytes->ptr;
    state->avail_in = bytes->len > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes->len;
    state->next_out = (uint8_t *)output->ptr + output->written;
    state->avail_out = room > UINT32_MAX ? UINT32_MAX : (uint32_t)room;
    int result = isal_inflate(state);
    output->written = (size_t)(state->next_out - (uint8_t *)output->ptr);
    *bytes = slice_skip(*bytes, (size_t)((const char *)state->next_in - bytes->ptr));
    return result;
}

/* Collects the first two bytes: for deflate they decide between zlib and raw, for gzip whether another member
 * follows or garbage. False until they are there. */
static bool read_head(struct decode_stage *stage, struct slice *input, unsigned len)
{
    while (stage->head_len < len && input->len) {
        stage->head[stage->head_len++] = (unsigned char)input->ptr[0];
        *input = slice_skip(*input, 1);
    }
    return stage->head_len == len;
}

static bool is_zlib(const unsigned char head[2])
{
    return (head[0] & 0x0f) == 8 && (head[0] >> 4) <= 7 && (head[0] << 8 | head[1]) % 31 == 0;
}

/* Begins a member with the two bytes that were collected. False if they do not begin one. */
static bool begin_member(struct decode_stage *stage, struct decode_output *output)
{
    bool is_gzip = stage->coding == DECODE_GZIP;
    stage->is_wrapped = !is_gzip && is_zlib(stage->head);
    if (is_gzip && (stage->head[0] != 0x1f || stage->head[1] != 0x8b))
        return false;
    begin_inflate(stage, is_gzip ? ISAL_GZIP : stage->is_wrapped ? ISAL_ZLIB : ISAL_DEFLATE);
    struct slice head = {(const char *)stage->head, 2};
    stage->head_len = 0;
    return inflate(stage, &head, output) >= 0 && head.len == 0;
}

/* Between two members: begins the next one if there is any. */
static enum decode_result next_member(struct decode_stage *stage, struct slice *input,
                                      struct decode_output *output)
{
    if (!read_head(stage, input, 2))
        return DECODE_MORE;
    if (!begin_member(stage, output)) {
        stage->is_done = stage->has_begun;
        return stage->has_begun ? DECODE_DONE : DECODE_CORRUPT;
    }
    stage->has_begun = true;
    return DECODE_FULL;
}

static bool is_finished(const struct decode_stage *stage)
{
    return stage->inflate->block_state == ISAL_BLOCK_FINISH;
}

static enum decode_result run_inflate(struct decode_stage *stage, struct slice *input,
                                      struct decode_output *output)
{
    for (;;) {
        enum decode_result result = stage->has_member ? DECODE_FULL : next_member(stage, input, output);
        if (result != DECODE_FULL)
            return result;
        if (!is_finished(stage) && inflate(stage, input, output) < 0)
            return DECODE_CORRUPT;
        if (!is_finished(stage))
            return output->written == output->room ? DECODE_FULL : DECODE_MORE;
        stage->has_member = false;
        if (stage->coding == DECODE_DEFLATE) {
            stage->is_done = true;
            return DECODE_DONE;
        }
    }
}

static enum decode_result run_brotli(struct decode_stage *stage, struct slice *input,
                                     struct decode_output *output)
{
    const uint8_t *next_in = (const uint8_t *)input->ptr;
    uint8_t *next_out = (uint8_t *)output->ptr + output->written;
    size_t available_in = input->len, available_out = output->room - output->written;
    BrotliDecoderResult result = BrotliDecoderDecompressStream(stage->brotli, &available_in, &next_in,
                                                               &available_out, &next_out, NULL);
    *input = slice_skip(*input, input->len - available_in);
    output->written = output->room - available_out;
    switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS:
        stage->is_done = true;
        return DECODE_DONE;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return DECODE_MORE;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return DECODE_FULL;
    case BROTLI_DECODER_RESULT_ERROR:
        break;
    }
    /* The library's allocation errors are this one and those below it. */
    BrotliDecoderErrorCode error = BrotliDecoderGetErrorCode(stage->brotli);
    bool is_short =
        error <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && error > BROTLI_DECODER_ERROR_UNREACHABLE;
    return is_short ? DECODE_NO_MEMORY : DECODE_CORRUPT;
}

/* A frame of the standard, or one to skip. The library would also accept frames of its older formats, which
 * no client announces and whose decoders are hardly tested any more. */
static bool is_frame(const unsigned char head[4])
{
    uint32_t magic = head[0] | head[1] << 8 | head[2] << 16 | (uint32_t)head[3] << 24;
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static enum decode_result zstd_failure(size_t code)
{
    return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? DECODE_NO_MEMORY : DECODE_CORRUPT;
}

/* Feeds the collected first bytes, which is needed only if they arrived in pieces: the library is faster if
 * it sees a frame as a whole. */
static enum decode_result feed_head(struct decode_stage *stage)
{
    ZSTD_inBuffer head = {stage->head, stage->head_len, 0};
    ZSTD_outBuffer none = {NULL, 0, 0};
    stage->head_len = 0;
    if (head.size == 0)
        return DECODE_FULL;
    size_t left = ZSTD_decompressStream(stage->zstd, &none, &head);
    if (ZSTD_isError(left))
        return zstd_failure(left);
    return head.pos == head.size ? DECODE_FULL : DECODE_CORRUPT;
}

/* Between two frames: begins the next one if there is any. After a frame, anything else is garbage and
 * ignored. */
static enum decode_result next_frame(struct decode_stage *stage, struct slice *input)
{
    bool at_hand = stage->head_len == 0 && input->len >= sizeof stage->head;
    if (!at_hand && !read_head(stage, input, sizeof stage->head))
        return DECODE_MORE;
    if (!is_frame(at_hand ? (const unsigned char *)input->ptr : stage->head)) {
        stage->is_done = stage->has_begun;
        return stage->has_begun ? DECODE_DONE : DECODE_CORRUPT;
    }
    stage->has_begun = stage->has_member = true;
    return feed_head(stage);
}

static enum decode_result run_zstd(struct decode_stage *stage, struct slice *input,
                                   struct decode_output *output)
{
    /* Without input, a call helps only if the room was too small before. */
    while (input->len || stage->is_full) {
        enum decode_result result = stage->has_member ? DECODE_FULL : next_frame(stage, input);
        if (result != DECODE_FULL)
            return result;
        ZSTD_inBuffer in = {input->ptr, input->len, 0};
        ZSTD_outBuffer out = {output->ptr, output->room, output->written};
        size_t left = ZSTD_decompressStream(stage->zstd, &out, &in);
        *input = slice_skip(*input, in.pos);
        output->written = out.pos;
        if (ZSTD_isError(left))
            return zstd_failure(left);
        stage->has_member = left != 0;
        stage->is_full = stage->has_member && out.pos == out.size;
        if (stage->is_full)
            return DECODE_FULL;
    }
    return DECODE_MORE;
}

enum decode_result decode_stage_run(struct decode_stage *stage, struct slice *input,
                                    struct decode_output *output)
{
    if (stage->is_done) {
        *input = slice_skip(*input, input->len);
        return DECODE_DONE;
    }
    switch (stage->coding) {
    case DECODE_GZIP:
    case DECODE_DEFLATE:
        return run_inflate(stage, input, output);
    case DECODE_BROTLI:
        return run_brotli(stage, input, output);
    case DECODE_ZSTD:
        return run_zstd(stage, input, output);
    case DECODE_CODINGS:
        break;
    }
    assert(!"a coding");
    return DECODE_CORRUPT;
}

bool decode_stage_may_end(const struct decode_stage *stage)
{
    if (stage->is_done)
        return true;
    bool has_frames = stage->coding == DECODE_GZIP || stage->coding == DECODE_ZSTD;
    return has_frames && stage->has_begun && !stage->has_member;
}
