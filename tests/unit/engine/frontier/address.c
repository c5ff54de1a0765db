#include "engine/frontier/address.h"

#include <stdlib.h>

#include "tests/support/check.h"

static struct host hosts[4];
static struct address *address;

static struct ip ip_from(const char *text)
{
    struct ip ip;
    CHECK(ip_parse(&ip, slice_of(text)));
    return ip;
}

static void begin(unsigned tokens)
{
    struct ip ip = ip_from("127.0.0.1");
    address = aligned_alloc(64, (address_bytes(tokens) + 63) / 64 * 64);
    address_init(address, &ip, tokens);
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

TEST(politeness_counts_by_64_bits_of_ipv6)
{
    struct ip one = ip_from("2001:db8:1:2:aaaa::1"), two = ip_from("2001:db8:1:2::2");
    struct ip other = ip_from("2001:db8:1:3::1"), v4 = ip_from("192.0.2.1"), next = ip_from("192.0.2.2");
    struct ip unit = address_unit(&one), same = address_unit(&two);
    CHECK(ip_equals(&unit, &same));
    same = address_unit(&other);
    CHECK(!ip_equals(&unit, &same));
    unit = address_unit(&v4);
    same = address_unit(&next);
    CHECK(ip_equals(&unit, &v4) && !ip_equals(&unit, &same));
}
