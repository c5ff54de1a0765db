#include "engine/store/packer.h"

#include <assert.h>
#include <isa-l.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/store/limits.h"

/* zlib's number for the longest window, and what makes it write a gzip header; its most memory. */
enum { ZLIB_WINDOW_GZIP = 15 + 16, ZLIB_MEMORY = 9 };

/* The same head that gzip_head_write makes. */
static Bytef head_extra[GZIP_HEAD_EXTRA_BYTES] = GZIP_HEAD_EXTRA;
static gz_header zlib_head = {.extra = head_extra, .extra_len = sizeof head_extra, .os = 255};

static bool init_zlib(struct packer *packer, uint64_t level)
{
    int effort = level < PACKER_ZLIB_LEVEL_MAX ? (int)level : PACKER_ZLIB_LEVEL_MAX;
    packer->zlib = calloc(1, sizeof *packer->zlib);
    return packer->zlib &&
           deflateInit2(packer->zlib, effort, Z_DEFLATED, ZLIB_WINDOW_GZIP, ZLIB_MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK &&
           deflateSetHeader(packer->zlib, &zlib_head) == Z_OK;
}

int packer_zstd_level(const struct tuning *tuning)
{
    uint64_t level = tuning->fixed.store.level;
    return level < PACKER_ZSTD_LEVEL_MAX ? (int)level : PACKER_ZSTD_LEVEL_MAX;
}

struct ZSTD_CCtx_s *packer_make_zstd(const struct tuning *tuning)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (zstd) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, packer_zstd_level(tuning));
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    }
    return zstd;
}

bool packer_init(struct packer *packer, const struct tuning *tuning)
{
    *packer = (struct packer){0};
    if (tuning->fixed.store.compress == TUNING_COMPRESS_NONE)
        return true;
    if (tuning->fixed.store.compress == TUNING_COMPRESS_ZSTD) {
        packer->zstd = packer_make_zstd(tuning);
        return packer->zstd;
    }
    if (tuning->fixed.store.level > 1)
        return init_zlib(packer, tuning->fixed.store.level);
    packer->igzip = calloc(1, sizeof *packer->igzip);
    if (packer->igzip)
        packer->igzip->level_buf = malloc(ISAL_DEF_LVL1_DEFAULT);
    return packer->igzip && packer->igzip->level_buf;
}

void packer_fini(struct packer *packer)
{
    if (packer->igzip)
        free(packer->igzip->level_buf);
    if (packer->zlib)
        deflateEnd(packer->zlib);
    ZSTD_freeCCtx(packer->zstd);
    free(packer->igzip);
    free(packer->zlib);
    *packer = (struct packer){0};
}

void packer_use_dictionary(struct packer *packer, const struct ZSTD_CDict_s *dictionary)
{
    ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_only);
    ZSTD_CCtx_refCDict(packer->zstd, dictionary);
}

static void begin_igzip(struct packer *packer)
{
    struct isal_zstream *igzip = packer->igzip;
    gzip_head_write(packer->head_bytes);
    packer->head = (struct slice){packer->head_bytes, GZIP_HEAD_BYTES};
    uint8_t *level_buf = igzip->level_buf;
    isal_deflate_init(igzip);
    igzip->level = PACKER_IGZIP_LEVEL;
    igzip->level_buf = level_buf;
    igzip->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    igzip->gzip_flag = IGZIP_GZIP_NO_HDR;
}

void packer_begin(struct packer *packer, size_t bytes)
{
    packer->record_bytes = bytes;
    if (packer->igzip)
        begin_igzip(packer);
    if (packer->zlib)
        deflateReset(packer->zlib);
    if (packer->zstd) {
        ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_only);
        ZSTD_CCtx_setPledgedSrcSize(packer->zstd, bytes);
    }
}

static uint32_t clamp(size_t bytes, uint32_t max)
{
    return bytes < max ? (uint32_t)bytes : max;
}

static bool step_igzip(struct isal_zstream *igzip, struct slice *in, struct packer_room *room)
{
    uint32_t taken = clamp(in->len, PACKER_STEP_BYTES), space = clamp(room->len, UINT32_MAX);
    igzip->next_in = (uint8_t *)(uintptr_t)in->ptr;
    igzip->avail_in = taken;
    igzip->end_of_stream = taken == in->len;
    igzip->flush = NO_FLUSH;
    igzip->next_out = (uint8_t *)room->out;
    igzip->avail_out = space;
    int result = isal_deflate(igzip);
    assert(result == COMP_OK);
    (void)result;
    *in = slice_skip(*in, taken - igzip->avail_in);
    *room = (struct packer_room){(char *)igzip->next_out, room->len - (space - igzip->avail_out)};
    return igzip->internal_state.state == ZSTATE_END;
}

static bool step_zlib(z_stream *zlib, struct slice *in, struct packer_room *room)
{
    uint32_t taken = clamp(in->len, PACKER_ZLIB_STEP_BYTES), space = clamp(room->len, UINT32_MAX);
    zlib->next_in = (Bytef *)(uintptr_t)in->ptr;
    zlib->avail_in = taken;
    zlib->next_out = (Bytef *)room->out;
    zlib->avail_out = space;
    int result = deflate(zlib, taken == in->len ? Z_FINISH : Z_NO_FLUSH);
    assert(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
    *in = slice_skip(*in, taken - zlib->avail_in);
    *room = (struct packer_room){(char *)zlib->next_out, room->len - (space - zlib->avail_out)};
    return result == Z_STREAM_END;
}

static bool step_zstd(ZSTD_CCtx *zstd, struct slice *in, struct packer_room *room)
{
    ZSTD_inBuffer input = {in->ptr, clamp(in->len, PACKER_ZSTD_STEP_BYTES), 0};
    ZSTD_outBuffer output = {room->out, room->len, 0};
    bool is_last = input.size == in->len;
    size_t left = ZSTD_compressStream2(zstd, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
    assert(!ZSTD_isError(left));
    *in = slice_skip(*in, input.pos);
    *room = (struct packer_room){room->out + output.pos, room->len - output.pos};
    return is_last && left == 0;
}

static bool step_copy(struct slice *in, struct packer_room *room)
{
    size_t taken = clamp(in->len < room->len ? in->len : room->len, PACKER_STEP_BYTES);
    memcpy(room->out, in->ptr, taken);
    *in = slice_skip(*in, taken);
    *room = (struct packer_room){room->out + taken, room->len - taken};
    return in->len == 0;
}

bool packer_step(struct packer *packer, struct slice *in, struct packer_room *room)
{
    while (packer->head.len && room->len)
        step_copy(&packer->head, room);
    if (packer->igzip)
        return step_igzip(packer->igzip, in, room);
    if (packer->zstd)
        return step_zstd(packer->zstd, in, room);
    return packer->zlib ? step_zlib(packer->zlib, in, room) : step_copy(in, room);
}

void packer_seal(const struct packer *packer, char *first, size_t packed)
{
    if (packer->igzip || packer->zlib)
        gzip_head_fill(first, packed, packer->record_bytes);
}
