/* Pages go in, files come out; they are unpacked and read here by the rules of WARC/1.1. */
#include "engine/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/disk/syncer.h"
#include "tests/support/check.h"

static char directory[64], warcs[80];
static struct tuning tuning;
static struct files files;
static struct store store;

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-store-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(warcs, sizeof warcs, "%s/warc", directory);
    CHECK(mkdir(warcs, 0755) == 0);
    files_init(&files, &disk_system, directory);
    CHECK_INT(store_init(&store, &tuning, &files, 3), 0);
}

static void set_up(void)
{
    tuning_init(&tuning);
    tuning.fixed.net.body_bytes_max = 1 << 20;
    tuning.fixed.store.buffer_bytes = 4 << 20;
}

static void finish(void)
{
    outlet_flush(&store.outlet);
    struct syncer syncer;
    CHECK_INT(outlet_finish(&store.outlet), 0);
    syncer_init(&syncer, &files, false);
    syncer_begin(&syncer, -1);
    CHECK_INT(syncer_finish(&syncer), 0);
    syncer_fini(&syncer);
    files_fini(&files);
    store_fini(&store);
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"

/* A page whose body is `len` bytes of `byte`, or noise if that is 0. */
static bool add(const char *url, size_t len, char byte)
{
    static char buffer[STORE_HEADROOM + 256 + (1 << 20) + STORE_TAILROOM];
    static uint32_t noise = 1;
    char *response = buffer + STORE_HEADROOM;
    size_t head = sizeof HEAD - 1;
    memcpy(response, HEAD, head);
    for (size_t i = 0; i < len; i++) {
        noise = noise * 1103515245 + 12345;
        response[head + i] = byte ? byte : (char)(noise >> 16);
    }
    struct store_page page = {.url = slice_of(url),
                              .request = SLICE("GET / HTTP/1.1\r\nHost: a.it\r\n\r\n"),
                              .response = response,
                              .head_len = head,
                              .body_len = len,
                              .address = SLICE("127.0.0.1"),
                              .date_us = UINT64_C(1700000000000000)};
    return store_add(&store, &page);
}

/* One record of a file. */
struct record {
    char *text;
    size_t len;
    struct slice block;
};

static const char *field(const struct record *record, const char *name)
{
    static char value[1024];
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\r\n%s: ", name);
    const char *at = strstr(record->text, pattern);
    CHECK(at && at < record->block.ptr);
    at += strlen(pattern);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

static void check_digest(const struct record *record, const char *name, struct slice bytes)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char text[5 + FINGERPRINT_BASE32_CHARS + 1] = "sha1:";
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, bytes);
    fingerprint_sha1_finish(&sha1, digest);
    fingerprint_base32(digest, text + 5);
    CHECK_STR(field(record, name), text);
}

/* A record is its header, an empty line, a block of the length it says, and two line ends. */
static void open_record(struct record *record)
{
    CHECK(strncmp(record->text, "WARC/1.1\r\n", 10) == 0);
    char *end = strstr(record->text, "\r\n\r\n");
    CHECK(end);
    record->block.ptr = end + 4;
    record->block.len = strtoul(field(record, "Content-Length"), NULL, 10);
    CHECK_INT(end + 4 + record->block.len + 4 - record->text, record->len);
    CHECK(memcmp(record->text + record->len - 4, "\r\n\r\n", 4) == 0);
    check_digest(record, "WARC-Block-Digest", record->block);
}

/* What a file of the store holds. */
struct summary {
    unsigned files, records, responses;
    size_t payload;
};

static void check_response(const struct record *record, struct summary *summary)
{
    char *body = memmem(record->block.ptr, record->block.len, "\r\n\r\n", 4);
    CHECK(body);
    struct slice payload = slice_between(body + 4, record->block.ptr + record->block.len);
    check_digest(record, "WARC-Payload-Digest", payload);
    CHECK(memmem(record->block.ptr, record->block.len, "\r\nX-Transfer-Coding: chunked\r\n", 30));
    CHECK_STR(field(record, "WARC-Date"), "2023-11-14T22:13:20.000000Z");
    summary->responses++;
    summary->payload += payload.len;
}

/* Records come as warcinfo, then response and request in turn. */
static void check_record(struct record *record, unsigned number, struct summary *summary)
{
    static char info[128], response[128];
    static const char *const types[] = {"request", "response"};
    open_record(record);
    CHECK_STR(field(record, "WARC-Type"), number == 0 ? "warcinfo" : types[number % 2]);
    if (number == 0) {
        snprintf(info, sizeof info, "%s", field(record, "WARC-Record-ID"));
        return;
    }
    CHECK_STR(field(record, "WARC-Warcinfo-ID"), info);
    if (number % 2) {
        snprintf(response, sizeof response, "%s", field(record, "WARC-Record-ID"));
        check_response(record, summary);
    } else {
        CHECK_STR(field(record, "WARC-Concurrent-To"), response);
    }
}

/* The next record of `rest`: a gzip member, or plain text up to its end. */
static struct record next_record(struct slice *rest, bool is_packed)
{
    enum { TEXT_BYTES = 2 << 20 };
    struct record record = {.text = malloc(TEXT_BYTES)};
    size_t in = 0;
    if (is_packed) {
        struct libdeflate_decompressor *unpack = libdeflate_alloc_decompressor();
        CHECK_INT(libdeflate_gzip_decompress_ex(unpack, rest->ptr, rest->len, record.text, TEXT_BYTES - 1,
                                                &in, &record.len),
                  LIBDEFLATE_SUCCESS);
        libdeflate_free_decompressor(unpack);
    } else {
        const char *next = memmem(rest->ptr + 1, rest->len - 1, "\r\n\r\nWARC/1.1\r\n", 14);
        record.len = in = next ? (size_t)(next + 4 - rest->ptr) : rest->len;
        memcpy(record.text, rest->ptr, record.len);
    }
    record.text[record.len] = '\0';
    *rest = slice_skip(*rest, in);
    return record;
}

static void check_file(const char *name, struct summary *summary)
{
    char path[512];
    size_t len;
    snprintf(path, sizeof path, "%s/%s", warcs, name);
    char *bytes = check_read_file(path, &len);
    struct slice rest = {bytes, len};
    bool is_packed = strstr(name, ".warc.gz") != NULL;
    CHECK(strstr(name, is_packed ? "-03.warc.gz" : "-03.warc") && !strstr(name, ".open"));
    for (unsigned number = 0; rest.len; number++) {
        struct record record = next_record(&rest, is_packed);
        check_record(&record, number, summary);
        if (number == 0)
            CHECK_STR(field(&record, "WARC-Filename"), name);
        summary->records++;
        free(record.text);
    }
    summary->files++;
    free(bytes);
    unlink(path);
}

static struct summary check_files(void)
{
    struct summary summary = {0};
    DIR *opened = opendir(warcs);
    for (struct dirent *entry; (entry = readdir(opened));)
        if (entry->d_name[0] != '.')
            check_file(entry->d_name, &summary);
    closedir(opened);
    CHECK_INT(rmdir(warcs), 0);
    CHECK_INT(rmdir(directory), 0);
    return summary;
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
