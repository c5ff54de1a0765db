#include "engine/archive/payload.h"

#include "tests/unit/engine/archive/warc_file.h"

static char got[10000];
static size_t got_len;

static bool take(void *owner, struct slice bytes)
{
    (void)owner;
    CHECK(got_len + bytes.len < sizeof got);
    memcpy(got + got_len, bytes.ptr, bytes.len);
    got[got_len += bytes.len] = '\0';
    return true;
}

/* Reads the only record of a file of this type; answers the fault. */
static enum archive_fault fault_of(const char *type, struct slice block, struct payload_options options)
{
    static struct payload payload;
    struct archive_error error = {0};
    struct source source;
    struct warc_read reader;
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_add(file, type, "", block);
    got_len = 0;
    got[0] = '\0';
    options.take = take;
    CHECK(payload_init(&payload) && source_init_memory(&source, warc_file_all(file), &error));
    CHECK(warc_read_init(&reader, &source, &error) && warc_read_next(&reader) == WARC_READ_DONE);
    CHECK(payload_read(&payload, &reader, &options) == (error.fault == ARCHIVE_OK));
    warc_read_fini(&reader);
    source_fini(&source);
    payload_fini(&payload);
    return error.fault;
}

/* A response with a body in gzip, perhaps cut. */
static struct slice packed_response(const char *fields, size_t cut)
{
    static char block[2000];
    static struct warc_file member;
    member.len = 0;
    warc_file_gzip(&member, SLICE("the body, the body, the body"), false, 0);
    int len = snprintf(block, sizeof block, "HTTP/1.1 200 OK\r\n%s\r\n", fields);
    memcpy(block + len, member.bytes, member.len - cut);
    return (struct slice){block, (size_t)len + member.len - cut};
}

TEST(codings_and_chunks_are_undone)
{
    CHECK_INT(
        fault_of("response", packed_response("Content-Encoding: gzip\r\n", 0), (struct payload_options){0}),
        0);
    CHECK_STR(got, "the body, the body, the body");
    CHECK_INT(fault_of("response",
                       SLICE("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
                       (struct payload_options){0}),
              0);
    CHECK_STR(got, "abc");
    CHECK_INT(fault_of("response", SLICE("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
                       (struct payload_options){0}),
              0);
    CHECK_STR(got, "");
}

TEST(raw_is_as_it_is_stored)
{
    struct slice block = packed_response("Content-Encoding: gzip\r\n", 0);
    CHECK_INT(fault_of("response", block, (struct payload_options){.is_raw = true, .has_head = true}), 0);
    CHECK(got_len == block.len && memcmp(got, block.ptr, block.len) == 0);
    CHECK_INT(fault_of("resource", SLICE("HTTP/1.1 200 OK\r\n\r\nabc"), (struct payload_options){0}), 0);
    CHECK_STR(got, "HTTP/1.1 200 OK\r\n\r\nabc");
    CHECK_INT(fault_of("response", SLICE("\x01 no head"), (struct payload_options){0}), 0);
    CHECK_STR(got, "\x01 no head");
}

TEST(a_body_that_is_not_in_its_coding_is_told)
{
    CHECK_INT(fault_of("response", SLICE("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain text"),
                       (struct payload_options){0}),
              ARCHIVE_BAD_CODING);
    CHECK_INT(
        fault_of("response", packed_response("Content-Encoding: gzip\r\n", 5), (struct payload_options){0}),
        ARCHIVE_BAD_CODING);
}
