#include "engine/archive/zstd_frame.h"

#include <stdlib.h>
#include <zstd.h>

#include "engine/archive/limits.h"

#define MAGIC_FRAME      UINT32_C(0xfd2fb528)
#define MAGIC_DICTIONARY UINT32_C(0xec30a437)
#define MAGIC_SKIPPABLE  UINT32_C(0x184d2a50) /* and the fifteen that follow */
#define MAGIC_WARC       UINT32_C(0x184d2a5d) /* a skippable frame that holds the dictionary of a WARC file */

enum { MAGIC_BYTES = 4, BLOCK_RAW = 0, BLOCK_RUN = 1, BLOCK_PACKED = 2, BLOCK_BYTES_MAX = 1 << 17 };

static uint64_t little(const char *bytes, size_t count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | (unsigned char)bytes[count];
    return value;
}

static uint32_t magic_of(struct slice bytes)
{
    return bytes.len < MAGIC_BYTES ? 0 : (uint32_t)little(bytes.ptr, MAGIC_BYTES);
}

bool zstd_frame_is_frame(struct slice bytes)
{
    return magic_of(bytes) == MAGIC_FRAME;
}

bool zstd_frame_is_skippable(struct slice bytes)
{
    return (magic_of(bytes) & ~UINT32_C(15)) == MAGIC_SKIPPABLE;
}

bool zstd_frame_is_dictionary(struct slice bytes)
{
    return magic_of(bytes) == MAGIC_WARC;
}

uint32_t zstd_frame_skippable_bytes(struct slice bytes)
{
    return bytes.len < ZSTD_FRAME_SKIPPABLE_HEAD_BYTES
               ? 0
               : (uint32_t)little(bytes.ptr + MAGIC_BYTES, MAGIC_BYTES);
}

static bool may_be_frame(struct slice bytes)
{
    static const char magic[] = "\x28\xb5\x2f\xfd";
    size_t len = bytes.len < MAGIC_BYTES ? bytes.len : MAGIC_BYTES;
    return memcmp(bytes.ptr, magic, len) == 0;
}

enum parse zstd_frame_parse(struct zstd_frame *frame, struct slice bytes)
{
    static const unsigned char dictionary_sizes[] = {0, 1, 2, 4}, content_sizes[] = {0, 2, 4, 8};
    *frame = (struct zstd_frame){0};
    if (!may_be_frame(bytes))
        return PARSE_BAD;
    if (bytes.len <= MAGIC_BYTES)
        return PARSE_PARTIAL;
    unsigned descriptor = (unsigned char)bytes.ptr[MAGIC_BYTES];
    bool is_single = descriptor >> 5 & 1; /* one segment: no window, and a length is always there */
    if (descriptor >> 3 & 1)
        return PARSE_BAD; /* reserved */
    size_t content_size = content_sizes[descriptor >> 6];
    if (content_size == 0 && is_single)
        content_size = 1;
    size_t at = MAGIC_BYTES + 1 + (is_single ? 0 : 1) + dictionary_sizes[descriptor & 3];
    if (bytes.len < at + content_size)
        return PARSE_PARTIAL;
    frame->has_checksum = descriptor >> 2 & 1;
    frame->has_content_bytes = content_size > 0;
    frame->content_bytes = little(bytes.ptr + at, content_size) + (content_size == 2 ? 256 : 0);
    frame->head_len = at + content_size;
    return PARSE_DONE;
}

bool zstd_block_parse(struct zstd_block *block, struct slice bytes)
{
    if (bytes.len < ZSTD_BLOCK_HEAD_BYTES)
        return false;
    uint32_t head = (uint32_t)little(bytes.ptr, ZSTD_BLOCK_HEAD_BYTES), type = head >> 1 & 3;
    block->is_last = head & 1;
    block->bytes = type == BLOCK_RUN ? 1 : head >> 3;
    return type <= BLOCK_PACKED && block->bytes <= BLOCK_BYTES_MAX;
}

/* The dictionary that a frame holds; malloc'ed. NULL: it holds none. */
static char *unpack_dictionary(struct slice frame, size_t *len)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame.ptr, frame.len);
    if (size > MEMBERS_DICTIONARY_BYTES_MAX ||
        ZSTD_findFrameCompressedSize(frame.ptr, frame.len) != frame.len)
        return NULL;
    char *bytes = malloc(size + 1);
    *len = bytes ? ZSTD_decompress(bytes, size, frame.ptr, frame.len) : 0;
    if (bytes && !ZSTD_isError(*len))
        return bytes;
    free(bytes);
    return NULL;
}

bool zstd_frame_load_dictionary(struct ZSTD_DCtx_s *context, struct slice data)
{
    char *unpacked = NULL;
    if (zstd_frame_is_frame(data)) {
        unpacked = unpack_dictionary(data, &data.len);
        data.ptr = unpacked;
    }
    bool good = data.ptr && magic_of(data) == MAGIC_DICTIONARY &&
                !ZSTD_isError(ZSTD_DCtx_loadDictionary(context, data.ptr, data.len));
    free(unpacked);
    return good;
}
