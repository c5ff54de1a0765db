#include "engine/content/fingerprint.h"

#include <stdlib.h>

#include "tests/support/check.h"

static const char *hex(const unsigned char digest[FINGERPRINT_SHA1_BYTES])
{
    static char text[2 * FINGERPRINT_SHA1_BYTES + 1];
    for (int i = 0; i < FINGERPRINT_SHA1_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static const char *sha1(struct slice text)
{
    struct fingerprint_sha1 state;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char *copy = check_guard_copy(text.ptr, text.len);
    fingerprint_sha1_init(&state);
    fingerprint_sha1_push(&state, (struct slice){copy, text.len});
    fingerprint_sha1_finish(&state, digest);
    check_guard_free(copy, text.len);
    return hex(digest);
}

/* The examples of FIPS 180. */
static void check_examples(void)
{
    CHECK_STR(sha1(SLICE("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK_STR(sha1(SLICE("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK_STR(sha1(SLICE("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    CHECK_STR(sha1((struct slice){million, 1000000}), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(million);
}

TEST(sha1_is_that_of_the_standard)
{
    check_examples();
}

TEST(sha1_in_portable_c_is_the_same)
{
    fingerprint_use_plain(true);
    check_examples();
    fingerprint_use_plain(false);
}

/* Every length around the ends of blocks, in both implementations and in pieces of every size. */
TEST(pieces_do_not_matter)
{
    char text[300];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7);
    for (size_t len = 0; len < sizeof(text); len++) {
        char expected[64];
        fingerprint_use_plain(true);
        snprintf(expected, sizeof(expected), "%s", sha1((struct slice){text, len}));
        fingerprint_use_plain(false);
        CHECK_STR(sha1((struct slice){text, len}), expected);
        struct fingerprint_sha1 state;
        unsigned char digest[FINGERPRINT_SHA1_BYTES];
        size_t step = len % 70 + 1;
        fingerprint_sha1_init(&state);
        for (size_t at = 0; at < len; at += step)
            fingerprint_sha1_push(&state, (struct slice){text + at, len - at < step ? len - at : step});
        fingerprint_sha1_finish(&state, digest);
        CHECK_STR(hex(digest), expected);
    }
}

/* Both digests of every length of the head and of the body around the ends of blocks are those of one stream each.
 * Head and body are copies of their own that end at a guard page. */
static void check_pair(struct slice head, struct slice body)
{
    unsigned char block[FINGERPRINT_SHA1_BYTES], payload[FINGERPRINT_SHA1_BYTES];
    char whole[1024], of_block[64], of_payload[64];
    memcpy(whole, head.ptr, head.len);
    memcpy(whole + head.len, body.ptr, body.len);
    snprintf(of_block, sizeof of_block, "%s", sha1((struct slice){whole, head.len + body.len}));
    snprintf(of_payload, sizeof of_payload, "%s", sha1(body));
    char *head_copy = check_guard_copy(head.ptr, head.len), *body_copy = check_guard_copy(body.ptr, body.len);
    fingerprint_sha1_pair((struct slice){head_copy, head.len}, (struct slice){body_copy, body.len}, block,
                          payload);
    CHECK_STR(hex(block), of_block);
    CHECK_STR(hex(payload), of_payload);
    check_guard_free(head_copy, head.len);
    check_guard_free(body_copy, body.len);
}

TEST(a_pair_is_two_digests)
{
    char text[700];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 11 + i / 64);
    for (int plain = 0; plain < 2; plain++) {
        fingerprint_use_plain(plain);
        for (size_t head = 0; head <= 130; head++)
            for (size_t body = 0; body <= 560; body += body < 140 ? 1 : 35)
                check_pair((struct slice){text, head}, (struct slice){text + head, body});
    }
    fingerprint_use_plain(false);
}

/* The steps in which a long body is digested. */
TEST(a_pair_in_pieces_is_the_same)
{
    char text[1000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 13);
    for (size_t head = 0; head < 70; head++) {
        struct fingerprint_sha1 a, b;
        unsigned char block[FINGERPRINT_SHA1_BYTES], payload[FINGERPRINT_SHA1_BYTES];
        fingerprint_sha1_init(&a);
        fingerprint_sha1_init(&b);
        fingerprint_sha1_push(&a, (struct slice){text, head});
        for (size_t at = head, step = head + 1; at < sizeof text; at += step)
            fingerprint_sha1_push_both(
                &a, &b, (struct slice){text + at, sizeof text - at < step ? sizeof text - at : step});
        fingerprint_sha1_finish(&a, block);
        fingerprint_sha1_finish(&b, payload);
        char expected[64];
        snprintf(expected, sizeof expected, "%s", sha1((struct slice){text, sizeof text}));
        CHECK_STR(hex(block), expected);
        snprintf(expected, sizeof expected, "%s", sha1((struct slice){text + head, sizeof text - head}));
        CHECK_STR(hex(payload), expected);
    }
}

TEST(base32_is_that_of_warc)
{
    struct fingerprint_sha1 state;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char text[FINGERPRINT_BASE32_CHARS];
    fingerprint_sha1_init(&state);
    fingerprint_sha1_finish(&state, digest);
    fingerprint_base32(digest, text);
    CHECK_SLICE(((struct slice){text, sizeof(text)}), "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
}
