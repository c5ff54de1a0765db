#include "engine/url/url_write.h"

#include "tests/support/check.h"

static struct slice written(const struct url_writer *out)
{
    return (struct slice){out->text, out->len};
}

TEST(span_stops_at_the_class_or_the_end_of_the_buffer)
{
    char buffer[5];
    struct url_writer out = {.text = buffer, .size = sizeof buffer};
    CHECK_INT(url_write_span(&out, SLICE("ab?c"), URL_ENDS_PATH), 2);
    CHECK_SLICE(written(&out), "ab");
    CHECK_INT(url_write_span(&out, SLICE("cde?"), URL_ENDS_PATH), 3);
    CHECK(!out.full);
    CHECK_INT(url_write_span(&out, SLICE("?x"), URL_ENDS_PATH), 0);
    CHECK(!out.full);
    CHECK_INT(url_write_span(&out, SLICE("x"), URL_ENDS_PATH), 0);
    CHECK(out.full);
}

/* Each set of the standard, byte for byte. */
TEST(percent_encode_sets)
{
    static const struct {
        enum url_class set;
        const char *escaped; /* of the printable ASCII characters */
    } sets[] = {{URL_IN_FRAGMENT, " \"<>`"},
                {URL_IN_QUERY, " \"#<>'"},
                {URL_IN_PATH, " \"#<>?^`{}"},
                {URL_IN_USERINFO, " \"#<>?^`{}/:;=@[\\]|"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            bool printable = byte >= ' ' && byte < 0x7f;
            bool expected = !printable || strchr(sets[i].escaped, (int)byte);
            CHECK_INT(url_class_has((char)byte, sets[i].set), expected);
        }
    }
}

TEST(escaped)
{
    char buffer[100];
    struct url_writer out = {.text = buffer, .size = sizeof buffer};
    url_write_escaped(&out, SLICE("a b\xe2\x82\xac\x80z"), URL_IN_PATH);
    CHECK_SLICE(written(&out), "a%20b%E2%82%AC%EF%BF%BDz");
    out.len = 0;
    out.query_raw = true;
    url_write_escaped(&out, SLICE("\xe2\x82\x80"), URL_IN_QUERY);
    CHECK_SLICE(written(&out), "%E2%82%80");
}

TEST(utf8_boundaries)
{
    static const struct {
        const char *bytes, *expected;
    } cases[] = {{"\xc2\x80", "%C2%80"},
                 {"\xc1\xbf", "%EF%BF%BD%EF%BF%BD"},
                 {"\xe0\xa0\x80", "%E0%A0%80"},
                 {"\xe0\x9f\xbf", "%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                 {"\xed\x9f\xbf", "%ED%9F%BF"},
                 {"\xf0\x90\x80\x80", "%F0%90%80%80"},
                 {"\xf0\x8f\xbf\xbf", "%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                 {"\xf4\x8f\xbf\xbf", "%F4%8F%BF%BF"},
                 {"\xf4\x90\x80\x80", "%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                 {"\xf5", "%EF%BF%BD"},
                 {"\xe2\x82", "%EF%BF%BD"},
                 {"\xf0\x9f\x98", "%EF%BF%BD"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buffer[100];
        size_t len = strlen(cases[i].bytes);
        char *guarded = check_guard_copy(cases[i].bytes, len);
        struct url_writer out = {.text = buffer, .size = sizeof buffer};
        url_write_escaped(&out, (struct slice){guarded, len}, URL_IN_PATH);
        CHECK_SLICE(written(&out), cases[i].expected);
        check_guard_free(guarded, len);
    }
}

TEST(path_never_rises_above_its_floor)
{
    char buffer[100] = "http://h/";
    struct url_writer out = {.text = buffer, .size = sizeof buffer, .len = 9};
    url_write_path(&out, SLICE("a/../../../b/c/.."), 8);
    CHECK_SLICE(written(&out), "http://h/b/");
}

TEST(full_writer_drops_the_rest)
{
    char buffer[4];
    struct url_writer out = {.text = buffer, .size = sizeof buffer};
    url_write_byte(&out, '/');
    url_write_path(&out, SLICE("ab cd"), 0);
    CHECK(out.full);
    CHECK_SLICE(written(&out), "/ab");
}
