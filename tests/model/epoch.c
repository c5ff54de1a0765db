/* The epochs of a durable crawl (engine/state/commit.h): two loops find links, give verdicts and take up epochs, the
 * housekeeper commits. After each schedule the journal and crawl.log are read back. At every COMMIT:
 *
 *   I1   crawl.log, up to the length that the COMMIT tells, has a line for each DONE record and no other
 *   I2   what is done was admitted
 *   I3   so was the link of each page that is done, also if the other loop found it first
 *   I4   all frames before it are of its epoch or an earlier one, all frames behind it of a later one
 *
 * ledger, outlet, journal, commit and sieve are the crawl's own sources, compiled with LF_MODEL, and so is all that they
 * use of lockfree/. Their callers are played: what harvest_flush, frontier_push and visit_read_page do, in the same order,
 * but without hosts and pages. The disk is that of support/disk_model.h; it knows nothing of threads. */
#include <stdlib.h>
#include <time.h>

#include "engine/crawl/ledger.h"
#include "engine/frontier/sieve.h"
#include "engine/state/commit.h"
#include "engine/state/journal_read.h"
#include "lockfree/inbox.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"
#include "tests/support/model.h"

/* The first two are pages whose one link is the third. */
enum { PAGE_A, PAGE_B, LINK, URLS };

enum {
    LOOPS = 2,
    LOG_BLOCKS = 3, /* with a seal they fill a ring of four */
    EPOCH = 2,      /* in which the loops begin; the first is that of the seeds */
};

struct loop {
    struct ledger ledger;
    struct outlet log;
    struct journal_loop journal;
    struct sieve_loop sieve;
    struct stats stats;
};

static struct disk_model disk;
static struct commit commit;
static struct loop loops[LOOPS];
static struct sieve sieve;
static _Alignas(LF_CACHE_LINE) _Atomic(uint64_t) sieve_memory[8];
static struct inbox inbox; /* of the link's host */
static struct inbox_node item;
static uint64_t last_epoch;      /* at the end of a schedule */
static bool has_lost_link[URLS]; /* the sieve was full, so its link is in no journal */

/* Time stands still: the housekeeper's turns end when there is nothing to write, not when they took long. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){0};
    return 0;
}

/* Before each schedule. */

static size_t ring_bytes(const struct outlet *outlet)
{
    return (size_t)((char *)outlet->empty.producer.end - (char *)outlet->ring_memory);
}

/* An outlet is set up once, so that its rings lie at the same addresses in all schedules. */
static void reset_outlet(struct outlet *outlet, unsigned index)
{
    static struct {
        struct outlet outlet;
        char rings[1024];
    } fresh[2 * LOOPS];
    size_t bytes = ring_bytes(outlet);
    if (!fresh[index].outlet.blocks) {
        CHECK(bytes <= sizeof fresh[index].rings);
        fresh[index].outlet = *outlet;
        memcpy(fresh[index].rings, outlet->ring_memory, bytes);
    }
    *outlet = fresh[index].outlet;
    memcpy(outlet->ring_memory, fresh[index].rings, bytes);
}

static void reset_loop(unsigned index)
{
    struct loop *loop = &loops[index];
    if (!loop->log.blocks) {
        struct outlet_options options = {.files = &commit.files,
                                         .bytes = LOG_BLOCKS * sizeof(struct outlet_block),
                                         .is_shared = true};
        CHECK_INT(outlet_init(&loop->log, &options), 0);
        CHECK_INT(journal_loop_init(&loop->journal, index), 0);
    }
    reset_outlet(&loop->log, 2 * index);
    reset_outlet(&loop->journal.outlet, 2 * index + 1);
    loop->ledger = (struct ledger){.log = &loop->log,
                                   .journal = &loop->journal,
                                   .epoch = &commit.epoch,
                                   .stats = &loop->stats,
                                   .loop = index};
    loop->journal.epoch = loop->ledger.adopted = EPOCH - 1;
    loop->journal.via = 0;
    sieve_loop_init(&loop->sieve, &sieve);
    CHECK(outlet_open(&loop->log, "crawl.log"));
    commit_add_loop(&commit, &(struct commit_loop){.log = &loop->log, .journal = &loop->journal});
}

static void reset_commit(void)
{
    struct commit_options options = {.disk = &disk.disk, .directory = "d", .has_journal = true};
    if (disk.disk.owner) {
        commit_fini(&commit);
        disk_model_fini(&disk);
    }
    disk_model_init(&disk);
    commit_init(&commit, &options);
    commit.sync_next_ns = UINT64_MAX; /* a sync changes nothing for the loops */
    CHECK_INT(commit_begin(&commit, &(struct journal_session){0}, (struct journal_place){.number = 1}, 0), 0);
}

static void reset_sieve(enum tuning_sieve kind)
{
    memset(sieve_memory, 0, sizeof sieve_memory);
    sieve = (struct sieve){.kind = kind, .loops = LOOPS, .bloom_count_max = 100};
    signatures_init(&sieve.signatures, sieve_memory, sizeof sieve_memory);
    bloom_init(&sieve.bloom, sieve_memory, sizeof sieve_memory);
    sieve.signatures.plain = sieve.bloom.plain = true;
}

static void record_url(struct loop *loop, unsigned url)
{
    struct record_url record = {.signature = url, .kind = HOST_ITEM_LINK, .text = SLICE("http://h/")};
    journal_add_url(&loop->journal, &record, SLICE(""));
}

static void begin_with(enum tuning_sieve kind, unsigned loop_count)
{
    inbox_init_open(&inbox);
    memset(has_lost_link, 0, sizeof has_lost_link);
    reset_sieve(kind);
    reset_commit();
    for (unsigned i = 0; i < loop_count; i++)
        reset_loop(i);
    record_url(&loops[0], PAGE_A);
    record_url(&loops[0], PAGE_B);
    CHECK_INT(commit_now(&commit), 0);
    for (unsigned i = 0; i < loop_count; i++)
        loops[i].journal.epoch = loops[i].ledger.adopted = EPOCH;
    last_epoch = EPOCH + 1;
}

/* The threads. */

/* harvest_flush: no epoch is taken up between the sieve's answer and the record. Then frontier_push. */
static void find_link(struct loop *loop, unsigned page)
{
    static const uint64_t signature = 0x9e3779b97f4a7c15; /* of LINK */
    enum sieve_answer answer;
    sieve_add(&loop->sieve, &signature, 1, &answer);
    has_lost_link[page] = answer == SIEVE_FULL;
    if (answer != SIEVE_NEW)
        return;
    if (LF_BUG(epoch_adopted_before_record, false, true))
        ledger_adopt(&loop->ledger);
    record_url(loop, LINK);
    inbox_push(&inbox, &item);
}

/* store_page and conclude: log line and DONE record are one unit. */
static void give_verdict(struct loop *loop, unsigned url)
{
    const char line[] = {(char)('a' + url), '\n'};
    if (LF_BUG(epoch_not_adopted_before_verdict, true, false))
        model_check(ledger_begin(&loop->ledger));
    outlet_append_whole(&loop->log, (struct slice){line, sizeof line});
    if (LF_BUG(epoch_adopted_within_verdict, false, true))
        ledger_adopt(&loop->ledger);
    journal_add_done(&loop->journal, &(struct record_done){.signature = url});
}

/* The turns of a loop that has nothing else to do. */
static void follow(struct loop *loop, uint64_t epoch)
{
    for (ledger_adopt(&loop->ledger); loop->ledger.adopted < epoch; ledger_adopt(&loop->ledger))
        lf_pause();
}

static void read_page(unsigned index, unsigned page)
{
    struct loop *loop = &loops[index];
    ledger_adopt(&loop->ledger);
    find_link(loop, page);
    give_verdict(loop, page);
    follow(loop, last_epoch);
}

static void read_page_a(void)
{
    read_page(0, PAGE_A);
}

static void read_page_b(void)
{
    read_page(1, PAGE_B);
}

/* The other loop visits the link as soon as it is queued. */
static void visit_link(void)
{
    struct loop *loop = &loops[1];
    while (!inbox_take(&inbox))
        lf_pause();
    give_verdict(loop, LINK);
    follow(loop, last_epoch);
}

static void keep_house(void)
{
    uint64_t wait_ns;
    while (commit.committed + 1 < last_epoch) {
        model_check(commit_turn(&commit, 1, &wait_ns) == 0);
        lf_pause();
    }
}

/* What is in the files after each schedule. */

struct found {
    uint64_t epoch; /* of the last COMMIT */
    uint64_t log_bytes;
    bool is_admitted[URLS], is_done[URLS], is_logged[URLS];
};

static void take_records(struct found *found, struct slice rest)
{
    struct record record;
    while (record_read(&rest, &record)) {
        if (record.type == RECORD_URL)
            found->is_admitted[record.url.signature] = true;
        if (record.type == RECORD_DONE)
            found->is_done[record.done.signature] = true;
    }
}

static void take_log(struct found *found, struct slice files)
{
    struct slice log = disk_model_content(&disk, "d/crawl.log"), name;
    while (journal_next_file(&files, &name, &found->log_bytes))
        model_check(slice_equals(name, SLICE("crawl.log")) && found->log_bytes <= log.len);
    for (size_t i = 0; i < found->log_bytes; i += 2)
        found->is_logged[log.ptr[i] - 'a'] = true;
}

static void check_commit(const struct found *found)
{
    for (unsigned url = 0; url < URLS; url++) {
        model_check(found->is_logged[url] == found->is_done[url]);  /* I1 */
        model_check(!found->is_done[url] || found->is_admitted[url]); /* I2 */
        if (found->is_done[url] && url != LINK && !has_lost_link[url])
            model_check(found->is_admitted[LINK]); /* I3 */
    }
}

static void check_files(void)
{
    struct journal_reader reader;
    struct found found = {0};
    uint64_t latest = 0; /* of all frames */
    for (unsigned i = 0; i < commit.loop_count; i++)
        outlet_flush(&loops[i].log);
    CHECK_INT(commit_now(&commit), 0); /* what the loops have not handed over yet */
    CHECK_INT(journal_reader_init(&reader, &disk.disk, "d/state", 1), 0);
    while (journal_reader_next(&reader) == JOURNAL_FOUND_FRAME) {
        uint64_t epoch = reader.frame.epoch;
        model_check(epoch > found.epoch); /* I4 */
        latest = epoch > latest ? epoch : latest;
        if (reader.frame.kind == JOURNAL_DATA)
            take_records(&found, reader.payload);
        if (reader.frame.kind != JOURNAL_COMMIT)
            continue;
        model_check(latest == epoch); /* I4 */
        found.epoch = epoch;
        take_log(&found, reader.payload);
        check_commit(&found);
    }
    journal_reader_fini(&reader);
    model_check(found.epoch == last_epoch);
}

static void begin_signatures(void)
{
    begin_with(TUNING_SIEVE_SIGNATURES, LOOPS);
}

static void begin_bloom(void)
{
    begin_with(TUNING_SIEVE_BLOOM, LOOPS);
}

/* Whoever comes second finds the filter full. */
static void begin_bloom_full(void)
{
    begin_with(TUNING_SIEVE_BLOOM, LOOPS);
    sieve.bloom_count_max = 1;
}

/* The bugs that are planted here show with one preemption and one weak step. */
static void verify(struct model_case c)
{
    const char *is_long = getenv("LYCOSA_LONG");
    unsigned more = is_long && strcmp(is_long, "ON") == 0;
    char name[64];
    c.finish = check_files;
    c.preemptions = 2 + more;
    model_verify(&c);
    snprintf(name, sizeof name, "%s_weak", c.name);
    c.name = name;
    c.preemptions = 1 + more;
    c.weak = 1;
    model_verify(&c);
}

TEST(every_link_of_a_page_is_admitted_no_later_than_its_verdict)
{
    struct model_case c = {.name = "epoch_signatures",
                           .begin = begin_signatures,
                           .threads = {read_page_a, read_page_b, keep_house}};
    verify(c);
    c.name = "epoch_bloom";
    c.begin = begin_bloom;
    verify(c);
    c.name = "epoch_bloom_full";
    c.begin = begin_bloom_full;
    verify(c);
}

TEST(a_url_is_admitted_no_later_than_its_verdict)
{
    struct model_case c = {.name = "epoch_inbox",
                           .begin = begin_signatures,
                           .threads = {read_page_a, visit_link, keep_house}};
    verify(c);
}

/* A ring holds all blocks and one seal. So the seal of the last epoch has to be gone, and be seen to be, when all blocks
 * were filled again and the next one comes. */
static void begin_alone(void)
{
    begin_with(TUNING_SIEVE_SIGNATURES, 1);
    last_epoch = EPOCH + 2;
}

static void fill_blocks(void)
{
    struct loop *loop = &loops[0];
    follow(loop, EPOCH + 1);
    for (unsigned i = 0; i < LOG_BLOCKS; i++) {
        while (outlet_room(&loop->log) == 0)
            lf_pause();
        outlet_append(&loop->log, SLICE("x"));
        outlet_flush(&loop->log);
    }
    follow(loop, last_epoch);
}

TEST(a_seal_finds_room)
{
    struct model_case c = {.name = "epoch_seal",
                           .begin = begin_alone,
                           .threads = {fill_blocks, keep_house},
                           .preemptions = 2,
                           .weak = 1};
    model_verify(&c);
}
