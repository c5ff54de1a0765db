/* Records that are alike and records that are not come out as they went in, and what is learnt from the ones pays. */
#include "engine/store/press.h"

#include <isa-l.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

#include "engine/store/gzip_head.h"
#include "engine/store/limits.h"
#include "tests/support/check.h"

enum { RECORD_BYTES = 1 << 18 };

static char record[RECORD_BYTES], packed[2 * RECORD_BYTES], unpacked[RECORD_BYTES];

static void make(struct press *press, enum tuning_compress compress, unsigned level)
{
    struct tuning tuning;
    tuning_init(&tuning);
    tuning.fixed.store.compress = compress;
    tuning.fixed.store.level = level;
    CHECK(press_init(press, &tuning));
}

/* Words of an alphabet that begins with `first`, each drawn anew. */
static void write_words(size_t len, char first)
{
    static uint32_t random = 1;
    static const char words[][12] = {"<a href=\"/", "page", " of ",    "\">words",
                                     "</a><p>",     "the",  "crawler", "\n"};
    for (size_t i = 0; i < len;) {
        random = random * 1103515245 + 12345;
        const char *word = words[(random >> 16) % 8];
        for (size_t k = 0; word[k] && i < len; k++)
            record[i++] = (char)(first ? first + word[k] % 32 : word[k]);
    }
}

static void write_noise(size_t len)
{
    static uint64_t random = 88172645463325252;
    for (size_t i = 0; i < len; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        record[i] = (char)(random >> 24);
    }
}

/* Packs and unpacks what is in `record`; returns the packed length. Nothing is written behind the bound. */
static size_t check_record(struct press *press, enum press_kind kind, size_t len)
{
    size_t bound = press_bound(len), in = 0, out = 0;
    CHECK(bound + 8 <= sizeof packed);
    memset(packed + bound, 0x5a, 8);
    size_t used = press_record(press, kind, (struct slice){record, len}, (struct packer_room){packed, bound});
    CHECK(used <= bound && memcmp(packed + bound, "ZZZZZZZZ", 8) == 0);
    if (press->zstd) {
        in = ZSTD_findFrameCompressedSize(packed, used);
        out = ZSTD_decompress(unpacked, sizeof unpacked, packed, used);
    } else {
        struct libdeflate_decompressor *unpack = libdeflate_alloc_decompressor();
        CHECK_INT(libdeflate_gzip_decompress_ex(unpack, packed, used, unpacked, sizeof unpacked, &in, &out),
                  LIBDEFLATE_SUCCESS);
        libdeflate_free_decompressor(unpack);
        uint32_t lengths[2];
        memcpy(lengths, packed + GZIP_HEAD_LENGTHS_AT, sizeof lengths);
        CHECK_INT(le32toh(lengths[0]), used);
        CHECK_INT(le32toh(lengths[1]), len);
    }
    CHECK_INT(in, used);
    CHECK_INT(out, len);
    CHECK(memcmp(unpacked, record, len) == 0);
    return used;
}

static void check_lengths(struct press *press)
{
    static const size_t lengths[] = {1, 2, 60, 500, 10000, 65535, 65536, RECORD_BYTES};
    for (unsigned round = 0; round < 2 * PRESS_CODES_SAMPLES; round++) {
        size_t len = lengths[round % 8];
        write_words(len, 0);
        check_record(press, round % 2, len);
        write_noise(len);
        check_record(press, round % 2, len);
        write_words(len, (char)0x80);
        check_record(press, round % 2, len);
    }
}

TEST(records_of_every_kind_come_out_as_they_went_in)
{
    static const unsigned levels[] = {1, 2, 6, 12};
    for (unsigned i = 0; i < 4; i++) {
        struct press press;
        make(&press, TUNING_COMPRESS_GZIP, levels[i]);
        check_lengths(&press);
        press_fini(&press);
        make(&press, TUNING_COMPRESS_ZSTD, levels[i]);
        check_lengths(&press);
        press_fini(&press);
        press_fini(&press); /* again */
    }
}

/* Records with the letters of the earlier ones are compressed with the codes of these. Others, and noise, are not: they
 * would become longer than with codes of their own. */
TEST(codes_are_for_records_that_are_like_the_earlier_ones)
{
    struct press press, fresh;
    make(&press, TUNING_COMPRESS_GZIP, 1);
    for (unsigned i = 0; i < PRESS_CODES_SAMPLES; i++) {
        write_words(5000, 0);
        check_record(&press, PRESS_RESPONSE, 5000);
    }
    write_words(5000, 0);
    size_t alike = check_record(&press, PRESS_RESPONSE, 5000);
    CHECK_INT(press.igzip->level, 0);
    write_words(5000, (char)0x80);
    size_t different = check_record(&press, PRESS_RESPONSE, 5000);
    CHECK_INT(press.igzip->level, PACKER_IGZIP_LEVEL);
    make(&fresh, TUNING_COMPRESS_GZIP, 1);
    CHECK_INT(check_record(&fresh, PRESS_RESPONSE, 5000), different);
    CHECK(alike < different + different / 10);
    write_noise(5000);
    CHECK(check_record(&press, PRESS_RESPONSE, 5000) <= 5000 + 64);
    write_words(5000, 0);
    check_record(&press, PRESS_REQUEST, 5000); /* none of this kind so far */
    CHECK_INT(press.igzip->level, PACKER_IGZIP_LEVEL);
    press_fini(&press);
    press_fini(&fresh);
}

/* The crawl has come to other hosts. */
TEST(codes_follow_what_comes)
{
    struct press press;
    make(&press, TUNING_COMPRESS_GZIP, 1);
    unsigned first = 0;
    for (unsigned i = 0; i < PRESS_CODES_PERIOD + PRESS_CODES_SAMPLES + 1; i++) {
        write_words(1000, i < 2 * PRESS_CODES_SAMPLES ? 0 : (char)0x80);
        check_record(&press, PRESS_RESPONSE, 1000);
        if (i >= 2 * PRESS_CODES_SAMPLES && !first && press.igzip->level == 0)
            first = i;
    }
    CHECK_INT(first, PRESS_CODES_PERIOD + PRESS_CODES_SAMPLES);
    press_fini(&press);
}
