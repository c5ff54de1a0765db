/* Pages as lines of JSON: step by step, in members of their own, in files that are rotated. */
#include "engine/store/limits.h"
#include "tests/support/json.h"
#include "tests/unit/engine/store/store_frame.h"

enum { BODY_BYTES = 1 << 20 };

static char buffer[STORE_HEADROOM + sizeof HEAD + BODY_BYTES + STORE_TAILROOM];
static char other_buffer[STORE_HEADROOM + sizeof HEAD + BODY_BYTES + STORE_TAILROOM];

static void set_up_lines(enum tuning_compress compress)
{
    set_up();
    tuning.fixed.store.kind = TUNING_STORE_JSONL;
    tuning.fixed.store.compress = compress;
    tuning.fixed.net.body_bytes_max = BODY_BYTES;
}

/* A page of plain text: that many letters, random so that they take room when they are compressed. */
static struct store_page make(char *memory, const char *url, size_t len)
{
    static uint64_t state = 88172645463325252;
    struct store_page page = page_in(memory, len, url);
    char *body = page.response + page.head_len;
    for (size_t i = 0; i < len; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        body[i] = (char)('0' + (state >> 20) % 64 % 75);
    }
    page.status = 200;
    page.packed =
        (struct unpack_body){.codings = SLICE(""), .content_type = SLICE("text/plain"), .bytes = {body, len}};
    return page;
}

static bool add(const struct store_page *page)
{
    while (store_prepare(&store, page, 0) != STORE_READY)
        CHECK_INT(outlet_drain(&store.outlet), 0);
    return store_finish(&store, page);
}

struct found {
    unsigned files, lines;
    size_t text;         /* bytes of all texts */
    size_t file_longest; /* bytes of the longest file */
};

/* Of a plain file. */
static size_t copy_line(const struct reader *reader, char *text, size_t *len)
{
    const char *end = memchr(reader->rest.ptr, '\n', reader->rest.len);
    CHECK(end);
    *len = (size_t)(end + 1 - reader->rest.ptr);
    memcpy(text, reader->rest.ptr, *len);
    return *len;
}

/* A member or frame holds one line. */
static void check_line(struct reader *reader, struct found *found)
{
    static char text[TEXT_BYTES];
    size_t len, in;
    if (strcmp(reader->suffix, ".gz") == 0)
        in = unpack_gzip(reader, text, &len);
    else if (strcmp(reader->suffix, ".zst") == 0)
        in = unpack_zstd(reader, text, &len);
    else
        in = copy_line(reader, text, &len);
    CHECK(len && memchr(text, '\n', len) == text + len - 1);
    struct json *tree = json_parse(text, len - 1);
    CHECK(tree);
    CHECK(strncmp(json_text(tree, "url"), "http://a.it/", 12) == 0);
    CHECK_STR(json_text(tree, "date"), "2023-11-14T22:13:20.000000Z");
    CHECK_STR(json_get(tree, "status")->text, "200");
    CHECK_INT(strlen(json_text(tree, "digest")), 5 + FINGERPRINT_BASE32_CHARS);
    const struct json *words = json_get(tree, "text");
    size_t bytes = strtoul(json_get(tree, "bytes")->text, NULL, 10);
    CHECK_INT(words ? words->len : 0, bytes < JSONL_TEXT_BYTES_MAX ? bytes : JSONL_TEXT_BYTES_MAX);
    CHECK((json_get(tree, "text_cut") != NULL) == (bytes > JSONL_TEXT_BYTES_MAX));
    found->text += words ? words->len : 0;
    found->lines++;
    json_free(tree);
    reader->rest = slice_skip(reader->rest, in);
}

static void check_lines_of(const char *name, struct found *found)
{
    static const char *const suffixes[] = {
        [TUNING_COMPRESS_GZIP] = ".gz", [TUNING_COMPRESS_NONE] = "", [TUNING_COMPRESS_ZSTD] = ".zst"};
    char path[512], ending[32];
    size_t len;
    snprintf(path, sizeof path, "%s/%s", warcs, name);
    char *bytes = check_read_file(path, &len);
    struct reader reader = {
        .suffix = suffixes[tuning.fixed.store.compress], .rest = {bytes, len}, .zstd = ZSTD_createDCtx()};
    snprintf(ending, sizeof ending, "-03.jsonl%s", reader.suffix);
    CHECK_STR(name + strlen(name) - strlen(ending), ending);
    while (reader.rest.len)
        check_line(&reader, found);
    found->files++;
    found->file_longest = len > found->file_longest ? len : found->file_longest;
    ZSTD_freeDCtx(reader.zstd);
    free(bytes);
    unlink(path);
}

static struct found check_lines(void)
{
    struct found found = {0};
    finish();
    DIR *opened = opendir(warcs);
    for (struct dirent *entry; (entry = readdir(opened));)
        if (entry->d_name[0] != '.')
            check_lines_of(entry->d_name, &found);
    closedir(opened);
    CHECK_INT(rmdir(warcs), 0);
    CHECK_INT(rmdir(directory), 0);
    return found;
}

TEST(each_page_is_a_line)
{
    static const enum tuning_compress ways[] = {TUNING_COMPRESS_GZIP, TUNING_COMPRESS_ZSTD,
                                                TUNING_COMPRESS_NONE};
    for (int i = 0; i < 3; i++) {
        size_t text = 0;
        set_up_lines(ways[i]);
        begin();
        for (unsigned k = 0; k < 40; k++) {
            size_t len = k * 30011 % 700000;
            struct store_page page = make(buffer, "http://a.it/", len);
            CHECK(add(&page));
            CHECK_INT(outlet_drain(&store.outlet), 0);
            text += len < JSONL_TEXT_BYTES_MAX ? len : JSONL_TEXT_BYTES_MAX;
        }
        CHECK(!store.dictionary.samples);
        struct found found = check_lines();
        CHECK_INT(found.lines, 40);
        CHECK_INT(found.files, 1);
        CHECK_INT(found.text, text);
    }
}

TEST(files_are_rotated)
{
    set_up_lines(TUNING_COMPRESS_NONE);
    tuning.fixed.store.file_bytes = 1 << 16;
    begin();
    for (unsigned i = 0; i < 100; i++) {
        struct store_page page = make(buffer, "http://a.it/", i == 50 ? 1 << 19 : 4000);
        CHECK(add(&page));
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    struct found found = check_lines();
    CHECK_INT(found.lines, 100);
    CHECK(found.files >= 6 && found.files <= 8);
    CHECK(found.file_longest < (1 << 19) + (1 << 17));
}

/* The digest is made by itself, and nothing is stored. */
TEST(a_digest_alone_leaves_no_line)
{
    unsigned char expected[FINGERPRINT_SHA1_BYTES], given[FINGERPRINT_SHA1_BYTES] = {0};
    struct fingerprint_sha1 sha1;
    set_up_lines(TUNING_COMPRESS_GZIP);
    begin();
    struct store_page page = make(buffer, "http://a.it/", BODY_BYTES);
    page.payload_digest = given;
    page.is_unwanted = true;
    while (store_prepare(&store, &page, 0) != STORE_READY)
        ;
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, page.packed.bytes);
    fingerprint_sha1_finish(&sha1, expected);
    CHECK(memcmp(given, expected, sizeof given) == 0);
    CHECK(!store_holds(&store, page.response));
    CHECK_INT(store.serial, 0);
    page.is_unwanted = false;
    CHECK(add(&page));
    CHECK_INT(check_lines().lines, 1);
}

TEST(one_page_at_a_time)
{
    set_up_lines(TUNING_COMPRESS_GZIP);
    begin();
    struct store_page first = make(buffer, "http://a.it/1", 300000),
                      other = make(other_buffer, "http://a.it/2", 9);
    CHECK_INT(store_prepare(&store, &first, 0), STORE_MORE);
    CHECK_INT(store_prepare(&store, &other, UINT64_MAX), STORE_MORE);
    CHECK(store_has_work(&store));
    CHECK(add(&first));
    CHECK(store_has_work(&store)); /* the other waits */
    CHECK(add(&other));
    store_turn(&store);
    CHECK(!store_has_work(&store));
    CHECK_INT(check_lines().lines, 2);
}

TEST(a_page_that_is_given_up_leaves_no_line)
{
    static const enum store_phase phases[] = {STORE_LINES, STORE_LINED, STORE_PACKS, STORE_PACKED};
    set_up_lines(TUNING_COMPRESS_GZIP);
    begin();
    for (int i = 0; i < 4; i++) {
        struct store_page page = make(buffer, "http://a.it/", phases[i] == STORE_LINED ? 1000 : 500000);
        do
            CHECK(store_prepare(&store, &page, 0) != STORE_FULL);
        while (store.job.phase != phases[i]);
        store_cancel(&store, page.response);
        CHECK(!store_holds(&store, page.response));
        outlet_flush(&store.outlet);
        CHECK_INT(outlet_drain(&store.outlet), 0);
    }
    struct store_page page = make(buffer, "http://a.it/", 1000);
    CHECK(add(&page));
    CHECK_INT(check_lines().lines, 1);
}

/* Nothing is written to the disk meanwhile. */
static void check_full(size_t len)
{
    unsigned added = 0;
    set_up_lines(TUNING_COMPRESS_NONE);
    tuning.fixed.store.buffer_bytes = 1 << 20; /* the least that the store takes is more */
    begin();
    struct store_page page;
    for (bool is_full = false; !is_full; added += !is_full) {
        page = make(buffer, "http://a.it/", len);
        enum store_progress progress = store_prepare(&store, &page, UINT64_MAX);
        is_full = progress == STORE_FULL || !store_finish(&store, &page);
        CHECK(added < 100000);
    }
    CHECK(!store_has_work(&store));
    CHECK_INT(outlet_drain(&store.outlet), 0);
    CHECK(add(&page));
    CHECK_INT(check_lines().lines, added + 1);
}

TEST(a_line_waits_for_room)
{
    check_full(2000);
    check_full(500000);
}

/* The longest line of all fits, however little a body may have. */
TEST(a_line_may_be_longer_than_any_body)
{
    set_up_lines(TUNING_COMPRESS_NONE);
    tuning.fixed.net.body_bytes_max = 1 << 16;
    tuning.fixed.store.buffer_bytes = 1 << 20;
    begin();
    struct store_page page = make(buffer, "http://a.it/", JSONL_TEXT_BYTES_MAX);
    memset(page.response + page.head_len, 0x7f, page.body_len); /* six bytes each */
    CHECK_INT(store_prepare(&store, &page, UINT64_MAX), STORE_READY);
    CHECK(store.job.draft.bytes > JSONL_ESCAPE_BYTES * JSONL_TEXT_BYTES_MAX);
    CHECK(store_finish(&store, &page));
    CHECK_INT(check_lines().text, JSONL_TEXT_BYTES_MAX);
}
