/* For tests of reading: WARC files in memory, packed in every way, by others' encoders. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/archive/warc_read.h"
#include "net/slice.h"
#include "tests/support/check.h"

enum warc_packing {
    PACK_PLAIN,
    PACK_GZIP,         /* a member per record */
    PACK_GZIP_LENGTHS, /* the same, with the field "sl" */
    PACK_GZIP_WHOLE,   /* one member for all */
    PACK_ZSTD,
    PACK_ZSTD_PARTS, /* each record in two frames, with an extension frame between records */
    PACKINGS,
};

enum { WARC_FILE_BYTES = 1 << 20 };

/* A file that grows. */
struct warc_file {
    char bytes[WARC_FILE_BYTES];
    size_t len;
    enum warc_packing packing;
    size_t offsets[64]; /* of its records */
    size_t count;
    struct slice dictionary; /* for zstd; empty: none */
};

static inline void warc_file_put(struct warc_file *file, struct slice bytes)
{
    CHECK(bytes.len <= sizeof file->bytes - file->len);
    memcpy(file->bytes + file->len, bytes.ptr, bytes.len);
    file->len += bytes.len;
}

static inline struct slice warc_file_all(const struct warc_file *file)
{
    return (struct slice){file->bytes, file->len};
}

static inline void warc_file_le32(char *out, size_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(value >> 8 * i);
}

/* A gzip member; with lengths that are true, or off by `lie`. */
static inline void warc_file_gzip(struct warc_file *file, struct slice text, bool has_lengths, int lie)
{
    static unsigned char packed[WARC_FILE_BYTES];
    unsigned char extra[12] = {'s', 'l', 8, 0};
    size_t len = 0;
    for (int round = 0; round < (has_lengths ? 2 : 1); round++) { /* the first tells how long it gets */
        z_stream zlib = {.next_in = (Bytef *)(uintptr_t)text.ptr,
                         .avail_in = (uInt)text.len,
                         .next_out = packed,
                         .avail_out = sizeof packed};
        gz_header header = {.extra = extra, .extra_len = sizeof extra, .os = 3};
        CHECK(deflateInit2(&zlib, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        if (has_lengths)
            CHECK(deflateSetHeader(&zlib, &header) == Z_OK);
        CHECK(deflate(&zlib, Z_FINISH) == Z_STREAM_END);
        len = sizeof packed - zlib.avail_out;
        deflateEnd(&zlib);
        warc_file_le32((char *)extra + 4, len + (size_t)lie);
        warc_file_le32((char *)extra + 8, text.len);
    }
    warc_file_put(file, (struct slice){(const char *)packed, len});
}

static inline void warc_file_zstd(struct warc_file *file, struct slice text)
{
    static char packed[WARC_FILE_BYTES];
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    if (file->dictionary.len)
        CHECK(!ZSTD_isError(ZSTD_CCtx_loadDictionary(context, file->dictionary.ptr, file->dictionary.len)));
    size_t len = ZSTD_compress2(context, packed, sizeof packed, text.ptr, text.len);
    CHECK(!ZSTD_isError(len));
    ZSTD_freeCCtx(context);
    warc_file_put(file, (struct slice){packed, len});
}

static inline void warc_file_skippable(struct warc_file *file, unsigned magic, struct slice data)
{
    char head[8];
    warc_file_le32(head, magic);
    warc_file_le32(head + 4, data.len);
    warc_file_put(file, (struct slice){head, sizeof head});
    warc_file_put(file, data);
}

/* Adds a record as it stands. */
static inline void warc_file_add_text(struct warc_file *file, struct slice text)
{
    struct slice first = {text.ptr, text.len / 3};
    if (file->packing == PACK_ZSTD_PARTS && file->count)
        warc_file_skippable(file, 0x184d2a51, SLICE("for somebody else"));
    file->offsets[file->count++] = file->len;
    switch (file->packing) {
    case PACK_GZIP:
    case PACK_GZIP_LENGTHS:
        warc_file_gzip(file, text, file->packing == PACK_GZIP_LENGTHS, 0);
        break;
    case PACK_ZSTD:
        warc_file_zstd(file, text);
        break;
    case PACK_ZSTD_PARTS:
        warc_file_zstd(file, first);
        warc_file_zstd(file, slice_skip(text, first.len));
        break;
    case PACK_PLAIN:
    case PACK_GZIP_WHOLE: /* packed by warc_file_end */
    case PACKINGS:
        warc_file_put(file, text);
    }
}

/* Adds a record of this type; `fields` are further lines. */
static inline void warc_file_add(struct warc_file *file, const char *type, const char *fields,
                                 struct slice block)
{
    static char text[WARC_FILE_BYTES];
    int len = snprintf(text, sizeof text,
                       "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:%zu>\r\n"
                       "WARC-Date: 2026-11-16T07:19:47.123456Z\r\n%sContent-Length: %zu\r\n\r\n",
                       type, file->count, fields, block.len);
    CHECK(len > 0 && (size_t)len + block.len + 4 <= sizeof text);
    memcpy(text + len, block.ptr, block.len);
    memcpy(text + len + block.len, "\r\n\r\n", 4);
    warc_file_add_text(file, (struct slice){text, (size_t)len + block.len + 4});
}

/* Nothing more comes. */
static inline void warc_file_end(struct warc_file *file)
{
    static char plain[WARC_FILE_BYTES];
    if (file->packing != PACK_GZIP_WHOLE)
        return;
    size_t len = file->len;
    memcpy(plain, file->bytes, len);
    file->len = 0;
    warc_file_gzip(file, (struct slice){plain, len}, false, 0);
}

/* An empty file; the same memory each time. */
static inline struct warc_file *warc_file_new(enum warc_packing packing)
{
    static struct warc_file file;
    file.len = file.count = 0;
    file.packing = packing;
    file.dictionary.len = 0;
    return &file;
}

/* Bytes that do not pack well, the same for the same seed. */
static inline struct slice warc_file_noise(size_t len, unsigned seed)
{
    static char bytes[WARC_FILE_BYTES / 4];
    CHECK(len <= sizeof bytes);
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (char)(seed >> 24);
    }
    return (struct slice){bytes, len};
}

/* A file on disk, below `directory`. Returns its path, static storage. */
static inline const char *warc_file_save(const char *directory, const char *name, struct slice bytes)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    CHECK(out && fwrite(bytes.ptr, 1, bytes.len, out) == bytes.len && fclose(out) == 0);
    return path;
}
