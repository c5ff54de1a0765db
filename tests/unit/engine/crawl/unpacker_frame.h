/* For tests of the unpacker: a directory of a crawl, and WARC records in it. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crawl/unpacker.h"
#include "net/slice.h"
#include "tests/support/check.h"

static char directory[64];
static struct unpacker_options options;

static inline const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-unpacker-XXXXXX");
    CHECK(mkdtemp(directory));
    CHECK(mkdir(path_of("incoming"), 0755) == 0 && mkdir(path_of("files"), 0755) == 0);
    options = (struct unpacker_options){.directory = directory, .body_bytes_max = 100, .syncs = true};
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void finish(void)
{
    CHECK_INT(nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static inline void check_text(const char *name, const char *expected)
{
    size_t len;
    char *text = check_read_file(path_of(name), &len);
    CHECK_STR(text, expected);
    free(text);
}

static inline bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* A record of any type and fields, with a body of any bytes. */
static inline void add_block(const char *name, const char *head, struct slice block)
{
    FILE *file = fopen(path_of(name), "ae");
    CHECK(file);
    fprintf(file,
            "WARC/1.1\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: "
            "2026-01-02T03:04:05Z\r\n%sContent-Length: %zu\r\n\r\n",
            head, block.len);
    CHECK(fwrite(block.ptr, 1, block.len, file) == block.len && fputs("\r\n\r\n", file) >= 0);
    CHECK_INT(fclose(file), 0);
}

/* A response with these fields of HTTP. */
static inline void add_record(const char *name, const char *url, const char *fields, const char *body)
{
    char head[9000], block[1024];
    snprintf(
        head, sizeof head,
        "WARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\n",
        url);
    int len = snprintf(block, sizeof block, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s\r\n%s", fields,
                       body);
    CHECK(len > 0 && (size_t)len < sizeof block);
    add_block(name, head, (struct slice){block, (size_t)len});
}

static inline unsigned count_lines(void)
{
    size_t len;
    unsigned lines = 0;
    char *text = check_read_file(path_of("files.tsv"), &len);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}
