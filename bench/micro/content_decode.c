/* decode: the pages of the corpus, each compressed by itself, decoded one after another. Figures are of bytes
 * that come out. */
#include "micro/content.h"

#include <isa-l.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>
#ifdef HAVE_BROTLI_ENCODER
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "engine/content/decode.h"

#define CHUNK_BYTES 16384 /* as much as one receive gives */

enum packing { GZIP, BROTLI, ZSTD };

struct corpus {
    struct slice pages[CONTENT_PAGES_MAX], packed[CONTENT_PAGES_MAX];
    size_t count, largest;
    char *out;
    struct decode *decode;
    struct libdeflate_decompressor *libdeflate;
    struct inflate_state isal;
    ZSTD_DCtx *zstd;
};

static void add_page(void *context, char *page, size_t len)
{
    struct corpus *corpus = context;
    corpus->pages[corpus->count++] = (struct slice){page, len};
}

/* At the levels that servers use. 0 if this build has no such encoder. */
static size_t pack(enum packing packing, struct slice page, char *to, size_t max)
{
    size_t len = 0;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    if (packing == GZIP)
        len = libdeflate_gzip_compress(compressor, page.ptr, page.len, to, max);
    if (packing == ZSTD)
        len = ZSTD_compress(to, max, page.ptr, page.len, 3);
#ifdef HAVE_BROTLI_ENCODER
    if (packing == BROTLI) {
        len = max;
        BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, page.len, (const uint8_t *)page.ptr, &len,
                              (uint8_t *)to);
    }
#endif
    libdeflate_free_compressor(compressor);
    return len;
}

static bool begin(struct content_row *row, enum packing packing)
{
    struct corpus *corpus = calloc(1, sizeof(*corpus));
    row->context = corpus;
    if (!content_each_page(row, add_page, corpus) || corpus->count == 0)
        return false;
    row->items = corpus->count;
    row->bytes = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        size_t len = corpus->pages[i].len, max = 2 * len + 1000;
        char *to = malloc(max);
        corpus->packed[i] = (struct slice){to, pack(packing, corpus->pages[i], to, max)};
        if (corpus->packed[i].len == 0)
            return false;
        row->bytes += len;
        corpus->largest = len > corpus->largest ? len : corpus->largest;
    }
    corpus->out = malloc(corpus->largest + 1);
    corpus->decode = decode_create(&(struct decode_options){.bytes_max = 1ull << 30, .ratio_max = 1000});
    corpus->libdeflate = libdeflate_alloc_decompressor();
    corpus->zstd = ZSTD_createDCtx();
    return true;
}

static bool begin_gzip(struct content_row *row)
{
    return begin(row, GZIP);
}

static bool begin_brotli(struct content_row *row)
{
    return begin(row, BROTLI);
}

static bool begin_zstd(struct content_row *row)
{
    return begin(row, ZSTD);
}

static void finish(struct content_row *row)
{
    struct corpus *corpus = row->context;
    for (size_t i = 0; i < corpus->count; i++) {
        free((char *)(uintptr_t)corpus->pages[i].ptr);
        free((char *)(uintptr_t)corpus->packed[i].ptr);
    }
    if (corpus->decode)
        decode_destroy(corpus->decode);
    libdeflate_free_decompressor(corpus->libdeflate);
    ZSTD_freeDCtx(corpus->zstd);
    free(corpus->out);
    free(corpus);
}

static uint64_t whole(struct content_row *row, struct slice coding)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        struct decode_output output = {corpus->out, corpus->largest + 1, 0};
        if (decode_whole(corpus->decode, coding, corpus->packed[i], &output) != DECODE_DONE)
            abort();
        sum += output.written;
    }
    return sum;
}

static uint64_t pass_gzip(struct content_row *row)
{
    return whole(row, SLICE("gzip"));
}

static uint64_t pass_brotli(struct content_row *row)
{
    return whole(row, SLICE("br"));
}

static uint64_t pass_zstd(struct content_row *row)
{
    return whole(row, SLICE("zstd"));
}

static uint64_t pass_gzip_stream(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        struct slice body = corpus->packed[i];
        size_t made = 0;
        decode_begin(corpus->decode, SLICE("gzip"));
        while (body.len) {
            struct slice piece = {body.ptr, body.len < CHUNK_BYTES ? body.len : CHUNK_BYTES};
            struct decode_output output = {corpus->out + made, corpus->largest + 1 - made, 0};
            body = slice_skip(body, piece.len);
            decode_push(corpus->decode, &piece, &output);
            made += output.written;
        }
        if (decode_finish(corpus->decode) != DECODE_DONE)
            abort();
        sum += made;
    }
    return sum;
}

static uint64_t pass_libdeflate(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        size_t made = 0;
        libdeflate_gzip_decompress(corpus->libdeflate, corpus->packed[i].ptr, corpus->packed[i].len,
                                   corpus->out, corpus->largest + 1, &made);
        sum += made;
    }
    return sum;
}

static uint64_t pass_isal(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        isal_inflate_init(&corpus->isal);
        corpus->isal.crc_flag = ISAL_GZIP;
        corpus->isal.next_in = (uint8_t *)(uintptr_t)corpus->packed[i].ptr;
        corpus->isal.avail_in = (uint32_t)corpus->packed[i].len;
        corpus->isal.next_out = (uint8_t *)corpus->out;
        corpus->isal.avail_out = (uint32_t)corpus->largest + 1;
        isal_inflate(&corpus->isal);
        sum += corpus->isal.total_out;
    }
    return sum;
}

static uint64_t pass_libzstd(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++)
        sum += ZSTD_decompressDCtx(corpus->zstd, corpus->out, corpus->largest + 1, corpus->packed[i].ptr,
                                   corpus->packed[i].len);
    return sum;
}

#ifdef HAVE_BROTLI_ENCODER
static uint64_t pass_libbrotli(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        size_t made = corpus->largest + 1;
        BrotliDecoderDecompress(corpus->packed[i].len, (const uint8_t *)corpus->packed[i].ptr, &made,
                                (uint8_t *)corpus->out);
        sum += made;
    }
    return sum;
}
#endif

#ifdef HAVE_ZLIB
static uint64_t pass_zlib(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        z_stream stream = {.next_in = (Bytef *)(uintptr_t)corpus->packed[i].ptr,
                           .avail_in = (uInt)corpus->packed[i].len,
                           .next_out = (Bytef *)corpus->out,
                           .avail_out = (uInt)corpus->largest + 1};
        inflateInit2(&stream, 16 + MAX_WBITS);
        inflate(&stream, Z_FINISH);
        sum += stream.total_out;
        inflateEnd(&stream);
    }
    return sum;
}
#endif

#define ROW(row_name, row_what, row_role, row_begin, row_pass)                                               \
    {                                                                                                        \
        .name = row_name, .what = row_what, .unit = CONTENT_MB_PER_SECOND, .role = row_role,                 \
        .begin = row_begin, .pass = row_pass, .finish = finish                                               \
    }

static struct content_row rows[] = {
    ROW("gunzip/whole", "gzip, the whole body at once", CONTENT_OURS, begin_gzip, pass_gzip),
    ROW("gunzip/stream", "gzip, 16 KiB at a time", CONTENT_OURS, begin_gzip, pass_gzip_stream),
    ROW("gunzip/libdeflate", "libdeflate's own whole-buffer call", CONTENT_PEER, begin_gzip, pass_libdeflate),
    ROW("gunzip/isa-l", "ISA-L's own call, one shot", CONTENT_PEER, begin_gzip, pass_isal),
#ifdef HAVE_ZLIB
    ROW("gunzip/zlib", "zlib's own call, one shot", CONTENT_PEER, begin_gzip, pass_zlib),
#endif
    ROW("unzstd/whole", "zstd, the whole body at once", CONTENT_OURS, begin_zstd, pass_zstd),
    ROW("unzstd/libzstd", "zstd's own one-shot call", CONTENT_PEER, begin_zstd, pass_libzstd),
    ROW("unbrotli/whole", "brotli, the whole body at once", CONTENT_OURS, begin_brotli, pass_brotli),
#ifdef HAVE_BROTLI_ENCODER
    ROW("unbrotli/libbrotli", "brotli's own one-shot call", CONTENT_PEER, begin_brotli, pass_libbrotli),
#endif
};

__attribute__((constructor)) static void register_rows(void)
{
    content_register_pages(rows, sizeof(rows) / sizeof(rows[0]));
}
