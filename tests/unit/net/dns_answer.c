#include "net/dns_answer.h"

#include <arpa/inet.h>

#include "tests/support/check.h"

TEST(addresses_there_and_back)
{
    static const char *const texts[] = {
        "127.0.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "2001:db8::ff:0", "::ffff:192.0.2.1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dns_address address;
        char out[DNS_ADDRESS_TEXT_BYTES];
        char *copy = check_guard_copy(texts[i], strlen(texts[i]));
        CHECK(dns_address_parse(&address, (struct slice){copy, strlen(texts[i])}));
        CHECK_STR(dns_address_text(&address, out), texts[i]);
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
    struct dns_address address;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK(!dns_address_parse(&address, slice_of(texts[i])));
    CHECK(!dns_address_parse(&address, SLICE("127.0.0.1\0")));
}

TEST(socket_addresses)
{
    struct dns_address address;
    struct sockaddr_storage out;
    CHECK(dns_address_parse(&address, SLICE("192.0.2.7")));
    CHECK_INT(dns_address_socket(&address, 8080, &out), sizeof(struct sockaddr_in));
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&out;
    CHECK_INT(v4->sin_family, AF_INET);
    CHECK_INT(ntohs(v4->sin_port), 8080);
    CHECK_INT(ntohl(v4->sin_addr.s_addr), 0xc0000207);
    CHECK(dns_address_parse(&address, SLICE("2001:db8::1")));
    CHECK_INT(dns_address_socket(&address, 443, &out), sizeof(struct sockaddr_in6));
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&out;
    CHECK_INT(v6->sin6_family, AF_INET6);
    CHECK_INT(ntohs(v6->sin6_port), 443);
    CHECK_INT(v6->sin6_addr.s6_addr[15], 1);
}

TEST(every_error_has_a_text)
{
    for (int i = 0; i < DNS_ERROR_COUNT; i++)
        CHECK(dns_error_text((enum dns_error)i));
}
