#include "net/tls_hello.h"

#include "tests/support/check.h"

/* A ClientHello with three suites, SNI-like filler, and these groups. */
static size_t hello_of(unsigned char *out, const unsigned char *groups, size_t count)
{
    unsigned char *at = out + 4;
    memset(at, 3, 2 + 32);
    at += 2 + 32;
    *at++ = 1;
    *at++ = 0xee;
    memcpy(at, "\0\6\1\2\3\4\5\6\1\0", 10);
    at += 10;
    unsigned char *extensions = at;
    at += 2;
    memcpy(at, "\0\0\0\3abc", 7);
    at += 7;
    memcpy(at, "\0\12\0", 3);
    at[3] = (unsigned char)(count * 2 + 2);
    at[4] = 0;
    at[5] = (unsigned char)(count * 2);
    at += 6;
    for (size_t i = 0; i < count; i++) {
        *at++ = 0;
        *at++ = groups[i];
    }
    memcpy(at, "\0\13\0\2\1\0", 6);
    at += 6;
    size_t len = (size_t)(at - extensions) - 2;
    extensions[0] = (unsigned char)(len >> 8);
    extensions[1] = (unsigned char)len;
    len = (size_t)(at - out) - 4;
    out[0] = 1;
    out[1] = 0;
    out[2] = (unsigned char)(len >> 8);
    out[3] = (unsigned char)len;
    return len + 4;
}

TEST(moves_x25519_to_the_front)
{
    unsigned char hello[256], expected[256];
    size_t len = hello_of(hello, (const unsigned char[]){23, 24, 25, 29, 30}, 5);
    CHECK_INT(hello_of(expected, (const unsigned char[]){29, 23, 24, 25, 30}, 5), len);
    CHECK(tls_hello_prefer_x25519(hello, len));
    CHECK(memcmp(hello, expected, len) == 0);
    CHECK(!tls_hello_prefer_x25519(hello, len));
    CHECK(memcmp(hello, expected, len) == 0);
}

TEST(leaves_alone_what_has_none)
{
    unsigned char hello[256], before[256];
    size_t len = hello_of(hello, (const unsigned char[]){23, 24}, 2);
    memcpy(before, hello, len);
    CHECK(!tls_hello_prefer_x25519(hello, len));
    CHECK(memcmp(hello, before, len) == 0);
    hello[0] = 2;
    CHECK(!tls_hello_prefer_x25519(hello, len));
}

TEST(a_cut_message_is_not_read_beyond)
{
    unsigned char hello[256];
    size_t whole = hello_of(hello, (const unsigned char[]){23, 29}, 2);
    for (size_t len = 0; len < whole; len++) {
        unsigned char *copy = (unsigned char *)check_guard_copy(hello, len);
        CHECK(!tls_hello_prefer_x25519(copy, len));
        CHECK(memcmp(copy, hello, len) == 0);
        check_guard_free((char *)copy, len);
    }
}
