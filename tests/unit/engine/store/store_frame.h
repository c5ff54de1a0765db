/* The frame of the tests of the store: the files that it wrote are unpacked and read by the rules of WARC/1.1. */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "engine/disk/syncer.h"
#include "engine/store/store.h"
#include "tests/support/check.h"

static char directory[64], warcs[80];
static struct tuning tuning;
static struct files files;
static struct store store;

static inline void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-store-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(warcs, sizeof warcs, "%s/%s", directory, store_folder(&tuning));
    CHECK(mkdir(warcs, 0755) == 0);
    files_init(&files, &disk_system, directory);
    CHECK_INT(store_init(&store, &tuning, &files, 3), 0);
}

static inline void set_up(void)
{
    tuning_init(&tuning);
    tuning.fixed.net.body_bytes_max = 1 << 20;
    tuning.fixed.store.buffer_bytes = 4 << 20;
}

static inline void finish(void)
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

/* Writes HEAD in front of the body, which begins at STORE_HEADROOM + strlen(HEAD) of a buffer that has STORE_TAILROOM
 * behind it. */
static inline struct store_page page_in(char *buffer, size_t body_len, const char *url)
{
    static unsigned char digest[FINGERPRINT_SHA1_BYTES];
    memcpy(buffer + STORE_HEADROOM, HEAD, sizeof HEAD - 1);
    return (struct store_page){.url = slice_of(url),
                               .request = SLICE("GET / HTTP/1.1\r\nHost: a.it\r\n\r\n"),
                               .response = buffer + STORE_HEADROOM,
                               .head_len = sizeof HEAD - 1,
                               .body_len = body_len,
                               .address = SLICE("127.0.0.1"),
                               .date_us = UINT64_C(1700000000000000),
                               .payload_digest = digest};
}

/* One record of a file. */
struct record {
    char *text;
    size_t len;
    struct slice block;
};

static inline const char *field(const struct record *record, const char *name)
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

static inline void check_digest(const struct record *record, const char *name, struct slice bytes)
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
static inline void open_record(struct record *record)
{
    CHECK(strncmp(record->text, "WARC/1.1\r\n", 10) == 0);
    char *end = strstr(record->text, "\r\n\r\n");
    CHECK(end);
    record->block.ptr = end + 4;
    record->block.len = strtoul(field(record, "Content-Length"), NULL, 10);
    CHECK_INT(end + 4 + record->block.len + 4 - record->text, record->len);
    CHECK(memcmp(record->text + record->len - 4, "\r\n\r\n", 4) == 0);
    if (tuning.fixed.store.block_digest)
        check_digest(record, "WARC-Block-Digest", record->block);
    else
        CHECK(!memmem(record->text, (size_t)(record->block.ptr - record->text), "Block-Digest", 12));
}

/* What a file of the store holds. */
struct summary {
    unsigned files, records, responses;
    unsigned dictionaries; /* files that have one */
    size_t payload;
};

static inline void check_response(const struct record *record, struct summary *summary)
{
    char *body = memmem(record->block.ptr, record->block.len, "\r\n\r\n", 4);
    CHECK(body);
    struct slice payload = slice_between(body + 4, record->block.ptr + record->block.len);
    check_digest(record, "WARC-Payload-Digest", payload);
    CHECK(memmem(record->block.ptr, record->block.len, "\r\nX-Transfer-Coding: chunked\r\n", 30));
    summary->responses++;
    summary->payload += payload.len;
}

/* Records come as warcinfo, then response and request in turn. */
static inline void check_record(struct record *record, unsigned number, struct summary *summary)
{
    static char info[1024], response[1024];
    static const char *const types[] = {"request", "response"};
    open_record(record);
    CHECK_STR(field(record, "WARC-Type"), number == 0 ? "warcinfo" : types[number % 2]);
    if (number == 0) {
        snprintf(info, sizeof info, "%s", field(record, "WARC-Record-ID"));
        return;
    }
    CHECK_STR(field(record, "WARC-Warcinfo-ID"), info);
    CHECK_STR(field(record, "WARC-Date"), "2023-11-14T22:13:20.000000Z");
    if (number % 2) {
        snprintf(response, sizeof response, "%s", field(record, "WARC-Record-ID"));
        check_response(record, summary);
    } else {
        CHECK_STR(field(record, "WARC-Concurrent-To"), response);
    }
}

/* What is left of a file. */
struct reader {
    const char *suffix; /* of its name: ".gz", ".zst" or "" */
    struct slice rest;
    ZSTD_DCtx *zstd;
    unsigned dictionary; /* its id; 0: none */
};

enum { TEXT_BYTES = 12 << 20 };

static inline uint32_t number_at(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* A gzip member says in its extra field how long it is, and how long the record. */
static inline size_t unpack_gzip(struct reader *reader, char *text, size_t *len)
{
    struct libdeflate_decompressor *unpack = libdeflate_alloc_decompressor();
    size_t in = 0;
    CHECK_INT(libdeflate_gzip_decompress_ex(unpack, reader->rest.ptr, reader->rest.len, text, TEXT_BYTES - 1,
                                            &in, len),
              LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(unpack);
    CHECK(memcmp(reader->rest.ptr + 10, "\x0c\0sl\x08\0", 6) == 0);
    CHECK_INT(number_at(reader->rest.ptr + 16), in);
    CHECK_INT(number_at(reader->rest.ptr + 20), *len);
    return in;
}

/* A frame has its length, a checksum, and the id of the dictionary if the file has one. */
static inline size_t unpack_zstd(struct reader *reader, char *text, size_t *len)
{
    struct slice rest = reader->rest;
    size_t in = ZSTD_findFrameCompressedSize(rest.ptr, rest.len);
    CHECK(!ZSTD_isError(in) && number_at(rest.ptr) == ZSTD_MAGICNUMBER);
    CHECK(rest.ptr[4] & 4);
    CHECK_INT(ZSTD_getDictID_fromFrame(rest.ptr, in), reader->dictionary);
    *len = ZSTD_decompressDCtx(reader->zstd, text, TEXT_BYTES - 1, rest.ptr, in);
    CHECK_INT(ZSTD_getFrameContentSize(rest.ptr, in), *len);
    return in;
}

static inline size_t copy_plain(struct reader *reader, char *text, size_t *len)
{
    struct slice rest = reader->rest;
    const char *next = memmem(rest.ptr + 1, rest.len - 1, "\r\n\r\nWARC/1.1\r\n", 14);
    *len = next ? (size_t)(next + 4 - rest.ptr) : rest.len;
    memcpy(text, rest.ptr, *len);
    return *len;
}

/* The next record: a gzip member, a zstd frame, or plain text up to its end. */
static inline struct record next_record(struct reader *reader)
{
    static char text[TEXT_BYTES]; /* of one record at a time */
    struct record record = {.text = text};
    size_t in;
    if (strcmp(reader->suffix, ".gz") == 0)
        in = unpack_gzip(reader, text, &record.len);
    else if (strcmp(reader->suffix, ".zst") == 0)
        in = unpack_zstd(reader, text, &record.len);
    else
        in = copy_plain(reader, text, &record.len);
    record.text[record.len] = '\0';
    reader->rest = slice_skip(reader->rest, in);
    return record;
}

/* A file may begin with a dictionary for all its frames. */
static inline void read_dictionary(struct reader *reader)
{
    if (reader->rest.len < 8 || number_at(reader->rest.ptr) != 0x184D2A5D)
        return;
    struct slice text = {reader->rest.ptr + 8, number_at(reader->rest.ptr + 4)};
    CHECK(text.len + 8 < reader->rest.len);
    reader->dictionary = ZSTD_getDictID_fromDict(text.ptr, text.len);
    CHECK(reader->dictionary >= 32768);
    CHECK_INT(ZSTD_DCtx_loadDictionary(reader->zstd, text.ptr, text.len), 0);
    reader->rest = slice_skip(reader->rest, 8 + text.len);
}

static inline void check_file(const char *name, struct summary *summary)
{
    static const char *const suffixes[] = {
        [TUNING_COMPRESS_GZIP] = ".gz", [TUNING_COMPRESS_NONE] = "", [TUNING_COMPRESS_ZSTD] = ".zst"};
    char path[512], ending[32];
    size_t len;
    snprintf(path, sizeof path, "%s/%s", warcs, name);
    char *bytes = check_read_file(path, &len);
    struct reader reader = {
        .suffix = suffixes[tuning.fixed.store.compress], .rest = {bytes, len}, .zstd = ZSTD_createDCtx()};
    snprintf(ending, sizeof ending, "-03.warc%s", reader.suffix);
    CHECK_STR(name + strlen(name) - strlen(ending), ending);
    read_dictionary(&reader);
    for (unsigned number = 0; reader.rest.len; number++) {
        struct record record = next_record(&reader);
        check_record(&record, number, summary);
        if (number == 0)
            CHECK_STR(field(&record, "WARC-Filename"), name);
        summary->records++;
    }
    summary->files++;
    summary->dictionaries += reader.dictionary != 0;
    ZSTD_freeDCtx(reader.zstd);
    free(bytes);
    unlink(path);
}

static inline struct summary check_files(void)
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
