#include "engine/url/url.h"

#include <stdlib.h>

#include "tests/support/check.h"

/* Parses into static buffers; both inputs end at a guard page. */
static enum url_error parse(struct url *url, const char *base_text, const char *input)
{
    static char base_buffer[URL_BYTES_MAX], buffer[URL_BYTES_MAX];
    struct url base;
    size_t len = strlen(input);
    url_init(&base, base_buffer, sizeof base_buffer);
    url_init(url, buffer, sizeof buffer);
    if (base_text)
        CHECK_INT(url_parse(&base, NULL, slice_of(base_text)), URL_OK);
    char *guarded = check_guard_copy(input, len);
    enum url_error error = url_parse(url, base_text ? &base : NULL, (struct slice){guarded, len});
    check_guard_free(guarded, len);
    return error;
}

struct resolution {
    const char *input, *expected;
};

static void check_resolutions(const char *base, const struct resolution *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct url url;
        CHECK_INT(parse(&url, base, cases[i].input), URL_OK);
        CHECK_SLICE(url_text(&url), cases[i].expected);
    }
}

#define CHECK_RESOLUTIONS(base, ...)                                                                         \
    do {                                                                                                     \
        const struct resolution cases[] = {__VA_ARGS__};                                                     \
        check_resolutions(base, cases, sizeof cases / sizeof *cases);                                        \
    } while (0)

/* The table of RFC 3986, section 5.4, where it and the URL standard agree. */
TEST(resolution_of_relative_references)
{
    CHECK_RESOLUTIONS(
        "http://a/b/c/d;p?q", {"g", "http://a/b/c/g"}, {"./g", "http://a/b/c/g"}, {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"}, {"//g", "http://g/"}, {"?y", "http://a/b/c/d;p?y"}, {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"}, {"g#s", "http://a/b/c/g#s"}, {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"}, {"g;x?y#s", "http://a/b/c/g;x?y#s"}, {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"}, {"./", "http://a/b/c/"}, {"..", "http://a/b/"}, {"../", "http://a/b/"},
        {"../g", "http://a/b/g"}, {"../..", "http://a/"}, {"../../", "http://a/"}, {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"}, {"/./g", "http://a/g"}, {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."}, {".g", "http://a/b/c/.g"}, {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"}, {"./../g", "http://a/b/g"}, {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"}, {"g/../h", "http://a/b/c/h"}, {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"}, {"http:g", "http://a/b/c/g"}, {"HTTP://X/y", "http://x/y"},
        {"https:g", "https://g/"});
}

TEST(the_fragment_of_the_base_is_dropped)
{
    CHECK_RESOLUTIONS("http://h/a/b?c#d", {"", "http://h/a/b?c"}, {"?e", "http://h/a/b?e"},
                      {"#f", "http://h/a/b?c#f"}, {"g", "http://h/a/g"});
}

TEST(dot_segments_in_all_spellings)
{
    CHECK_RESOLUTIONS("http://h/a/b/", {"%2e", "http://h/a/b/"}, {"%2E%2e/x", "http://h/a/x"},
                      {".%2e/x", "http://h/a/x"}, {"%2e./x", "http://h/a/x"}, {"...", "http://h/a/b/..."},
                      {"%2e%2e%2e", "http://h/a/b/%2e%2e%2e"}, {"x/..\\..\\y", "http://h/a/y"},
                      {"%2", "http://h/a/b/%2"}, {"//h//..//x", "http://h//x"},
                      {"x%2e", "http://h/a/b/x%2e"});
}

TEST(authorities)
{
    CHECK_RESOLUTIONS(
        NULL, {"http://EXAMPLE.org", "http://example.org/"}, {"http://h:80/", "http://h/"},
        {"https://h:443/", "https://h/"}, {"https://h:80/", "https://h:80/"}, {"http://h:/", "http://h/"},
        {"http://h:00080/", "http://h/"}, {"http://h:0/", "http://h:0/"},
        {"http://h:65535/", "http://h:65535/"}, {"http://u:p@h/", "http://u:p@h/"},
        {"http://u@h/", "http://u@h/"}, {"http://:p@h/", "http://:p@h/"}, {"http://@h/", "http://h/"},
        {"http://a@b@c/", "http://a%40b@c/"}, {"http://[::1]:8080/x", "http://[::1]:8080/x"},
        {"http:\\\\h\\x", "http://h/x"}, {"http:h/x", "http://h/x"}, {"http:///h/x", "http://h/x"});
}

TEST(ports_after_plain_names)
{
    CHECK_RESOLUTIONS("http://h.x:808/d/p?q#f", {"http://h.x:808/a/../b", "http://h.x:808/b"},
                      {"http://h.x:808?q", "http://h.x:808/?q"}, {"http://h.x:808", "http://h.x:808/"},
                      {"http://h.x:808#f", "http://h.x:808/#f"}, {"http://h.x:8080/a", "http://h.x:8080/a"},
                      {"http://H.x:808/a", "http://h.x:808/a"}, {"http://h.x:808@y/", "http://h.x:808@y/"},
                      {"http://h.x:80/a", "http://h.x/a"}, {"http://h.x:/a", "http://h.x/a"},
                      {"http://h.x:0808\\a", "http://h.x:808/a"}, {"https://h.x:443/a", "https://h.x/a"},
                      {"//h.x:808/a", "http://h.x:808/a"});
    struct url url;
    CHECK_INT(parse(&url, NULL, "http://h.x:65536/"), URL_BAD_PORT);
    CHECK_INT(parse(&url, NULL, "http://h.x:8a/"), URL_BAD_PORT);
    CHECK_INT(parse(&url, NULL, "http://h.x:65535/"), URL_OK);
    CHECK_INT(url.port, 65535);
    CHECK_SLICE(url_host(&url), "h.x");
    CHECK_SLICE(url_host_key(&url), "http://h.x:65535");
}

TEST(escapes)
{
    CHECK_RESOLUTIONS("http://h/", {"a b", "http://h/a%20b"}, {"\xc3\xa9", "http://h/%C3%A9"},
                      {"?a'b\"c", "http://h/?a%27b%22c"}, {"#a`b'c", "http://h/#a%60b'c"},
                      {"a^b{c}", "http://h/a%5Eb%7Bc%7D"}, {"%zz%4", "http://h/%zz%4"},
                      {"?\xc3\xa9", "http://h/?%C3%A9"},
                      /* Ill-formed UTF-8: one U+FFFD per maximal subpart. */
                      {"\xff", "http://h/%EF%BF%BD"}, {"\xe2\x82x", "http://h/%EF%BF%BDx"},
                      {"\xed\xa0\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                      {"\xf0\x9f", "http://h/%EF%BF%BD"}, {"\xc0\xaf", "http://h/%EF%BF%BD%EF%BF%BD"});
}

TEST(white_space_is_dropped)
{
    CHECK_RESOLUTIONS("http://h/", {"  /a\t\n", "http://h/a"}, {"/a\nb\rc\td", "http://h/abcd"},
                      {"ht\ntp://x\t.y/", "http://x.y/"}, {"\x01\x1f/a\x1f", "http://h/a"},
                      {"/a\x01"
                       "b",
                       "http://h/a%01b"},
                      {" \n", "http://h/"});
}

TEST(errors)
{
    static const struct {
        const char *input;
        enum url_error error;
    } cases[] = {
        {"mailto:a@b", URL_NOT_HTTP},
        {"javascript:void(0)", URL_NOT_HTTP},
        {"ftp://h/", URL_NOT_HTTP},
        {"httpx://h/", URL_NOT_HTTP},
        {"data:text/html,x", URL_NOT_HTTP},
        {"a/b", URL_RELATIVE},
        {"", URL_RELATIVE},
        {"1http://h", URL_RELATIVE},
        {"http://", URL_EMPTY_HOST},
        {"http://:80/", URL_EMPTY_HOST},
        {"http://u@/", URL_EMPTY_HOST},
        {"http://a b/", URL_BAD_HOST},
        {"http://a%00b/", URL_BAD_HOST},
        {"http://%zz/", URL_BAD_HOST},
        {"http://\xff/", URL_BAD_HOST},
        {"http://1.2.3.256/", URL_BAD_ADDRESS},
        {"http://[1::2::3]/", URL_BAD_ADDRESS},
        {"http://[::1/", URL_BAD_ADDRESS},
        {"http://h:99999/", URL_BAD_PORT},
        {"http://h:65536/", URL_BAD_PORT},
        {"http://h:8a/", URL_BAD_PORT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct url url;
        CHECK_STR(url_error_text(parse(&url, NULL, cases[i].input)), url_error_text(cases[i].error));
    }
}

TEST(parts)
{
    struct url url;
    CHECK_INT(parse(&url, NULL, "https://user:secret@Example.org:8443/a/b.html?q=1#top"), URL_OK);
    CHECK_SLICE(url_scheme(&url), "https");
    CHECK(url_is_https(&url));
    CHECK(url_has_userinfo(&url));
    CHECK_SLICE(url_userinfo(&url), "user:secret");
    CHECK_SLICE(url_host(&url), "example.org");
    CHECK_SLICE(url_authority(&url), "example.org:8443");
    CHECK_SLICE(url_path(&url), "/a/b.html");
    CHECK_SLICE(url_query(&url), "?q=1");
    CHECK_SLICE(url_path_query(&url), "/a/b.html?q=1");
    CHECK_SLICE(url_fragment(&url), "#top");
    CHECK_SLICE(url_page(&url), "https://user:secret@example.org:8443/a/b.html?q=1");
    CHECK_INT(url.port, 8443);
    CHECK_SLICE(url_part(&url, url.path, url.folder), "/a/");
    CHECK_INT(parse(&url, NULL, "http://example.org"), URL_OK);
    CHECK_SLICE(url_host_key(&url), "http://example.org");
    CHECK_SLICE(url_userinfo(&url), "");
    CHECK_SLICE(url_query(&url), "");
    CHECK_SLICE(url_fragment(&url), "");
    CHECK_INT(url.port, 80);
    CHECK_INT(parse(&url, "https://h:8443/x", "/y"), URL_OK);
    CHECK_SLICE(url_host_key(&url), "https://h:8443");
    CHECK_INT(url.port, 8443);
}

TEST(hash_leaves_the_fragment_out)
{
    struct url url;
    CHECK_INT(parse(&url, NULL, "http://h/a?b#c"), URL_OK);
    uint64_t with = url_hash(&url);
    CHECK_INT(parse(&url, NULL, "HTTP://H:80/x/../a?b"), URL_OK);
    CHECK(url_hash(&url) == with);
    CHECK_INT(parse(&url, NULL, "http://h/a?"), URL_OK);
    CHECK(url_hash(&url) != with);
}

/* In a document that is not in UTF-8 the query keeps the document's bytes; the path does not. */
TEST(raw_query)
{
    char buffer[100];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    url.query_raw = true;
    CHECK_INT(url_parse(&url, NULL, SLICE("http://h/\xc3\xa9?\xe9#\xc3\xa9")), URL_OK);
    CHECK_SLICE(url_text(&url), "http://h/%C3%A9?%E9#%C3%A9");
}

/* Whatever the size of the buffer, the result fits it or is refused: never a byte past its end. */
TEST(every_buffer_size)
{
    static const char *const inputs[] = {"http://user:p@example.org:8080/a/../b c/%2e/d?e f#g\xff",
                                         "/x y/../z?q",
                                         "../q",
                                         "?r s",
                                         "#t u",
                                         "//1.2.3/",
                                         "//[1:0:0:2::3]:90/",
                                         "//m\xc3\xbcnchen.de/",
                                         "plain/path.html",
                                         "//plain.example.org/path.html?query#fragment"};
    char base_buffer[URL_BYTES_MAX];
    struct url base;
    url_init(&base, base_buffer, sizeof base_buffer);
    CHECK_INT(url_parse(&base, NULL, SLICE("https://base.example.org/a/b?c#d")), URL_OK);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct url whole;
        char whole_buffer[URL_BYTES_MAX];
        url_init(&whole, whole_buffer, sizeof whole_buffer);
        CHECK_INT(url_parse(&whole, &base, slice_of(inputs[i])), URL_OK);
        for (size_t size = 0; size <= whole.len; size++) {
            struct url url;
            char zeros[URL_BYTES_MAX] = {0};
            char *buffer = check_guard_copy(zeros, size);
            url_init(&url, buffer, size);
            enum url_error error = url_parse(&url, &base, slice_of(inputs[i]));
            if (error == URL_OK)
                CHECK(slice_equals(url_text(&url), url_text(&whole)));
            else
                CHECK_INT(error, URL_TOO_LONG);
            CHECK(error == URL_OK || size < whole.len + 8u); /* dot segments need some room before they go */
            check_guard_free(buffer, size);
        }
    }
}

TEST(long_inputs)
{
    char buffer[URL_BYTES_MAX];
    char *input = malloc(3 * URL_BYTES_MAX);
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    memset(input, 'a', 3 * URL_BYTES_MAX);
    memcpy(input, "http://h/", 9);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, URL_BYTES_MAX}), URL_OK);
    CHECK_INT(url.len, URL_BYTES_MAX);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, URL_BYTES_MAX + 1}), URL_TOO_LONG);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, 3 * URL_BYTES_MAX}), URL_TOO_LONG);
    input[100] = '\n';
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, URL_BYTES_MAX + 1}), URL_OK);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, 3 * URL_BYTES_MAX}), URL_TOO_LONG);
    memcpy(input, "data:,aaa", 9);
    CHECK_INT(url_parse(&url, NULL, (struct slice){input, 3 * URL_BYTES_MAX}), URL_NOT_HTTP);
    free(input);
}

/* A byte at a time at the end of every part: nothing is read past the end. */
TEST(every_prefix)
{
    static const char input[] =
        "https://us%41er:se@b\xc3\xbc.Example.org:8443/a/%2e/../c\\d.html?q=\xf0\x9f\x98\x80#t\xe2\x82\xac";
    for (size_t len = 0; len < sizeof input; len++) {
        char buffer[200], *guarded = check_guard_copy(input, len);
        struct url url;
        url_init(&url, buffer, sizeof buffer);
        enum url_error error = url_parse(&url, NULL, (struct slice){guarded, len});
        if (error == URL_OK) {
            CHECK(url.scheme_len < url.host && url.host < url.host_end && url.host_end <= url.path);
            CHECK(url.path < url.folder && url.folder <= url.query && url.query <= url.fragment);
            CHECK(url.fragment <= url.len);
        }
        check_guard_free(guarded, len);
    }
}

TEST(open_finds_the_same_parts)
{
    static const char *const texts[] = {
        "http://h/",   "https://u:p@h:1/a/b?c#d", "http://[::1]:80a/",    "http://h/?",
        "http://h/#?", "http://h/a?b/c#d/e",      "http://[::1]:8080/x/y"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct url url, opened;
        if (parse(&url, NULL, texts[i]) != URL_OK)
            continue;
        char *guarded = check_guard_copy(url.text, url.len);
        url_open(&opened, (struct slice){guarded, url.len});
        CHECK_INT(opened.host, url.host);
        CHECK_INT(opened.host_end, url.host_end);
        CHECK_INT(opened.path, url.path);
        CHECK_INT(opened.folder, url.folder);
        CHECK_INT(opened.query, url.query);
        CHECK_INT(opened.fragment, url.fragment);
        CHECK_INT(opened.len, url.len);
        CHECK_INT(opened.port, url.port);
        check_guard_free(guarded, url.len);
    }
}

TEST(copy)
{
    struct url url, copy;
    char buffer[20];
    CHECK_INT(parse(&url, NULL, "http://h/a/b?c#d"), URL_OK);
    url_init(&copy, buffer, 15);
    CHECK(!url_copy(&copy, &url));
    url_init(&copy, buffer, sizeof buffer);
    CHECK(url_copy(&copy, &url));
    url.text[0] = 'X';
    CHECK_SLICE(url_text(&copy), "http://h/a/b?c#d");
    CHECK_SLICE(url_path_query(&copy), "/a/b?c");
    CHECK_INT(copy.size, sizeof buffer);
}

/* Also for a path that resolution would take for a host. */
TEST(join_undoes_the_parting)
{
    static const char *const texts[] = {"http://h/", "https://h:8443//x/y?z", "http://h/a?b",
                                        "http://[::1]:8080//"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct url url, joined;
        char buffer[40];
        CHECK_INT(parse(&url, NULL, texts[i]), URL_OK);
        url_init(&joined, buffer, url.len - 1u);
        CHECK(!url_join(&joined, url_host_key(&url), url_path_query(&url)));
        url_init(&joined, buffer, sizeof buffer);
        CHECK(url_join(&joined, url_host_key(&url), url_path_query(&url)));
        CHECK_SLICE(url_text(&joined), texts[i]);
        CHECK(slice_equals(url_path_query(&joined), url_path_query(&url)));
        CHECK_INT(joined.port, url.port);
        CHECK_INT(joined.size, sizeof buffer);
        CHECK_SLICE(url_join_text(url_host_key(&url), url_path_query(&url), buffer, url.len), texts[i]);
        CHECK_INT(url_join_text(url_host_key(&url), url_path_query(&url), buffer, url.len - 1u).len, 0);
    }
}
