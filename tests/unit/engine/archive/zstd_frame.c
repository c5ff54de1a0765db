#include "engine/archive/zstd_frame.h"

#include <zstd.h>

#include "tests/support/check.h"

static char text[300000], packed[400000];

static struct slice pack(size_t len, int has_checksum, int has_size)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, has_checksum);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, has_size);
    size_t made = ZSTD_compress2(context, packed, sizeof packed, text, len);
    CHECK(!ZSTD_isError(made));
    ZSTD_freeCCtx(context);
    return (struct slice){packed, made};
}

/* From block to block to the end, as libzstd finds it. */
static void walk(struct slice frame, const struct zstd_frame *head)
{
    size_t at = head->head_len;
    struct zstd_block block = {0};
    while (!block.is_last) {
        CHECK(zstd_block_parse(&block, slice_skip(frame, at)));
        at += ZSTD_BLOCK_HEAD_BYTES + block.bytes;
        CHECK(at <= frame.len);
    }
    CHECK_INT(at + (head->has_checksum ? ZSTD_FRAME_CHECKSUM_BYTES : 0), frame.len);
}

TEST(frames_of_every_size_are_walked)
{
    static const size_t sizes[] = {0, 1, 255, 256, 257, 65791, 65792, 200000, 300000};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i < 100000 ? 'a' : (i * 2654435761u) >> 13);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int flags = 0; flags < 4; flags++) {
            struct zstd_frame head;
            struct slice frame = pack(sizes[i], flags & 1, flags >> 1);
            CHECK_INT(zstd_frame_parse(&head, frame), PARSE_DONE);
            CHECK(head.has_checksum == (flags & 1));
            if (flags >> 1)
                CHECK(head.has_content_bytes && head.content_bytes == sizes[i]);
            walk(frame, &head);
            for (size_t len = 0; len < head.head_len; len++)
                CHECK_INT(zstd_frame_parse(&head, (struct slice){frame.ptr, len}), PARSE_PARTIAL);
        }
    }
}

TEST(kinds_are_told_by_their_magic)
{
    struct slice dictionary = SLICE("\x5d\x2a\x4d\x18\x05\0\0\x01"),
                 other = SLICE("\x50\x2a\x4d\x18\x07\0\0\0");
    struct zstd_frame head;
    CHECK(zstd_frame_is_dictionary(dictionary) && zstd_frame_is_skippable(dictionary));
    CHECK(!zstd_frame_is_dictionary(other) && zstd_frame_is_skippable(other));
    CHECK(!zstd_frame_is_frame(other) && zstd_frame_is_frame(SLICE("\x28\xb5\x2f\xfd")));
    CHECK_INT(zstd_frame_skippable_bytes(dictionary), 0x01000005);
    CHECK_INT(zstd_frame_skippable_bytes((struct slice){other.ptr, 7}), 0);
    CHECK_INT(zstd_frame_parse(&head, SLICE("\x28\xb5\x2f\xfe")), PARSE_BAD);
    CHECK_INT(zstd_frame_parse(&head, SLICE("\x28\xb5\x2f\xfd\x08")), PARSE_BAD);
}

TEST(reserved_blocks_are_refused)
{
    struct zstd_block block;
    CHECK(!zstd_block_parse(&block, SLICE("\x06\0\0")));
    CHECK(!zstd_block_parse(&block, SLICE("\x04\0\xff")));
    CHECK(!zstd_block_parse(&block, SLICE("\x04\0")));
    CHECK(zstd_block_parse(&block, SLICE("\x03\0\xff")) && block.is_last && block.bytes == 1);
}
