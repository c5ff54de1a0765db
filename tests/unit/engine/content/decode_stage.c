#include "engine/content/decode_stage.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

/* "hello hello hello hello\n" in each coding. */
static const unsigned char in_brotli[] = {0x1f, 0x17, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde,
                                          0x44, 0x55, 0x86, 0xd6, 0x0a, 0x20, 0x6c, 0x6f,
                                          0x4a, 0x11, 0x79, 0xe2, 0x80, 0xae, 0x16};
static const unsigned char in_gzip[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                        0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9,
                                        0x00, 0x00, 0x88, 0x59, 0x0b, 0x18, 0x00, 0x00, 0x00};
static const unsigned char in_zlib[] = {0x78, 0xda, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8,
                                        0x40, 0x27, 0xb9, 0x00, 0x70, 0xbe, 0x08, 0xbb};
static const unsigned char in_raw[] = {0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0xb9, 0x00};
static const unsigned char in_zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x6d, 0x00, 0x00,
                                        0x38, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x0a, 0x01,
                                        0x00, 0x99, 0x4b, 0x11, 0xa8, 0x7c, 0x2e, 0xa8};

static const struct {
    enum decode_coding coding;
    struct slice body;
} bodies[] = {
    {DECODE_BROTLI, {(const char *)in_brotli, sizeof(in_brotli)}},
    {DECODE_GZIP, {(const char *)in_gzip, sizeof(in_gzip)}},
    {DECODE_DEFLATE, {(const char *)in_zlib, sizeof(in_zlib)}},
    {DECODE_DEFLATE, {(const char *)in_raw, sizeof(in_raw)}},
    {DECODE_ZSTD, {(const char *)in_zstd, sizeof(in_zstd)}},
};
#define BODIES (sizeof(bodies) / sizeof(bodies[0]))

TEST(one_stage_takes_one_coding_after_another)
{
    struct decode_stage stage = {0};
    for (size_t i = 0; i < 3 * BODIES; i++) {
        char out[64];
        struct decode_output output = {out, sizeof(out), 0};
        struct slice body = bodies[i % BODIES].body;
        decode_stage_begin(&stage, bodies[i % BODIES].coding);
        CHECK(!decode_stage_may_end(&stage));
        enum decode_result result = decode_stage_run(&stage, &body, &output);
        CHECK(result == DECODE_DONE || result == DECODE_MORE);
        CHECK(decode_stage_may_end(&stage));
        CHECK_INT(body.len, 0);
        CHECK_SLICE(((struct slice){out, output.written}), "hello hello hello hello\n");
    }
    decode_stage_fini(&stage);
}

TEST(every_prefix_wants_more)
{
    struct decode_stage stage = {0};
    for (size_t i = 0; i < BODIES; i++)
        for (size_t len = 0; len < bodies[i].body.len; len++) {
            char out[64], *copy = check_guard_copy(bodies[i].body.ptr, len);
            struct decode_output output = {out, sizeof(out), 0};
            struct slice body = {copy, len};
            decode_stage_begin(&stage, bodies[i].coding);
            CHECK_INT(decode_stage_run(&stage, &body, &output), DECODE_MORE);
            CHECK_INT(body.len, 0);
            CHECK(!decode_stage_may_end(&stage));
            check_guard_free(copy, len);
        }
    decode_stage_fini(&stage);
}

TEST(full_output_is_no_loss)
{
    struct decode_stage stage = {0};
    for (size_t i = 0; i < BODIES; i++) {
        char out[64];
        size_t made = 0;
        struct slice body = bodies[i].body;
        enum decode_result result;
        decode_stage_begin(&stage, bodies[i].coding);
        do {
            struct decode_output output = {out + made, 1, 0};
            result = decode_stage_run(&stage, &body, &output);
            made += output.written;
        } while (result == DECODE_FULL);
        CHECK(decode_stage_may_end(&stage));
        CHECK_SLICE(((struct slice){out, made}), "hello hello hello hello\n");
    }
    decode_stage_fini(&stage);
}

/* What brotli frees at the end of a stream is all that the next one takes: after the first streams nothing is
 * asked of malloc. */
TEST(brotli_lives_on_what_it_gave_back)
{
    struct decode_stage stage = {0};
    void *instance = NULL;
    for (int round = 0; round < 5; round++) {
        char out[64];
        struct decode_output output = {out, sizeof(out), 0};
        struct slice body = bodies[0].body;
        decode_stage_begin(&stage, DECODE_BROTLI);
        CHECK_INT(decode_stage_run(&stage, &body, &output), DECODE_DONE);
        if (round > 0)
            CHECK(stage.brotli == instance);
        instance = stage.brotli;
    }
    decode_stage_fini(&stage);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they have an allocator of their own */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

static long allocations, fails_at;

static bool must_fail(void)
{
    return ++allocations == fails_at;
}

/* Stand before the library's own, also for the decompressors. */
void *malloc(size_t size)
{
    return must_fail() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __libc_calloc(count, size);
}

/* Decodes a body with the n-th allocation failing. False: there are fewer. */
static bool run_with_failure(size_t which, long n)
{
    static const char *const codings[BODIES] = {"br", "gzip", "deflate", "deflate", "zstd"};
    char out[64];
    struct slice body = bodies[which].body, list = slice_of(codings[which]);
    struct decode_output output = {.ptr = out, .room = sizeof(out)};
    enum decode_result result = DECODE_NO_MEMORY;
    allocations = 0;
    fails_at = n;
    struct decode *decode = decode_create(&(struct decode_options){0});
    if (decode && decode_begin(decode, list) == DECODE_MORE)
        result = decode_push(decode, &body, &output);
    fails_at = 0;
    bool has_failed = allocations >= n;
    CHECK(result != DECODE_CORRUPT && (has_failed || result != DECODE_NO_MEMORY));
    if (decode) { /* the next body finds all that it needs */
        CHECK_INT(decode_whole(decode, list, bodies[which].body, &output), DECODE_DONE);
        CHECK_INT(output.written, 24);
        decode_destroy(decode);
    }
    return has_failed;
}

TEST(memory_that_cannot_be_had_is_said_so)
{
    for (size_t i = 0; i < BODIES; i++) {
        long n = 1;
        while (run_with_failure(i, n))
            n++;
        CHECK(n > 3);
    }
}

#endif
