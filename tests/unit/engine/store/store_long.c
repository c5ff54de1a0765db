/* Long pages: step by step, beside short ones, given up in the middle, without room in the middle. */
#include "engine/store/limits.h"
#include "tests/support/pace.h"
#include "tests/unit/engine/store/store_frame.h"

enum { LONG_BYTES = 10 << 20 };

static char long_buffer[STORE_HEADROOM + sizeof HEAD + LONG_BYTES + STORE_TAILROOM];
static char other_buffer[STORE_HEADROOM + sizeof HEAD + LONG_BYTES + STORE_TAILROOM];

struct effort {
    enum tuning_compress compress;
    unsigned level;
};
static const struct effort efforts[] = {{TUNING_COMPRESS_NONE, 1}, {TUNING_COMPRESS_GZIP, 1},
                                        {TUNING_COMPRESS_GZIP, 6}, {TUNING_COMPRESS_GZIP, 12},
                                        {TUNING_COMPRESS_ZSTD, 1}, {TUNING_COMPRESS_ZSTD, 12}};
enum { EFFORTS = sizeof efforts / sizeof efforts[0] };

static void set_up_long(struct effort effort)
{
    set_up();
    tuning.fixed.net.body_bytes_max = LONG_BYTES;
    tuning.fixed.store.compress = effort.compress;
    tuning.fixed.store.level = effort.level;
}

/* What a body is made of: words, noise, or letters that are hard to compress. */
enum text { WORDS, NOISE, LETTERS };

static struct store_page make(char *buffer, size_t len, enum text text)
{
    static uint64_t state = 88172645463325252;
    static const char words[][12] = {"<a href=\"/", "page", " of ",    "\">words",
                                     "</a><p>",     "the",  "crawler", "\n"};
    struct store_page page = page_in(buffer, len, "http://a.it/long");
    char *body = page.response + page.head_len;
    for (size_t i = 0; i < len;) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint64_t random = state >> 20;
        const char *word = words[random % 8];
        size_t word_len = text == WORDS ? strlen(word) : 1;
        for (size_t k = 0; k < word_len && i < len; k++)
            body[i++] = text == WORDS ? word[k] : text == NOISE ? (char)random : "ab"[random & 1];
    }
    return page;
}

static void note_longest(uint64_t *longest, uint64_t *before)
{
    uint64_t now = pace_thread_ns();
    *longest = now - *before > *longest ? now - *before : *longest;
    *before = now;
}

/* Stores the page a step at a time; returns the longest step in nanoseconds of this thread. */
static uint64_t longest_step(const struct store_page *page, unsigned *steps)
{
    uint64_t longest = 0, before = pace_thread_ns();
    enum store_progress progress = STORE_MORE;
    *steps = 0;
    while (progress != STORE_READY) {
        progress = store_prepare(&store, page, 0);
        note_longest(&longest, &before);
        CHECK_INT(outlet_drain(&store.outlet), 0);
        before = pace_thread_ns();
        ++*steps;
    }
    CHECK(store_finish(&store, page));
    note_longest(&longest, &before);
    return longest;
}

/* The least of three: a machine that is busy adds to each. */
static void check_steps(struct effort effort, enum text text, size_t len)
{
    uint64_t least = UINT64_MAX;
    unsigned steps;
    set_up_long(effort);
    begin();
    for (int i = 0; i < 3; i++) {
        struct store_page page = make(long_buffer, len, text);
        CHECK(store_is_long(&store, page.head_len + page.body_len));
        uint64_t longest = longest_step(&page, &steps);
        least = longest < least ? longest : least;
        CHECK(steps >= 2 * (len / PACKER_STEP_BYTES));
    }
    CHECK(least < pace_bound_ns(8));
    finish();
    struct summary summary = check_files();
    CHECK_INT(summary.responses, 3);
    CHECK_INT(summary.payload, 3 * len);
}

TEST(every_step_is_short)
{
    for (unsigned i = 0; i < EFFORTS; i++) {
        size_t len = efforts[i].level > 1 ? 1 << 20 : LONG_BYTES;
        check_steps(efforts[i], WORDS, len);
        check_steps(efforts[i], NOISE, len);
        check_steps(efforts[i], LETTERS, efforts[i].level > 1 ? 1 << 17 : len);
    }
}

/* What is stored at once must not take longer than a step. */
static void check_longest_whole(struct effort effort, enum text text)
{
    uint64_t least = UINT64_MAX;
    set_up_long(effort);
    begin();
    for (int i = 0; i < 3; i++) {
        uint64_t longest = 0;
        struct store_page page = make(long_buffer, store.whole_bytes - (sizeof HEAD - 1), text);
        page.payload_digest = NULL; /* as if the caller made it */
        uint64_t before = pace_thread_ns();
        CHECK(store_add(&store, &page));
        note_longest(&longest, &before);
        least = longest < least ? longest : least;
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    CHECK(least < pace_bound_ns(8));
    finish();
    CHECK_INT(check_files().responses, 3);
}

TEST(what_is_stored_at_once_is_short)
{
    for (unsigned level = 1; level <= 12; level++)
        for (enum text text = WORDS; text <= LETTERS; text++) {
            check_longest_whole((struct effort){TUNING_COMPRESS_GZIP, level}, text);
            check_longest_whole((struct effort){TUNING_COMPRESS_ZSTD, level}, text);
        }
    check_longest_whole((struct effort){TUNING_COMPRESS_NONE, 1}, WORDS);
}

static bool add_short(void)
{
    static char buffer[STORE_HEADROOM + sizeof HEAD + 1000 + STORE_TAILROOM];
    struct store_page page = make(buffer, 1000, WORDS);
    page.payload_digest = NULL;
    return store_add(&store, &page);
}

TEST(short_pages_do_not_wait_for_a_long_one)
{
    for (unsigned i = 0; i < EFFORTS; i++) {
        unsigned added = 0;
        set_up_long(efforts[i]);
        begin();
        struct store_page page = make(long_buffer, 1 << 20, NOISE);
        while (store_prepare(&store, &page, 0) != STORE_READY) {
            CHECK(store_has_work(&store));
            if (added < 100)
                CHECK(add_short());
            added += added < 100;
        }
        CHECK(!store_has_work(&store));
        CHECK(added >= 4);
        CHECK(store_finish(&store, &page));
        CHECK(add_short());
        finish();
        struct summary summary = check_files();
        CHECK_INT(summary.responses, added + 2);
        CHECK_INT(summary.payload, (added + 1) * 1000 + (1 << 20));
    }
}

/* The caller's clock may be adjusted between two turns, and what it says of the page then differs. */
TEST(both_records_of_a_long_page_have_one_date)
{
    set_up_long(efforts[1]);
    begin();
    struct store_page page = make(long_buffer, 1 << 20, NOISE);
    CHECK_INT(store_prepare(&store, &page, 0), STORE_MORE);
    page.date_us++;
    CHECK_INT(store_prepare(&store, &page, UINT64_MAX), STORE_READY);
    page.date_us++;
    CHECK(store_finish(&store, &page));
    finish();
    CHECK_INT(check_files().responses, 1);
}

TEST(long_pages_wait_for_each_other)
{
    set_up_long(efforts[1]);
    begin();
    struct store_page one = make(long_buffer, 1 << 20, NOISE), two = make(other_buffer, 1 << 19, WORDS);
    CHECK_INT(store_prepare(&store, &one, 0), STORE_MORE);
    store_turn(&store);
    CHECK_INT(store_prepare(&store, &two, UINT64_MAX), STORE_MORE);
    CHECK_INT(store_prepare(&store, &one, UINT64_MAX), STORE_READY);
    CHECK(!store_has_work(&store)); /* before the verdict nothing goes on */
    CHECK(store_finish(&store, &one));
    CHECK(store_has_work(&store));
    store_turn(&store);
    CHECK_INT(store_prepare(&store, &two, UINT64_MAX), STORE_READY);
    CHECK(store_finish(&store, &two));
    CHECK(!store_has_work(&store));
    finish();
    CHECK_INT(check_files().payload, (1 << 20) + (1 << 19));
}

TEST(a_page_that_is_given_up_leaves_nothing_in_the_file)
{
    for (unsigned i = 0; i < EFFORTS; i++)
        for (unsigned steps = 1; steps <= 10; steps += 3) {
            set_up_long(efforts[i]);
            begin();
            CHECK(add_short());
            struct store_page page = make(long_buffer, 1 << 20, NOISE);
            for (unsigned k = 0; k < steps; k++)
                CHECK(store_prepare(&store, &page, 0) != STORE_FULL);
            store_cancel(&store, long_buffer); /* another page's: a no-op */
            CHECK(store_holds(&store, page.response));
            store_cancel(&store, page.response);
            CHECK(!store_holds(&store, page.response));
            CHECK(!store_has_work(&store));
            CHECK(add_short());
            page = make(long_buffer, 1 << 19, WORDS);
            CHECK_INT(store_prepare(&store, &page, UINT64_MAX), STORE_READY);
            CHECK(store_finish(&store, &page));
            finish();
            struct summary summary = check_files();
            CHECK_INT(summary.responses, 3);
            CHECK_INT(summary.payload, 2000 + (1 << 19));
        }
}

/* The end of a crawl whose ring failed. */
TEST(a_store_may_end_in_the_middle_of_a_page)
{
    for (unsigned i = 0; i < EFFORTS; i++) {
        set_up_long(efforts[i]);
        begin();
        CHECK(add_short());
        struct store_page page = make(long_buffer, 1 << 20, NOISE);
        for (unsigned k = 0; k < 8; k++)
            CHECK_INT(store_prepare(&store, &page, 0), STORE_MORE);
        finish();
        CHECK_INT(check_files().responses, 1);
    }
}

TEST(a_page_that_finds_no_room_in_the_middle_goes_on_later)
{
    for (unsigned i = 0; i < EFFORTS; i++) {
        unsigned added = 0, full = 0;
        enum store_progress progress;
        set_up_long(efforts[i]);
        tuning.fixed.net.body_bytes_max = 1 << 20;
        tuning.fixed.store.buffer_bytes = 1 << 20; /* as little as the longest page needs */
        begin();
        struct store_page page = make(long_buffer, 1 << 20, NOISE);
        while (add_short())
            CHECK(++added < 10000);
        while ((progress = store_prepare(&store, &page, 0)) != STORE_READY) {
            if (progress != STORE_FULL)
                continue;
            full++;
            CHECK(!store_has_work(&store));
            CHECK(!add_short());
            CHECK_INT(outlet_write(&store.outlet), 1);
            CHECK(full < 100);
        }
        CHECK(full > 0);
        while (!store_finish(&store, &page))
            CHECK_INT(outlet_write(&store.outlet), 1);
        CHECK_INT(outlet_drain(&store.outlet), 0);
        CHECK(add_short());
        finish();
        struct summary summary = check_files();
        CHECK_INT(summary.responses, added + 2);
        CHECK_INT(summary.payload, (added + 1) * 1000 + (1 << 20));
    }
}

/* The record names the warcinfo of its file, so it must be in that file. check_files checks that. */
TEST(a_file_is_not_closed_while_a_long_page_is_made_for_it)
{
    set_up_long(efforts[1]);
    tuning.fixed.store.file_bytes = 65536;
    begin();
    struct store_page page = make(long_buffer, 1 << 20, NOISE);
    CHECK(add_short());
    for (unsigned i = 0; i < 8; i++)
        CHECK_INT(store_prepare(&store, &page, 0), STORE_MORE);
    CHECK_INT(store.job.phase, STORE_PACKS);
    while (store.offset < 70000) {
        CHECK(add_short());
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    CHECK_INT(store_prepare(&store, &page, UINT64_MAX), STORE_READY);
    CHECK(store_finish(&store, &page));
    CHECK_INT(store.serial, 1);
    CHECK(add_short());
    CHECK_INT(store.serial, 2);
    finish();
    CHECK_INT(check_files().files, 2);
}

TEST(of_an_unwanted_page_only_the_digest_is_made)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    unsigned steps = 1;
    set_up_long(efforts[1]);
    begin();
    struct store_page page = make(long_buffer, 1 << 20, NOISE);
    page.is_unwanted = true;
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, (struct slice){page.response + page.head_len, page.body_len});
    fingerprint_sha1_finish(&sha1, digest);
    while (store_prepare(&store, &page, 0) == STORE_MORE)
        steps++;
    CHECK_INT(steps, (1 << 20) / STORE_DIGEST_STEP_BYTES);
    CHECK(memcmp(page.payload_digest, digest, sizeof digest) == 0);
    CHECK(memcmp(page.response, HEAD, sizeof HEAD - 1) == 0); /* left as it was */
    CHECK(!store_has_work(&store));
    finish();
    CHECK_INT(check_files().files, 0);
}
