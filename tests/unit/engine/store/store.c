/* Pages go in, files come out. */
#include <sched.h>

#include "lockfree/clock.h"
#include "tests/unit/engine/store/store_frame.h"

/* A page whose body is `len` bytes of `byte`, or noise if that is 0. */
static bool add(const char *url, size_t len, char byte)
{
    static char buffer[STORE_HEADROOM + sizeof HEAD + (1 << 20) + STORE_TAILROOM];
    static uint32_t noise = 1;
    struct store_page page = page_in(buffer, len, url);
    for (size_t i = 0; i < len; i++) {
        noise = noise * 1103515245 + 12345;
        page.response[page.head_len + i] = byte ? byte : (char)(noise >> 16);
    }
    if (!store_is_long(&store, page.head_len + len)) {
        page.payload_digest = NULL;
        return store_add(&store, &page);
    }
    bool is_stored = store_prepare(&store, &page, UINT64_MAX) == STORE_READY && store_finish(&store, &page);
    if (!is_stored)
        store_cancel(&store, page.response);
    return is_stored;
}

static void check_pages(unsigned count)
{
    size_t payload = 0;
    begin();
    for (unsigned i = 0; i < count; i++) {
        size_t len = i * 1999 % 70000;
        CHECK(add("http://a.it/", len, (char)(i % 3 ? 'a' + i % 26 : 0)));
        payload += len;
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    finish();
    struct summary summary = check_files();
    CHECK_INT(summary.responses, count);
    CHECK_INT(summary.records, 2 * count + summary.files);
    CHECK_INT(summary.payload, payload);
}

TEST(pages_at_every_effort)
{
    static const unsigned levels[] = {1, 2, 6, 12};
    for (int i = 0; i < 4; i++) {
        set_up();
        tuning.fixed.store.level = levels[i];
        check_pages(40);
    }
}

TEST(pages_in_zstd)
{
    static const unsigned levels[] = {1, 3, 12};
    for (int i = 0; i < 3; i++) {
        set_up();
        tuning.fixed.store.compress = TUNING_COMPRESS_ZSTD;
        tuning.fixed.store.level = levels[i];
        check_pages(40);
    }
}

/* A page in the manner of a site. */
static bool add_words(unsigned number)
{
    static char buffer[STORE_HEADROOM + sizeof HEAD + (1 << 14) + STORE_TAILROOM];
    struct store_page page = page_in(buffer, 0, "http://a.it/");
    char *body = page.response + page.head_len;
    for (unsigned i = 0; i < 200; i++)
        page.body_len +=
            (size_t)snprintf(body + page.body_len, 80, "<li><a href=\"/item/%u\">entry %u</a></li>\n",
                             number * 7919 + i * 104729, number);
    page.payload_digest = NULL;
    return store_add(&store, &page);
}

/* Until it is trained, files have no dictionary; then a new one begins, and all that follow have it. */
TEST(zstd_learns_a_dictionary)
{
    unsigned added = 0;
    set_up();
    tuning.fixed.store.compress = TUNING_COMPRESS_ZSTD;
    begin();
    while (lf_load(&store.dictionary.stage, relaxed) == DICTIONARY_GATHERS) {
        CHECK(add_words(added++));
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    store_serve(&store);
    while (!dictionary_ready(&store.dictionary))
        sched_yield();
    CHECK_INT(store.serial, 1);
    uint64_t before = store.offset / added;
    CHECK(add_words(added++));
    CHECK_INT(store.serial, 2);
    CHECK(add("http://a.it/", 1 << 20, 'a')); /* a long one */
    store.offset = tuning.fixed.store.file_bytes;
    CHECK_INT(outlet_drain(&store.outlet), 0);
    for (unsigned i = 0; i < 10; i++)
        CHECK(add_words(added++));
    CHECK_INT(store.serial, 3);
    CHECK(store.offset / 10 < before * 9 / 10);
    finish();
    struct summary summary = check_files();
    CHECK_INT(summary.files, 3);
    CHECK_INT(summary.dictionaries, 2);
    CHECK_INT(summary.responses, added + 1);
}

TEST(zstd_learns_nothing_if_it_is_told_so)
{
    set_up();
    tuning.fixed.store.compress = TUNING_COMPRESS_ZSTD;
    tuning.fixed.store.dictionary = false;
    begin();
    CHECK(!store.dictionary.samples);
    for (unsigned i = 0; i < 400; i++) {
        CHECK(add_words(i));
        CHECK_INT(outlet_drain(&store.outlet), 0);
        store_serve(&store);
    }
    CHECK(!dictionary_ready(&store.dictionary));
    finish();
    CHECK_INT(check_files().dictionaries, 0);
}

TEST(pages_without_a_digest_of_the_block)
{
    static const enum tuning_compress ways[] = {TUNING_COMPRESS_NONE, TUNING_COMPRESS_GZIP};
    for (int i = 0; i < 2; i++) {
        set_up();
        tuning.fixed.store.compress = ways[i];
        tuning.fixed.store.block_digest = false;
        check_pages(40);
    }
}

/* The caller has gone through the bytes already. */
TEST(a_digest_of_the_block_may_be_given)
{
    static char buffer[STORE_HEADROOM + sizeof HEAD + 5000 + STORE_TAILROOM];
    unsigned char block[FINGERPRINT_SHA1_BYTES], payload[FINGERPRINT_SHA1_BYTES];
    set_up();
    begin();
    struct store_page page = page_in(buffer, 5000, "http://a.it/");
    store_hide_chunks(page.response, page.head_len);
    fingerprint_sha1_pair((struct slice){page.response, page.head_len},
                          (struct slice){page.response + page.head_len, page.body_len}, block, payload);
    page.block_digest = block;
    page.payload_digest = payload;
    CHECK(store_add(&store, &page));
    finish();
    CHECK_INT(check_files().responses, 1);
}

TEST(pages_that_are_not_packed)
{
    set_up();
    tuning.fixed.store.compress = TUNING_COMPRESS_NONE;
    check_pages(40);
}

TEST(a_file_that_is_long_enough_is_closed)
{
    set_up();
    tuning.fixed.store.file_bytes = 100000;
    begin();
    for (int i = 0; i < 10; i++) {
        CHECK(add("http://a.it/", 60000, 0));
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    finish();
    struct summary summary = check_files();
    CHECK_INT(summary.files, 5); /* two pages pass the limit */
    CHECK_INT(summary.responses, 10);
}

/* Also if no page comes that would begin another; and not a moment before. */
TEST(a_file_that_is_old_is_closed)
{
    set_up();
    tuning.fixed.store.file_age_ns = 3600 * CLOCK_NS_PER_S;
    begin();
    CHECK(add("http://a.it/", 1000, 'a'));
    store_turn(&store);
    CHECK(store.is_open);
    store.opened_ns -= 3600 * CLOCK_NS_PER_S;
    store_turn(&store);
    CHECK(!store.is_open);
    store_turn(&store); /* again: there is none */
    CHECK_INT(outlet_drain(&store.outlet), 0);
    CHECK(files.all && files.all->is_finished && !files.all->next);
    CHECK(add("http://a.it/", 1000, 'a'));
    CHECK_INT(store.serial, 2);
    store.opened_ns -= 3600 * CLOCK_NS_PER_S;
    CHECK(add("http://a.it/", 1000, 'a')); /* a page closes it as well */
    CHECK_INT(store.serial, 3);
    finish();
    struct summary summary = check_files();
    CHECK_INT(summary.files, 3);
    CHECK_INT(summary.responses, 3);
}

TEST(without_an_age_a_file_stays_open)
{
    set_up();
    begin();
    CHECK(add("http://a.it/", 1000, 'a'));
    store.opened_ns = 0;
    store_turn(&store);
    CHECK(store.is_open);
    finish();
    CHECK_INT(check_files().files, 1);
}

TEST(nothing_is_begun_without_room)
{
    unsigned added = 0;
    set_up();
    tuning.fixed.store.file_bytes = 400000;
    begin();
    while (add("http://a.it/", 100000, 0))
        CHECK(++added < 100);
    CHECK(added > 5);
    CHECK(!add("http://a.it/", 100000, 0)); /* and again */
    CHECK_INT(outlet_drain(&store.outlet), 0);
    CHECK(add("http://a.it/", 100000, 0));
    finish();
    CHECK_INT(check_files().responses, added + 1);
}

/* However small the buffer and however full a block, a page of the largest size finds room once what was
 * before it is written. */
TEST(the_largest_page_fits_the_smallest_buffer)
{
    unsigned added = 0;
    set_up();
    tuning.fixed.crawl.threads = 64;
    tuning.fixed.store.buffer_bytes = 1 << 20;
    begin();
    for (size_t i = 0; i < 20; i++) {
        while (add("http://a.it/", 1000 + i * 9000, 0))
            added++;
        if (!add("http://a.it/", 1 << 20, 0)) {
            CHECK_INT(outlet_drain(&store.outlet), 0);
            CHECK(add("http://a.it/", 1 << 20, 0));
        }
        added++;
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    finish();
    CHECK_INT(check_files().responses, added);
}
