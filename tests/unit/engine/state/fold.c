/* What a folded journal says is what it said before: random journals are replayed with and without folds. */
#include "engine/state/fold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "engine/state/resume.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

enum { URLS = 200, HOSTS = 12, WAITING_MAX = 4 * URLS, FILES = 5, JOURNALS = 300 };

/* Of a host, as `past` keeps it. */
struct seen_host {
    bool is_known, is_open;
    uint64_t begin_us, host_us, address_us, pages, bytes, failures;
};

/* All that a replay tells. */
struct seen {
    bool is_known[URLS]; /* to the sieve */
    bool is_done[URLS];
    unsigned waiting[WAITING_MAX]; /* in order */
    char via[WAITING_MAX][32];
    size_t waiting_count;
    struct record_totals totals;
    struct seen_host hosts[HOSTS];
    uint64_t sessions, last_us;
    bool counts; /* the first reading; else the one for URLs */
};

static struct disk_model model, whole;
static struct journal journal;
static struct journal_loop loop;
static struct resume resume;
static struct file warc = {.name = "warc/a", .is_changed = true}, other = {.name = "warc/b"};
static struct files files = {.all = &warc};
static uint64_t random_state;

static unsigned chance(unsigned n)
{
    return (unsigned)(disk_model_random(&random_state) % n);
}

static size_t write_key(char *key, unsigned host)
{
    return (size_t)snprintf(key, 32, "http://h%u", host);
}

static uint64_t host_of(unsigned host)
{
    char key[32];
    return record_host_signature((struct slice){key, write_key(key, host)});
}

/* Signatures are spread over all values, and 0 is one of them. */
static uint64_t signature_of(unsigned url)
{
    return url * 0x9e3779b97f4a7c15;
}

static unsigned url_of(uint64_t signature)
{
    for (unsigned i = 0; i < URLS; i++)
        if (signature_of(i) == signature)
            return i;
    check_failed(__FILE__, __LINE__, "a signature that nobody has written");
}

static void note_visit(struct seen *seen, const struct record_visit *visit)
{
    unsigned host = 0;
    while (host < HOSTS && host_of(host) != record_host_signature(visit->key))
        host++;
    CHECK(host < HOSTS);
    struct seen_host *known = &seen->hosts[host];
    known->is_known = true;
    known->is_open = !visit->is_end;
    if (!visit->is_end) {
        known->begin_us = visit->host_us;
        known->host_us = known->address_us = 0; /* of no interest until it ends */
        return;
    }
    known->begin_us = 0;
    known->host_us = visit->host_us;
    known->address_us = visit->address_us;
    known->pages = visit->pages;
    known->bytes = visit->bytes;
    known->failures = visit->failures;
}

/* As past_note_session: what was open ends at a moment that depends on when it began and on the sessions. */
static void note_session(struct seen *seen, const struct record_session *session)
{
    seen->sessions++;
    for (unsigned i = 0; i < HOSTS; i++) {
        struct seen_host *host = &seen->hosts[i];
        if (host->is_open)
            host->host_us = host->address_us = session->last_us + session->begin_us - host->begin_us;
        host->is_open = false;
        host->begin_us = 0;
    }
}

static void note_done(struct seen *seen, const struct record_done *done)
{
    seen->is_done[url_of(done->signature)] = seen->is_known[url_of(done->signature)] = true;
    record_add_done(&seen->totals, done);
    for (unsigned i = 0; i < HOSTS && done->is_page; i++)
        if (host_of(i) == done->host && seen->hosts[i].is_known) {
            seen->hosts[i].pages++;
            seen->hosts[i].bytes += done->body_bytes;
        }
}

static void note_known(struct seen *seen, const struct record_known *known)
{
    for (size_t i = 0; i < known->count; i++) {
        unsigned url = url_of(record_known_at(known, i));
        CHECK(i == 0 || record_known_at(known, i) > record_known_at(known, i - 1));
        seen->is_known[url] = seen->is_done[url] = true;
    }
}

static void note_url(struct seen *seen, const struct record_url *url, struct slice via)
{
    unsigned number = url_of(url->signature);
    char text[32];
    snprintf(text, sizeof text, "http://h%u/%u", number % HOSTS, number);
    CHECK(slice_equals(url->text, slice_of(text)));
    CHECK(url->depth == number && url->source == 7 * number && url->is_requisite == number % 2);
    if (!seen->is_known[number]) {
        snprintf(seen->via[seen->waiting_count], sizeof seen->via[0], "%.*s", (int)via.len, via.ptr);
        seen->waiting[seen->waiting_count++] = number;
    }
    seen->is_known[number] = true;
}

/* The two readings of crawl_resume.c. */
static bool see(void *owner, const struct record *record, struct slice via)
{
    struct seen *seen = owner;
    if (!seen->counts && record->type == RECORD_URL)
        note_url(seen, &record->url, via);
    if (!seen->counts)
        return true;
    switch (record->type) {
    case RECORD_DONE:
        note_done(seen, &record->done);
        break;
    case RECORD_VISIT:
        seen->totals.visits += record->visit.is_end;
        note_visit(seen, &record->visit);
        break;
    case RECORD_SESSION:
        note_session(seen, &record->session);
        break;
    case RECORD_KNOWN:
        note_known(seen, &record->known);
        break;
    case RECORD_TOTALS:
        record_add_totals(&seen->totals, record->totals);
        break;
    case RECORD_URL:
    case RECORD_VIA:
        break;
    }
    return true;
}

static void replay(struct disk_model *from, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    CHECK_INT(resume_look(&resume, &from->disk, "d", RESUME_TRUST_LAST), RESUME_READY);
    seen->counts = true;
    CHECK(resume_replay(&resume, see, seen));
    seen->counts = false;
    CHECK(resume_replay(&resume, see, seen));
}

static void begin_session(uint64_t epoch)
{
    struct journal_session session = {.version = "1.0", .canonical = 2, .opens_us = epoch};
    resume_boot_id(session.boot_id);
    CHECK_INT(journal_begin_session(&journal, epoch, &session), 0);
}

static void begin(uint64_t seed)
{
    random_state = seed;
    disk_model_init(&model);
    disk_model_init(&whole);
    journal_init(&journal, &model.disk, "d/state");
    journal.file_bytes_max = 1;
    CHECK_INT(journal_loop_init(&loop, 0), 0);
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    begin_session(1);
}

static void finish(void)
{
    journal_close(&journal);
    journal_loop_fini(&loop);
    CHECK_INT(disk_model_open_count(&model), 0);
    disk_model_fini(&model);
    disk_model_fini(&whole);
}

static void add_url(unsigned number)
{
    char text[32], via[32];
    size_t via_len = chance(3) ? (size_t)snprintf(via, sizeof via, "http://from/%u", chance(4)) : 0;
    struct record_url url = {.signature = signature_of(number),
                             .depth = (uint16_t)number,
                             .source = 7 * number,
                             .is_requisite = number % 2,
                             .text.ptr = text};
    url.text.len = (size_t)snprintf(text, sizeof text, "http://h%u/%u", number % HOSTS, number);
    journal_add_url(&loop, &url, (struct slice){via, via_len});
}

static void add_done(unsigned number)
{
    journal_add_done(&loop, &(struct record_done){.signature = signature_of(number),
                                                  .host = host_of(number % HOSTS),
                                                  .body_bytes = chance(2) ? chance(100000) : UINT32_MAX,
                                                  .status = (uint16_t)(100 * (1 + chance(9))),
                                                  .outcome = (uint8_t)chance(256),
                                                  .is_page = chance(4) != 0,
                                                  .is_stored = chance(2)});
}

static void add_visit(unsigned host, bool is_end)
{
    char key[32];
    struct record_visit visit = {.is_end = is_end,
                                 .host_us = 1 + chance(1000),
                                 .address_us = chance(1000),
                                 .failures = (uint16_t)chance(10),
                                 .pages = chance(100),
                                 .bytes = chance(100000),
                                 .key = {key, write_key(key, host)}};
    journal_add_visit(&loop, &visit);
}

static void flush(void)
{
    outlet_flush(&loop.outlet);
    while (journal_write(&journal, &loop) > 0)
        ;
}

/* Records as a crawl writes them, but in any order that a journal can have: a URL may come several times, and is admitted
 * before it is done. */
static void add_records(bool *is_out, bool *is_done)
{
    for (unsigned i = chance(120); i > 0; i--) {
        unsigned number = chance(URLS);
        switch (chance(4)) {
        case 0:
        case 1:
            add_url(number);
            is_out[number] = true;
            break;
        case 2:
            if (is_out[number] && !is_done[number])
                add_done(number);
            is_done[number] |= is_out[number];
            break;
        default:
            add_visit(number % HOSTS, chance(2));
            break;
        }
        if (chance(10) == 0)
            flush();
    }
    flush();
}

static void commit(uint64_t epoch)
{
    warc.length = 10 * epoch;
    warc.next = epoch > 4 ? &other : NULL;
    other.length = epoch;
    other.is_changed = chance(3) == 0;
    CHECK_INT(journal_commit(&journal, epoch, &files), 0);
}

static void copy(const struct disk_model *from, struct disk_model *to)
{
    disk_model_crash(from, to, &(struct disk_model_crash){.seed = 0});
}

static void same_lengths(const struct lengths *a, const struct lengths *b)
{
    CHECK_INT(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct length *found = lengths_find(b, a->all[i].name);
        CHECK(found && found->bytes == a->all[i].bytes);
    }
}

/* Both disks tell the same. */
static void compare(struct disk_model *before, struct disk_model *after)
{
    static struct seen a, b;
    replay(before, &a);
    struct resume told = resume;
    replay(after, &b);
    CHECK(told.epoch == resume.epoch && told.commit_us == resume.commit_us);
    CHECK_INT(resume.covers_us, told.covers_us);
    CHECK(told.session.opens_us == resume.session.opens_us && told.is_same_boot == resume.is_same_boot);
    CHECK(told.synced_epoch <= resume.synced_epoch);
    same_lengths(&told.files, &resume.files);
    resume_fini(&told);
    resume_fini(&resume);
    CHECK_INT(b.waiting_count, a.waiting_count);
    CHECK(memcmp(a.hosts, b.hosts, sizeof a.hosts) == 0);
    CHECK(memcmp(&a.totals, &b.totals, sizeof a.totals) == 0);
    if (memcmp(&a, &b, sizeof a) != 0)
        check_failed(__FILE__, __LINE__, "a folded journal tells something else");
}

static struct fold fold;

/* Folds what is closed. Returns whether it was done. */
static bool fold_now(uint64_t epoch, uint64_t bytes_min)
{
    int error = 0;
    fold_init(&fold, &(struct fold_options){.disk = &model.disk,
                                            .directory = "d/state",
                                            .scratch = "d/scratch",
                                            .bytes_min = bytes_min,
                                            .pairs_max = 1 + chance(64),
                                            .is_inline = true});
    fold_begin(&fold, journal.end.number - 1, epoch, 0);
    if (fold.is_busy)
        CHECK(fold_is_done(&fold, 0, &error));
    CHECK_INT(error, 0);
    CHECK_INT(fold.error, 0);
    fold_fini(&fold);
    return fold.folds;
}

static size_t journal_bytes(void)
{
    size_t sum = 0;
    for (size_t i = 0; i < model.now.count; i++)
        sum += disk_model_content(&model, model.now.all[i].path).len;
    return sum;
}

TEST(a_folded_journal_tells_the_same)
{
    unsigned folds = 0;
    for (uint64_t seed = 1; seed <= JOURNALS; seed++) {
        bool is_out[URLS] = {0}, is_done[URLS] = {0};
        uint64_t epoch = 0;
        begin(seed);
        for (unsigned i = 0; i < FILES; i++) {
            for (unsigned k = 1 + chance(4); k > 0; k--) {
                add_records(is_out, is_done);
                commit(++epoch);
                if (chance(4) == 0)
                    begin_session(epoch);
            }
            commit(++epoch);
            CHECK_INT(journal_turn_over(&journal), 0);
            CHECK_INT(journal_synced(&journal, epoch), 0);
            copy(&model, &whole);
            folds += chance(2) && fold_now(epoch, 1);
            compare(&whole, &model);
        }
        finish();
    }
    printf("%u folds\n", folds);
    CHECK(folds > JOURNALS);
}

static void close_file(uint64_t epoch)
{
    commit(epoch);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(journal_synced(&journal, epoch), 0);
}

TEST(what_is_done_takes_eight_bytes)
{
    begin(1);
    for (unsigned i = 0; i < URLS; i++) {
        add_url(i);
        add_done(i);
    }
    for (unsigned i = 0; i < HOSTS; i++)
        add_visit(i, true);
    flush();
    close_file(1);
    size_t before = journal_bytes();
    CHECK(fold_now(1, 1));
    size_t fixed =
        sizeof(struct record_totals) + 12 * sizeof(struct journal_frame) + HOSTS * RECORD_BYTES_MAX;
    CHECK(journal_bytes() < fixed + 8 * URLS && before > 60 * URLS);
    CHECK(!disk_model_content(&model, "d/state/" JOURNAL_FOLD_NAME).ptr);
    CHECK(!disk_model_content(&model, "d/scratch/fold-urls").ptr);
    finish();
}

TEST(files_of_a_base_are_one)
{
    struct journal_files found;
    begin(1);
    for (unsigned i = 1; i <= 3; i++) {
        add_url(i);
        flush();
        close_file(i);
    }
    CHECK(fold_now(3, 1));
    CHECK_INT(journal_find(&found, &model.disk, "d/state"), 0);
    CHECK_INT(found.lowest, 3);
    CHECK_INT(found.first, 3);
    CHECK_INT(found.highest, 4);
    CHECK(found.has_base);
    CHECK_INT(resume_look(&resume, &model.disk, "d", RESUME_TRUST_SYNCED), RESUME_READY);
    CHECK_INT(resume.base_epoch, 3);
    CHECK_INT(resume.base_bytes, disk_model_content(&model, "d/state/journal-000003").len);
    CHECK_INT(resume.epoch, 3);
    resume_fini(&resume);
    finish();
}

static void make_file(const char *path)
{
    int fd = model.disk.open(model.disk.owner, path, O_WRONLY | O_CREAT);
    CHECK(fd >= 0 && model.disk.close(model.disk.owner, fd) == 0);
}

/* A crawl with store.kind = directory makes and removes a file each second. */
TEST(files_that_are_gone_are_forgotten)
{
    struct file unpacked = {.name = "incoming/a.warc", .is_changed = true};
    struct file closed = {.name = "incoming/b.warc", .is_changed = true, .next = &unpacked};
    struct file begun = {.name = "incoming/c.warc", .is_changed = true, .next = &closed};
    struct file archive = {.name = "warc/d.warc", .is_changed = true, .next = &begun};
    struct files all = {.all = &archive};
    begin(1);
    make_file("d/incoming/b.warc");
    make_file("d/incoming/c.warc.open");
    CHECK_INT(journal_commit(&journal, 1, &all), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
    CHECK_INT(journal_synced(&journal, 1), 0);
    CHECK(fold_now(1, 1));
    CHECK_INT(resume_look(&resume, &model.disk, "d", RESUME_TRUST_SYNCED), RESUME_READY);
    CHECK(!lengths_find(&resume.files, "incoming/a.warc"));
    CHECK(lengths_find(&resume.files, "incoming/b.warc") && lengths_find(&resume.files, "incoming/c.warc"));
    CHECK(lengths_find(&resume.files, "warc/d.warc")); /* one that is missed is told of */
    resume_fini(&resume);
    finish();
}

TEST(little_is_not_folded)
{
    begin(1);
    add_url(1);
    flush();
    close_file(1);
    CHECK(!fold_now(1, 1 << 20)); /* shorter than is asked for */
    CHECK(!fold_now(1, 0));       /* never */
    CHECK(fold_now(1, 1));
    close_file(2);
    CHECK(!fold_now(2, 1)); /* shorter than the base */
    for (unsigned i = 0; i < URLS; i++)
        add_url(i);
    flush();
    close_file(3);
    CHECK(fold_now(3, 1));
    finish();
}

/* Folds the first file of the journal, up to epoch 1. */
static int fold_first_file(void)
{
    struct fold_base_options options = {.disk = &model.disk,
                                        .directory = "d/state",
                                        .scratch = "d/scratch",
                                        .first = 1,
                                        .last = 1,
                                        .epoch_max = 1,
                                        .pairs_max = 8,
                                        .stops = &fold.stops};
    return fold_base_write(&options).error;
}

/* What is not synced may be gone after a crash, and a resumed crawl goes back behind it. */
TEST(what_is_not_synced_is_not_folded)
{
    begin(1);
    add_url(1);
    flush();
    commit(1);
    add_url(2);
    flush();
    close_file(2);
    copy(&model, &whole);
    CHECK_INT(fold_first_file(), -EBADMSG);
    CHECK_INT(model.now.count, 2);
    finish();
}

TEST(a_damaged_journal_is_not_folded)
{
    begin(1);
    for (unsigned i = 0; i < 20; i++)
        add_url(i);
    flush();
    close_file(1);
    struct disk_model_bytes *content = &model.files[0].now;
    for (size_t i = 0; i < content->len; i++) {
        content->bytes[i] ^= 0x10;
        CHECK_INT(fold_first_file(), -EBADMSG);
        CHECK_INT(model.now.count, 2);
        content->bytes[i] ^= 0x10;
    }
    CHECK_INT(fold_first_file(), 0);
    finish();
}

TEST(a_fold_that_is_stopped_leaves_nothing)
{
    begin(1);
    add_url(1);
    flush();
    close_file(1);
    copy(&model, &whole);
    lf_store(&fold.stops, true, relaxed);
    CHECK_INT(fold_first_file(), -ECANCELED);
    CHECK_INT(model.now.count, 2);
    finish();
}
