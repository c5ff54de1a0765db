#include "engine/state/journal_read.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/disk_model.h"

enum { FILES = 2, FRAMES = 4 };

static const char *const paths[FILES] = {"d/state/journal-000001", "d/state/journal-000002"};
static char bytes[FILES][4096];
static size_t lengths[FILES];
static size_t starts[FILES][FRAMES + 1]; /* of the frames, and the end */
static struct disk_model model;
static struct journal_reader reader;

static void add_frame(unsigned file, unsigned index, enum journal_kind kind, size_t payload)
{
    struct journal_frame frame = {.magic = JOURNAL_MAGIC,
                                  .bytes = (uint32_t)payload,
                                  .epoch = file * 10 + index,
                                  .kind = (uint16_t)kind};
    char *at = bytes[file] + lengths[file];
    memset(at + sizeof frame, 'a' + (int)index, payload);
    frame.checksum = journal_checksum(&frame, at + sizeof frame);
    memcpy(at, &frame, sizeof frame);
    starts[file][index] = lengths[file];
    lengths[file] += sizeof frame + payload;
    starts[file][index + 1] = lengths[file];
}

/* Two files with four frames each; the third is a COMMIT, the fourth is SYNCED. */
static void make_files(void)
{
    for (unsigned file = 0; file < FILES; file++) {
        lengths[file] = 0;
        add_frame(file, 0, JOURNAL_DATA, 50);
        add_frame(file, 1, JOURNAL_DATA, 0);
        add_frame(file, 2, JOURNAL_COMMIT, 21);
        add_frame(file, 3, JOURNAL_SYNCED, 0);
    }
}

static void put_files(unsigned count)
{
    disk_model_init(&model);
    for (unsigned i = 0; i < count; i++)
        disk_model_put(&model, paths[i], (struct slice){bytes[i], lengths[i]});
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), 0);
}

static void finish(void)
{
    journal_reader_fini(&reader);
    CHECK_INT(disk_model_open_count(&model), 0);
    disk_model_fini(&model);
}

static unsigned count_frames(enum journal_found *found)
{
    unsigned count = 0;
    while ((*found = journal_reader_next(&reader)) == JOURNAL_FOUND_FRAME)
        count++;
    return count;
}

TEST(frames_are_read_over_all_files)
{
    enum journal_found found;
    make_files();
    put_files(2);
    for (unsigned i = 0; i < 2 * FRAMES; i++) {
        CHECK_INT(journal_reader_next(&reader), JOURNAL_FOUND_FRAME);
        CHECK_INT(reader.frame.epoch, i / FRAMES * 10 + i % FRAMES);
        CHECK_INT(reader.next.number, i / FRAMES + 1);
        CHECK_INT(reader.next.offset, starts[i / FRAMES][i % FRAMES + 1]);
        CHECK_INT(reader.payload.len, reader.frame.bytes);
    }
    CHECK_INT(count_frames(&found), 0);
    CHECK_INT(found, JOURNAL_FOUND_END);
    finish();
}

TEST(the_tail_may_be_torn_at_every_byte)
{
    make_files();
    for (size_t cut = 0; cut <= lengths[0]; cut++) {
        enum journal_found found;
        size_t whole = lengths[0];
        unsigned expected = 0;
        lengths[0] = cut;
        put_files(1);
        lengths[0] = whole;
        while (expected < FRAMES && starts[0][expected + 1] <= cut)
            expected++;
        CHECK_INT(count_frames(&found), expected);
        CHECK_INT(found, cut == starts[0][expected] ? JOURNAL_FOUND_END : JOURNAL_FOUND_TORN);
        CHECK_INT(reader.next.offset, starts[0][expected]);
        CHECK(found != JOURNAL_FOUND_TORN || !journal_reader_has_later(&reader, ~0u));
        finish();
    }
}

TEST(a_bit_that_flips_is_found_where_it_is)
{
    make_files();
    for (size_t bit = 0; bit < 8 * lengths[0]; bit++) {
        enum journal_found found;
        unsigned expected = 0;
        while (starts[0][expected + 1] <= bit / 8)
            expected++;
        bytes[0][bit / 8] ^= (char)(1 << bit % 8);
        put_files(2);
        CHECK_INT(count_frames(&found), expected);
        CHECK_INT(found, JOURNAL_FOUND_TORN);
        CHECK_INT(reader.next.number, 1);
        CHECK_INT(reader.next.offset, starts[0][expected]);
        CHECK(journal_reader_has_later(&reader, 1u << JOURNAL_SYNCED));
        CHECK_INT(reader.frame.epoch, expected < 3 ? 3 : 13);
        finish();
        bytes[0][bit / 8] ^= (char)(1 << bit % 8);
    }
}

TEST(only_the_kinds_that_are_asked_for_come_later)
{
    enum journal_found found;
    make_files();
    bytes[0][0] ^= 1;
    put_files(2);
    CHECK_INT(count_frames(&found), 0);
    for (unsigned file = 0; file < FILES; file++) {
        CHECK(journal_reader_has_later(&reader, 1u << JOURNAL_COMMIT));
        CHECK_INT(reader.next.number, file + 1);
        CHECK_INT(reader.next.offset, starts[file][2]);
    }
    CHECK(!journal_reader_has_later(&reader, 1u << JOURNAL_COMMIT));
    finish();
}

TEST(a_file_that_cannot_be_read_is_no_end)
{
    static const struct {
        unsigned call; /* that fails */
        unsigned frames;
    } cases[] = {
        {2, 0},      /* the first read */
        {4, FRAMES}, /* the read that finds the end of the first file */
        {5, FRAMES}, /* the second file is opened */
        {7, FRAMES}, /* it is read, after the first one was closed */
    };
    make_files();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum journal_found found;
        put_files(2);
        model.fault_at = cases[i].call;
        model.fault = DISK_MODEL_FAULT_ERROR;
        model.fault_errno = EMFILE;
        CHECK_INT(count_frames(&found), cases[i].frames);
        CHECK_INT(found, JOURNAL_FOUND_TORN);
        CHECK_INT(reader.error, -EMFILE);
        finish();
    }
}

TEST(no_journal_is_told)
{
    disk_model_init(&model);
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), -ENOENT);
    finish();
}

/* More than the reader's buffer, in frames of the largest kind. */
TEST(long_files_are_read_piece_by_piece)
{
    enum { COUNT = 9, PAYLOAD = OUTLET_BLOCK_BYTES - sizeof(struct journal_frame) };
    const size_t frame_bytes = OUTLET_BLOCK_BYTES;
    char *text = calloc(COUNT, frame_bytes);
    enum journal_found found;
    for (unsigned i = 0; i < COUNT; i++) {
        struct journal_frame frame = {
            .magic = JOURNAL_MAGIC, .bytes = PAYLOAD, .kind = JOURNAL_DATA, .epoch = i};
        char *at = text + i * frame_bytes;
        memset(at + sizeof frame, 'a' + (int)i, PAYLOAD);
        frame.checksum = journal_checksum(&frame, at + sizeof frame);
        memcpy(at, &frame, sizeof frame);
    }
    disk_model_init(&model);
    disk_model_put(&model, paths[0], (struct slice){text, COUNT * frame_bytes});
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK_INT(journal_reader_next(&reader), JOURNAL_FOUND_FRAME);
        CHECK_INT(reader.frame.epoch, i);
        CHECK_INT(reader.payload.ptr[PAYLOAD - 1], 'a' + (int)i);
    }
    CHECK_INT(count_frames(&found), 0);
    CHECK_INT(found, JOURNAL_FOUND_END);
    free(text);
    finish();
}

TEST(a_list_of_files_ends_where_it_is_cut)
{
    char payload[64];
    const uint64_t length = 123;
    const uint16_t name_len = 5;
    memcpy(payload, &length, 8);
    memcpy(payload + 8, &name_len, 2);
    memcpy(payload + 10, "a.log", 5);
    for (size_t cut = 0; cut <= 15; cut++) {
        struct slice rest = {check_guard_copy(payload, cut), cut}, copy = rest, name;
        uint64_t found = 0;
        CHECK(journal_next_file(&rest, &name, &found) == (cut == 15));
        CHECK(cut < 15 || (found == 123 && slice_equals(name, SLICE("a.log")) && rest.len == 0));
        check_guard_free((char *)(uintptr_t)copy.ptr, cut);
    }
}
