#include "net/dns_hosts.h"

#include "tests/support/check.h"

static const struct dns_cache_options options = {.entries_max = 64, .ttl_s_max = 1};

static size_t line(struct dns_cache *cache, const char *text)
{
    size_t len = strlen(text);
    char *copy = check_guard_copy(text, len);
    size_t added = dns_hosts_line(cache, (struct slice){copy, len}, DNS_BOTH);
    check_guard_free(copy, len);
    return added;
}

TEST(lines)
{
    struct dns_cache *cache = dns_cache_create(&options);
    CHECK_INT(line(cache, "127.0.0.1\tlocalhost Local.Host  # the machine itself\n"), 2);
    CHECK_INT(line(cache, "::1 localhost ip6-localhost\r\n"), 1);
    CHECK_INT(line(cache, "# 10.0.0.1 comment"), 0);
    CHECK_INT(line(cache, ""), 0);
    CHECK_INT(line(cache, "\n"), 0);
    CHECK_INT(line(cache, "10.0.0.1"), 0);
    CHECK_INT(line(cache, "not-an-address name"), 0);
    CHECK_INT(line(cache, "10.0.0.1 bad..name good.name."), 1);
    struct dns_answer answer;
    CHECK(dns_cache_find(cache, SLICE("localhost"), UINT64_MAX, &answer));
    CHECK_INT(answer.error, DNS_OK);
    CHECK_INT(answer.count, 2);
    CHECK(ip_is_v4(&answer.addresses[0]));
    CHECK(!ip_is_v4(&answer.addresses[1]));
    CHECK(dns_cache_find(cache, SLICE("local.host"), 0, &answer));
    CHECK_INT(answer.count, 1);
    CHECK(dns_cache_find(cache, SLICE("good.name"), 0, &answer));
    CHECK(!dns_cache_find(cache, SLICE("name"), 0, &answer));
    dns_cache_destroy(cache);
}

TEST(families_are_chosen)
{
    struct dns_cache *cache = dns_cache_create(&options);
    CHECK_INT(dns_hosts_line(cache, SLICE("127.0.0.1 localhost"), DNS_IPV6), 0);
    CHECK_INT(dns_hosts_line(cache, SLICE("::1 localhost"), DNS_IPV6), 1);
    dns_cache_destroy(cache);
}

TEST(many_addresses_for_one_name)
{
    struct dns_cache *cache = dns_cache_create(&options);
    for (int i = 0; i < 2 * DNS_ADDRESSES_MAX; i++)
        line(cache, "10.0.0.1 many");
    struct dns_answer answer;
    CHECK(dns_cache_find(cache, SLICE("many"), 0, &answer));
    CHECK_INT(answer.count, DNS_ADDRESSES_MAX);
    dns_cache_destroy(cache);
}

TEST(an_absent_file_is_empty)
{
    struct dns_cache *cache = dns_cache_create(&options);
    dns_hosts_read(cache, "no/such/file", 10, DNS_BOTH);
    struct dns_cache_counts counts;
    dns_cache_counts(cache, &counts);
    CHECK_INT(counts.entries, 0);
    dns_cache_destroy(cache);
}

TEST(names)
{
    static const struct {
        const char *name, *normal;
    } cases[] = {
        {"Example.COM", "example.com"},
        {"example.com.", "example.com"},
        {"a_b.c-d.e", "a_b.c-d.e"},
        {"x", "x"},
        {"1.2", "1.2"},
        {"", ""},
        {".", ""},
        {"a..b", ""},
        {".a", ""},
        {"a b", ""},
        {"a/b", ""},
        {"a\\046b", ""},
        {"a..", ""},
        {"b\xc3\xbc"
         "cher.de",
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[DNS_NAME_BYTES_MAX];
        size_t len = dns_hosts_normalise(slice_of(cases[i].name), out);
        CHECK_SLICE(((struct slice){out, len}), cases[i].normal);
    }
    char text[300], out[DNS_NAME_BYTES_MAX];
    memset(text, 'a', sizeof text);
    CHECK_INT(dns_hosts_normalise((struct slice){text, 63}, out), 63);
    CHECK_INT(dns_hosts_normalise((struct slice){text, 64}, out), 0);
    for (size_t i = 50; i < sizeof text; i += 51)
        text[i] = '.';
    CHECK_INT(dns_hosts_normalise((struct slice){text, 253}, out), 253);
    CHECK_INT(dns_hosts_normalise((struct slice){text, 254}, out), 0);
}
