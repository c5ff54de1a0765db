#include "engine/state/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "engine/state/journal_read.h"
#include "engine/state/limits.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

static struct disk_model model;
static struct journal journal;
static struct journal_loop loop;
static struct journal_reader reader;

static void begin(void)
{
    disk_model_init(&model);
    journal_init(&journal, &model.disk, "d/state");
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    CHECK_INT(journal_loop_init(&loop, 7), 0);
    loop.epoch = 3;
}

static void finish(void)
{
    journal_close(&journal);
    journal_loop_fini(&loop);
    CHECK_INT(disk_model_open_count(&model), 0);
    disk_model_fini(&model);
}

/* Hands over what the loop has, and writes it. */
static void write_all(void)
{
    outlet_flush(&loop.outlet);
    while (journal_write(&journal, &loop) > 0)
        ;
}

static void begin_reading(void)
{
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), 0);
}

static void next_is(enum journal_kind kind, uint64_t epoch)
{
    CHECK_INT(journal_reader_next(&reader), JOURNAL_FOUND_FRAME);
    CHECK_INT(reader.frame.kind, kind);
    CHECK_INT(reader.frame.epoch, epoch);
}

static void end_reading(void)
{
    CHECK_INT(journal_reader_next(&reader), JOURNAL_FOUND_END);
    journal_reader_fini(&reader);
}

static void add_url(uint64_t signature, const char *text, const char *via)
{
    struct record_url url = {.signature = signature, .kind = 'L', .text = slice_of(text)};
    journal_add_url(&loop, &url, slice_of(via));
}

static struct record record_at(struct slice *rest, enum record_type type)
{
    struct record record;
    CHECK(record_read(rest, &record));
    CHECK_INT(record.type, type);
    return record;
}

TEST(records_of_a_loop_are_read_in_their_order)
{
    begin();
    add_url(1, "http://a/1", "http://a/");
    add_url(2, "http://a/2", "http://a/");
    add_url(3, "http://a/3", "http://b/");
    add_url(4, "http://a/4", "");
    journal_add_done(&loop, &(struct record_done){.signature = 9});
    journal_add_visit(&loop, &(struct record_visit){.key = SLICE("http://a")});
    write_all();
    begin_reading();
    next_is(JOURNAL_DATA, 3);
    CHECK_INT(reader.frame.writer, 7);
    CHECK(reader.frame.wall_us > 0);
    struct slice rest = reader.payload;
    CHECK_SLICE(record_at(&rest, RECORD_VIA).via, "http://a/");
    CHECK_INT(record_at(&rest, RECORD_URL).url.signature, 1);
    CHECK_INT(record_at(&rest, RECORD_URL).url.signature, 2); /* of the same page */
    CHECK_SLICE(record_at(&rest, RECORD_VIA).via, "http://b/");
    CHECK_INT(record_at(&rest, RECORD_URL).url.signature, 3);
    CHECK_SLICE(record_at(&rest, RECORD_VIA).via, "");
    CHECK_INT(record_at(&rest, RECORD_URL).url.signature, 4);
    CHECK_INT(record_at(&rest, RECORD_DONE).done.signature, 9);
    CHECK_SLICE(record_at(&rest, RECORD_VISIT).visit.key, "http://a");
    CHECK_INT(rest.len, 0);
    end_reading();
    finish();
}

TEST(a_seal_ends_the_frame_and_its_epoch)
{
    begin();
    add_url(1, "http://a/1", "http://a/");
    journal_seal(&loop, 4);
    add_url(2, "http://a/2", "http://a/");
    write_all(); /* up to the seal */
    outlet_release(&loop.outlet);
    write_all();
    begin_reading();
    next_is(JOURNAL_DATA, 3);
    next_is(JOURNAL_DATA, 4);
    struct slice rest = reader.payload;
    CHECK_SLICE(record_at(&rest, RECORD_VIA).via, "http://a/"); /* a frame stands for itself */
    end_reading();
    finish();
}

TEST(a_loop_that_adds_much_begins_new_frames)
{
    uint64_t count = 0, found = 0;
    begin();
    while (journal_has_room(&loop))
        add_url(++count, "http://a/some/path/of/some/length", "http://a/");
    CHECK(count > 1000);
    CHECK(outlet_room(&loop.outlet) >= 3 * OUTLET_BLOCK_BYTES); /* for the batch at hand */
    write_all();
    CHECK(journal_has_room(&loop));
    begin_reading();
    while (journal_reader_next(&reader) == JOURNAL_FOUND_FRAME) {
        struct slice rest = reader.payload, via = {"", 0};
        struct record record;
        while (record_read(&rest, &record)) {
            if (record.type == RECORD_VIA)
                via = record.via;
            else
                CHECK_INT(record.url.signature, ++found);
        }
        CHECK_INT(rest.len, 0);
        CHECK_SLICE(via, "http://a/");
    }
    CHECK_INT(found, count);
    journal_reader_fini(&reader);
    finish();
}

TEST(a_commit_lists_the_files_that_have_changed)
{
    struct file other = {.name = "warc/same", .length = 9};
    struct file warc = {.name = "warc/a", .length = 77, .is_changed = true, .next = &other};
    struct file log = {.name = "crawl.log", .length = 1ull << 40, .is_changed = true, .next = &warc};
    struct files files = {.all = &log};
    struct slice rest, name;
    uint64_t length;
    begin();
    CHECK_INT(journal_commit(&journal, 5, &files), 0);
    begin_reading();
    next_is(JOURNAL_COMMIT, 5);
    rest = reader.payload;
    CHECK(journal_next_file(&rest, &name, &length));
    CHECK_SLICE(name, "crawl.log");
    CHECK_INT(length, 1ll << 40);
    CHECK(journal_next_file(&rest, &name, &length));
    CHECK_SLICE(name, "warc/a");
    CHECK_INT(length, 77);
    CHECK(!journal_next_file(&rest, &name, &length));
    end_reading();
    finish();
}

/* A frame has a bound: the crawl fails, but nothing is written beyond it. */
TEST(a_commit_of_too_many_files_is_refused)
{
    enum { COUNT = JOURNAL_PAYLOAD_BYTES_MAX / 100 };
    struct file *all = calloc(COUNT, sizeof *all);
    struct files files = {.all = all};
    begin();
    for (unsigned i = 0; i < COUNT; i++) {
        memset(all[i].name, 'x', 100);
        all[i].is_changed = true;
        all[i].next = i + 1 < COUNT ? &all[i + 1] : NULL;
    }
    CHECK_INT(journal_commit(&journal, 5, &files), -EOVERFLOW);
    CHECK_INT(journal.end.offset, 0);
    free(all);
    finish();
}

TEST(the_other_frames_say_what_they_are)
{
    struct journal_session session = {
        .boot_id = "boot", .version = "1.2", .canonical = 3, .sieve = 4, .opens_us = 5, .lag_max_us = 6};
    begin();
    CHECK_INT(journal_begin_session(&journal, 1, &session), 0);
    CHECK_INT(journal_synced(&journal, 2), 0);
    CHECK_INT(journal_failed(&journal), 0);
    CHECK_INT(journal_end(&journal, 3), 0);
    CHECK_INT(journal.end.offset, disk_model_content(&model, "d/state/journal-000001").len);
    begin_reading();
    next_is(JOURNAL_SESSION, 1);
    session.format = JOURNAL_FORMAT;
    CHECK_INT(reader.payload.len, sizeof session);
    CHECK(memcmp(reader.payload.ptr, &session, sizeof session) == 0);
    next_is(JOURNAL_SYNCED, 2);
    next_is(JOURNAL_FAILED, 0);
    next_is(JOURNAL_END, 3);
    end_reading();
    finish();
}

/* The next file tells of things only once the last one cannot be lost any more. */
TEST(a_long_file_is_synced_and_followed_by_another)
{
    struct disk_model left;
    begin();
    journal.file_bytes_max = 3 * sizeof(struct journal_frame);
    CHECK_INT(journal_synced(&journal, 1), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(journal_synced(&journal, 2), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(journal.end.number, 1); /* not yet */
    model.disk.sync_directory(&model, "d/state");
    CHECK_INT(journal_synced(&journal, 3), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(journal.end.number, 2);
    CHECK_INT(journal.end.offset, 0);
    CHECK_INT(journal_synced(&journal, 4), 0);
    begin_reading();
    for (unsigned i = 1; i <= 4; i++)
        next_is(JOURNAL_SYNCED, i);
    CHECK_INT(reader.next.number, 2);
    end_reading();
    disk_model_init(&left);
    for (uint64_t seed = 0; seed < 50; seed++) {
        disk_model_crash(&model, &left, &(struct disk_model_crash){.is_machine = true, .seed = seed});
        CHECK_INT(disk_model_content(&left, "d/state/journal-000001").len, 3 * sizeof(struct journal_frame));
    }
    disk_model_fini(&left);
    finish();
}

TEST(a_commit_finds_room_on_a_full_disk)
{
    struct files files = {.all = NULL};
    begin();
    int other = model.disk.open(&model, "d/warc", O_WRONLY | O_CREAT);
    model.capacity = disk_model_used(&model);
    CHECK_INT(model.disk.write(&model, other, SLICE("x")), -ENOSPC);
    add_url(1, "http://a/1", "");
    write_all();
    CHECK_INT(journal_commit(&journal, 3, &files), 0);
    CHECK(!journal.has_failed);
    CHECK_INT(model.disk.close(&model, other), 0);
    begin_reading();
    next_is(JOURNAL_DATA, 3);
    next_is(JOURNAL_COMMIT, 3);
    end_reading();
    finish();
}

TEST(space_is_reserved_ahead)
{
    const size_t frame = sizeof(struct journal_frame);
    begin();
    CHECK_INT(disk_model_used(&model), JOURNAL_RESERVE_BYTES);
    journal_close(&journal);
    journal_init(&journal, &model.disk, "d/more");
    journal.reserve_bytes = 4 * frame;
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    for (unsigned i = 1; i < 20; i++) {
        CHECK_INT(journal_synced(&journal, i), 0);
        uint64_t ahead = disk_model_used(&model) - JOURNAL_RESERVE_BYTES - i * frame;
        CHECK(ahead > 2 * frame && ahead <= 4 * frame);
    }
    finish();
}

TEST(space_is_given_back)
{
    const size_t frame = sizeof(struct journal_frame);
    begin();
    journal.file_bytes_max = 2 * frame;
    CHECK_INT(journal_synced(&journal, 1), 0);
    CHECK_INT(journal_synced(&journal, 2), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(disk_model_used(&model), 2 * frame + JOURNAL_RESERVE_BYTES);
    CHECK_INT(journal_end(&journal, 3), 0);
    CHECK_INT(disk_model_used(&model), 3 * frame);
    finish();
}

TEST(a_file_system_may_be_unable_to_reserve)
{
    begin();
    journal_close(&journal);
    journal_init(&journal, &model.disk, "d/more");
    model.fault_at = model.calls + 2; /* behind the open */
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = EOPNOTSUPP;
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    uint64_t calls = model.calls;
    CHECK_INT(journal_synced(&journal, 1), 0);
    CHECK_INT(journal_end(&journal, 1), 0);
    CHECK_INT(model.calls, calls + 2); /* it is not asked again, and there is nothing to give back */
    finish();
}

TEST(a_journal_goes_on_behind_what_is_there)
{
    begin();
    CHECK_INT(journal_synced(&journal, 1), 0);
    struct journal_place place = journal.end;
    journal_close(&journal);
    CHECK_INT(journal_open(&journal, place), 0);
    CHECK_INT(journal_synced(&journal, 2), 0);
    begin_reading();
    next_is(JOURNAL_SYNCED, 1);
    next_is(JOURNAL_SYNCED, 2);
    end_reading();
    finish();
}

/* What is torn is no obstacle: that nothing of it can be trusted is said behind it. */
TEST(a_failure_is_told_also_after_a_write_that_failed)
{
    begin();
    model.fault_at = model.calls + 1;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = EIO;
    CHECK_INT(journal_synced(&journal, 1), -EIO);
    CHECK_INT(journal_synced(&journal, 1), -EIO); /* of the one before */
    CHECK_INT(journal_failed(&journal), 0);
    begin_reading();
    next_is(JOURNAL_FAILED, 0);
    end_reading();
    finish();
}

TEST(after_a_write_that_failed_nothing_more_is_written)
{
    struct files files = {.all = NULL};
    begin();
    CHECK_INT(journal_synced(&journal, 1), 0);
    model.fault_at = model.calls + 1;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = ENOSPC;
    add_url(1, "http://a/1", "");
    outlet_flush(&loop.outlet);
    CHECK_INT(journal_write(&journal, &loop), -ENOSPC);
    CHECK(journal.has_failed);
    uint64_t calls = model.calls;
    add_url(2, "http://a/2", "");
    outlet_flush(&loop.outlet);
    CHECK_INT(journal_write(&journal, &loop), 1); /* thrown away */
    CHECK_INT(journal_commit(&journal, 2, &files), -EIO);
    CHECK_INT(model.calls, calls);
    CHECK_INT(outlet_unwritten(&loop.outlet), 0);
    finish();
}
