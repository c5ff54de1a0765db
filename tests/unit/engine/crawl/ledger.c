#include "engine/crawl/ledger.h"

#include <time.h>

#include "engine/url/hash.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/unit/engine/crawl/harvest_frame.h"
#include "tests/unit/engine/crawl/journal_records.h"

/* Whatever the monotonic clock shows, the date is that of the wall clock: also after one of them was set. */
TEST(dates_follow_the_wall_clock)
{
    const uint64_t moments_ns[] = {CLOCK_NS_PER_S, clock_now_ns(), UINT64_C(1) << 62};
    struct ledger ledger = {.loop = 0};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t before_us = (uint64_t)time(NULL) * 1000000;
        ledger_set_clock(&ledger, moments_ns[i]);
        uint64_t wall_us = ledger_wall_us(&ledger, moments_ns[i]);
        uint64_t after_us = ((uint64_t)time(NULL) + 1) * 1000000;
        CHECK(wall_us >= before_us && wall_us <= after_us);
        CHECK_INT(ledger_wall_us(&ledger, moments_ns[i] + CLOCK_NS_PER_S) - wall_us, 1000000);
    }
}

static struct outlet log_outlet, store_outlet;
static struct journal_loop book;
static _Atomic(uint64_t) epoch;
static struct ledger ledger;

static void begin_ledger(void)
{
    set_up();
    begin();
    struct outlet_options options = {.bytes = 2 * sizeof(struct outlet_block)};
    CHECK_INT(outlet_init(&log_outlet, &options), 0);
    CHECK_INT(outlet_init(&store_outlet, &options), 0);
    CHECK_INT(journal_loop_init(&book, 0), 0);
    lf_store(&epoch, 1, relaxed);
    book.epoch = 1;
    ledger = (struct ledger){.log = &log_outlet,
                             .store = &store_outlet,
                             .journal = &book,
                             .epoch = &epoch,
                             .adopted = 1,
                             .stats = &stats,
                             .frontier = &queues};
}

static void finish_ledger(void)
{
    outlet_fini(&log_outlet);
    outlet_fini(&store_outlet);
    journal_loop_fini(&book);
    finish();
}

/* The next block of the stream as a string; "": there is none. */
static const char *written(struct outlet *outlet)
{
    static char text[OUTLET_BLOCK_BYTES + 1];
    outlet_flush(outlet);
    struct outlet_block *block = outlet_next(outlet);
    size_t len = block ? block->used : 0;
    if (block) {
        memcpy(text, block->bytes, len);
        outlet_done(outlet, block);
    }
    text[len] = '\0';
    return text;
}

/* Whether the housekeeper stands at a seal now; if so it goes on. */
static bool is_sealed(struct outlet *outlet)
{
    CHECK_STR(written(outlet), "");
    bool is_held = outlet->is_held;
    outlet_release(outlet);
    return is_held;
}

/* Gives the verdict on a URL of a.it. */
static void finish_url(const char *path, const struct ledger_verdict *verdict)
{
    take(path, HOST_ITEM_LINK);
    struct host *host = host_of("http://a.it/");
    ledger_finish(&ledger, host, host_pop(host, false), verdict);
}

/* The only record of the journal's next block. */
static struct record_done told(uint64_t of_epoch)
{
    struct journal_frame frame;
    struct record record;
    struct slice rest = journal_records(&book, &frame);
    CHECK(record_read(&rest, &record) && record.type == RECORD_DONE && rest.len == 0);
    CHECK_INT(frame.epoch, of_epoch);
    return record.done;
}

TEST(a_new_epoch_seals_every_outlet_once)
{
    struct outlet *const outlets[] = {&log_outlet, &store_outlet, &book.outlet};
    begin_ledger();
    ledger_adopt(&ledger);
    for (unsigned i = 0; i < 3; i++)
        CHECK(!is_sealed(outlets[i]));
    stats_add(&stats.stored, 3);
    lf_store(&epoch, 2, relaxed);
    CHECK(ledger_begin(&ledger));
    ledger_adopt(&ledger);
    CHECK_INT(ledger.adopted, 2);
    CHECK_INT(book.epoch, 2);
    stats_add(&stats.stored, 4);
    CHECK_INT(ledger.stored, 3); /* the summary of a commit is of the pages before its seal */
    for (unsigned i = 0; i < 3; i++) {
        CHECK(is_sealed(outlets[i]));
        CHECK(!is_sealed(outlets[i]));
    }
    finish_ledger();
}

/* Also not if a loop with another index gave as many. */
TEST(no_two_visits_have_the_same_number)
{
    struct ledger first = {.loop = 0}, second = {.loop = TUNING_THREADS_MAX - 1};
    CHECK_INT(ledger_number_visit(&first), TUNING_THREADS_MAX);
    CHECK_INT(ledger_number_visit(&second), 2 * TUNING_THREADS_MAX - 1);
    CHECK_INT(ledger_number_visit(&first), 2 * TUNING_THREADS_MAX);
}

TEST(the_log_tells_the_visit_of_a_url_if_there_was_one)
{
    begin_ledger();
    ledger.has_extra = true;
    finish_url("/x", &(struct ledger_verdict){.visit = 64, .outlinks = 2, .first_byte_ms = 5});
    CHECK(strstr(written(&log_outlet), " {\"v\":64,\"o\":2,\"f\":5}\n"));
    finish_url("/y", &(struct ledger_verdict){.outcome = FETCH_ROBOTS_DENIED, .size = -1});
    CHECK(strstr(written(&log_outlet), " robots-denied {}\n"));
    finish_ledger();
}

TEST(a_ledger_may_have_a_log_alone)
{
    begin_ledger();
    ledger.store = NULL;
    ledger.journal = NULL;
    lf_store(&epoch, 2, relaxed);
    CHECK(ledger_begin(&ledger));
    CHECK(is_sealed(&log_outlet));
    finish_url("/x", &(struct ledger_verdict){.outcome = FETCH_DONE, .size = 1});
    CHECK(strstr(written(&log_outlet), "http://a.it/x") != NULL);
    CHECK(!is_sealed(&store_outlet) && !is_sealed(&book.outlet));
    finish_ledger();
}

TEST(line_and_record_of_a_verdict_are_of_one_epoch)
{
    const struct ledger_verdict verdict = {.outcome = FETCH_DONE, .size = 1};
    begin_ledger();
    finish_url("/1", &verdict);
    lf_store(&epoch, 2, relaxed); /* between two verdicts */
    CHECK(ledger_begin(&ledger));
    finish_url("/2", &verdict);
    CHECK_INT(told(1).signature, hash_slice(SLICE("http://a.it/1")));
    CHECK(is_sealed(&book.outlet));
    CHECK_INT(told(2).signature, hash_slice(SLICE("http://a.it/2")));
    const char *lines = written(&log_outlet);
    CHECK(strstr(lines, "http://a.it/1 ") && !strstr(lines, "http://a.it/2 "));
    CHECK(is_sealed(&log_outlet));
    CHECK(strstr(written(&log_outlet), "http://a.it/2 ") != NULL);
    finish_ledger();
}

TEST(there_is_no_verdict_without_room)
{
    begin_ledger();
    CHECK(ledger_has_room(&ledger));
    journal_fill(&book);
    lf_store(&epoch, 2, relaxed);
    CHECK(!ledger_begin(&ledger));
    CHECK_INT(ledger.adopted, 2); /* a commit does not wait for those who wait for it */
    journal_drain(&book);
    CHECK(ledger_begin(&ledger));
    outlet_append(&log_outlet, SLICE("a line"));
    CHECK(ledger_begin(&ledger)); /* a whole block is free beside that of the line */
    outlet_flush(&log_outlet);
    outlet_append(&log_outlet, SLICE("another line"));
    CHECK(!ledger_begin(&ledger));
    CHECK(is_sealed(&log_outlet));
    CHECK_STR(written(&log_outlet), "a line");
    CHECK(ledger_begin(&ledger));
    finish_ledger();
}

TEST(the_record_says_what_became_of_the_url)
{
    const struct ledger_verdict page = {
        .outcome = FETCH_DONE, .status = 404, .size = 70000, .is_page = true, .is_stored = true};
    const struct ledger_verdict failure = {.outcome = FETCH_CONNECT_REFUSED, .size = -1};
    const struct ledger_verdict huge = {
        .outcome = FETCH_DONE, .status = 200, .size = INT64_C(1) << 40, .is_page = true};
    begin_ledger();
    finish_url("/x?y", &page);
    struct record_done done = told(1);
    CHECK_INT(done.signature, hash_slice(SLICE("http://a.it/x?y"))); /* as the URL record has it */
    CHECK_INT(done.host, record_host_signature(SLICE("http://a.it")));
    CHECK_INT(done.body_bytes, 70000);
    CHECK_INT(done.status, 404);
    CHECK_INT(done.outcome, FETCH_DONE);
    CHECK(done.is_page && done.is_stored);
    finish_url("/2", &failure);
    done = told(1);
    CHECK(done.outcome == FETCH_CONNECT_REFUSED && done.status == 0 && done.body_bytes == 0);
    CHECK(!done.is_page && !done.is_stored);
    finish_url("/3", &huge);
    done = told(1);
    CHECK(done.body_bytes == UINT32_MAX && done.is_page && !done.is_stored);
    finish_ledger();
}

TEST(a_verdict_ends_the_url)
{
    begin_ledger();
    finish_url("/1", &(struct ledger_verdict){.outcome = FETCH_CONNECT_REFUSED, .size = -1});
    CHECK_INT(stats_get(&stats.outcomes[FETCH_CONNECT_REFUSED]), 1);
    CHECK_INT(stats_get(&stats.urls_out), 1);
    CHECK_INT(queues.urls.bytes_in_use, 0);
    CHECK_INT(lf_load(&host_of("http://a.it/")->queued, relaxed), 0);
    finish_ledger();
}

/* The page that led here is named in full, and the last try is counted with those before it. */
TEST(the_line_says_how_the_url_was_found)
{
    begin_ledger();
    take("/x", HOST_ITEM_LINK);
    struct host *host = host_of("http://a.it/");
    struct host_item *item = host_pop(host, false);
    item->tries = 2;
    struct ledger_verdict verdict = {.outcome = FETCH_DONE, .status = 200, .size = 5, .start_ns = clock_now_ns()};
    ledger_finish(&ledger, host, item, &verdict);
    const char *line = written(&log_outlet);
    CHECK(strstr(line, " http://a.it/x L http://a.it/dir/page ") != NULL);
    CHECK(strstr(line, " 3t\n") != NULL);
    verdict.tries = 7; /* those of the host */
    verdict.outcome = FETCH_CONNECT_REFUSED;
    finish_url("/y", &verdict);
    line = written(&log_outlet);
    CHECK(strstr(line, ",7t\n") != NULL);
    finish_ledger();
}

TEST(errands_leave_no_trace)
{
    static const enum host_item_kind kinds[] = {HOST_ITEM_ROBOTS, HOST_ITEM_ANSWER};
    begin_ledger();
    for (unsigned i = 0; i < 2; i++) {
        take(i ? "/1" : "/2", HOST_ITEM_LINK);
        struct host *host = host_of("http://a.it/");
        struct host_item *item = host_pop(host, false);
        item->kind = (uint8_t)kinds[i];
        ledger_finish(&ledger, host, item, &(struct ledger_verdict){.outcome = FETCH_DONE});
    }
    CHECK_STR(written(&log_outlet), "");
    CHECK_STR(written(&book.outlet), "");
    CHECK_INT(stats_get(&stats.outcomes[FETCH_DONE]), 0);
    CHECK_INT(stats_get(&stats.urls_out), 2);
    CHECK_INT(queues.urls.bytes_in_use, 0);
    finish_ledger();
}

TEST(a_url_without_an_item_gets_its_verdict)
{
    begin_ledger();
    uint64_t out = stats_get(&stats.urls_out);
    struct record_url record = {.kind = HOST_ITEM_LINK, .text = SLICE("http://a.it:8080/x?y")};
    struct ledger_verdict verdict = {.outcome = FETCH_DROPPED, .size = -1};
    CHECK(ledger_begin(&ledger));
    ledger_finish_record(&ledger, &record, SLICE("http://b.it/"), &verdict);
    outlet_flush(&log_outlet);
    const char *line = written(&log_outlet);
    CHECK(strstr(line, " -6000 ") && strstr(line, " http://a.it:8080/x?y ") && strstr(line, " http://b.it/ "));
    CHECK(strstr(line, "dropped-by-operator"));
    CHECK_INT(stats_get(&stats.outcomes[FETCH_DROPPED]), 1);
    CHECK_INT(stats_get(&stats.urls_out), out + 1);
    finish_ledger();
}
