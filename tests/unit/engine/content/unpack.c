#include "engine/content/unpack.h"

#include "tests/unit/engine/content/packed.h"

/* Memory that counts what it was asked for and ends at a bound. */
struct test_room {
    struct unpack_room room;
    size_t size_max;
};

static bool grow(struct unpack_room *room, size_t size, size_t used)
{
    struct test_room *test = (struct test_room *)room;
    CHECK(used <= room->size);
    char *bytes = size <= test->size_max ? realloc(room->bytes, size) : NULL;
    if (!bytes)
        return false;
    room->bytes = bytes;
    room->size = size;
    return true;
}

static struct decode *decoder;
static struct test_room memory = {{NULL, 0, grow}, 0};
static struct unpack unpacker;
static unsigned steps;

static const char *name_of(enum unpack_result result)
{
    static const char *const names[UNPACK_RESULTS] = {"more", "whole", "cut", "bad", "too long", "no room"};
    return names[result];
}

static const char *unpacked_within(struct unpack_body body, size_t size_max)
{
    if (!decoder)
        decoder = decode_create(&(struct decode_options){.bytes_max = 32 << 20, .ratio_max = 10000});
    free(memory.room.bytes);
    memory = (struct test_room){{NULL, 0, grow}, size_max};
    unpack_begin(&unpacker, &body, decoder, &memory.room);
    enum unpack_result result;
    steps = 0;
    do {
        result = unpack_step(&unpacker);
        steps++;
    } while (result == UNPACK_MORE);
    return name_of(result);
}

static const char *unpacked(const char *codings, struct slice bytes)
{
    struct unpack_body body = {
        .codings = slice_of(codings), .content_type = SLICE("text/html"), .bytes = bytes};
    return unpacked_within(body, SIZE_MAX);
}

/* Text of `len` bytes that compresses to about a quarter. */
static struct slice text_of(size_t len)
{
    static char *text;
    static unsigned seed = 1;
    text = realloc(text, len);
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = i % 8 ? (char)('a' + (i / 64) % 16) : (char)('a' + (seed >> 16) % 26);
    }
    return (struct slice){text, len};
}

static bool is_start_of(struct slice text)
{
    return unpacker.document.len <= text.len &&
           memcmp(unpacker.document.ptr, text.ptr, unpacker.document.len) == 0;
}

TEST(each_coding_gives_the_document)
{
    const size_t lens[] = {20, 100000, UNPACK_WHOLE_BYTES + 1000, 3 * UNPACK_WHOLE_BYTES};
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        struct slice text = text_of(lens[i]);
        CHECK_STR(unpacked("gzip", packed("gzip", text)), "whole");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        CHECK_STR(unpacked("deflate", packed("zlib", text)), "whole");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        CHECK_STR(unpacked("deflate", packed("raw", text)), "whole");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        CHECK_STR(unpacked("zstd", packed("zstd", text)), "whole");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        CHECK_STR(unpacked("", text), "whole");
        CHECK(unpacker.document.ptr == text.ptr);
    }
}

/* Cut short, without its trailer, with a wrong checksum, with garbage behind it. */
TEST(a_damaged_body_gives_what_came)
{
    const size_t lens[] = {5000, 400000, 2 * UNPACK_WHOLE_BYTES};
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        struct slice text = text_of(lens[i]), gzip = packed("gzip", text), part = gzip;
        part.len -= 8;
        CHECK_STR(unpacked("gzip", part), "cut");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        part.len = gzip.len / 2;
        CHECK_STR(unpacked("gzip", part), "cut");
        CHECK(unpacker.document.len > text.len / 4 && is_start_of(text));
        char *bytes = (char *)(uintptr_t)gzip.ptr;
        bytes[gzip.len - 6] ^= 1;
        CHECK_STR(unpacked("gzip", gzip), "cut");
        CHECK(unpacker.document.len == text.len && is_start_of(text));
        bytes[gzip.len - 6] ^= 1;
        bytes[gzip.len] = 'x';
        CHECK_STR(unpacked("gzip", (struct slice){bytes, gzip.len + 1}), "whole");
        const char *const others[] = {"zlib", "raw", "zstd"};
        for (size_t j = 0; j < (i == 0 ? 2 : 3); j++) { /* zstd gives blocks of 128 KiB, or none */
            struct slice whole = packed(others[j], text), half = {whole.ptr, whole.len * 3 / 4};
            CHECK_STR(unpacked(j == 2 ? "zstd" : "deflate", half), "cut");
            CHECK(unpacker.document.len > 0 && is_start_of(text));
        }
    }
}

TEST(what_is_not_packed_is_taken_as_it_is)
{
    const char *const codings[] = {"gzip", "deflate", "br", "zstd", "gzip, br", "UTF-8", "none", "GZIP,gzip"};
    const struct slice page = SLICE("<!doctype html><title>Plain text</title><a href=x>all the same</a>");
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        CHECK_STR(unpacked(codings[i], page), "whole");
        CHECK(unpacker.document.ptr == page.ptr && unpacker.document.len == page.len);
    }
    CHECK_STR(unpacked("gzip", SLICE("\1\2\3\4\5\6\7\x08\1\2\3\4")), "bad");
    CHECK_INT(unpacker.document.len, 0);
    CHECK_STR(unpacked("gzip", SLICE("")), "whole");
}

TEST(a_coding_named_twice_may_be_applied_once)
{
    struct slice text = text_of(3000), gzip = packed("gzip", text), twice = packed("gzip", gzip);
    CHECK_STR(unpacked("gzip, gzip", twice), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    CHECK_STR(unpacked("gzip, gzip", gzip), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    CHECK_STR(unpacked("gzip, gzip, gzip, gzip, gzip, gzip", gzip), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
}

TEST(gzip_is_known_by_its_content)
{
    struct slice text = text_of(3000), gzip = packed("gzip", text), twice = packed("gzip", gzip);
    struct unpack_body body = {
        .codings = SLICE(""), .content_type = SLICE("application/x-gzip"), .bytes = gzip};
    CHECK_STR(unpacked_within(body, SIZE_MAX), "whole");
    CHECK(unpacker.document.ptr == gzip.ptr); /* an archive, for all we know */
    body.is_sitemap = true;
    CHECK_STR(unpacked_within(body, SIZE_MAX), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    body = (struct unpack_body){.codings = SLICE("gzip"), .content_type = SLICE("text/xml"), .bytes = twice};
    CHECK_STR(unpacked_within(body, SIZE_MAX), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    CHECK_STR(unpacked("", gzip), "whole"); /* as text/html */
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    CHECK_STR(unpacked("binary", gzip), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
}

/* Room for a page is what the page needs, not a multiple of what came. */
TEST(room_grows_with_what_comes)
{
    struct slice text = text_of(10 << 20), gzip = packed("gzip", text);
    CHECK(gzip.len > (1 << 20));
    struct unpack_body body = {.codings = SLICE("gzip"), .content_type = SLICE("text/html"), .bytes = gzip};
    CHECK_STR(unpacked_within(body, 16 << 20), "whole");
    CHECK(unpacker.document.len == text.len && is_start_of(text));
    CHECK(steps >= text.len / UNPACK_STEP_BYTES);
    CHECK_STR(unpacked_within(body, 1 << 20), "no room");
    CHECK(unpacker.document.len == 1 << 20 && is_start_of(text));
    CHECK_STR(unpacked_within(body, 0), "no room");
    CHECK_INT(unpacker.document.len, 0);
}

/* A trailer that lies about the length asks for no more than a usual page does. */
TEST(a_false_length_costs_little)
{
    struct slice text = text_of(3000), gzip = packed("gzip", text);
    char *bytes = (char *)(uintptr_t)gzip.ptr;
    memcpy(bytes + gzip.len - 4, "\xff\xff\x1f\0", 4);
    CHECK_STR(unpacked("gzip", gzip), "cut");
    CHECK(memory.room.size <= UNPACK_WHOLE_BYTES && is_start_of(text));
}

TEST(no_more_is_unpacked_than_wanted)
{
    struct slice text = text_of(1 << 20);
    struct unpack_body body = {.codings = SLICE("gzip"),
                               .content_type = SLICE(""),
                               .bytes = packed("gzip", text),
                               .bytes_max = 70000};
    CHECK_STR(unpacked_within(body, 1 << 17), "whole");
    CHECK(unpacker.document.len == 70000 && is_start_of(text));
}

TEST(bombs_give_nothing)
{
    char *zeros = calloc(1, 64 << 20);
    struct slice once = packed("gzip", (struct slice){zeros, 64 << 20}), twice = packed("gzip", once);
    CHECK_STR(unpacked("gzip", once), "too long");
    CHECK_STR(unpacked("gzip, gzip", twice), "too long");
    CHECK_INT(unpacker.document.len, 0);
    free(zeros);
}
