/* Metadata records: behind the request of their page, of pages that are stored at once, in steps, and as a revisit. */
#include "engine/store/limits.h"
#include "tests/unit/engine/store/store_frame.h"

enum { BODY_BYTES = 1 << 20, LONG_BODY = 600000 };

static char buffer[STORE_HEADROOM + sizeof HEAD + BODY_BYTES + STORE_TAILROOM];

static void start(enum tuning_compress compress)
{
    set_up();
    tuning.fixed.net.body_bytes_max = BODY_BYTES;
    tuning.fixed.store.compress = compress;
    tuning.fixed.store.metadata = true;
    begin();
}

static void add(struct store_page *page)
{
    page->fields = SLICE("fetchTimeMs: 12\r\n");
    if (page->repeats || !store_is_long(&store, page->head_len + page->body_len)) {
        CHECK(store_add(&store, page));
        return;
    }
    while (store_prepare(&store, page, 0) != STORE_READY)
        CHECK_INT(outlet_drain(&store.outlet), 0);
    CHECK(store_finish(&store, page));
}

/* The types of all records in their order, by their first letters; each metadata record must be `block`. */
static void check_types(const char *types, struct slice block)
{
    char path[512], response[1024] = "", name[FILES_NAME_BYTES];
    snprintf(name, sizeof name, "%s", store.filename);
    finish();
    snprintf(path, sizeof path, "%s/%s", warcs, name);
    size_t len;
    char *bytes = check_read_file(path, &len);
    static const char *const suffixes[] = {
        [TUNING_COMPRESS_GZIP] = ".gz", [TUNING_COMPRESS_NONE] = "", [TUNING_COMPRESS_ZSTD] = ".zst"};
    struct reader reader = {
        .suffix = suffixes[tuning.fixed.store.compress], .rest = {bytes, len}, .zstd = ZSTD_createDCtx()};
    for (const char *type = types; *type; type++) {
        CHECK(reader.rest.len);
        struct record record = next_record(&reader);
        open_record(&record);
        CHECK_INT(field(&record, "WARC-Type")[0] * 256 + field(&record, "WARC-Type")[2],
                  type[0] * 256 + type[1]);
        type++;
        if (type[-1] == 'r' && type[0] != 'q')
            snprintf(response, sizeof response, "%s", field(&record, "WARC-Record-ID"));
        if (type[-1] != 'm')
            continue;
        CHECK_STR(field(&record, "WARC-Concurrent-To"), response);
        CHECK_STR(field(&record, "Content-Type"), "application/warc-fields");
        CHECK(slice_equals(record.block, block));
    }
    CHECK_INT(reader.rest.len, 0);
    ZSTD_freeDCtx(reader.zstd);
    free(bytes);
    unlink(path);
    CHECK_INT(rmdir(warcs), 0);
    CHECK_INT(rmdir(directory), 0);
}

TEST(it_follows_the_request_whatever_the_page_is_stored_as)
{
    for (unsigned compress = 0; compress < 3; compress++) {
        start((enum tuning_compress)compress);
        struct exact_copy copy = {.url = "http://a.it/0", .url_len = 13, .date_us = 1};
        struct store_page page = page_in(buffer, 100, "http://a.it/1");
        page.outlinks = SLICE("outlink: http://a.it/2 L a/@href\r\n");
        add(&page);
        page = page_in(buffer, LONG_BODY, "http://a.it/2");
        page.outlinks = SLICE("outlink: http://a.it/2 L a/@href\r\n");
        add(&page);
        page.repeats = &copy;
        add(&page);
        /* warcinfo; response, request, metadata; the same; revisit, request, metadata */
        check_types("wrrsrqmtrsrqmtrvrqmt",
                    SLICE("fetchTimeMs: 12\r\noutlink: http://a.it/2 L a/@href\r\n\r\n"));
    }
}

TEST(the_longest_list_fits)
{
    static char block[STORE_WHOLE_BYTES_LEVEL_1 + 64];
    for (unsigned level = 1; level <= 12; level += 11) {
        set_up();
        tuning.fixed.store.metadata = true;
        tuning.fixed.store.level = level;
        begin();
        size_t len = store_outlinks_bytes_max(&store),
               at = (size_t)snprintf(block, 64, "fetchTimeMs: 12\r\n");
        memset(block + at, 'x', len);
        memcpy(block + at + len, "\r\n", 2);
        struct store_page page = page_in(buffer, 100, "http://a.it/1");
        page.outlinks = (struct slice){block + at, len};
        add(&page);
        check_types("wrrsrqmt", (struct slice){block, at + len + 2});
    }
}

TEST(there_is_none_without_the_key)
{
    set_up();
    begin();
    CHECK_INT(store_outlinks_bytes_max(&store), 0);
    struct store_page page = page_in(buffer, 100, "http://a.it/1");
    CHECK(store_add(&store, &page));
    check_types("wrrsrq", SLICE(""));
}
