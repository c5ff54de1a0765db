#include "engine/archive/warc_read.h"

#include <zdict.h>

#include "engine/archive/limits.h"
#include "tests/unit/engine/archive/warc_file.h"

#define RESPONSE "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

/* A reader of bytes in memory. */
struct reading {
    struct source source;
    struct archive_error error;
    struct warc_read reader;
    bool is_open;
};

static struct reading *begin(struct slice bytes)
{
    static struct reading reading;
    reading.error = (struct archive_error){0};
    CHECK(source_init_memory(&reading.source, bytes, &reading.error));
    reading.is_open = warc_read_init(&reading.reader, &reading.source, &reading.error);
    CHECK(reading.is_open == (reading.error.fault == ARCHIVE_OK));
    return &reading;
}

static void end(struct reading *reading)
{
    if (reading->is_open)
        warc_read_fini(&reading->reader);
    source_fini(&reading->source);
}

/* Reads the block and compares it. */
static void check_block(struct reading *reading, struct slice expected)
{
    struct slice piece;
    enum warc_read_step step;
    while ((step = warc_read_block(&reading->reader, &piece)) == WARC_READ_DONE) {
        CHECK(piece.len > 0 && piece.len <= expected.len && memcmp(piece.ptr, expected.ptr, piece.len) == 0);
        expected = slice_skip(expected, piece.len);
    }
    CHECK_INT(step, WARC_READ_END);
    CHECK_INT(expected.len, 0);
}

/* How many records are read before the end or an error; `skips`: only their heads. */
static unsigned count_records(struct slice bytes, bool skips, struct archive_error *error)
{
    struct reading *reading = begin(bytes);
    struct slice piece;
    unsigned count = 0;
    while (reading->is_open && warc_read_next(&reading->reader) == WARC_READ_DONE) {
        enum warc_read_step step = WARC_READ_DONE;
        while (!skips && step == WARC_READ_DONE)
            step = warc_read_block(&reading->reader, &piece);
        count += skips ? warc_read_skip(&reading->reader) : step == WARC_READ_END;
    }
    *error = reading->error;
    end(reading);
    return count;
}

static enum archive_fault fault_of(struct slice bytes)
{
    struct archive_error error;
    count_records(bytes, false, &error);
    CHECK(error.fault == ARCHIVE_OK || strstr(error.text, "memory: byte "));
    return error.fault;
}

/* Three records: a short one, a long one that does not pack, an empty one. */
static struct warc_file *three(enum warc_packing packing)
{
    struct warc_file *file = warc_file_new(packing);
    warc_file_add(file, "warcinfo", "WARC-Filename: a.warc\r\n", SLICE("software: x\r\n"));
    warc_file_add(file, "response", "WARC-Target-URI: http://a/\r\nContent-Type: application/http\r\n",
                  warc_file_noise(200000, 1));
    warc_file_add(file, "metadata", "WARC-Target-URI: <http://b/>\r\n", SLICE(""));
    warc_file_end(file);
    return file;
}

TEST(every_packing_gives_the_same_records)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = three(packing);
        struct reading *reading = begin(warc_file_all(file));
        struct warc_read_record *record = &reading->reader.record;
        const struct slice blocks[] = {SLICE("software: x\r\n"), warc_file_noise(200000, 1), SLICE("")};
        for (unsigned i = 0; i < 3; i++) {
            CHECK_INT(warc_read_next(&reading->reader), WARC_READ_DONE);
            CHECK_SLICE(record->head.version, "1.1");
            CHECK_SLICE(record->head.fields[WARC_FIELD_DATE], "2026-11-16T07:19:47.123456Z");
            CHECK_INT(record->head.content_length, blocks[i].len);
            check_block(reading, blocks[i]);
            CHECK(record->is_shared == (packing == PACK_GZIP_WHOLE));
            CHECK(!record->has_lied);
            if (packing == PACK_GZIP_WHOLE)
                continue;
            CHECK_INT(record->offset, file->offsets[i]);
            if (packing != PACK_ZSTD_PARTS) /* what is between records belongs to none */
                CHECK_INT(record->offset + record->length, i < 2 ? file->offsets[i + 1] : file->len);
        }
        CHECK_INT(warc_read_next(&reading->reader), WARC_READ_END);
        CHECK_INT(warc_read_next(&reading->reader), WARC_READ_END);
        end(reading);
    }
}

TEST(skipping_gives_the_same_places)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = three(packing);
        struct reading *reading = begin(warc_file_all(file));
        for (unsigned i = 0; i < 3; i++) {
            CHECK_INT(warc_read_next(&reading->reader), WARC_READ_DONE);
            CHECK(warc_read_skip(&reading->reader));
            if (packing == PACK_GZIP_WHOLE)
                continue;
            CHECK_INT(reading->reader.record.offset, file->offsets[i]);
            if (packing != PACK_ZSTD_PARTS)
                CHECK_INT(reading->reader.record.offset + reading->reader.record.length,
                          i < 2 ? file->offsets[i + 1] : file->len);
        }
        CHECK_INT(warc_read_next(&reading->reader), WARC_READ_END);
        end(reading);
    }
}

/* What is passed over is not unpacked: damage in it is not seen by one who wants heads only. */
TEST(skipping_is_cheap_where_lengths_are_known)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = three(packing);
        struct archive_error error;
        file->bytes[file->len * 3 / 4] ^= 0x55; /* far inside the long record */
        bool is_cheap = packing == PACK_PLAIN || packing == PACK_GZIP_LENGTHS || packing == PACK_ZSTD;
        unsigned count = count_records(warc_file_all(file), true, &error);
        if (is_cheap)
            CHECK(count == 3 && error.fault == ARCHIVE_OK);
        if (packing == PACK_GZIP || packing == PACK_GZIP_WHOLE)
            CHECK(error.fault == ARCHIVE_BAD_CHECKSUM || error.fault == ARCHIVE_BAD_GZIP);
        if (packing != PACK_PLAIN) /* one who reads it sees it */
            CHECK(fault_of(warc_file_all(file)) != ARCHIVE_OK);
    }
}

TEST(records_are_found_by_their_offset)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        if (packing == PACK_GZIP_WHOLE)
            continue;
        struct warc_file *file = three(packing);
        struct reading *reading = begin(warc_file_all(file));
        for (unsigned i = 3; i-- > 0;) {
            warc_read_seek(&reading->reader, file->offsets[i]);
            CHECK_INT(warc_read_next(&reading->reader), WARC_READ_DONE);
            CHECK_INT(reading->reader.record.head.fields[WARC_FIELD_RECORD_ID].ptr[10], '0' + (int)i);
        }
        end(reading);
    }
}

/* Each beginning of a file is either cut between records or is told to be cut. */
TEST(files_cut_at_every_byte)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = warc_file_new(packing);
        warc_file_add(file, "response", "", SLICE(RESPONSE "one"));
        warc_file_add(file, "response", "", SLICE(RESPONSE "another one"));
        warc_file_end(file);
        for (size_t len = 1; len < file->len; len++) {
            struct archive_error error;
            char *cut = check_guard_copy(file->bytes, len);
            bool is_between = len == file->offsets[1] && packing != PACK_GZIP_WHOLE;
            /* between records the extension frame of zstd parts begins */
            unsigned count = count_records((struct slice){cut, len}, false, &error);
            if (packing == PACK_ZSTD_PARTS && error.fault == ARCHIVE_OK) {
                CHECK_INT(count, 1);
            } else if (is_between) {
                CHECK(count == 1 && error.fault == ARCHIVE_OK);
            } else {
                bool is_magic_cut = len < 8 || (packing == PACK_ZSTD_PARTS && len - error.offset < 4);
                CHECK(error.fault == ARCHIVE_TRUNCATED ||
                      (is_magic_cut && (error.fault == ARCHIVE_NOT_WARC || error.fault == ARCHIVE_BAD_ZSTD)));
                CHECK(error.offset <= len);
            }
            check_guard_free(cut, len);
        }
    }
}

/* No byte can be changed without an error, but for those that nothing depends on. */
TEST(flipped_bytes_never_pass_for_good)
{
    for (enum warc_packing packing = PACK_GZIP; packing < PACKINGS; packing++) {
        struct warc_file *file = warc_file_new(packing);
        warc_file_add(file, "response", "", SLICE(RESPONSE "one and the same and the same"));
        warc_file_end(file);
        unsigned unseen = 0;
        for (size_t i = 0; i < file->len; i++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                file->bytes[i] ^= (char)(1 << bit);
                unseen += fault_of(warc_file_all(file)) == ARCHIVE_OK;
                file->bytes[i] ^= (char)(1 << bit);
            }
        }
        /* gzip: its time, flags and system, and the lengths, which a reader of all does not need */
        CHECK(unseen <= 8 * (size_t)(packing == PACK_GZIP_LENGTHS ? 24 : 9));
    }
}

static enum archive_fault fault_of_text(enum warc_packing packing, const char *text)
{
    struct warc_file *file = warc_file_new(packing);
    warc_file_add_text(file, slice_of(text));
    warc_file_add(file, "metadata", "", SLICE("the next"));
    return fault_of(warc_file_all(file));
}

TEST(bad_records_have_names)
{
    static const struct {
        const char *text;
        enum archive_fault plain, gzip;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\n\r\n", ARCHIVE_NOT_WARC, ARCHIVE_NOT_WARC},
        {"WARC/x.y\r\nContent-Length: 0\r\n\r\n\r\n\r\n", ARCHIVE_NOT_WARC, ARCHIVE_NOT_WARC},
        {"WARC/1.1\r\nno field\r\nContent-Length: 0\r\n\r\n\r\n\r\n", ARCHIVE_BAD_HEAD, ARCHIVE_BAD_HEAD},
        {"WARC/1.1\r\nWARC-Type: x\r\n\r\n\r\n\r\n", ARCHIVE_BAD_LENGTH, ARCHIVE_BAD_LENGTH},
        {"WARC/1.1\r\nContent-Length: -1\r\n\r\n\r\n\r\n", ARCHIVE_BAD_LENGTH, ARCHIVE_BAD_LENGTH},
        {"WARC/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", ARCHIVE_BAD_LENGTH, ARCHIVE_BAD_LENGTH},
        {"WARC/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab\r\n\r\n", ARCHIVE_BAD_LENGTH,
         ARCHIVE_BAD_LENGTH},
        {"WARC/1.1\r\nContent-Length: 2\r\n\r\nabc\r\n\r\n", ARCHIVE_NO_END, ARCHIVE_NO_END},
        {"WARC/1.1\r\nContent-Length: 4\r\n\r\nabc\r\n\r\n", ARCHIVE_NO_END, ARCHIVE_NO_END},
        {"WARC/1.1\r\nContent-Length: 9000000000000000000\r\n\r\nabc\r\n\r\n", ARCHIVE_TRUNCATED,
         ARCHIVE_SHORT_BLOCK},
        {"WARC/1.1\r\nContent-Length: 100\r\n\r\nabc\r\n\r\n", ARCHIVE_NO_END, ARCHIVE_SHORT_BLOCK},
        {"WARC/1.1\r\nContent-Length: 3\r\n\r\nabc", ARCHIVE_NO_END, ARCHIVE_NO_END},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STR(archive_fault_name(fault_of_text(PACK_PLAIN, cases[i].text)),
                  archive_fault_name(cases[i].plain));
        CHECK_STR(archive_fault_name(fault_of_text(PACK_GZIP, cases[i].text)),
                  archive_fault_name(cases[i].gzip));
    }
}

TEST(the_place_of_an_error_is_exact_in_plain_files)
{
    struct warc_file *file = warc_file_new(PACK_PLAIN);
    struct archive_error error;
    warc_file_add(file, "response", "", SLICE("one"));
    size_t second = file->len;
    warc_file_add_text(file, SLICE("WARC/1.1\r\nContent-Length: 2\r\n\r\nabc\r\n\r\n"));
    CHECK_INT(count_records(warc_file_all(file), false, &error), 1);
    CHECK_INT(error.offset, second + strlen("WARC/1.1\r\nContent-Length: 2\r\n\r\nab"));
    CHECK_INT(count_records(warc_file_all(file), true, &error), 1);
    CHECK_INT(error.offset, second + strlen("WARC/1.1\r\nContent-Length: 2\r\n\r\nab"));
}

TEST(trailing_garbage_is_an_error_with_its_place)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = three(packing);
        struct archive_error error;
        size_t len = file->len;
        warc_file_put(file, SLICE("garbage behind the archive"));
        CHECK_INT(count_records(warc_file_all(file), false, &error), 3);
        CHECK_INT(error.offset, len);
        CHECK_INT(error.fault, packing == PACK_PLAIN                                ? ARCHIVE_NOT_WARC
                               : packing == PACK_ZSTD || packing == PACK_ZSTD_PARTS ? ARCHIVE_BAD_ZSTD
                                                                                    : ARCHIVE_BAD_GZIP);
    }
}

/* An endless header is given up after 64 KiB: nothing behind that is read. */
TEST(endless_headers_are_bounded)
{
    static char text[300000] = "WARC/1.1\r\nX: ";
    memset(text + 13, 'a', sizeof text - 13);
    for (enum warc_packing packing = PACK_PLAIN; packing <= PACK_ZSTD; packing++) {
        struct warc_file *file = warc_file_new(packing);
        warc_file_add_text(file, (struct slice){text, sizeof text});
        warc_file_end(file);
        struct reading *reading = begin(warc_file_all(file));
        CHECK_INT(warc_read_next(&reading->reader), WARC_READ_BAD);
        CHECK_INT(reading->error.fault, ARCHIVE_LONG_HEAD);
        CHECK(reading->source.bytes_read <= 2 * SOURCE_BLOCK_BYTES);
        end(reading);
    }
}

/* A header that just fits. */
TEST(long_headers_are_read)
{
    static char fields[WARC_READ_HEAD_BYTES_MAX];
    struct warc_file *file = warc_file_new(PACK_GZIP);
    memset(fields, 'a', sizeof fields - 300);
    memcpy(fields, "X-Long: ", 8);
    memcpy(fields + sizeof fields - 300, "\r\n", 3);
    warc_file_add(file, "metadata", fields, SLICE("block"));
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_OK);
}

/* A record that is longer than what is unpacked at a time, so that there is something to skip. */
static struct slice long_record(size_t len)
{
    static char text[WARC_FILE_BYTES / 4];
    int head = snprintf(text, sizeof text, "WARC/1.1\r\nWARC-Type: x\r\nContent-Length: %zu\r\n\r\n", len);
    CHECK(head > 0 && (size_t)head + len + 4 <= sizeof text);
    memcpy(text + head, warc_file_noise(len, 1).ptr, len);
    memcpy(text + head + len, "\r\n\r\n", 4);
    return (struct slice){text, (size_t)head + len + 4};
}

/* Lengths that lie lead nowhere else: a reader that skips finds the same records as one that reads. */
TEST(lengths_that_lie_are_not_believed)
{
    static const int lies[] = {1, -1, 10, -10, 100000, -100000, 0x7fffffff};
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct warc_file *file = warc_file_new(PACK_GZIP);
        for (int n = 0; n < 3; n++)
            warc_file_gzip(file, long_record(100000), true, lies[i]);
        struct archive_error error;
        CHECK_INT(count_records(warc_file_all(file), true, &error), 3);
        CHECK_INT(error.fault, ARCHIVE_OK);
        struct reading *reading = begin(warc_file_all(file));
        CHECK_INT(warc_read_next(&reading->reader), WARC_READ_DONE);
        check_block(reading, warc_file_noise(100000, 1));
        CHECK(reading->reader.record.has_lied);
        end(reading);
    }
}

/* A lie that leads exactly to a later member, whose predecessor has another length. */
TEST(lengths_that_lead_past_a_record_are_not_believed)
{
    struct warc_file *file = warc_file_new(PACK_GZIP_LENGTHS);
    warc_file_add_text(file, long_record(100000));
    warc_file_add_text(file, long_record(120000));
    warc_file_add_text(file, long_record(100000));
    warc_file_le32(file->bytes + 16, file->offsets[2]); /* behind the fixed part, XLEN and "sl" */
    struct archive_error error;
    CHECK_INT(count_records(warc_file_all(file), true, &error), 3);
    CHECK_INT(error.fault, ARCHIVE_OK);
}

/* Two records in a member whose lengths are true: the first cannot be skipped by leaving the member. */
TEST(a_member_is_not_left_before_its_last_record)
{
    static char both[WARC_FILE_BYTES / 2];
    for (int packing = PACK_GZIP; packing <= PACK_ZSTD; packing += PACK_ZSTD - PACK_GZIP) {
        struct warc_file *file = warc_file_new((enum warc_packing)packing);
        struct slice record = long_record(100000);
        struct archive_error error;
        memcpy(both, record.ptr, record.len);
        memcpy(both + record.len, record.ptr, record.len);
        if (packing == PACK_GZIP)
            warc_file_gzip(file, (struct slice){both, 2 * record.len}, true, 0);
        else
            warc_file_zstd(file, (struct slice){both, 2 * record.len});
        CHECK_INT(count_records(warc_file_all(file), true, &error), 2);
        CHECK_INT(error.fault, ARCHIVE_OK);
    }
}

/* Records like those of a crawl, and a dictionary trained on them. */
static struct slice train(char *room, size_t size)
{
    static char samples[1 << 17];
    static size_t sizes[256];
    size_t len = 0;
    for (unsigned i = 0; i < 256; i++) {
        sizes[i] = (size_t)snprintf(samples + len, sizeof samples - len,
                                    "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example%u."
                                    "org/%u\r\nContent-Type: application/http; msgtype=response\r\n",
                                    i * 7919, i * 104729);
        len += sizes[i];
    }
    size_t made = ZDICT_trainFromBuffer(room, size, samples, sizes, 256);
    CHECK(!ZDICT_isError(made));
    return (struct slice){room, made};
}

static struct warc_file *with_dictionary(bool is_packed, bool is_there)
{
    static char room[4096], packed[8192];
    struct warc_file *file = warc_file_new(PACK_ZSTD);
    struct slice dictionary = train(room, sizeof room), data = dictionary;
    if (is_packed)
        data = (struct slice){packed, ZSTD_compress(packed, sizeof packed, room, dictionary.len, 3)};
    if (is_there)
        warc_file_skippable(file, 0x184d2a5d, data);
    file->dictionary = dictionary;
    for (int i = 0; i < 3; i++)
        warc_file_add(file, "response", "WARC-Target-URI: http://example.org/\r\n", SLICE(RESPONSE "body"));
    return file;
}

TEST(dictionaries_are_read_packed_or_not)
{
    for (int packed = 0; packed < 2; packed++) {
        struct warc_file *file = with_dictionary(packed, true);
        struct archive_error error;
        CHECK_INT(count_records(warc_file_all(file), false, &error), 3);
        CHECK_INT(error.fault, ARCHIVE_OK);
        CHECK_INT(count_records(warc_file_all(file), true, &error), 3);
        for (size_t len = 1; len < file->len; len++) {
            CHECK(count_records((struct slice){file->bytes, len}, false, &error) < 3);
            CHECK(error.fault == ARCHIVE_TRUNCATED || error.fault == ARCHIVE_BAD_DICTIONARY ||
                  error.fault == ARCHIVE_NOT_WARC || len == file->offsets[0] || len == file->offsets[1] ||
                  len == file->offsets[2]);
        }
    }
}

TEST(a_dictionary_that_is_missing_or_broken_is_told)
{
    struct warc_file *file = with_dictionary(false, false);
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_BAD_DICTIONARY);
    file = with_dictionary(false, true);
    file->bytes[8] ^= 1;
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_BAD_DICTIONARY);
    file = with_dictionary(true, true);
    file->bytes[30] ^= 1;
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_BAD_DICTIONARY);
    file = with_dictionary(false, true);
    warc_file_le32(file->bytes + 4, MEMBERS_DICTIONARY_BYTES_MAX + 1);
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_BAD_DICTIONARY);
    file = three(PACK_ZSTD);
    warc_file_skippable(file, 0x184d2a5d, SLICE("late"));
    CHECK_INT(fault_of(warc_file_all(file)), ARCHIVE_BAD_DICTIONARY);
}

TEST(empty_members_and_frames_hold_no_records)
{
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_gzip(file, SLICE(""), false, 0);
    warc_file_add(file, "a", "", SLICE("block"));
    warc_file_gzip(file, SLICE(""), false, 0);
    struct archive_error error;
    CHECK_INT(count_records(warc_file_all(file), false, &error), 1);
    CHECK_INT(error.fault, ARCHIVE_OK);
    file = warc_file_new(PACK_ZSTD);
    warc_file_zstd(file, SLICE(""));
    warc_file_add(file, "a", "", SLICE("block"));
    warc_file_zstd(file, SLICE(""));
    CHECK_INT(count_records(warc_file_all(file), true, &error), 1);
    CHECK_INT(error.fault, ARCHIVE_OK);
    CHECK_INT(count_records(SLICE(""), false, &error), 0);
    CHECK_INT(error.fault, ARCHIVE_OK);
}

TEST(noise_is_never_an_archive)
{
    static const struct slice beginnings[] = {{"", 0},
                                              {"\x1f\x8b\x08\x00", 4},
                                              {"\x28\xb5\x2f\xfd", 4},
                                              {"\x5d\x2a\x4d\x18", 4},
                                              {"WARC/1.1\r\n", 10}};
    for (unsigned seed = 0; seed < 3000; seed++) {
        struct warc_file *file = warc_file_new(PACK_PLAIN);
        warc_file_put(file, beginnings[seed % 5]);
        warc_file_put(file, warc_file_noise(1 + seed % 700, seed));
        CHECK(fault_of(warc_file_all(file)) != ARCHIVE_OK);
    }
}

TEST(a_file_that_is_not_there_is_an_error_with_its_name)
{
    struct source source;
    struct archive_error error = {0};
    CHECK(!source_open(&source, "/nonexistent/a.warc", &error));
    CHECK_INT(error.fault, ARCHIVE_SYSTEM);
    CHECK_STR(error.text, "/nonexistent/a.warc: cannot open: No such file or directory");
    error = (struct archive_error){0};
    CHECK(!source_open(&source, "/", &error));
    CHECK_INT(error.fault, ARCHIVE_SYSTEM);
}
