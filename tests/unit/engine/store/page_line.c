/* A body goes in, a line comes out. */
#include "engine/store/page_line.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/json.h"
#include "tests/support/pace.h"

#define HTML  SLICE("text/html; charset=utf-8")
#define PLAIN SLICE("text/plain; charset=utf-8")

static struct tuning tuning;
static struct page_line line;
static const struct jsonl_page page = {.url = {"https://a.test/", 15}, .status = 200, .bytes = 3};

static void begin(void)
{
    tuning_init(&tuning);
    CHECK(page_line_init(&line, &tuning));
}

/* Makes the line; returns the longest step in nanoseconds of this thread. */
static uint64_t make(const struct unpack_body *body)
{
    uint64_t longest = 0;
    bool is_done = false;
    page_line_begin(&line, body);
    while (!is_done) {
        uint64_t before = pace_thread_ns();
        is_done = page_line_step(&line, &page);
        uint64_t taken = pace_thread_ns() - before;
        longest = taken > longest ? taken : longest;
    }
    return longest;
}

/* The line as a tree: freed by the caller. */
static struct json *read_line(void)
{
    struct slice text = page_line_text(&line);
    CHECK(text.len && text.ptr[text.len - 1] == '\n');
    struct json *tree = json_parse(text.ptr, text.len - 1);
    CHECK(tree && tree->kind == JSON_OBJECT);
    return tree;
}

static bool is_cut(const struct json *tree)
{
    return json_get(tree, "text_cut") != NULL;
}

/* malloc'ed. */
static struct slice gzip(struct slice bytes)
{
    struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(1);
    size_t size = libdeflate_gzip_compress_bound(deflate, bytes.len);
    char *out = malloc(size);
    size_t len = libdeflate_gzip_compress(deflate, bytes.ptr, bytes.len, out, size);
    CHECK(len);
    libdeflate_free_compressor(deflate);
    return (struct slice){out, len};
}

static char *fill(size_t len, const char *pattern)
{
    char *text = malloc(len + 1);
    size_t period = strlen(pattern);
    for (size_t i = 0; i < len; i++)
        text[i] = pattern[i % period];
    text[len] = '\0';
    return text;
}

TEST(title_and_text_are_found)
{
    begin();
    make(&(struct unpack_body){
        .codings = SLICE(""), .content_type = HTML, .bytes = SLICE("<title>T &amp; t</title><p>one<p>two")});
    CHECK_SLICE(page_line_text(&line),
                "{\"url\": \"https://a.test/\", \"status\": 200, \"date\": \"1970-01-01T00:00:00.000000Z\", "
                "\"bytes\": 3, \"title\": \"T & t\", \"text\": \"one\\ntwo\"}\n");
    make(&(struct unpack_body){
        .codings = SLICE(""), .content_type = SLICE("image/png"), .bytes = SLICE("\x89PNG\r\n\x1a\n<p>")});
    struct json *tree = read_line();
    CHECK(!json_get(tree, "title") && !json_get(tree, "text") && !is_cut(tree));
    json_free(tree);
    page_line_fini(&line);
    page_line_fini(&line);
}

TEST(content_codings_are_undone)
{
    struct slice packed = gzip(SLICE("<title>packed</title>words"));
    struct unpack_body body = {.content_type = HTML, .codings = SLICE("gzip"), .bytes = packed};
    begin();
    make(&body);
    struct json *tree = read_line();
    CHECK_STR(json_text(tree, "title"), "packed");
    CHECK_STR(json_text(tree, "text"), "words");
    CHECK(!is_cut(tree));
    json_free(tree);
    body.bytes.len -= 10; /* the end is missing */
    make(&body);
    tree = read_line();
    CHECK(is_cut(tree) == (json_get(tree, "text") != NULL || json_get(tree, "title") != NULL));
    json_free(tree);
    body.bytes = SLICE("\x01\x02\xff\xfe\x03\x04 this is not gzip");
    make(&body);
    tree = read_line();
    CHECK(!json_get(tree, "text"));
    json_free(tree);
    free((char *)packed.ptr);
    page_line_fini(&line);
}

/* A document of this length ends in "end"; what comes before is no text. */
static void check_source(size_t len, bool is_packed, bool has_end)
{
    char *text = fill(len, "<b> ");
    memcpy(text + len - 4, " end", 4);
    struct slice bytes = {text, len}, packed = is_packed ? gzip(bytes) : bytes;
    make(&(struct unpack_body){
        .content_type = HTML, .codings = is_packed ? SLICE("gzip") : SLICE(""), .bytes = packed});
    struct json *tree = read_line();
    CHECK(is_cut(tree) == !has_end);
    if (has_end)
        CHECK_STR(json_text(tree, "text"), "end");
    json_free(tree);
    if (is_packed)
        free((char *)packed.ptr);
    free(text);
}

TEST(the_start_of_a_long_document_is_looked_at)
{
    begin();
    tuning.fixed.net.decoded_ratio_max = 0;
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        check_source(PAGE_LINE_SOURCE_BYTES, is_packed, true);
        check_source(PAGE_LINE_SOURCE_BYTES + 1, is_packed, false);
        check_source(3 * PAGE_LINE_SOURCE_BYTES, is_packed, false);
    }
    page_line_fini(&line);
}

TEST(longest_strings_fit)
{
    char *url = fill(URL_BYTES_MAX, "\""), *type = fill(1 << 16, "\x01"), *text = fill(1 << 20, "\x7f");
    struct jsonl_page longest = {.url = {url, URL_BYTES_MAX},
                                 .status = 200,
                                 .type = {type, 1 << 16},
                                 .bytes = UINT64_MAX,
                                 .truncated = SLICE("disconnect")};
    begin();
    page_line_begin(
        &line, &(struct unpack_body){.codings = SLICE(""), .content_type = PLAIN, .bytes = {text, 1 << 20}});
    while (!page_line_step(&line, &longest))
        ;
    struct json *tree = read_line();
    CHECK_INT(json_get(tree, "text")->len, JSONL_TEXT_BYTES_MAX);
    CHECK_INT(json_get(tree, "type")->len, PAGE_LINE_TYPE_BYTES_MAX);
    CHECK(is_cut(tree));
    json_free(tree);
    free(url);
    free(type);
    free(text);
    page_line_fini(&line);
}

TEST(wide_encodings_fit)
{
    char *wide = malloc(PAGE_LINE_SOURCE_BYTES);
    begin();
    for (size_t i = 0; i < PAGE_LINE_SOURCE_BYTES; i += 2)
        memcpy(wide + i, "\x2d\x4e", 2); /* U+4E2D, three bytes in UTF-8 */
    make(&(struct unpack_body){.codings = SLICE(""),
                               .content_type = SLICE("text/plain; charset=utf-16le"),
                               .bytes = {wide, PAGE_LINE_SOURCE_BYTES}});
    struct json *tree = read_line();
    const struct json *text = json_get(tree, "text");
    CHECK(text && text->len > JSONL_TEXT_BYTES_MAX - 3 && memcmp(text->text, "\xe4\xb8\xad", 3) == 0);
    CHECK(is_cut(tree));
    json_free(tree);
    free(wide);
    page_line_fini(&line);
}

TEST(a_page_may_be_given_up)
{
    char *text = fill(1 << 19, "words ");
    begin();
    page_line_begin(
        &line, &(struct unpack_body){.codings = SLICE(""), .content_type = PLAIN, .bytes = {text, 1 << 19}});
    CHECK(!page_line_step(&line, &page));
    CHECK(!page_line_step(&line, &page));
    make(&(struct unpack_body){.codings = SLICE(""), .content_type = PLAIN, .bytes = SLICE("other")});
    struct json *tree = read_line();
    CHECK_STR(json_text(tree, "text"), "other");
    json_free(tree);
    free(text);
    page_line_fini(&line);
}

/* The least of three: a machine that is busy adds to each. */
static void check_steps(struct slice type, const char *pattern, bool is_packed)
{
    enum { LEN = 3 << 19 };
    char *text = fill(LEN, pattern);
    struct slice bytes = {text, LEN}, packed = is_packed ? gzip(bytes) : bytes;
    struct unpack_body body = {
        .content_type = type, .codings = is_packed ? SLICE("gzip") : SLICE(""), .bytes = packed};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t longest = make(&body);
        least = longest < least ? longest : least;
    }
    if (least >= pace_bound_ns(8))
        check_failed(__FILE__, __LINE__, "%llu ns for \"%s\"", (unsigned long long)least, pattern);
    if (is_packed)
        free((char *)packed.ptr);
    free(text);
}

TEST(every_step_is_short)
{
    static const char *const patterns[] = {"some words and more ", "<i>",  "&amp;&lt;x",
                                           "<p>caf\xe9 ",          "\x7f", "\xff"};
    SKIP_IF_SLOWED_DOWN();
    begin();
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        for (int is_packed = 0; is_packed < 2; is_packed++) {
            check_steps(HTML, patterns[i], is_packed);
            check_steps(PLAIN, patterns[i], is_packed);
            check_steps(SLICE("text/html; charset=shift_jis"), patterns[i], is_packed);
        }
    page_line_fini(&line);
}
