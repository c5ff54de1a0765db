#include "engine/archive/cdxj.h"

#include <stdlib.h>

#include "tests/support/check.h"

static char line[CDXJ_LINE_BYTES_MAX + 1], room[CDXJ_LINE_BYTES_MAX];

static const char *write(const struct cdxj *entry)
{
    size_t len = cdxj_write(line, entry);
    CHECK(len < sizeof line);
    line[len] = '\0';
    return line;
}

static struct cdxj sample(void)
{
    return (struct cdxj){.key = SLICE("org,example)/a"),
                         .timestamp = SLICE("20261116071947"),
                         .url = SLICE("http://example.org/a"),
                         .mime = SLICE("text/html"),
                         .status = SLICE("200"),
                         .digest = SLICE("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
                         .length = 1234,
                         .offset = UINT64_C(5678901234567),
                         .filename = SLICE("a.warc.gz")};
}

TEST(a_line_is_as_pywb_writes_it)
{
    struct cdxj entry = sample();
    CHECK_STR(write(&entry),
              "org,example)/a 20261116071947 {\"url\": \"http://example.org/a\", \"mime\": \"text/html\", "
              "\"status\": \"200\", \"digest\": \"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\", \"length\": \"1234\", "
              "\"offset\": \"5678901234567\", \"filename\": \"a.warc.gz\"}\n");
    entry.status.len = entry.digest.len = 0;
    CHECK(strstr(write(&entry), "\"status\": \"-\", \"digest\": \"-\""));
}

TEST(what_was_written_is_read_again)
{
    static const char *const texts[] = {
        "", "plain", "with \"quotes\" and \\ and /", "\x01\x1f\x7f\t", "z\xc3\xa4", "\xf0\x9f\x98\x80"};
    for (size_t i = 1; i < sizeof texts / sizeof texts[0]; i++) {
        struct cdxj entry = sample(), read;
        entry.url = entry.mime = entry.filename = slice_of(texts[i]);
        size_t len = cdxj_write(line, &entry);
        char *copy = check_guard_copy(line, len);
        CHECK(cdxj_parse(&read, (struct slice){copy, len}, room));
        CHECK_SLICE(read.key, "org,example)/a");
        CHECK_SLICE(read.timestamp, "20261116071947");
        CHECK_SLICE(read.url, texts[i]);
        CHECK_SLICE(read.mime, texts[i]);
        CHECK_SLICE(read.filename, texts[i]);
        CHECK_SLICE(read.status, "200");
        CHECK_INT(read.length, 1234);
        CHECK_INT(read.offset, 5678901234567);
        check_guard_free(copy, len);
    }
}

TEST(what_is_not_utf8_is_replaced)
{
    struct cdxj entry = sample(), read;
    entry.url = SLICE("a\xff"
                      "b");
    size_t len = cdxj_write(line, &entry);
    CHECK(cdxj_parse(&read, (struct slice){line, len}, room));
    CHECK_SLICE(read.url, "a\xef\xbf\xbd"
                          "b");
}

TEST(lines_of_others_are_read)
{
    struct cdxj read;
    CHECK(cdxj_parse(&read, SLICE("k 2026 {}"), room));
    CHECK(cdxj_parse(&read,
                     SLICE("k 2026 {\"offset\": 7, "
                           "\"length\":8,\"x\":{\"y\":[1,null,\"z\"]},\"url\":\"a\\u00e4\\n\\/\"}\r\n"),
                     room));
    CHECK_INT(read.offset, 7);
    CHECK_INT(read.length, 8);
    CHECK_SLICE(read.url, "a\xc3\xa4\n/");
    CHECK(cdxj_parse(&read, SLICE("k 2026 {\"url\":\"\\ud83d\\ude00 \\ud83d \\ude00\"}"), room));
    CHECK_SLICE(read.url, "\xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd");
}

TEST(what_is_no_line_is_refused)
{
    static const char *const lines[] = {
        "",
        "k",
        "k 2026",
        "k 2026 ",
        " 2026 {}",
        "k 20x6 {}",
        "k 2026 {} x",
        "k 2026 {\"a\"}",
        "k 2026 {\"a\":}",
        "k 2026 {\"a\":\"b}",
        "k 2026 {\"a\":\"\\x\"}",
        "k 2026 {\"a\":\"\\u12\"}",
        "k 2026 {\"offset\":\"x\"}",
        "k 2026 {\"offset\":\"99999999999999999999999\"}",
        "k 2026 {\"a\":\"b\",}",
        "org,example)/ 20261116071947 http://example.org/ text/html 200 X - - 1 2 f"};
    struct cdxj read;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *copy = check_guard_copy(lines[i], strlen(lines[i]));
        CHECK(!cdxj_parse(&read, (struct slice){copy, strlen(lines[i])}, room));
        check_guard_free(copy, strlen(lines[i]));
    }
}

TEST(no_beginning_of_a_line_is_a_line)
{
    struct cdxj entry = sample(), read;
    size_t len = cdxj_write(line, &entry);
    for (size_t i = 0; i + 1 < len; i++)
        CHECK(cdxj_parse(&read, (struct slice){line, i}, room) == (i == len - 1));
}

TEST(nesting_is_bounded)
{
    static char deep[200000];
    struct cdxj read;
    memset(deep, '[', sizeof deep);
    memcpy(deep, "k 2026 {\"a\":", 12);
    char *memory = malloc(sizeof deep);
    CHECK(!cdxj_parse(&read, (struct slice){deep, sizeof deep}, memory));
    free(memory);
}

TEST(a_line_that_is_too_long_is_not_written)
{
    static char url[CDXJ_LINE_BYTES_MAX];
    struct cdxj entry = sample();
    memset(url, '"', sizeof url);
    entry.url = (struct slice){url, sizeof url};
    CHECK_INT(cdxj_write(line, &entry), 0);
    entry.url.len = CDXJ_LINE_BYTES_MAX / 2 - 1000;
    CHECK(cdxj_write(line, &entry) > 0);
}
