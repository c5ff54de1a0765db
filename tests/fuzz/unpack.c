/* The first byte chooses codings and a type, the second how much memory there is, the rest is a body. The
 * document lies in the room or is the body, within its bounds; what is neither coded nor gzip stays as it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BYTES_MAX 65536

static const char *const codings[] = {"gzip", "deflate", "br", "zstd", "gzip, gzip", "UTF-8", "", "br, gzip"};

struct limited {
    struct unpack_room room;
    size_t size_max;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool grow(struct unpack_room *room, size_t size, size_t used)
{
    struct limited *limited = (struct limited *)room;
    require(used <= room->size && size > room->size);
    char *bytes = size <= limited->size_max ? malloc(size) : NULL;
    if (!bytes)
        return false;
    if (used)
        memcpy(bytes, room->bytes, used);
    free(room->bytes);
    room->bytes = bytes;
    room->size = size;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct decode *decode;
    if (!decode)
        decode = decode_create(&(struct decode_options){.bytes_max = BYTES_MAX, .ratio_max = 1000});
    if (size < 2)
        return 0;
    char *copy = malloc(size);
    struct limited memory = {{NULL, 0, grow}, (size_t)(data[1] & 15) << 14};
    struct unpack_body body = {.codings = slice_of(codings[data[0] & 7]),
                               .content_type = slice_of(data[0] & 8 ? "text/html" : "application/zip"),
                               .bytes = {memcpy(copy, data + 2, size - 2), size - 2},
                               .bytes_max = data[1] & 16 ? 1000 : 0,
                               .is_sitemap = data[0] & 16};
    struct unpack unpack;
    enum unpack_result result;
    unpack_begin(&unpack, &body, decode, &memory.room);
    do {
        result = unpack_step(&unpack);
        require(unpack.used <= memory.room.size);
    } while (result == UNPACK_MORE);
    struct slice document = unpack.document;
    bool is_body = document.ptr == body.bytes.ptr && document.len == body.bytes.len;
    require(
        is_body || document.len == 0 ||
        (document.ptr == memory.room.bytes && document.len <= memory.room.size && document.len <= BYTES_MAX));
    require(result != UNPACK_BAD || document.len == 0);
    free(memory.room.bytes);
    free(copy);
    return 0;
}
