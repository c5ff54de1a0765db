#include "engine/url/url_host.h"

#include "tests/support/check.h"

static enum url_error write_host(const char *text, char *result)
{
    struct url_writer out = {.text = result, .size = 100};
    size_t len = strlen(text);
    char *guarded = check_guard_copy(text, len);
    enum url_error error = url_host_write(&out, (struct slice){guarded, len});
    check_guard_free(guarded, len);
    CHECK(out.len < 100);
    result[out.len] = '\0';
    return error;
}

struct host {
    const char *text, *expected; /* NULL: refused */
};

#define CHECK_HOSTS(refusal, ...)                                                                            \
    do {                                                                                                     \
        const struct host hosts[] = {__VA_ARGS__};                                                           \
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {                                          \
            char result[100];                                                                                \
            enum url_error error = write_host(hosts[i].text, result);                                        \
            CHECK_INT(error, hosts[i].expected ? URL_OK : (refusal));                                        \
            if (hosts[i].expected)                                                                           \
                CHECK_STR(result, hosts[i].expected);                                                        \
        }                                                                                                    \
    } while (0)

TEST(ipv4)
{
    CHECK_HOSTS(URL_BAD_ADDRESS, {"127.0.0.1", "127.0.0.1"}, {"127.1", "127.0.0.1"}, {"1", "0.0.0.1"},
                {"0x7f.1", "127.0.0.1"}, {"0177.0.0.1", "127.0.0.1"}, {"4294967295", "255.255.255.255"},
                {"0xffffffff", "255.255.255.255"}, {"4294967296", NULL}, {"1.2.3.4.", "1.2.3.4"},
                {"1.2.3.4.5", NULL}, {"256.1", NULL}, {"1.2.65536", NULL}, {"1.2.65535", "1.2.255.255"},
                {"1.16777216", NULL}, {"08.1", NULL}, {"0x", "0.0.0.0"}, {"0", "0.0.0.0"}, {"1..2", NULL},
                {"a.1", NULL}, {"09", NULL}, {"0xg.1", NULL}, {"99999999999999999999999999", NULL},
                {"%31", "0.0.0.1"}, {"1.0x", "1.0.0.0"});
}

TEST(names_that_only_look_like_numbers)
{
    CHECK_HOSTS(URL_BAD_HOST, {"1.a", "1.a"}, {"0xg", "0xg"}, {"1.2.3.4a", "1.2.3.4a"}, {"4e5", "4e5"},
                {".", "."}, {"a..", "a.."});
}

TEST(ipv6)
{
    CHECK_HOSTS(
        URL_BAD_ADDRESS, {"[::1]", "[::1]"}, {"[::]", "[::]"}, {"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"},
        {"[1:0:0:0:0:0:0:8]", "[1::8]"}, {"[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"},
        {"[0:0:1:0:0:1:1:1]", "[::1:0:0:1:1:1]"}, {"[1:0:2:3:4:5:6:7]", "[1:0:2:3:4:5:6:7]"},
        {"[FE80::ABCD]", "[fe80::abcd]"}, {"[1::]", "[1::]"}, {"[::1.2.3.4]", "[::102:304]"},
        {"[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"},
        {"[::ffff:255.255.255.255]", "[::ffff:ffff:ffff]"}, {"[]", NULL}, {"[:]", NULL}, {"[:1]", NULL},
        {"[1:]", NULL}, {"[1:2]", NULL}, {"[:::]", NULL}, {"[1::2::3]", NULL}, {"[12345::]", NULL},
        {"[g::]", NULL}, {"[1:2:3:4:5:6:7:8:9]", NULL}, {"[1:2:3:4:5:6:7::8]", NULL},
        {"[1:2:3:4:5:6:7:1.2.3.4]", NULL}, {"[::1.2.3]", NULL}, {"[::1.2.3.4.5]", NULL},
        {"[::1.2.3.256]", NULL}, {"[::01.2.3.4]", NULL}, {"[::1.2.3.4x]", NULL}, {"[::.2.3.4]", NULL},
        {"[::1%eth0]", NULL}, {"[::1", NULL}, {"[::1]x", NULL}, {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"});
}

TEST(names)
{
    CHECK_HOSTS(URL_BAD_HOST, {"Example.ORG", "example.org"}, {"ex%41mple", "example"}, {"a_b-c", "a_b-c"},
                {"XN--A", "xn--a"}, {"a!$&'()*+,;=b", "a!$&'()*+,;=b"}, {"a%", NULL}, {"a%2", NULL},
                {"a%2fb", NULL}, {"a<b", NULL}, {"a\x7f", NULL}, {"a|b", NULL}, {"a]b", NULL},
                {"%c3%bc", "xn--tda"}, {"\xc3\xbc.De", "xn--tda.de"}, {"%ff", NULL}, {"\xc2\xad", NULL});
    char result[100];
    CHECK_INT(write_host("", result), URL_EMPTY_HOST);
}

TEST(longest_name)
{
    char name[URL_HOST_BYTES_MAX + 1], result[URL_HOST_BYTES_MAX];
    struct url_writer out = {.text = result, .size = sizeof result};
    memset(name, 'a', sizeof name);
    CHECK_INT(url_host_write(&out, (struct slice){name, sizeof name}), URL_BAD_HOST);
    CHECK_INT(url_host_write(&out, (struct slice){name, sizeof name - 1}), URL_OK);
    CHECK_INT(out.len, URL_HOST_BYTES_MAX);
}

TEST(is_address)
{
    CHECK(url_host_is_address(SLICE("127.0.0.1")));
    CHECK(url_host_is_address(SLICE("[::1]")));
    CHECK(!url_host_is_address(SLICE("1.example.org")));
    CHECK(!url_host_is_address(SLICE("a1")));
    CHECK(!url_host_is_address(SLICE("")));
}
