#include "tools/websim/encode.h"

#include <assert.h>
#include <brotli/encode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

/* Each library's fastest: the client is under test here, not the ratio. */
#define DEFLATE_LEVEL  1
#define BROTLI_QUALITY 1
#define BROTLI_WINDOW  18
#define ZSTD_LEVEL     1
/* The bomb is packed in pieces of this many zeroes. */
#define BOMB_PIECE 65536

struct websim_encoder {
    struct libdeflate_compressor *deflate;
    ZSTD_CCtx *zstd;
};

struct websim_encoder *websim_encoder_create(void)
{
    struct websim_encoder *encoder = malloc(sizeof *encoder);
    if (!encoder)
        return NULL;
    encoder->deflate = libdeflate_alloc_compressor(DEFLATE_LEVEL);
    encoder->zstd = ZSTD_createCCtx();
    if (encoder->deflate && encoder->zstd)
        return encoder;
    websim_encoder_destroy(encoder);
    return NULL;
}

void websim_encoder_destroy(struct websim_encoder *encoder)
{
    libdeflate_free_compressor(encoder->deflate);
    ZSTD_freeCCtx(encoder->zstd);
    free(encoder);
}

static size_t bound_of(struct websim_encoder *encoder, enum websim_encoding encoding, size_t len)
{
    if (encoding == WEBSIM_ENCODING_GZIP)
        return libdeflate_gzip_compress_bound(encoder->deflate, len);
    if (encoding == WEBSIM_ENCODING_BROTLI)
        return BrotliEncoderMaxCompressedSize(len);
    return ZSTD_compressBound(len);
}

void websim_encode(struct websim_encoder *encoder, enum websim_encoding encoding, struct slice body,
                   struct websim_buffer *out)
{
    size_t bound = bound_of(encoder, encoding, body.len), len = bound;
    char *at = websim_buffer_room(out, bound);
    if (encoding == WEBSIM_ENCODING_GZIP) {
        len = libdeflate_gzip_compress(encoder->deflate, body.ptr, body.len, at, bound);
    } else if (encoding == WEBSIM_ENCODING_BROTLI) {
        BROTLI_BOOL done = BrotliEncoderCompress(BROTLI_QUALITY, BROTLI_WINDOW, BROTLI_MODE_TEXT, body.len,
                                                 (const uint8_t *)body.ptr, &len, (uint8_t *)at);
        assert(done);
        (void)done;
    } else {
        len = ZSTD_compressCCtx(encoder->zstd, at, bound, body.ptr, body.len, ZSTD_LEVEL);
        assert(!ZSTD_isError(len));
    }
    out->len += len;
}

void websim_encode_bomb(struct websim_buffer *out, uint64_t size)
{
    static const unsigned char zeroes[BOMB_PIECE];
    unsigned char packed[BOMB_PIECE];
    z_stream stream = {0};
    int state = deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
    assert(state == Z_OK);
    while (state != Z_STREAM_END) {
        if (stream.avail_in == 0 && size) {
            stream.next_in = (unsigned char *)(uintptr_t)zeroes;
            stream.avail_in = size < BOMB_PIECE ? (unsigned)size : BOMB_PIECE;
            size -= stream.avail_in;
        }
        stream.next_out = packed;
        stream.avail_out = sizeof packed;
        state = deflate(&stream, size ? Z_NO_FLUSH : Z_FINISH);
        size_t len = sizeof packed - stream.avail_out;
        memcpy(websim_buffer_room(out, len), packed, len);
        out->len += len;
    }
    deflateEnd(&stream);
}

const char *websim_encoding_name(enum websim_encoding encoding)
{
    static const char *const names[] = {"identity", "gzip", "br", "zstd"};
    return names[encoding];
}
