#include "net/ip.h"

#include "tests/support/check.h"

static struct ip ip_from(const char *text)
{
    struct ip ip;
    CHECK(ip_parse(&ip, slice_of(text)));
    return ip;
}

TEST(addresses_there_and_back)
{
    static const char *const texts[] = {
        "127.0.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "2001:db8::ff:0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ip address;
        char out[IP_TEXT_BYTES];
        char *copy = check_guard_copy(texts[i], strlen(texts[i]));
        CHECK(ip_parse(&address, (struct slice){copy, strlen(texts[i])}));
        CHECK_SLICE(ip_text(&address, out), texts[i]);
        check_guard_free(copy, strlen(texts[i]));
    }
}

TEST(what_is_no_address)
{
    static const char *const texts[] = {
        "",          "1",         "1.2.3",
        "1.2.3.4.5", "256.0.0.1", "1.2.3.4 ",
        "[::1]",     "::1%lo",    "example.com",
        "12345::",   ":",         "0000000000000000000000000000000000000000000000000001"};
    struct ip address;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(!ip_parse(&address, slice_of(texts[i])));
    CHECK(!ip_parse(&address, SLICE("127.0.0.1\0")));
}

TEST(socket_addresses)
{
    struct ip address;
    union ip_socket out;
    CHECK(ip_parse(&address, SLICE("192.0.2.7")));
    CHECK_INT(ip_to_socket(&address, 8080, &out), sizeof(struct sockaddr_in));
    CHECK_INT(out.v4.sin_family, AF_INET);
    CHECK_INT(ntohs(out.v4.sin_port), 8080);
    CHECK_INT(ntohl(out.v4.sin_addr.s_addr), 0xc0000207);
    CHECK(ip_parse(&address, SLICE("2001:db8::1")));
    CHECK_INT(ip_to_socket(&address, 443, &out), sizeof(struct sockaddr_in6));
    CHECK_INT(out.v6.sin6_family, AF_INET6);
    CHECK_INT(ntohs(out.v6.sin6_port), 443);
    CHECK_INT(out.v6.sin6_addr.s6_addr[15], 1);
    struct ip back = ip_of_socket(&out);
    CHECK(ip_equals(&back, &address));
}

TEST(mapped_is_ipv4)
{
    struct ip mapped = ip_from("::ffff:192.0.2.1"), plain = ip_from("192.0.2.1");
    CHECK(ip_equals(&mapped, &plain) && ip_is_v4(&mapped));
    CHECK_INT(ip_bytes(&plain).len, 4);
}

TEST(loopback_is_127_and_one)
{
    static const char *const yes[] = {"127.0.0.1", "127.255.3.4", "::1"};
    static const char *const no[] = {"128.0.0.1", "126.255.255.255", "::2", "fe80::1", "10.0.0.1"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        struct ip ip = ip_from(yes[i]);
        CHECK(ip_is_loopback(&ip));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        struct ip ip = ip_from(no[i]);
        CHECK(!ip_is_loopback(&ip));
    }
}

TEST(addresses_that_are_nobodys_public_server)
{
    static const char *const private[] = {
        "0.1.2.3",      "10.9.8.7",    "100.64.0.1",  "100.127.255.255",   "127.0.0.1",   "169.254.1.1",
        "172.16.0.1",   "172.31.9.9",  "192.168.1.1", "192.0.2.1",         "198.18.0.1",  "198.19.255.1",
        "198.51.100.7", "203.0.113.9", "224.0.0.1",   "255.255.255.255",   "::1",         "fe80::1",
        "fd00::1",      "2001:db8::1", "ff02::1",     "2002:0a01:0203::1", "2001:0:1::1", "::ffff:10.0.0.1",
    };
    static const char *const public[] = {"8.8.8.8",       "100.63.255.255", "100.128.0.0",
                                         "172.32.0.1",    "192.167.1.1",    "198.17.255.255",
                                         "223.255.255.1", "2a00:1450::1",   "2002:0808:0808::1"};
    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++) {
        struct ip ip = ip_from(private[i]);
        if (!ip_is_private(&ip))
            check_failed(__FILE__, __LINE__, "%s is private", private[i]);
    }
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++) {
        struct ip ip = ip_from(public[i]);
        if (ip_is_private(&ip))
            check_failed(__FILE__, __LINE__, "%s is public", public[i]);
    }
}
