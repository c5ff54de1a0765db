#include "engine/crawl/repeats.h"

#include "engine/crawl/limits.h"
#include "engine/url/hash.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct repeats repeats;
static const unsigned char digest[20] = {1, 2, 3};

static void begin(uint64_t kind, uint64_t links, uint64_t store)
{
    tuning_init(&tuning);
    tuning.fixed.crawl.threads = 2;
    tuning.fixed.duplicates.kind = kind;
    tuning.fixed.duplicates.links = links;
    tuning.fixed.duplicates.store = store;
    tuning.fixed.duplicates.bytes = 1 << 20;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
}

TEST(what_nobody_asks_for_takes_no_memory)
{
    begin(TUNING_DUPLICATES_OFF, TUNING_DUPLICATES_SKIP_LINKS, TUNING_DUPLICATES_SKIP);
    CHECK(!repeats.has_exact && !repeats.has_near);
    repeats_fini(&repeats);
    begin(TUNING_DUPLICATES_EXACT, TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_FULL);
    CHECK(!repeats.has_exact && !repeats.has_near);
    repeats_fini(&repeats);
    begin(TUNING_DUPLICATES_EXACT, TUNING_DUPLICATES_SKIP_LINKS, TUNING_DUPLICATES_FULL);
    CHECK(repeats.has_exact && !repeats.has_near && !repeats.follows);
    repeats_fini(&repeats);
    begin(TUNING_DUPLICATES_NEAR, TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_REVISIT);
    CHECK(repeats.has_exact && repeats.has_near && repeats.follows);
    repeats_fini(&repeats);
    CHECK(!repeats.has_exact && !repeats.has_near);
}

TEST(without_a_store_only_links_want_digests)
{
    tuning_init(&tuning);
    tuning.fixed.store.kind = TUNING_STORE_NONE;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    CHECK(!repeats.has_exact);
    repeats_fini(&repeats);
    tuning.fixed.duplicates.links = TUNING_DUPLICATES_SKIP_LINKS;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    CHECK(repeats.has_exact);
    repeats_fini(&repeats);
}

/* A line of JSON refers to no other. */
TEST(without_revisits_copies_are_stored_in_full)
{
    tuning_init(&tuning);
    tuning.fixed.store.kind = TUNING_STORE_JSONL;
    tuning.fixed.duplicates.store = TUNING_DUPLICATES_REVISIT;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    CHECK(!repeats.has_exact && repeats.store == TUNING_DUPLICATES_FULL);
    repeats_fini(&repeats);
    tuning.fixed.duplicates.store = TUNING_DUPLICATES_SKIP;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    CHECK(repeats.has_exact && repeats.store == TUNING_DUPLICATES_SKIP);
    repeats_fini(&repeats);
}

TEST(a_copy_is_found_unless_it_is_short)
{
    struct exact_copy copy;
    struct exact_source source = {.url = SLICE("http://a.test/first"), .date_us = 7};
    begin(TUNING_DUPLICATES_EXACT, TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_REVISIT);
    CHECK(!repeats_find(&repeats, digest, 10000, &copy));
    repeats_add(&repeats, 1, digest, &source);
    CHECK(repeats_find(&repeats, digest, 10000, &copy));
    CHECK_INT(copy.date_us, 7);
    CHECK(slice_equals((struct slice){copy.url, copy.url_len}, source.url));
    CHECK(!repeats_find(&repeats, digest, 100, &copy));
    CHECK_INT(repeats_forgotten(&repeats), 0);
    repeats_fini(&repeats);
}

TEST(notes_name_the_hash_of_the_first_url)
{
    char note[REPEATS_NOTE_CHARS], expected[64];
    static struct exact_copy copy = {.url = "http://a.test/", .url_len = 14};
    struct near_match match = {.url = 0x123, .distance = 3};
    repeats_note_exact(&copy, note);
    snprintf(expected, sizeof expected, "duplicate:%016llx",
             (unsigned long long)hash_slice(SLICE("http://a.test/")));
    CHECK_STR(note, expected);
    repeats_note_near(&match, note);
    CHECK_STR(note, "near-duplicate:3:0000000000000123");
}

TEST(short_is_below_a_revisit_record)
{
    struct exact_copy copy;
    begin(TUNING_DUPLICATES_EXACT, TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_REVISIT);
    repeats_add(&repeats, 0, digest, &(struct exact_source){.url = SLICE("http://a.test/"), .date_us = 1});
    CHECK(!repeats_find(&repeats, digest, REPEATS_BYTES_MIN - 1, &copy));
    CHECK(repeats_find(&repeats, digest, REPEATS_BYTES_MIN, &copy));
    repeats_fini(&repeats);
}

/* Nothing is looked for: adding and finding do no harm. */
TEST(without_digests_nothing_is_found)
{
    struct exact_copy copy;
    begin(TUNING_DUPLICATES_OFF, TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_FULL);
    repeats_add(&repeats, 0, digest, &(struct exact_source){.url = SLICE("http://a.test/"), .date_us = 1});
    CHECK(!repeats_find(&repeats, digest, 10000, &copy));
    CHECK_INT(repeats_forgotten(&repeats), 0);
    repeats_fini(&repeats);
    repeats_fini(&repeats);
}

/* The smallest memory that a user may ask for is raised to what the loops need. */
TEST(what_does_not_fit_is_forgotten_and_counted)
{
    enum { COPIES = 60000 };
    static const char url[] = "http://a.test/a-path-of-some-length/and-a-name";
    tuning_init(&tuning);
    tuning.fixed.crawl.threads = 2;
    tuning.fixed.duplicates.kind = TUNING_DUPLICATES_EXACT;
    tuning.fixed.duplicates.store = TUNING_DUPLICATES_REVISIT;
    tuning.fixed.duplicates.bytes = 1;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    unsigned char each[20] = {0};
    struct exact_copy copy;
    for (uint32_t i = 0; i < COPIES; i++) {
        uint64_t spread = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(each, &spread, sizeof spread);
        memcpy(each + 8, &i, sizeof i);
        repeats_add(&repeats, i % 2, each, &(struct exact_source){.url = SLICE(url), .date_us = i});
    }
    CHECK(repeats_find(&repeats, each, 10000, &copy) && copy.date_us == COPIES - 1);
    uint64_t forgotten = repeats_forgotten(&repeats);
    CHECK(forgotten > 0 && forgotten < COPIES);
    repeats_fini(&repeats);
}

TEST(files_refer_to_no_other_either)
{
    tuning_init(&tuning);
    tuning.fixed.store.kind = TUNING_STORE_DIRECTORY;
    tuning.fixed.duplicates.store = TUNING_DUPLICATES_REVISIT;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
    CHECK(!repeats.has_exact);
    CHECK_INT(repeats.store, TUNING_DUPLICATES_FULL);
    repeats_fini(&repeats);
}
