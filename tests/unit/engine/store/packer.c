/* Whatever the sizes of the steps and of the room, the record comes out whole. */
#include "engine/store/packer.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

#include "engine/store/limits.h"
#include "tests/support/check.h"

enum { RECORD_BYTES = 3 << 20, PACKED_BYTES = 4 << 20 };

static char record[RECORD_BYTES], packed[PACKED_BYTES], unpacked[RECORD_BYTES + 1];

struct effort {
    enum tuning_compress compress;
    unsigned level;
};

static const struct effort efforts[] = {{TUNING_COMPRESS_NONE, 1},  {TUNING_COMPRESS_GZIP, 1},
                                        {TUNING_COMPRESS_GZIP, 2},  {TUNING_COMPRESS_GZIP, 6},
                                        {TUNING_COMPRESS_GZIP, 12}, {TUNING_COMPRESS_ZSTD, 1},
                                        {TUNING_COMPRESS_ZSTD, 3},  {TUNING_COMPRESS_ZSTD, 12}};
enum { EFFORTS = sizeof efforts / sizeof efforts[0] };

static void make(struct packer *packer, struct effort effort)
{
    struct tuning tuning;
    tuning_init(&tuning);
    tuning.fixed.store.compress = effort.compress;
    tuning.fixed.store.level = effort.level;
    CHECK(packer_init(packer, &tuning));
}

/* Words that repeat now and then, or noise. */
static void write_record(bool is_noise)
{
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof record; i++) {
        random = random * 1103515245 + 12345;
        record[i] =
            is_noise ? (char)(random >> 16) : "<a href=\"/page-of-words\">words</a>\n"[(random >> 16) % 35];
    }
}

/* Packs the first `len` bytes into rooms of `room_bytes`; returns the length. */
static size_t pack(struct packer *packer, size_t len, size_t room_bytes)
{
    struct slice in = {record, len};
    size_t used = 0;
    bool is_done = false;
    packer_begin(packer, len);
    while (!is_done) {
        size_t before = in.len;
        CHECK(used + room_bytes <= sizeof packed);
        struct packer_room room = {packed + used, room_bytes};
        is_done = packer_step(packer, &in, &room);
        CHECK(before - in.len <= PACKER_STEP_BYTES);
        CHECK(is_done || before > in.len || room.len < room_bytes); /* it gets on */
        used = (size_t)(room.out - packed);
    }
    CHECK_INT(in.len, 0);
    packer_seal(packer, packed, used);
    return used;
}

/* One member with its lengths, nothing behind it. */
static size_t unpack_gzip(size_t used)
{
    struct libdeflate_decompressor *unpack = libdeflate_alloc_decompressor();
    size_t in, out;
    CHECK_INT(libdeflate_gzip_decompress_ex(unpack, packed, used, unpacked, sizeof unpacked, &in, &out),
              LIBDEFLATE_SUCCESS);
    CHECK_INT(in, used);
    libdeflate_free_decompressor(unpack);
    uint32_t lengths[2];
    memcpy(lengths, packed + GZIP_HEAD_LENGTHS_AT, sizeof lengths);
    CHECK(memcmp(packed + 10, "\x0c\0sl\x08\0", 6) == 0);
    CHECK_INT(le32toh(lengths[0]), used);
    CHECK_INT(le32toh(lengths[1]), out);
    return out;
}

/* One frame with its length and a checksum, nothing behind it. */
static size_t unpack_zstd(size_t used)
{
    CHECK_INT(ZSTD_findFrameCompressedSize(packed, used), used);
    CHECK(packed[4] & 4);
    size_t out = ZSTD_decompress(unpacked, sizeof unpacked, packed, used);
    CHECK_INT(ZSTD_getFrameContentSize(packed, used), out);
    return out;
}

static void check_packed(struct effort effort, size_t used, size_t len)
{
    size_t out = used;
    if (effort.compress == TUNING_COMPRESS_GZIP)
        out = unpack_gzip(used);
    else if (effort.compress == TUNING_COMPRESS_ZSTD)
        out = unpack_zstd(used);
    else
        memcpy(unpacked, packed, used);
    CHECK_INT(out, len);
    CHECK(memcmp(unpacked, record, len) == 0);
}

TEST(records_of_every_length_come_out_whole)
{
    static const size_t lengths[] = {1,
                                     100,
                                     PACKER_ZLIB_STEP_BYTES,
                                     PACKER_ZLIB_STEP_BYTES + 1,
                                     PACKER_STEP_BYTES - 1,
                                     PACKER_STEP_BYTES,
                                     PACKER_STEP_BYTES + 1,
                                     RECORD_BYTES};
    struct packer packer;
    for (int is_noise = 0; is_noise < 2; is_noise++) {
        write_record(is_noise);
        for (unsigned e = 0; e < EFFORTS; e++) {
            make(&packer, efforts[e]);
            for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
                check_packed(efforts[e], pack(&packer, lengths[i], 1 << 18), lengths[i]);
            packer_fini(&packer);
        }
    }
}

TEST(room_may_be_as_small_as_it_likes)
{
    static const size_t rooms[] = {1, 7, 100, 5000};
    struct packer packer;
    write_record(false);
    for (unsigned e = 0; e < EFFORTS; e++) {
        make(&packer, efforts[e]);
        for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
            check_packed(efforts[e], pack(&packer, 300000, rooms[i]), 300000);
        packer_fini(&packer);
    }
}

TEST(without_room_nothing_is_lost)
{
    struct packer packer;
    for (unsigned e = 0; e < EFFORTS; e++) {
        make(&packer, efforts[e]);
        struct slice in = {record, 1000};
        struct packer_room room = {packed, 0};
        packer_begin(&packer, in.len);
        CHECK(!packer_step(&packer, &in, &room));
        CHECK(room.len == 0 && room.out == packed);
        room.len = sizeof packed;
        while (!packer_step(&packer, &in, &room))
            ;
        packer_seal(&packer, packed, (size_t)(room.out - packed));
        check_packed(efforts[e], (size_t)(room.out - packed), 1000);
        packer_fini(&packer);
    }
}

TEST(a_record_that_was_left_in_the_middle_spoils_not_the_next)
{
    struct packer packer;
    write_record(false);
    for (unsigned e = 0; e < EFFORTS; e++) {
        make(&packer, efforts[e]);
        struct slice in = {record, sizeof record};
        struct packer_room room = {packed, sizeof packed};
        packer_begin(&packer, in.len);
        CHECK(!packer_step(&packer, &in, &room));
        check_packed(efforts[e], pack(&packer, 100000, 1 << 18), 100000);
        packer_begin(&packer, sizeof record);
        in = (struct slice){record, sizeof record};
        room = (struct packer_room){packed, sizeof packed};
        CHECK(!packer_step(&packer, &in, &room));
        packer_fini(&packer); /* in the middle */
        packer_fini(&packer);
    }
}
