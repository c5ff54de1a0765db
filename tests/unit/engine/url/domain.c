#include "engine/url/domain.h"

#include "engine/url/limits.h"
#include "tests/support/check.h"

TEST(registrable)
{
    static const struct {
        const char *host, *expected;
    } cases[] = {{"www.example.co.uk", "example.co.uk"},
                 {"example.org", "example.org"},
                 {"a.b.c.example.org", "example.org"},
                 {"co.uk", "co.uk"},
                 {"localhost", "localhost"},
                 {"www.xn--85x722f.com.cn", "xn--85x722f.com.cn"},
                 {"127.0.0.1", "127.0.0.1"},
                 {"[::1]", "[::1]"},
                 {"someone.github.io", "someone.github.io"},
                 {"www.someone.github.io", "someone.github.io"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len = strlen(cases[i].host);
        char *guarded = check_guard_copy(cases[i].host, len);
        CHECK_SLICE(domain_registrable((struct slice){guarded, len}), cases[i].expected);
        check_guard_free(guarded, len);
    }
}

TEST(too_long_is_its_own_domain)
{
    char host[URL_HOST_BYTES_MAX + 5];
    memset(host, 'a', sizeof host);
    memcpy(host + sizeof host - 4, ".org", 4);
    CHECK_INT(domain_registrable((struct slice){host, sizeof host}).len, sizeof host);
}

TEST(top_level_domains_that_exist)
{
    CHECK(domain_is_known(SLICE("example.org")));
    CHECK(domain_is_known(SLICE("www.example.co.uk")));
    CHECK(!domain_is_known(SLICE("seeds.txt")));
    CHECK(!domain_is_known(SLICE("org")));
    CHECK(!domain_is_known(SLICE("")));
}
