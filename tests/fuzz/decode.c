/* The first byte chooses a coding or a stack, the second the sizes of pieces, the rest is a body. Output
 * stays within its bounds; what whole decoding calls done, streaming gives byte by byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BYTES_MAX 4096 /* small: a byte at a time is slow */

static const char *const codings[] = {"gzip",     "deflate",       "br", "zstd",      "gzip, gzip",
                                      "br, zstd", "deflate, gzip", "",   "zstd, gzip"};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static enum decode_result stream(struct decode *decode, struct slice coding, struct slice body,
                                 struct decode_output *all)
{
    size_t in_step = all->written & 0xf ? all->written & 0xf : 1000, out_step = (all->written >> 4) + 1;
    enum decode_result result = decode_begin(decode, coding);
    all->written = 0;
    while (body.len && result == DECODE_MORE) {
        struct slice piece = {body.ptr, body.len < in_step ? body.len : in_step};
        body = slice_skip(body, piece.len);
        do {
            size_t left = all->room - all->written;
            struct decode_output output = {all->ptr + all->written, left < out_step ? left : out_step, 0};
            require(output.room > 0);
            result = decode_push(decode, &piece, &output);
            require(output.written <= output.room);
            all->written += output.written;
        } while (result == DECODE_FULL);
    }
    return result == DECODE_MORE || result == DECODE_DONE ? decode_finish(decode) : result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct decode *decode;
    static char whole[BYTES_MAX + 1], pieces[BYTES_MAX + 1];
    if (!decode)
        decode = decode_create(&(struct decode_options){.bytes_max = BYTES_MAX, .ratio_max = 1000});
    if (size < 2)
        return 0;
    struct slice coding = slice_of(codings[data[0] % (sizeof(codings) / sizeof(codings[0]))]);
    char *copy = malloc(size);
    struct slice body = {memcpy(copy, data + 2, size - 2), size - 2};
    struct decode_output once = {whole, sizeof(whole), 0}, many = {pieces, sizeof(pieces), data[1]};
    enum decode_result result = decode_whole(decode, coding, body, &once);
    enum decode_result streamed = stream(decode, coding, body, &many);
    require(once.written <= BYTES_MAX && many.written <= BYTES_MAX);
    if (result == DECODE_DONE && streamed == DECODE_DONE)
        require(once.written == many.written && memcmp(whole, pieces, once.written) == 0);
    free(copy);
    return 0;
}
