#include "engine/address.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct host hosts[4];
static struct address *address;

static struct address_key key_of(const char *text)
{
    struct address_key key = {{[10] = 0xff, [11] = 0xff}};
    if (!inet_pton(AF_INET, text, key.bytes + 12))
        CHECK_INT(inet_pton(AF_INET6, text, key.bytes), 1);
    return key;
}

static void begin(unsigned tokens)
{
    struct address_key key = key_of("127.0.0.1");
    address = aligned_alloc(64, (address_bytes(tokens) + 63) / 64 * 64);
    address_init(address, &key, tokens);
    memset(hosts, 0, sizeof hosts);
}

static uint64_t no_weight(const void *owner, const struct host *host)
{
    (void)owner;
    (void)host;
    return 0;
}

/* The second host stands back. */
static uint64_t weight(const void *owner, const struct host *host)
{
    (void)owner;
    return host == &hosts[1] ? 1000 : 0;
}

static const struct address_weights none = {no_weight, NULL}, some = {weight, NULL};

static void rest(unsigned host, uint64_t next_ns)
{
    hosts[host].next_ns = next_ns;
    address_rest(address, &hosts[host]);
}

TEST(a_host_waits_for_its_moment)
{
    begin(1);
    CHECK(address_next_ns(address) == UINT64_MAX);
    rest(0, 500);
    rest(1, 300);
    CHECK_INT(address_ripen(address, 299, &none), 0);
    CHECK_INT(address_next_ns(address), 300);
    CHECK_INT(address_ripen(address, 600, &none), 2);
    CHECK_INT(hosts[0].state, HOST_READY);
    CHECK_INT(address_next_ns(address), 0);
    CHECK(address_acquire(address, 600) == &hosts[1]);
    CHECK_INT(hosts[1].state, HOST_VISITING);
    free(address);
}

TEST(a_token_is_out_until_it_is_back_and_has_rested)
{
    begin(1);
    rest(0, 0);
    rest(1, 0);
    address_ripen(address, 10, &none);
    struct host *visited = address_acquire(address, 10);
    CHECK(address_next_ns(address) == UINT64_MAX); /* no token, though a host is ready */
    address_release(address, visited, 100);
    CHECK_INT(address_next_ns(address), 100);
    CHECK(address_acquire(address, 100) != visited);
    free(address);
}

TEST(as_many_visits_as_tokens)
{
    begin(2);
    for (unsigned i = 0; i < 3; i++)
        rest(i, i);
    CHECK_INT(address_ripen(address, 10, &none), 3);
    struct host *first = address_acquire(address, 10), *second = address_acquire(address, 10);
    CHECK(first == &hosts[0] && second == &hosts[1] && first->slot != second->slot);
    CHECK(address_next_ns(address) == UINT64_MAX);
    address_release(address, second, 70);
    CHECK_INT(address_next_ns(address), 70);
    address_release(address, first, 50);
    CHECK_INT(address_next_ns(address), 50); /* the token that is ready first */
    CHECK(address_acquire(address, 50) == &hosts[2]);
    CHECK_INT(hosts[2].slot, first->slot);
    free(address);
}

TEST(weights_order_the_ready)
{
    begin(1);
    rest(1, 5);
    rest(2, 10);
    CHECK_INT(address_ripen(address, 20, &some), 2);
    CHECK(address_acquire(address, 20) == &hosts[2]);
    free(address);
}

TEST(loopback_is_127_and_one)
{
    static const char *const yes[] = {"127.0.0.1", "127.255.3.4", "::1"};
    static const char *const no[] = {"128.0.0.1", "126.255.255.255", "::2", "fe80::1", "10.0.0.1"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        struct address_key key = key_of(yes[i]);
        CHECK(address_is_loopback(&key));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        struct address_key key = key_of(no[i]);
        CHECK(!address_is_loopback(&key));
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
        struct address_key key = key_of(private[i]);
        if (!address_is_private(&key))
            check_failed(__FILE__, __LINE__, "%s is private", private[i]);
    }
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++) {
        struct address_key key = key_of(public[i]);
        if (address_is_private(&key))
            check_failed(__FILE__, __LINE__, "%s is public", public[i]);
    }
}

TEST(text_of_both_families)
{
    char buffer[INET6_ADDRSTRLEN];
    struct address_key v4 = key_of("192.0.2.1"), v6 = key_of("2001:db8::1");
    CHECK_SLICE(address_text(buffer, &v4), "192.0.2.1");
    CHECK_SLICE(address_text(buffer, &v6), "2001:db8::1");
}
