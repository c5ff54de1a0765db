#include "engine/content/decode.h"

#include "engine/content/limits.h"
#include "tests/unit/engine/content/packed.h"

#define OUT_BYTES (4 << 20)

static char out[OUT_BYTES];
static struct decode *decoder;

/* "hello hello hello hello\n" in brotli. */
static const unsigned char hello_br[] = {0x1f, 0x17, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde,
                                         0x44, 0x55, 0x86, 0xd6, 0x0a, 0x20, 0x6c, 0x6f,
                                         0x4a, 0x11, 0x79, 0xe2, 0x80, 0xae, 0x16};
/* 3,000,000 times 'a' in brotli. */
static const unsigned char many_br[] = {0x9f, 0xbf, 0xc6, 0x2d, 0x00, 0x24, 0xc2,
                                        0xe2, 0xb1, 0x40, 0xf2, 0x7c, 0x5b, 0x00};

static void fresh(uint64_t bytes_max, uint64_t ratio_max)
{
    if (decoder)
        decode_destroy(decoder);
    decoder = decode_create(&(struct decode_options){.bytes_max = bytes_max, .ratio_max = ratio_max});
    CHECK(decoder);
}

static struct slice joined(struct slice a, struct slice b)
{
    char *bytes = packed_memory(a.len + b.len + 1);
    memcpy(bytes, a.ptr, a.len);
    memcpy(bytes + a.len, b.ptr, b.len);
    return (struct slice){bytes, a.len + b.len};
}

static const char *whole(const char *codings, struct slice body)
{
    struct decode_output output = {out, sizeof(out), 0};
    char *copy = check_guard_copy(body.ptr, body.len);
    enum decode_result result =
        decode_whole(decoder, slice_of(codings), (struct slice){copy, body.len}, &output);
    check_guard_free(copy, body.len);
    out[output.written < sizeof(out) ? output.written : sizeof(out) - 1] = '\0';
    return decode_result_name(result);
}

/* The same in pieces: `in_step` bytes of input and `out_step` of output at a time. */
static const char *streamed(const char *codings, struct slice body, size_t in_step, size_t out_step)
{
    size_t made = 0;
    enum decode_result result = decode_begin(decoder, slice_of(codings));
    while (body.len && result == DECODE_MORE) {
        struct slice piece = {body.ptr, body.len < in_step ? body.len : in_step};
        body = slice_skip(body, piece.len);
        do {
            struct decode_output output = {out + made, out_step, 0};
            CHECK(made + out_step <= sizeof(out));
            result = decode_push(decoder, &piece, &output);
            made += output.written;
        } while (result == DECODE_FULL);
    }
    out[made] = '\0';
    return decode_result_name(result == DECODE_MORE || result == DECODE_DONE ? decode_finish(decoder)
                                                                             : result);
}

static struct slice long_text(void)
{
    static char text[300000];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + (i * i / 7 + i / 100) % 26);
    return (struct slice){text, sizeof(text)};
}

TEST(each_coding_is_decoded_whole)
{
    const struct slice text = SLICE("hello, hello, hello");
    fresh(0, 0);
    CHECK_STR(whole("gzip", packed("gzip", text)), "done");
    CHECK_STR(out, text.ptr);
    CHECK_STR(whole("X-GZIP", packed("gzip", text)), "done");
    CHECK_STR(whole("deflate", packed("zlib", text)), "done");
    CHECK_STR(out, text.ptr);
    CHECK_STR(whole("deflate", packed("raw", text)), "done");
    CHECK_STR(out, text.ptr);
    CHECK_STR(whole("zstd", packed("zstd", text)), "done");
    CHECK_STR(out, text.ptr);
    CHECK_STR(whole("br", (struct slice){(const char *)hello_br, sizeof(hello_br)}), "done");
    CHECK_STR(out, "hello hello hello hello\n");
    CHECK_STR(whole("identity", text), "done");
    CHECK_STR(out, text.ptr);
    CHECK_STR(whole("", text), "done");
}

TEST(each_coding_is_decoded_in_pieces_of_any_size)
{
    const struct slice text = long_text();
    static const size_t steps[][2] = {{1, 4096}, {7, 100}, {1000, 1}, {65536, 65536}, {3, 3}};
    static const char *const codings[][2] = {
        {"gzip", "gzip"}, {"deflate", "zlib"}, {"deflate", "raw"}, {"zstd", "zstd"}};
    fresh(0, 0);
    for (size_t i = 0; i < 4; i++) {
        struct slice body = packed(codings[i][1], text);
        for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
            CHECK_STR(streamed(codings[i][0], body, steps[j][0], steps[j][1]), "done");
            CHECK(memcmp(out, text.ptr, text.len) == 0);
            CHECK_INT(strlen(out), text.len);
        }
    }
    struct slice many = {(const char *)many_br, sizeof(many_br)};
    CHECK_STR(streamed("br", many, 1, 1000), "done");
    CHECK_INT(strlen(out), 3000000);
}

TEST(stacked_codings_are_undone_from_the_last)
{
    const struct slice text = long_text();
    fresh(0, 0);
    struct slice body = packed("zstd", packed("gzip", text));
    CHECK_STR(whole("gzip, zstd", body), "done");
    CHECK_INT(strlen(out), text.len);
    CHECK(memcmp(out, text.ptr, text.len) == 0);
    CHECK_STR(streamed("gzip,identity ,, zstd", body, 13, 777), "done");
    CHECK(memcmp(out, text.ptr, text.len) == 0);
    CHECK_STR(whole("zstd, gzip", body), "corrupt");
    body = packed("gzip", packed("gzip", packed("zlib", packed("zstd", text))));
    CHECK_STR(whole("zstd, deflate, gzip, gzip", body), "done");
    CHECK(memcmp(out, text.ptr, text.len) == 0);
    CHECK_STR(whole("gzip, gzip, gzip, gzip, gzip", body), "stacked too high");
}

TEST(members_and_frames_follow_each_other)
{
    fresh(0, 0);
    struct slice body = joined(packed("gzip", SLICE("one ")), packed("gzip", SLICE("two")));
    CHECK_STR(whole("gzip", body), "done");
    CHECK_STR(out, "one two");
    CHECK_STR(streamed("gzip", body, 1, 1), "done");
    CHECK_STR(out, "one two");
    body = joined(packed("zstd", SLICE("one ")), packed("zstd", SLICE("two")));
    CHECK_STR(whole("zstd", body), "done");
    CHECK_STR(out, "one two");
    CHECK_STR(streamed("zstd", body, 1, 1), "done");
    CHECK_STR(out, "one two");
}

/* Format 0.5 of the library: a head, then a block of one byte repeated. */
static const char old_frame[] = "\x25\xb5\x2f\xfd\x00\x1f\x8b\x08\x00\x00\xd9\x25\x6a\x11\x1f\x02";

TEST(frames_older_than_the_standard_are_garbage)
{
    fresh(0, 0);
    struct slice old = {old_frame, sizeof old_frame - 1}, body = joined(packed("zstd", SLICE("one")), old);
    CHECK_STR(whole("zstd", old), "corrupt");
    CHECK_STR(streamed("zstd", old, 1, 1), "corrupt");
    CHECK_STR(whole("zstd", body), "done");
    CHECK_STR(out, "one");
    for (size_t step = 1; step < body.len; step++) {
        CHECK_STR(streamed("zstd", body, step, 1), "done");
        CHECK_STR(out, "one");
    }
}

TEST(frames_to_skip_are_skipped)
{
    fresh(0, 0);
    struct slice skipped = SLICE("\x5a\x2a\x4d\x18\x03\x00\x00\x00"
                                 "abc");
    struct slice body = joined(joined(packed("zstd", SLICE("one ")), skipped), packed("zstd", SLICE("two")));
    CHECK_STR(whole("zstd", body), "done");
    CHECK_STR(out, "one two");
    for (size_t step = 1; step < body.len; step++) {
        CHECK_STR(streamed("zstd", body, step, 2), "done");
        CHECK_STR(out, "one two");
    }
}

/* An inner stage may be asked many times before the outer one has anything for it. */
TEST(an_inner_coding_waits_for_the_outer)
{
    static const char *const inner[] = {"gzip", "zlib", "zstd"};
    static const char *const codings[] = {"gzip, gzip", "deflate, gzip", "zstd, gzip"};
    const struct slice text = SLICE("hello, hello, hello");
    fresh(0, 0);
    for (int i = 0; i < 3; i++) {
        struct slice body = packed("gzip", packed(inner[i], text));
        CHECK_STR(streamed(codings[i], body, 1, 1), "done");
        CHECK_STR(out, text.ptr);
        CHECK_STR(whole(codings[i], body), "done");
        CHECK_STR(out, text.ptr);
    }
}

TEST(garbage_behind_the_body_is_ignored)
{
    fresh(0, 0);
    const struct slice garbage = SLICE("garbage, and more of it");
    static const char *const codings[][2] = {
        {"gzip", "gzip"}, {"deflate", "zlib"}, {"deflate", "raw"}, {"zstd", "zstd"}};
    for (size_t i = 0; i < 4; i++) {
        struct slice body = joined(packed(codings[i][1], SLICE("text")), garbage);
        CHECK_STR(whole(codings[i][0], body), "done");
        CHECK_STR(out, "text");
        CHECK_STR(streamed(codings[i][0], body, 5, 100), "done");
        CHECK_STR(out, "text");
    }
}

TEST(a_body_cut_off_gives_what_came)
{
    const struct slice text = long_text();
    static const char *const codings[][2] = {
        {"gzip", "gzip"}, {"deflate", "zlib"}, {"deflate", "raw"}, {"zstd", "zstd"}};
    fresh(0, 0);
    for (size_t i = 0; i < 4; i++) {
        struct slice body = packed(codings[i][1], text);
        for (size_t len = 1; len < body.len; len += body.len / 97 + 1) {
            CHECK_STR(whole(codings[i][0], (struct slice){body.ptr, len}), "truncated");
            CHECK(strlen(out) <= text.len && memcmp(out, text.ptr, strlen(out)) == 0);
        }
        whole(codings[i][0], (struct slice){body.ptr, body.len - 1});
        CHECK(strlen(out) > text.len / 2);
    }
    for (size_t len = 1; len < sizeof(hello_br); len++)
        CHECK_STR(whole("br", (struct slice){(const char *)hello_br, len}), "truncated");
}

TEST(no_body_needs_no_coding)
{
    fresh(0, 0);
    CHECK_STR(whole("gzip", SLICE("")), "done");
    CHECK_STR(whole("br", SLICE("")), "done");
    CHECK_STR(whole("zstd", SLICE("")), "done");
}

TEST(wrong_bodies_are_corrupt)
{
    fresh(0, 0);
    CHECK_STR(whole("gzip", SLICE("<html>not compressed at all</html>")), "corrupt");
    CHECK_STR(whole("zstd", SLICE("<html>not compressed at all</html>")), "corrupt");
    CHECK_STR(whole("br", SLICE("<html>not compressed at all</html>")), "corrupt");
    CHECK_STR(whole("deflate", SLICE("<html>not compressed at all</html>")), "corrupt");
    struct slice body = packed("gzip", long_text());
    ((char *)(uintptr_t)body.ptr)[body.len - 6] ^= 1;
    CHECK_STR(whole("gzip", body), "corrupt");
    CHECK_STR(streamed("gzip", body, 100, 1000), "corrupt");
}

TEST(errors_stick_until_the_next_begin)
{
    fresh(0, 0);
    struct decode_output output = {out, sizeof(out), 0};
    struct slice bad = SLICE("not gzip"), good = packed("gzip", SLICE("x"));
    CHECK_INT(decode_begin(decoder, SLICE("gzip")), DECODE_MORE);
    CHECK_INT(decode_push(decoder, &bad, &output), DECODE_CORRUPT);
    CHECK_INT(decode_push(decoder, &good, &output), DECODE_CORRUPT);
    CHECK_INT(decode_finish(decoder), DECODE_CORRUPT);
    CHECK_STR(whole("gzip", good), "done");
}

/* As servers write them. */
TEST(unknown_codings_are_none)
{
    const char *const names[] = {"UTF-8", "none", "binary",   "aws-chunked",
                                 ",",     " , ",  "compress", "text/html"};
    const struct slice text = SLICE("hello"), coded = packed("gzip", text);
    fresh(0, 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char with[64];
        CHECK_STR(whole(names[i], text), "done");
        CHECK_STR(out, text.ptr);
        snprintf(with, sizeof(with), "%s, GZip", names[i]);
        CHECK_STR(whole(with, coded), "done");
        CHECK_STR(out, text.ptr);
        snprintf(with, sizeof(with), "x-gzip,,%s", names[i]);
        CHECK_STR(whole(with, coded), "done");
        CHECK_STR(out, text.ptr);
    }
}

TEST(output_beyond_the_bound_is_too_long)
{
    const struct slice text = long_text();
    static const char *const codings[] = {"gzip", "zstd"};
    for (size_t i = 0; i < 2; i++) {
        struct slice body = packed(codings[i], text);
        fresh(text.len, 0);
        CHECK_STR(whole(codings[i], body), "done");
        CHECK_STR(streamed(codings[i], body, 100, 1000), "done");
        fresh(text.len - 1, 0);
        CHECK_STR(whole(codings[i], body), "too long");
        CHECK(memcmp(out, text.ptr, text.len - 1) == 0);
        CHECK_STR(streamed(codings[i], body, 100, 1000), "too long");
        CHECK_INT(strlen(out), text.len - 1);
        fresh(1, 0);
        CHECK_STR(streamed(codings[i], body, 100, 1000), "too long");
        CHECK_INT(strlen(out), 1);
    }
    fresh(10, 0);
    CHECK_STR(whole("", SLICE("0123456789")), "done");
    CHECK_STR(whole("", SLICE("0123456789a")), "too long");
}

TEST(output_beyond_the_callers_room_wants_more_room)
{
    const struct slice text = SLICE("0123456789");
    fresh(0, 0);
    struct decode_output output = {out, text.len - 1, 0};
    CHECK_INT(decode_whole(decoder, SLICE("gzip"), packed("gzip", text), &output), DECODE_FULL);
    CHECK_INT(output.written, text.len - 1);
    CHECK_INT(decode_whole(decoder, SLICE("zstd"), packed("zstd", text), &output), DECODE_FULL);
    CHECK_INT(decode_whole(decoder, SLICE(""), text, &output), DECODE_FULL);
    fresh(text.len - 1, 0); /* where room and bound are the same, the bound has the word */
    CHECK_INT(decode_whole(decoder, SLICE("gzip"), packed("gzip", text), &output), DECODE_TOO_LONG);
    CHECK_INT(decode_whole(decoder, SLICE("zstd"), packed("zstd", text), &output), DECODE_TOO_LONG);
    fresh(0, 0);
    output.room = text.len;
    CHECK_INT(decode_whole(decoder, SLICE("gzip"), packed("gzip", text), &output), DECODE_DONE);
    CHECK_INT(decode_whole(decoder, SLICE("zstd"), packed("zstd", text), &output), DECODE_DONE);
    CHECK_INT(decode_whole(decoder, SLICE(""), text, &output), DECODE_DONE);
}

TEST(a_bomb_is_named)
{
    struct slice many = {(const char *)many_br, sizeof(many_br)};
    char *zeros = calloc(1, 3000000);
    struct slice gzip = packed("gzip", (struct slice){zeros, 3000000});
    fresh(0, 100);
    CHECK_STR(whole("gzip", gzip), "bomb");
    CHECK_STR(whole("br", many), "bomb");
    CHECK_STR(streamed("gzip", gzip, 50, 4096), "bomb");
    CHECK_STR(whole("gzip, gzip", packed("gzip", gzip)), "bomb");
    /* Small pages may shrink as they like, ordinary ones pass. */
    CHECK_STR(whole("gzip", packed("gzip", (struct slice){zeros, DECODE_RATIO_FREE_BYTES})), "done");
    CHECK_STR(whole("gzip", packed("gzip", long_text())), "done");
    fresh(0, 2000);
    CHECK_STR(whole("gzip", gzip), "done");
    free(zeros);
}

TEST(each_result_has_a_name)
{
    for (int result = 0; result < DECODE_RESULTS; result++)
        CHECK(strcmp(decode_result_name(result), "?") != 0);
    CHECK_STR(decode_result_name(DECODE_RESULTS), "?");
}
