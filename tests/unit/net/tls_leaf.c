#include "net/tls_leaf.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/tls_peer.h"

static struct tls_peer_bytes leaf_of(const char *name)
{
    struct tls_peer_bytes objects[4];
    pki_create();
    size_t count = tls_peer_read_pem(pki_path(name), objects, 4);
    CHECK(count > 0);
    for (size_t i = 1; i < count; i++)
        free(objects[i].ptr);
    return objects[0];
}

static bool has_address(struct tls_peer_bytes leaf, const char *text)
{
    struct ip address;
    CHECK(ip_parse(&address, slice_of(text)));
    return tls_leaf_has_address((struct slice){(char *)leaf.ptr, leaf.len}, &address);
}

TEST(finds_addresses)
{
    struct tls_peer_bytes leaf = leaf_of("good.pem");
    CHECK(has_address(leaf, "127.0.0.1"));
    CHECK(has_address(leaf, "::1"));
    CHECK(!has_address(leaf, "127.0.0.2"));
    CHECK(!has_address(leaf, "::2"));
    CHECK(!has_address(leaf, "0.0.0.0"));
    free(leaf.ptr);
    leaf = leaf_of("wrong-name.pem");
    CHECK(!has_address(leaf, "127.0.0.1"));
    free(leaf.ptr);
}

TEST(knows_what_is_not_yet_valid)
{
    struct tls_peer_bytes leaf = leaf_of("future.pem");
    struct slice certificate = {(char *)leaf.ptr, leaf.len};
    CHECK(tls_leaf_is_premature(certificate, SLICE("19991231235959")));
    CHECK(tls_leaf_is_premature(certificate, SLICE("20200101000000")));
    CHECK(!tls_leaf_is_premature(certificate, SLICE("20991231235959")));
    CHECK(!tls_leaf_is_premature(certificate, SLICE("21000101000000")));
    CHECK(!tls_leaf_is_premature((struct slice){certificate.ptr, 20}, SLICE("20200101000000")));
    free(leaf.ptr);
}

TEST(knows_the_self_issued)
{
    static const struct {
        const char *name;
        bool is_self_issued;
    } cases[] = {{"self-signed.pem", true}, {"ca.pem", true}, {"good.pem", false}, {"unknown.pem", false}};
    for (size_t i = 0; i < 4; i++) {
        struct tls_peer_bytes leaf = leaf_of(cases[i].name);
        CHECK_INT(tls_leaf_is_self_issued((struct slice){(char *)leaf.ptr, leaf.len}),
                  cases[i].is_self_issued);
        free(leaf.ptr);
    }
}

TEST(a_cut_certificate_is_a_no)
{
    struct tls_peer_bytes leaf = leaf_of("good.pem");
    for (size_t len = 0; len < leaf.len; len++) {
        char *copy = check_guard_copy(leaf.ptr, len);
        struct tls_peer_bytes cut = {(unsigned char *)copy, len};
        CHECK(!has_address(cut, "127.0.0.1"));
        CHECK(!tls_leaf_is_self_issued((struct slice){copy, len}));
        check_guard_free(copy, len);
    }
    free(leaf.ptr);
}

/* Every byte set to values that upset lengths and tags: any answer will do, as long as nothing is read
 * beyond. */
TEST(a_damaged_certificate_does_no_harm)
{
    struct tls_peer_bytes leaf = leaf_of("good.pem");
    char *copy = check_guard_copy(leaf.ptr, leaf.len);
    for (size_t i = 0; i < leaf.len; i++) {
        static const unsigned char values[] = {0x00, 0x30, 0x7f, 0x80, 0x81, 0x84, 0x87, 0xff};
        for (size_t k = 0; k < sizeof values; k++) {
            copy[i] = (char)values[k];
            has_address((struct tls_peer_bytes){(unsigned char *)copy, leaf.len}, "127.0.0.1");
            tls_leaf_is_self_issued((struct slice){copy, leaf.len});
        }
        copy[i] = (char)leaf.ptr[i];
    }
    check_guard_free(copy, leaf.len);
    free(leaf.ptr);
}
