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

/* Of a segment that is nothing but dots, plain or as %2e: how many; else 0. */
static unsigned count_dots(struct slice segment)
{
    unsigned dots = 0;
    while (segment.len) {
        bool is_escape =
            segment.len >= 3 && slice_equals_nocase((struct slice){segment.ptr, 3}, SLICE("%2e"));
        if (!is_escape && segment.ptr[0] != '.')
            return 0;
        segment = slice_skip(segment, is_escape ? 3 : 1);
        dots++;
    }
    return dots;
}

static size_t count_until(struct slice text, const char *ends)
{
    size_t i = 0;
    while (i < text.len && (!text.ptr[i] || !strchr(ends, text.ptr[i])))
        i++;
    return i;
}

/* What url_write_path does, segment by segment as the standard says it, for a path below "/". */
static void write_by_segments(struct url_writer *out, struct slice path)
{
    path.len = count_until(path, "?#");
    while (path.len) {
        struct slice segment = {path.ptr, count_until(path, "/\\")};
        bool has_slash = segment.len < path.len;
        path = slice_skip(path, segment.len + has_slash);
        unsigned dots = count_dots(segment);
        if (dots == 2 && out->len > 1)
            do
                out->len--;
            while (out->text[out->len - 1] != '/');
        if (dots == 1 || dots == 2)
            continue;
        url_write_escaped(out, segment, URL_IN_PATH);
        if (has_slash)
            url_write_byte(out, '/');
    }
}

/* Most bytes of a path are copied as they are; wherever something has to change, it is as if segments were read one by one. */
TEST(path_is_that_by_segments)
{
    static const char *const pieces[] = {"a",   "b-c", "garden", "/",        "/",    ".",   "..",    "%2e",
                                         "%2E", "%",   "_",      "~",        "html", "\\",  " ",     "^",
                                         "{",   "?",   "#",      "\xc3\xa9", "0",    "x",   "wiki/", "y",
                                         "=&",  ";@",  ":",      "\"",       "$'",   "\xff"};
    uint64_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char path[64], fast_text[400] = "/", slow_text[400] = "/";
        size_t len = 0;
        unsigned kinds = 4 + (unsigned)round % 27; /* mostly plain ones at first */
        for (unsigned i = 0; i < (unsigned)round / 27 % 12; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const char *piece = pieces[(random >> 33) % kinds];
            memcpy(path + len, piece, strlen(piece));
            len += strlen(piece);
        }
        char *guarded = check_guard_copy(path, len);
        struct url_writer fast = {.text = fast_text, .size = sizeof fast_text, .len = 1};
        struct url_writer slow = {.text = slow_text, .size = sizeof slow_text, .len = 1};
        struct slice rest = url_write_path(&fast, (struct slice){guarded, len}, 0);
        write_by_segments(&slow, (struct slice){path, len});
        CHECK_INT(fast.len, slow.len);
        CHECK(memcmp(fast_text, slow_text, slow.len) == 0);
        CHECK_INT(len - rest.len, count_until((struct slice){path, len}, "?#"));
        check_guard_free(guarded, len);
    }
}

TEST(path_is_cut_at_the_end_of_the_buffer)
{
    const struct slice path = SLICE("culture/garden/window-246.html");
    for (size_t size = 1; size <= 1 + path.len; size++) {
        char *buffer = check_guard_copy("/                               ", size);
        struct url_writer out = {.text = buffer, .size = size, .len = 1};
        url_write_path(&out, path, 0);
        CHECK_INT(out.full, size <= path.len);
        CHECK_INT(out.len, size);
        CHECK(memcmp(buffer + 1, path.ptr, size - 1) == 0);
        check_guard_free(buffer, size);
    }
}
