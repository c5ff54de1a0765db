#include "engine/url/surt.h"

#include "tests/support/check.h"

static void check_surt(enum surt_scheme scheme, const char *input, const char *expected)
{
    char buffer[URL_BYTES_MAX], surt[SURT_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, slice_of(input)), URL_OK);
    CHECK_SLICE(surt_write(surt, &url, scheme), expected);
}

TEST(forms)
{
    check_surt(SURT_KEEP_SCHEME, "http://www.archive.org/Movies?A#f", "http://(org,archive,www,)/movies?a");
    check_surt(SURT_KEEP_SCHEME, "https://example.org:8443/", "https://(org,example,:8443)/");
    check_surt(SURT_AS_HTTP, "https://example.org/", "http://(org,example,)/");
    check_surt(SURT_KEEP_SCHEME, "http://User:P@example.org:81/a", "http://(org,example,:81@user:p)/a");
    check_surt(SURT_KEEP_SCHEME, "http://127.0.0.1:8080/a", "http://(127.0.0.1:8080)/a");
    check_surt(SURT_KEEP_SCHEME, "http://localhost/", "http://(localhost,)/");
    check_surt(SURT_KEEP_SCHEME, "http://[::1]/", "http://([::1],)/");
}

TEST(longest)
{
    char input[URL_BYTES_MAX], buffer[URL_BYTES_MAX], surt[SURT_BYTES_MAX];
    struct url url;
    memset(input, 'a', sizeof input);
    memcpy(input, "http://h.x/", 11);
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, sizeof input}), URL_OK);
    CHECK_INT(surt_write(surt, &url, SURT_KEEP_SCHEME).len, SURT_BYTES_MAX);
}

static void check_prefix(const char *seed, const char *expected)
{
    char surt[SURT_BYTES_MAX];
    struct slice prefix;
    CHECK_INT(surt_prefix(surt, slice_of(seed), &prefix), URL_OK);
    CHECK_SLICE(prefix, expected);
}

TEST(prefix_of_a_seed)
{
    check_prefix("http://example.org", "http://(org,example,");
    check_prefix("http://example.org/", "http://(org,example,)/");
    check_prefix("https://example.org/a/b.html", "http://(org,example,)/a/");
    check_prefix("https://example.org/a", "http://(org,example,)/");
    check_prefix("www.example.org", "http://(org,example,www,");
    check_prefix("example.org/a/", "http://(org,example,)/a/");
    check_prefix("example.org:8080/a/", "http://(org,example,:8080)/a/");
    check_prefix("http://example.org:8080", "http://(org,example,:8080");
    check_prefix("  http://Example.org/A/x?y/z \n", "http://(org,example,)/a/x?y/");
    check_prefix("http://127.0.0.1", "http://(127.0.0.1");
}

TEST(prefix_of_no_url)
{
    char surt[SURT_BYTES_MAX];
    struct slice prefix;
    CHECK_INT(surt_prefix(surt, SLICE("mailto:x@y"), &prefix), URL_NOT_HTTP);
    CHECK_INT(surt_prefix(surt, SLICE("exam ple.org"), &prefix), URL_BAD_HOST);
    CHECK_INT(surt_prefix(surt, SLICE(""), &prefix), URL_EMPTY_HOST);
}
