#include "engine/archive/cdxj_key.h"

#include "tests/support/check.h"

static const char *key_of(const char *url)
{
    static char buffer[CDXJ_KEY_BYTES_MAX + 1];
    struct slice key = cdxj_key_write(buffer, slice_of(url));
    buffer[key.len] = '\0';
    return buffer;
}

/* What the module "surt" gives for these, by its own tests and by its rules. */
TEST(keys_are_those_of_the_module_surt)
{
    static const char *const cases[][2] = {
        {"http://archive.org", "org,archive)/"},
        {"http://archive.org/goo/", "org,archive)/goo"},
        {"http://archive.org/goo/?", "org,archive)/goo"},
        {"http://archive.org/goo/?b&a", "org,archive)/goo?a&b"},
        {"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"},
        {"http://www.archive.org/goo", "org,archive)/goo"},
        {"http://www34.archive.org/index.html?b=a&b=b&a=b", "org,archive)/index.html?a=b&b=a&b=b"},
        {"https://www.archive.org:443/", "org,archive)/"},
        {"http://www.archive.org:443/", "org,archive:443)/"},
        {"http://192.168.1.254/info/", "254,1,168,192)/info"},
        {"http://host.com//twoslashes?more//slashes", "com,host)/twoslashes?more//slashes"},
        {"http://host.com/ab%23cd", "com,host)/ab%23cd"},
        {"http://host.com/%25%32%35", "com,host)/%25"},
        {"http://host.com/A%20B", "com,host)/a%20b"},
        {"http://example.com/app?item=Wroc%C5%82aw", "com,example)/app?item=wroc%c5%82aw"},
        {"http://example.com/x?a=1&", "com,example)/x?&a=1"},
        {"http://example.com/x?one=two&jsessionid=0123456789abcdefghijklemopqrstuv&x=y",
         "com,example)/x?one=two&x=y"},
        {"http://user:secret@Example.COM/Path#frag", "com,example)/path"},
        {"http://b\xc3\xbc"
         "cher.ch:8080/",
         "ch,xn--bcher-kva:8080)/"},
        {"urn:uuid:1234", "urn:uuid:1234"},
        {"urn:with space\tand tab", "urn:with%20space%09and%20tab"},
        {"dns:www.archive.org", "dns:www.archive.org"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STR(key_of(cases[i][0]), cases[i][1]);
}

/* The sort of arguments is by name, then by value; one without '=' comes before one whose value is empty. */
TEST(arguments_are_sorted_by_name_and_value)
{
    CHECK_STR(key_of("http://a.b/?b=b&a=b&b=a&a=a"), "b,a)/?a=a&a=b&b=a&b=b");
    CHECK_STR(key_of("http://a.b/?a=&a"), "b,a)/?a&a=");
    CHECK_STR(key_of("http://a.b/?a-b=1&a=2"), "b,a)/?a=2&a-b=1");
}

TEST(no_key_has_a_space_or_is_longer_than_its_room)
{
    static char url[9000] = "http://example.org/?";
    memset(url + strlen(url), '%', 8192 - strlen(url));
    CHECK(strlen(key_of(url)) > 3 * 8000);
    memset(url, ' ', sizeof url - 1);
    memcpy(url, "urn:", 4);
    url[8190] = 'x';
    url[8191] = '\0';
    CHECK(!strchr(key_of(url), ' '));
    memset(url, 'u', sizeof url - 1);
    CHECK_STR(key_of(url), "");
}
