#include "engine/archive/members.h"

#include "tests/unit/engine/archive/warc_file.h"

static struct source source;
static struct archive_error error;
static struct members members;

static void open_members(const struct warc_file *file)
{
    error = (struct archive_error){0};
    CHECK(source_init_memory(&source, warc_file_all(file), &error));
    CHECK(members_init(&members, &source, &error));
}

static void close_members(void)
{
    members_fini(&members);
    source_fini(&source);
}

/* Unpacks the member at hand and answers how many bytes it has. */
static uint64_t unpack(void)
{
    struct slice piece;
    uint64_t bytes = 0;
    while (members_next(&members, &piece) == MEMBERS_PIECE)
        bytes += piece.len;
    return bytes;
}

static struct warc_file *two(enum warc_packing packing)
{
    struct warc_file *file = warc_file_new(packing);
    warc_file_add_text(file, warc_file_noise(100000, 1));
    warc_file_add_text(file, SLICE("short"));
    warc_file_end(file);
    return file;
}

TEST(formats_are_seen_by_the_first_bytes)
{
    static const enum members_format formats[PACKINGS] = {
        [PACK_PLAIN] = MEMBERS_PLAIN,     [PACK_GZIP] = MEMBERS_GZIP, [PACK_GZIP_LENGTHS] = MEMBERS_GZIP,
        [PACK_GZIP_WHOLE] = MEMBERS_GZIP, [PACK_ZSTD] = MEMBERS_ZSTD, [PACK_ZSTD_PARTS] = MEMBERS_ZSTD};
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        open_members(two(packing));
        CHECK_INT(members.format, formats[packing]);
        close_members();
    }
}

TEST(members_are_unpacked_one_by_one)
{
    for (enum warc_packing packing = PACK_GZIP; packing <= PACK_ZSTD; packing++) {
        struct warc_file *file = two(packing);
        open_members(file);
        CHECK_INT(members_begin(&members), MEMBERS_PIECE);
        if (packing == PACK_GZIP_WHOLE) {
            CHECK_INT(unpack(), 100005);
        } else {
            CHECK_INT(unpack(), 100000);
            CHECK_INT(members.next, file->offsets[1]);
            CHECK_INT(members_begin(&members), MEMBERS_PIECE);
            CHECK_INT(members.offset, file->offsets[1]);
            CHECK_INT(unpack(), 5);
        }
        CHECK(!members.has_lied);
        CHECK_INT(members_begin(&members), MEMBERS_END);
        close_members();
    }
}

/* Only where its length is known, only if it is the one that is expected, and also from within the member. */
TEST(members_are_skipped_if_their_lengths_are_known)
{
    for (enum warc_packing packing = PACK_GZIP; packing <= PACK_ZSTD; packing++) {
        bool is_known = packing == PACK_GZIP_LENGTHS || packing == PACK_ZSTD;
        struct warc_file *file = two(packing);
        struct slice piece;
        open_members(file);
        CHECK_INT(members_begin(&members), MEMBERS_PIECE);
        CHECK(!members_skip(&members, 99999) && !members_skip(&members, 100001));
        CHECK_INT(members_next(&members, &piece), MEMBERS_PIECE);
        CHECK(members_skip(&members, 100000 - piece.len) == is_known);
        if (is_known) {
            CHECK_INT(members.next, file->offsets[1]);
            CHECK_INT(members_begin(&members), MEMBERS_PIECE);
            CHECK_INT(unpack(), 5);
        }
        close_members();
    }
}

/* Of a page of ordinary length, who wants its head does not unpack the rest. */
TEST(little_is_unpacked_before_a_member_can_be_skipped)
{
    struct warc_file *file = warc_file_new(PACK_GZIP_LENGTHS);
    struct slice piece;
    warc_file_add_text(file, warc_file_noise(10000, 1));
    open_members(file);
    CHECK_INT(members_begin(&members), MEMBERS_PIECE);
    CHECK_INT(members_next(&members, &piece), MEMBERS_PIECE);
    CHECK(piece.len > 500 && piece.len < 2000);
    CHECK(members_skip(&members, 10000 - piece.len));
    CHECK_INT(members_begin(&members), MEMBERS_END);
    close_members();
}

TEST(plain_bytes_are_dropped_up_to_the_end)
{
    struct warc_file *file = two(PACK_PLAIN);
    open_members(file);
    CHECK_INT(members_begin(&members), MEMBERS_PIECE);
    CHECK(!members_drop(&members, 100006));
    CHECK(members_drop(&members, 100000));
    CHECK_INT(unpack(), 5);
    CHECK_INT(members.given, 100005);
    CHECK_INT(members_begin(&members), MEMBERS_END);
    close_members();
}
