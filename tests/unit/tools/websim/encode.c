#include "tools/websim/encode.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/support/check.h"
#include "tools/websim/text.h"

static struct websim_text text;

static size_t decode(enum websim_encoding encoding, struct slice packed, char *out, size_t capacity)
{
    size_t len = capacity;
    if (encoding == WEBSIM_ENCODING_BROTLI) {
        CHECK(BrotliDecoderDecompress(packed.len, (const uint8_t *)packed.ptr, &len, (uint8_t *)out) ==
              BROTLI_DECODER_RESULT_SUCCESS);
        return len;
    }
    if (encoding == WEBSIM_ENCODING_ZSTD)
        return ZSTD_decompress(out, capacity, packed.ptr, packed.len);
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    CHECK_INT(libdeflate_gzip_decompress(inflater, packed.ptr, packed.len, out, capacity, &len),
              LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(inflater);
    return len;
}

TEST(what_is_packed_unpacks)
{
    static const size_t lengths[] = {0, 1, 100, 10240, WEBSIM_TEXT_BYTES};
    struct websim_encoder *encoder = websim_encoder_create();
    char *out = malloc(WEBSIM_TEXT_BYTES + 1);
    websim_text_init(&text, 1);
    for (enum websim_encoding encoding = WEBSIM_ENCODING_GZIP; encoding <= WEBSIM_ENCODING_ZSTD; encoding++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct websim_buffer packed = {0};
            websim_encode(encoder, encoding, (struct slice){text.pool, lengths[i]}, &packed);
            CHECK_INT(decode(encoding, (struct slice){packed.data, packed.len}, out, WEBSIM_TEXT_BYTES + 1),
                      lengths[i]);
            CHECK(memcmp(out, text.pool, lengths[i]) == 0);
            CHECK(lengths[i] < 10240 || packed.len < lengths[i] * 3 / 4);
            websim_buffer_fini(&packed);
        }
    free(out);
    websim_encoder_destroy(encoder);
}

TEST(a_bomb_is_small_and_unpacks_to_its_size)
{
    struct websim_buffer bomb = {0};
    uint64_t size = 3000000, total = 0;
    unsigned char piece[4096];
    websim_encode_bomb(&bomb, size);
    CHECK(bomb.len < size / 500);
    z_stream stream = {.next_in = (unsigned char *)bomb.data, .avail_in = (unsigned)bomb.len};
    CHECK_INT(inflateInit2(&stream, 31), Z_OK);
    int state;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        state = inflate(&stream, Z_NO_FLUSH);
        total += sizeof piece - stream.avail_out;
        CHECK(piece[0] == 0);
    } while (state == Z_OK);
    CHECK_INT(state, Z_STREAM_END);
    CHECK_INT(total, size);
    inflateEnd(&stream);
    websim_buffer_fini(&bomb);
}
