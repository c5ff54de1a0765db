#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/engine/state/resume_frame.h"

static void refused_with(const char *message)
{
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_REFUSED);
    CHECK_STR(resume.message, message);
    resume_fini(&resume);
}

TEST(without_a_commit_there_is_nothing)
{
    begin(NULL);
    add_data(1);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_NOTHING);
    put_file("d/warc/a.open", 5);
    put_file("d/crawl.log", 5);
    put_file("d/seeds.txt", 5);
    CHECK(resume_restore(&resume)); /* what was written is no part of the crawl that begins anew */
    CHECK_INT(model.now.count, 1);
    CHECK(disk_model_content(&model, "d/seeds.txt").ptr);
    CHECK_INT(resume.end.number, 1);
    CHECK_INT(resume.end.offset, 0);
    finish();
    disk_model_init(&model);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 0); /* no journal at all */
    disk_model_fini(&model);
}

TEST(on_the_same_boot_the_last_commit_counts)
{
    begin(NULL);
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    add_data(3);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 2);
    CHECK_INT(chosen(RESUME_TRUST_SYNCED), 1);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume.is_same_boot && !resume.has_ended);
    CHECK_INT(resume.session.canonical, 2);
    CHECK_INT(resume.files.count, 1);
    CHECK_STR(resume.files.all[0].name, "warc/a");
    CHECK_INT(resume.files.all[0].bytes, 20);
    resume_fini(&resume);
    finish();
}

static uint64_t last_frame_us(void)
{
    struct journal_reader reader;
    uint64_t last_us = 0;
    CHECK_INT(journal_reader_init(&reader, &model.disk, "d/state", 1), 0);
    while (journal_reader_next(&reader) == JOURNAL_FOUND_FRAME)
        last_us = reader.frame.wall_us;
    journal_reader_fini(&reader);
    return last_us;
}

static uint64_t covered_us(void)
{
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    uint64_t covers_us = resume.covers_us;
    CHECK(covers_us < resume.commit_us);
    resume_fini(&resume);
    return covers_us;
}

/* A loop that has sealed its part of a commit goes on while others have not: what it does then is not in the commit,
 * although that is written later. It can be said only of what was there before the commit was begun. */
TEST(a_commit_covers_what_was_there_when_the_one_before_was_made)
{
    begin(NULL);
    uint64_t begun_us = last_frame_us();
    usleep(1000); /* so that the frames have different times */
    add_epoch(1);
    CHECK_INT(covered_us(), begun_us);
    uint64_t first_us = last_frame_us();
    CHECK_INT(journal_synced(&journal, 1), 0);
    usleep(1000);
    add_epoch(2);
    CHECK_INT(covered_us(), first_us);
    /* What another process does begins with its session. */
    usleep(1000);
    struct journal_session session = {.version = "1.0", .canonical = 2};
    resume_boot_id(session.boot_id);
    CHECK_INT(journal_begin_session(&journal, 3, &session), 0);
    begun_us = last_frame_us();
    usleep(1000);
    add_epoch(3);
    CHECK_INT(covered_us(), begun_us);
    finish();
}

TEST(on_another_boot_what_was_synced_counts)
{
    begin("another boot");
    add_epoch(1);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 0);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 1);
    finish();
}

TEST(after_a_failure_what_was_synced_counts)
{
    struct journal_session session = {.version = "1.0"};
    begin(NULL);
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    CHECK_INT(journal_failed(&journal), 0);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 1);
    resume_boot_id(session.boot_id);
    CHECK_INT(journal_begin_session(&journal, 2, &session), 0); /* that was dealt with */
    CHECK_INT(chosen(RESUME_TRUST_LAST), 2);
    finish();
}

TEST(the_end_of_a_crawl_is_known)
{
    begin("another boot");
    add_epoch(1);
    CHECK_INT(journal_end(&journal, 1), 0);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 0); /* nothing was ever synced */
    finish();
    begin("another boot");
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    CHECK_INT(journal_end(&journal, 1), 0);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume.has_ended);
    resume_fini(&resume);
    finish();
}

TEST(other_versions_are_refused)
{
    struct journal_frame frame = {.magic = JOURNAL_MAGIC, .kind = JOURNAL_KINDS};
    size_t written;
    begin(NULL);
    frame.checksum = journal_checksum(&frame, "");
    disk_write_all(&model.disk, journal.fd, (struct slice){(char *)&frame, sizeof frame}, &written);
    refused_with("d/state/journal-000001: a frame of another version of lycosa at byte 160");
    finish();
}

/* A session of `bytes`, of another format or with less or more in it than this one has. */
static void refuse_session(uint32_t format, uint32_t bytes)
{
    struct {
        struct journal_frame frame;
        struct journal_session session;
        char more[8];
    } odd = {.frame = {.magic = JOURNAL_MAGIC, .kind = JOURNAL_SESSION, .bytes = bytes},
             .session = {.format = format, .version = "9.9"}};
    char expected[160];
    odd.frame.checksum = journal_checksum(&odd.frame, (char *)&odd.session);
    disk_model_init(&model);
    disk_model_put(&model, "d/state/journal-000001", (struct slice){(char *)&odd, sizeof odd.frame + bytes});
    snprintf(expected, sizeof expected,
             "d/state: another version of lycosa wrote this journal, in format %u; this one, %s, reads format %d",
             bytes < sizeof format ? 0 : format, LYCOSA_VERSION, JOURNAL_FORMAT);
    refused_with(expected);
    disk_model_fini(&model);
}

TEST(another_format_is_refused_and_named)
{
    const uint32_t bytes = sizeof(struct journal_session);
    refuse_session(JOURNAL_FORMAT + 1, bytes);
    refuse_session(JOURNAL_FORMAT - 1, bytes);
    refuse_session(JOURNAL_FORMAT + 1, bytes + 8);
    refuse_session(JOURNAL_FORMAT, bytes - 8);
    refuse_session(JOURNAL_FORMAT + 1, sizeof(uint32_t));
    refuse_session(JOURNAL_FORMAT, sizeof(uint32_t) - 1);
    refuse_session(JOURNAL_FORMAT, 0);
}

/* Tells of each session for how long the one before it may have made requests. */
static bool take_lag(void *owner, const struct record *record, struct slice via)
{
    uint64_t *lags = owner;
    (void)via;
    if (record->type == RECORD_SESSION)
        *lags = 100 * *lags + record->session.last_lag_max_us;
    return true;
}

TEST(each_session_tells_for_how_long_it_makes_requests)
{
    struct journal_session session = {.version = "1.0", .canonical = 2, .lag_max_us = 12};
    uint64_t lags = 0;
    begin(NULL); /* 0 */
    add_epoch(1);
    resume_boot_id(session.boot_id);
    CHECK_INT(journal_begin_session(&journal, 2, &session), 0);
    add_epoch(2);
    session.lag_max_us = 34;
    CHECK_INT(journal_begin_session(&journal, 3, &session), 0);
    add_epoch(3);
    session.lag_max_us = 56;
    CHECK_INT(journal_begin_session(&journal, 4, &session), 0); /* it was killed before its first commit */
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK_INT(resume.lag_max_us, 56);
    CHECK_INT(resume.session.lag_max_us, 34);
    CHECK(resume_replay(&resume, take_lag, &lags));
    CHECK_INT(lags, 12);
    resume_fini(&resume);
    finish();
}

static bool take(void *owner, const struct record *record, struct slice via)
{
    uint64_t *records = owner;
    if (record->type == RECORD_SESSION) {
        CHECK(record->session.begin_us && !record->session.last_us); /* the first one */
        return true;
    }
    CHECK(record->type != RECORD_URL || slice_equals(via, SLICE("http://from/")));
    return ++*records < 5;
}

TEST(records_up_to_the_commit_are_handed_out)
{
    uint64_t records = 0;
    begin(NULL);
    add_epoch(1);
    add_epoch(2);
    add_data(3);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(resume_replay(&resume, take, &records));
    CHECK_INT(records, 4);
    CHECK(!resume_replay(&resume, take, &records)); /* the caller has enough */
    CHECK_INT(records, 5);
    CHECK_STR(resume.message, "");
    resume_fini(&resume);
    finish();
}

TEST(a_record_of_another_version_is_refused)
{
    struct {
        struct journal_frame frame;
        char record[8];
    } odd = {.frame = {.magic = JOURNAL_MAGIC, .kind = JOURNAL_DATA, .bytes = 8}, .record = "X"};
    uint64_t records = 0;
    size_t written;
    begin(NULL);
    odd.frame.checksum = journal_checksum(&odd.frame, odd.record);
    disk_write_all(&model.disk, journal.fd, (struct slice){(char *)&odd, sizeof odd}, &written);
    add_epoch(1);
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
    CHECK(!resume_replay(&resume, take, &records));
    CHECK_STR(resume.message, "d/state/journal-000001: records of another version of lycosa at byte 168");
    resume_fini(&resume);
    finish();
}

/* Each byte of the journal in turn; what is found wrong is named by the frame that it is in. */
TEST(damage_before_a_commit_is_refused_and_named)
{
    size_t starts[8], count = 0;
    begin(NULL);
    starts[count++] = journal.end.offset;
    add_data(1);
    starts[count++] = journal.end.offset;
    CHECK_INT(journal_commit(&journal, 1, &files), 0);
    starts[count++] = journal.end.offset;
    add_data(2);
    size_t last = journal.end.offset;
    CHECK_INT(journal_commit(&journal, 2, &files), 0);
    add_data(3);
    struct disk_model_bytes *content = &model.files[0].now;
    for (size_t i = starts[0], at = 0; i < last; i++) {
        char message[128];
        at += at + 1 < count && i == starts[at + 1];
        snprintf(message, sizeof message, "d/state/journal-000001: the journal is damaged at byte %zu",
                 starts[at]);
        content->bytes[i] ^= 0x20;
        refused_with(message);
        content->bytes[i] ^= 0x20;
    }
    CHECK_INT(chosen(RESUME_TRUST_LAST), 2);
    finish();
}

/* After a crash of the machine, parts of what was not synced may be there without what came before them. */
TEST(a_gap_behind_what_is_synced_is_normal)
{
    begin("another boot");
    add_epoch(1);
    size_t gap = journal.end.offset;
    add_epoch(2);
    CHECK_INT(journal_synced(&journal, 1), 0);
    memset(model.files[0].now.bytes + gap, 0, 20);
    CHECK_INT(chosen(RESUME_TRUST_LAST), 1);
    CHECK_INT(journal_synced(&journal, 2), 0); /* but not before it */
    CHECK_INT(look(RESUME_TRUST_LAST), RESUME_REFUSED);
    resume_fini(&resume);
    finish();
}

TEST(the_tail_may_be_torn_at_every_byte)
{
    begin(NULL);
    add_epoch(1);
    size_t first = journal.end.offset;
    add_epoch(2);
    size_t second = journal.end.offset;
    add_data(3);
    for (size_t cut = journal.end.offset; cut >= first; cut--) {
        uint64_t records = 0;
        model.files[0].now.len = cut;
        CHECK_INT(look(RESUME_TRUST_LAST), RESUME_READY);
        CHECK_INT(resume.epoch, cut >= second ? 2 : 1);
        CHECK_INT(resume.commit.offset, cut >= second ? second : first);
        CHECK(resume_replay(&resume, take, &records));
        CHECK_INT(records, 2 * resume.epoch);
        resume_fini(&resume);
    }
    finish();
}

TEST(a_commit_of_a_file_elsewhere_is_refused)
{
    static const char *const names[] = {"", "/etc/passwd", "../a", "warc/../../a", "state/journal-000001"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct file elsewhere = {.is_changed = true};
        struct files list = {.all = &elsewhere};
        begin(NULL);
        snprintf(elsewhere.name, sizeof elsewhere.name, "%s", names[i]);
        CHECK_INT(journal_commit(&journal, 1, &list), 0);
        refused_with("d/state: a commit names a file that is none of the crawl's");
        finish();
    }
}

/* The name of the first file may be lost with the machine before anything was synced. */
TEST(a_first_file_that_is_gone_is_damage_only_if_something_was_synced)
{
    for (unsigned is_synced = 0; is_synced < 2; is_synced++) {
        begin("another boot");
        add_epoch(1);
        journal.file_bytes_max = 1;
        CHECK_INT(journal_turn_over(&journal), 0);
        add_epoch(2);
        if (is_synced)
            CHECK_INT(journal_synced(&journal, 1), 0);
        CHECK_INT(model.disk.unlink(&model, "d/state/journal-000001"), 0);
        CHECK_INT(look(RESUME_TRUST_LAST), is_synced ? RESUME_REFUSED : RESUME_NOTHING);
        if (!is_synced) {
            CHECK(resume_restore(&resume));
            CHECK_INT(model.now.count, 0); /* or the next crawl would append to it */
        }
        resume_fini(&resume);
        finish();
    }
}

static void put_base(const char *path, uint64_t epoch)
{
    struct journal_frame frame = {.magic = JOURNAL_MAGIC, .kind = JOURNAL_BASE, .epoch = epoch};
    frame.checksum = journal_checksum(&frame, "");
    disk_model_put(&model, path, (struct slice){(char *)&frame, sizeof frame});
}

/* What was folded was synced: a base is never without its commit. */
TEST(a_base_without_a_commit_is_damage)
{
    disk_model_init(&model);
    put_base("d/state/journal-000003", 5);
    refused_with("d/state/journal-000003: the journal is damaged at byte 0");
    disk_model_fini(&model);
}

TEST(the_last_base_counts)
{
    struct journal_files found;
    disk_model_init(&model);
    CHECK_INT(journal_find(&found, &model.disk, "d/state"), 0);
    CHECK_INT(found.first, 0);
    put_file("d/state/journal-000001", 10);
    put_file("d/state/journal-000007", 10);
    put_file("d/state/" JOURNAL_FOLD_NAME, 10);
    put_file("d/state/lock", 0);
    CHECK_INT(journal_find(&found, &model.disk, "d/state"), 0);
    CHECK(found.lowest == 1 && found.highest == 7 && found.first == 1 && !found.has_base);
    put_base("d/state/journal-000003", 1);
    put_base("d/state/journal-000005", 2);
    CHECK_INT(journal_find(&found, &model.disk, "d/state"), 0);
    CHECK(found.lowest == 1 && found.highest == 7 && found.first == 5 && found.has_base);
    CHECK_INT(journal_number("journal-000012"), 12);
    CHECK_INT(journal_number("journal-1234567"), 1234567);
    CHECK_INT(journal_number("journal-000012.open"), 0);
    CHECK_INT(journal_number("journal-"), 0);
    CHECK_INT(journal_number("journal--1"), 0);
    disk_model_fini(&model);
}

static bool count_record(void *owner, const struct record *record, struct slice via)
{
    (void)record;
    (void)via;
    ++*(unsigned *)owner;
    return true;
}

/* Looks and reads; the call number `at` fails. The records, or 0 if it was refused. */
static unsigned read_with_fault(uint64_t at)
{
    unsigned records = 0;
    model.calls = 0;
    model.fault_at = at;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = EIO;
    bool is_read = look(RESUME_TRUST_LAST) == RESUME_READY && resume_replay(&resume, count_record, &records);
    if (!is_read && !strstr(resume.message, strerror(EIO)))
        check_failed(__FILE__, __LINE__, "call %llu: %s", (unsigned long long)at, resume.message);
    resume_fini(&resume);
    return is_read ? records : 0;
}

/* It is neither damaged nor shorter, and the operator has to look at the disk. */
TEST(a_journal_that_cannot_be_read_is_refused_with_the_error)
{
    begin(NULL);
    for (uint64_t epoch = 1; epoch <= 3; epoch++)
        add_epoch(epoch);
    CHECK_INT(journal_synced(&journal, 3), 0);
    add_data(4);
    put_file("d/state/journal-000002", 100); /* what a crash has left */
    const unsigned records = read_with_fault(0), calls = (unsigned)model.calls;
    unsigned refused = 0;
    CHECK(records >= 6);
    for (unsigned at = 1; at <= calls; at++) {
        unsigned got = read_with_fault(at);
        CHECK(got == records || got == 0);
        refused += got == 0;
    }
    CHECK(refused > calls / 2);
    finish();
}

/* Whatever bit flips: an answer, and no more than was committed. */
TEST(a_bit_that_flips_never_does_harm)
{
    begin(NULL);
    add_epoch(1);
    CHECK_INT(journal_synced(&journal, 1), 0);
    add_epoch(2);
    add_data(3);
    struct disk_model_bytes *content = &model.files[0].now;
    for (size_t bit = 0; bit < 8 * content->len; bit++) {
        uint64_t records = 0;
        content->bytes[bit / 8] ^= (char)(1 << bit % 8);
        enum resume_result result = look(bit % 2 ? RESUME_TRUST_LAST : RESUME_TRUST_SYNCED);
        CHECK(result != RESUME_READY ||
              (resume_replay(&resume, take, &records) && records == 2 * resume.epoch));
        CHECK(result != RESUME_REFUSED || strstr(resume.message, "d/state/journal-000001: "));
        resume_fini(&resume);
        content->bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    finish();
}
