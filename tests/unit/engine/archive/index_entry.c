#include "engine/archive/index_entry.h"

#include "tests/unit/engine/archive/warc_file.h"

/* FIPS 180: SHA-1 of "abc". */
#define ABC "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"

/* The line of the only record of a file, without its place; "" if it is not indexed. */
static const char *line_of(const char *type, const char *fields, struct slice block)
{
    static struct index_entry entry;
    static char text[CDXJ_LINE_BYTES_MAX + 1];
    struct archive_error error = {0};
    struct source source;
    struct warc_read reader;
    struct cdxj line;
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_add(file, type, fields, block);
    text[0] = '\0';
    CHECK(index_entry_init(&entry) && source_init_memory(&source, warc_file_all(file), &error));
    CHECK(warc_read_init(&reader, &source, &error) && warc_read_next(&reader) == WARC_READ_DONE);
    if (index_entry_is_wanted(&reader.record.head)) {
        CHECK(index_entry_read(&entry, &reader, &line));
        CHECK(line.offset == 0 && line.length == file->len);
        snprintf(text, sizeof text, "%.*s %.*s %.*s %.*s", (int)line.key.len, line.key.ptr,
                 (int)line.mime.len, line.mime.ptr, (int)line.status.len,
                 line.status.len ? line.status.ptr : "", (int)line.digest.len,
                 line.digest.len ? line.digest.ptr : "");
    }
    warc_read_fini(&reader);
    source_fini(&source);
    index_entry_fini(&entry);
    return text;
}

#define URI  "WARC-Target-URI: http://a.test/\r\n"
#define PAGE "HTTP/1.1 404 Not Found\r\nContent-Type: text/html; charset=x\r\n\r\nabc"

TEST(lines_are_as_pywb_makes_them)
{
    CHECK_STR(line_of("response", URI "WARC-Payload-Digest: sha1:X\r\n", SLICE(PAGE)),
              "test,a)/ text/html 404 X");
    CHECK_STR(line_of("response", URI "WARC-Payload-Digest: md5:X\r\n", SLICE(PAGE)),
              "test,a)/ text/html 404 md5:X");
    CHECK_STR(line_of("response", URI, SLICE(PAGE)), "test,a)/ text/html 404 " ABC);
    CHECK_STR(line_of("response", URI, SLICE("abc")), "test,a)/ unk  " ABC);
    CHECK_STR(line_of("response", URI, SLICE("HTTP/1.1 200 OK\r\n\r\nabc")), "test,a)/ unk 200 " ABC);
    CHECK_STR(line_of("revisit", URI "WARC-Payload-Digest: sha1:X\r\n", SLICE(PAGE)),
              "test,a)/ warc/revisit  X");
    CHECK_STR(line_of("revisit", URI, SLICE("")), "test,a)/ warc/revisit  ");
    CHECK_STR(line_of("resource", URI "Content-Type: text/css; x\r\n", SLICE("abc")),
              "test,a)/ text/css  " ABC);
    CHECK_STR(line_of("metadata", "WARC-Target-URI: <urn:x>\r\nContent-Type: a/b\r\n", SLICE("abc")),
              "urn:x a/b  " ABC);
}

TEST(what_is_no_capture_is_left_out)
{
    CHECK_STR(line_of("request", URI, SLICE("GET / HTTP/1.1\r\n\r\n")), "");
    CHECK_STR(line_of("warcinfo", "Content-Type: application/warc-fields\r\n", SLICE("a: b")), "");
    CHECK_STR(line_of("metadata", URI "Content-Type: application/warc-fields\r\n", SLICE("a: b")), "");
    CHECK_STR(line_of("response", "WARC-Target-URI: dns:a.test\r\n", SLICE("abc")), "");
    CHECK_STR(line_of("response", "", SLICE(PAGE)), "");
}
