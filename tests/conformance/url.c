/* The URL standard's own cases (web-platform-tests, url/resources): every case whose result is http or https,
 * every relative one and every failure that has to do with http or https must come out as the file says. */
#include <stdlib.h>

#include "engine/url/url.h"
#include "tests/support/check.h"
#include "tests/support/json.h"

static struct json *load(const char *name)
{
    const char *path = check_corpus(name);
    size_t len;
    if (!path)
        SKIP("../shared/corpora/url is absent");
    char *text = check_read_file(path, &len);
    struct json *tree = json_parse(text, len);
    CHECK(tree && tree->kind == JSON_ARRAY);
    free(text);
    return tree;
}

static struct slice string_slice(const struct json *string)
{
    return (struct slice){string->text, string->len};
}

static bool is_http(const char *protocol)
{
    return protocol && (strcmp(protocol, "http:") == 0 || strcmp(protocol, "https:") == 0);
}

/* Reports all that is wrong, so that one run shows it all; returns whether the part is right. */
static bool same(const struct json *test, const char *key, struct slice actual)
{
    const char *expected = json_text(test, key);
    if (!expected || slice_equals(actual, slice_of(expected)))
        return true;
    printf("input %s, base %s: %s is \"%.*s\", expected \"%s\"\n", json_text(test, "input"),
           json_text(test, "base"), key, (int)actual.len, actual.ptr, expected);
    return false;
}

/* A lone '?' or '#' is no search or hash in the interface of browsers. */
static struct slice unless_empty(struct slice part)
{
    return part.len == 1 ? (struct slice){part.ptr, 0} : part;
}

static bool same_parts(const struct json *test, const struct url *url)
{
    struct slice userinfo = url_userinfo(url);
    const char *colon = memchr(userinfo.ptr, ':', userinfo.len);
    struct slice user = colon ? slice_between(userinfo.ptr, colon) : userinfo;
    struct slice port = url_part(url, url->host_end, url->path);
    bool good = same(test, "href", url_text(url));
    good &= same(test, "protocol", url_part(url, 0, url->scheme_len + 1u));
    good &= same(test, "username", user);
    good &= same(test, "password", slice_skip(userinfo, colon ? user.len + 1 : user.len));
    good &= same(test, "host", url_authority(url));
    good &= same(test, "hostname", url_host(url));
    good &= same(test, "port", port.len ? slice_skip(port, 1) : port);
    good &= same(test, "pathname", url_path(url));
    good &= same(test, "search", unless_empty(url_query(url)));
    good &= same(test, "hash", unless_empty(url_fragment(url)));
    return good;
}

static void check_opened(const struct url *url)
{
    struct url opened;
    url_open(&opened, url_text(url));
    CHECK_INT(opened.host, url->host);
    CHECK_INT(opened.host_end, url->host_end);
    CHECK_INT(opened.path, url->path);
    CHECK_INT(opened.folder, url->folder);
    CHECK_INT(opened.query, url->query);
    CHECK_INT(opened.fragment, url->fragment);
    CHECK_INT(opened.port, url->port);
    CHECK_INT(opened.scheme_len, url->scheme_len);
}

/* Parses the case; the input ends at a guard page. */
static enum url_error run_case(const struct json *test, struct url *base, struct url *url)
{
    const struct json *base_text = json_get(test, "base"), *input = json_get(test, "input");
    bool has_base = base_text && base_text->kind == JSON_STRING;
    if (has_base) {
        enum url_error error = url_parse(base, NULL, string_slice(base_text));
        if (error != URL_OK)
            return error;
    }
    char *guarded = check_guard_copy(input->text, input->len);
    enum url_error error = url_parse(url, has_base ? base : NULL, (struct slice){guarded, input->len});
    check_guard_free(guarded, input->len);
    return error;
}

TEST(urltestdata)
{
    char base_buffer[URL_BYTES_MAX], buffer[URL_BYTES_MAX];
    unsigned parsed = 0, failed = 0, other = 0, wrong = 0;
    struct json *tests = load("url/urltestdata.json");
    for (const struct json *test = tests->first; test; test = test->next) {
        struct url base, url;
        if (test->kind != JSON_OBJECT)
            continue;
        url_init(&base, base_buffer, sizeof base_buffer);
        url_init(&url, buffer, sizeof buffer);
        enum url_error error = run_case(test, &base, &url);
        bool http = is_http(json_text(test, "protocol")), failure = json_get(test, "failure") != NULL;
        bool good = failure ? error != URL_OK : http ? error == URL_OK : error == URL_NOT_HTTP;
        if (!good)
            printf("input %s, base %s: answer '%s', href %s\n", json_text(test, "input"),
                   json_text(test, "base"), url_error_text(error), json_text(test, "href"));
        if (good && error == URL_OK) {
            good = same_parts(test, &url);
            check_opened(&url);
        }
        wrong += !good;
        parsed += http;
        failed += failure;
        other += !http && !failure;
    }
    printf("urltestdata: %u http(s), %u failures, %u of other schemes, %u wrong\n", parsed, failed, other,
           wrong);
    json_free(tests);
    CHECK_INT(wrong, 0);
    CHECK(parsed > 200 && failed > 200);
}

/* A result is a fixed point: it parses to itself. */
TEST(serialisation_is_stable)
{
    char base_buffer[URL_BYTES_MAX], buffer[URL_BYTES_MAX], again_buffer[URL_BYTES_MAX];
    struct json *tests = load("url/urltestdata.json");
    for (const struct json *test = tests->first; test; test = test->next) {
        struct url base, url, again;
        if (test->kind != JSON_OBJECT)
            continue;
        url_init(&base, base_buffer, sizeof base_buffer);
        url_init(&url, buffer, sizeof buffer);
        url_init(&again, again_buffer, sizeof again_buffer);
        if (run_case(test, &base, &url) != URL_OK)
            continue;
        CHECK_INT(url_parse(&again, NULL, url_text(&url)), URL_OK);
        CHECK(slice_equals(url_text(&again), url_text(&url)));
    }
    json_free(tests);
}

TEST(toascii)
{
    char input[URL_BYTES_MAX], buffer[URL_BYTES_MAX];
    unsigned count = 0, wrong = 0;
    struct json *tests = load("url/toascii.json");
    for (const struct json *test = tests->first; test; test = test->next) {
        struct url url;
        if (test->kind != JSON_OBJECT)
            continue;
        const char *name = json_text(test, "input"), *expected = json_text(test, "output");
        int len = snprintf(input, sizeof input, "https://%s/x", name);
        url_init(&url, buffer, sizeof buffer);
        enum url_error error = url_parse(&url, NULL, (struct slice){input, (size_t)len});
        bool good =
            expected ? error == URL_OK && slice_equals(url_host(&url), slice_of(expected)) : error != URL_OK;
        if (!good)
            printf("%s: answer '%s' \"%.*s\", expected %s\n", name, url_error_text(error),
                   error == URL_OK ? (int)url_host(&url).len : 0, url.text + url.host,
                   expected ? expected : "failure");
        wrong += !good;
        count++;
    }
    printf("toascii: %u names, %u wrong\n", count, wrong);
    json_free(tests);
    CHECK_INT(wrong, 0);
    CHECK(count > 50);
}
