#include "engine/store/jsonl.h"

#include <stdlib.h>

#include "engine/content/encoding.h"
#include "tests/support/check.h"
#include "tests/support/json.h"

/* FIPS 180: SHA-1 of "abc". */
static const unsigned char digest_of_abc[] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                              0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};

static const struct jsonl_page small = {
    .url = {"https://example.org/", 20}, .status = 200, .date_us = UINT64_C(1709210096000007), .bytes = 3};

/* The line without its newline, malloc'ed. It lies before a guard page while it is written, and is valid UTF-8 without
 * control characters. */
static char *line_of(const struct jsonl_page *page)
{
    size_t size = jsonl_bytes_max(page);
    char *zeros = calloc(1, size), *buffer = check_guard_copy(zeros, size);
    size_t len = jsonl_write(buffer, size, page);
    CHECK(len > 2 && len <= size);
    CHECK(buffer[len - 1] == '\n');
    char *line = strndup(buffer, len - 1);
    CHECK_INT(strlen(line), len - 1);
    for (size_t i = 0; i + 1 < len; i++)
        CHECK((unsigned char)line[i] >= ' ' && line[i] != 0x7f);
    CHECK(encoding_is_utf8((struct slice){line, len - 1}));
    check_guard_free(buffer, size);
    free(zeros);
    return line;
}

static void check_line(struct jsonl_page page, const char *expected)
{
    char *line = line_of(&page);
    CHECK_STR(line, expected);
    free(line);
}

/* The text of a page, written and read again. */
static void check_text(struct slice text, struct slice expected)
{
    struct jsonl_page page = small;
    page.text = text;
    char *line = line_of(&page);
    struct json *tree = json_parse(line, strlen(line));
    CHECK(tree && tree->kind == JSON_OBJECT);
    const struct json *member = json_get(tree, "text");
    CHECK(member && member->kind == JSON_STRING);
    CHECK_INT(member->len, expected.len);
    CHECK(memcmp(member->text, expected.ptr, expected.len) == 0);
    json_free(tree);
    free(line);
}

TEST(a_line_has_what_is_known)
{
    check_line((struct jsonl_page){.url = SLICE("https://example.org/?a=\"b\""),
                                   .status = 404,
                                   .type = SLICE(" text/html ; charset=utf-8"),
                                   .date_us = UINT64_C(1709210096000007),
                                   .bytes = 3,
                                   .digest = digest_of_abc,
                                   .truncated = SLICE("length"),
                                   .title = SLICE("A \\ title"),
                                   .text = SLICE("One\nTwo\ttabs"),
                                   .is_text_cut = true},
               "{\"url\": \"https://example.org/?a=\\\"b\\\"\", \"status\": 404, \"type\": \"text/html\", "
               "\"date\": \"2024-02-29T12:34:56.000007Z\", \"bytes\": 3, "
               "\"digest\": \"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\", \"truncated\": \"length\", "
               "\"title\": \"A \\\\ title\", \"text\": \"One\\nTwo\\ttabs\", \"text_cut\": true}");
}

TEST(what_is_empty_is_left_out)
{
    check_line(small, "{\"url\": \"https://example.org/\", \"status\": 200, "
                      "\"date\": \"2024-02-29T12:34:56.000007Z\", \"bytes\": 3}");
    struct jsonl_page page = small;
    page.type = SLICE("; charset=x");
    page.bytes = UINT64_MAX;
    check_line(page, "{\"url\": \"https://example.org/\", \"status\": 200, "
                     "\"date\": \"2024-02-29T12:34:56.000007Z\", \"bytes\": 18446744073709551615}");
}

TEST(every_byte_survives_or_is_replaced)
{
    char all[128];
    for (int i = 0; i < 128; i++)
        all[i] = (char)i;
    check_text((struct slice){all, 128}, (struct slice){all, 128});
    check_text(SLICE("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
               SLICE("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
    check_text(SLICE("a\xff"
                     "b\xc3(\xed\xa0\x80\xe2\x82"),
               SLICE("a\xef\xbf\xbd"
                     "b\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
    check_text(SLICE("</script>\xe2\x80\xa8"), SLICE("</script>\xe2\x80\xa8"));
}

TEST(any_bytes_make_a_line)
{
    uint32_t state = 1;
    char bytes[300];
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)((state = state * 1664525 + 1013904223) >> 24);
        struct slice any = {bytes, state % sizeof bytes};
        struct jsonl_page page = {any, 200, any, state, state, digest_of_abc, any, any, any, state & 1};
        char *line = line_of(&page);
        struct json *tree = json_parse(line, strlen(line));
        CHECK(tree && json_get(tree, "url") && json_get(tree, "bytes"));
        json_free(tree);
        free(line);
    }
}

TEST(long_text_is_cut_between_characters)
{
    size_t len = JSONL_TEXT_BYTES_MAX + 2;
    char *text = malloc(len);
    memset(text, 'a', len);
    memcpy(text + JSONL_TEXT_BYTES_MAX - 1, "\xe2\x82\xac", 3);
    struct jsonl_page page = small;
    page.text = (struct slice){text, len};
    char *line = line_of(&page);
    CHECK_STR(line + strlen(line) - 24, "aaaa\", \"text_cut\": true}");
    CHECK(!strstr(line, "\xef\xbf\xbd"));
    struct json *tree = json_parse(line, strlen(line));
    CHECK_INT(json_get(tree, "text")->len, JSONL_TEXT_BYTES_MAX - 1);
    CHECK_INT(json_get(tree, "text_cut")->kind, JSON_TRUE);
    json_free(tree);
    free(line);
    page.text.len = JSONL_TEXT_BYTES_MAX - 1;
    line = line_of(&page);
    CHECK(!strstr(line, "text_cut"));
    free(line);
    free(text);
}

TEST(what_does_not_fit_is_told)
{
    struct jsonl_page page = small;
    page.title = SLICE("\x01\"\xff");
    page.text = SLICE("text");
    page.digest = digest_of_abc;
    char *line = line_of(&page), buffer[512];
    size_t len = strlen(line) + 1;
    CHECK(len < sizeof buffer);
    CHECK_INT(jsonl_write(buffer, len, &page), len);
    for (size_t size = 0; size < len; size++) {
        char *guarded = check_guard_copy(buffer, size);
        CHECK_INT(jsonl_write(guarded, size, &page), 0);
        check_guard_free(guarded, size);
    }
    free(line);
}
