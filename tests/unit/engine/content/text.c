#include "engine/content/text.h"

#include <dirent.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/unit/engine/content/wide_text.h"

#define LIMIT (1u << 22)

static char shown[1 << 16];
static size_t title_len; /* of the page that was read last */

/* Reads `body` in steps; it ends at an unreadable page, and so does the room. Returns "title|text", with "..." at the
 * end of a text that was cut. */
static const char *read_in_steps(const char *type, struct slice body, size_t text_bytes_max, size_t step)
{
    struct text_walk walk;
    char *copy = check_guard_copy(body.ptr, body.len);
    struct text_source source = {slice_of(type), {copy, body.len}, text_bytes_max};
    text_begin(&walk, &source);
    size_t room_bytes = walk.room_bytes;
    char *zeros = calloc(1, room_bytes + 1), *room = check_guard_copy(zeros, room_bytes);
    walk.room = room;
    while (!text_step(&walk, step))
        ;
    struct text_page page = text_page_of(&walk);
    CHECK(page.title.len <= TEXT_TITLE_BYTES_MAX && page.text.len <= text_bytes_max);
    CHECK(encoding_is_utf8(page.title) && encoding_is_utf8(page.text));
    snprintf(shown, sizeof(shown), "%.*s|%.*s%s", (int)page.title.len, page.title.ptr, (int)page.text.len,
             page.text.ptr, page.is_cut ? "..." : "");
    title_len = page.title.len;
    check_guard_free(copy, body.len);
    check_guard_free(room, room_bytes);
    free(zeros);
    encoding_fini();
    return shown;
}

/* The same, which must not depend on the size of the steps. */
static const char *read_typed(const char *type, struct slice body)
{
    char *whole = strdup(read_in_steps(type, body, LIMIT, SIZE_MAX));
    CHECK_STR(read_in_steps(type, body, LIMIT, 1), whole);
    free(whole);
    return shown;
}

static const char *html(const char *body)
{
    return read_typed("text/html; charset=utf-8", slice_of(body));
}

TEST(title_and_text)
{
    CHECK_STR(html("<!doctype html><html><head><title> The\n Title </title><meta name=description content=no>"
                   "<style>p{}</style></head><body><h1>Head</h1><p>One <b>two</b>, "
                   "thr<i>ee</i>.<p>Four</body></html>"),
              "The Title|Head\nOne two, three.\nFour");
    CHECK_STR(html(""), "|");
    CHECK_STR(html("just words"), "|just words");
    CHECK_STR(html("<title>first</title><title>second</title>x"), "first|x");
    CHECK_STR(html("<title></title><title>second</title>x"), "|x");
    CHECK_STR(html("x<title>late"), "late|x");
}

TEST(blocks_make_lines_and_cells_spaces)
{
    CHECK_STR(html("a<div>b</div>c<br>d<br/>e<hr>f"), "|a\nb\nc\nd\ne\nf");
    CHECK_STR(html("<ul><li>a<li>b</ul>c"), "|a\nb\nc");
    CHECK_STR(html("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></table>"), "|a b\n1 2");
    CHECK_STR(html("<button>Save</button><button>Cancel</button>"), "|Save Cancel");
    CHECK_STR(html("<DIV>a</DIV><Span>b</Span>c<x-div>d</x-div>"), "|a\nbcd");
    CHECK_STR(html("<div><div></div></div>a<div> </div>b"), "|a\nb");
    CHECK_STR(html("a<blockquote>b</blockquote><figcaption>c</figcaption>d"), "|a\nb\nc\nd");
}

TEST(white_space_is_one_space)
{
    CHECK_STR(html("  a \t\r\n b\f c  "), "|a b c");
    CHECK_STR(html("a <b> b</b> c"), "|a b c");
    CHECK_STR(html("a&nbsp; &#160;b\xc2\xa0 c"), "|a b c");
    CHECK_STR(html("a<p> \n b"), "|a\nb");
    CHECK_STR(html("a\x01\x02"
                   "b\x7f"
                   "c&#1;d"),
              "|abcd");
}

TEST(line_ends_of_pre_stay)
{
    CHECK_STR(html("<pre>int  a;\r\nint b;\n\n</pre>c\nd"), "|int a;\nint b;\nc d");
}

TEST(what_is_not_seen_is_left_out)
{
    CHECK_STR(html("a<script>var x = '<p>no</p>';</script>b<style>no</style>c"), "|abc");
    CHECK_STR(html("a<!-- no <p> -->b<!-->c<!--->d<!-- no --!>e<!no>f<?no?>g</ no>h"), "|abcdefgh");
    CHECK_STR(html("a<noscript><p>no</p></noscript>b<iframe>no</iframe>c<noembed>no</noembed>d"), "|abcd");
    CHECK_STR(html("a<template><p>no<template>no</template>no</p></template>b"), "|ab");
    CHECK_STR(html("a<svg><title>no</title><text>no</text><foreignObject><p>no</p></foreignObject></svg>b"),
              "|ab");
    CHECK_STR(html("a<svg><g/><svg>no</svg>no</svg>b<svg/>c<svg><path d=x /><p>d"), "|abc\nd");
    CHECK_STR(html("a<math><mi>x</mi><mo>=</mo><mn>2</mn></math>b"), "|ax=2b");
    CHECK_STR(html("<img alt=no title=no>a<input value=no>"), "|a");
    CHECK_STR(html("<svg><title>no</title></svg><title>yes</title>"), "yes|");
    CHECK_STR(html("<template><title>no</title></template><title>yes</title>"), "yes|");
}

TEST(text_of_raw_elements_has_no_markup)
{
    CHECK_STR(html("a<textarea><p>b &amp; c</p></textarea>d"), "|a <p>b & c</p> d");
    CHECK_STR(html("<title>a <b>b</b> &lt;c></title>"), "a <b>b</b> <c>|");
    CHECK_STR(html("a<plaintext>b</p><b>c"), "|ab</p><b>c");
}

TEST(references_are_decoded)
{
    CHECK_STR(html("a &amp; b &lt;c&gt; &#x20ac; &euro; &eacute;t&eacute"),
              "|a & b <c> \xe2\x82\xac \xe2\x82\xac \xc3\xa9t\xc3\xa9");
    CHECK_STR(html("&copy2 R&D &unknown; & &; &# &#x;"), "|\xc2\xa9"
                                                         "2 R&D &unknown; & &; &# &#x;");
    CHECK_STR(html("&nGt;"), "|\xe2\x89\xab\xe2\x83\x92");
    CHECK_STR(html("a&#10;b"), "|a b");
    CHECK_STR(html("<title>R&amp;D &#8211; x</title>"), "R&D \xe2\x80\x93 x|");
    CHECK_STR(html("a&lt;p>b"), "|a<p>b");
}

TEST(less_than_may_be_text)
{
    CHECK_STR(html("1 < 2 <3 a<"), "|1 < 2 <3 a<");
    CHECK_STR(html("a<b"), "|a");
    CHECK_STR(html("a<p class='x"), "|a");
    CHECK_STR(html("a<!-- never closed"), "|a");
}

TEST(cdata_is_text_in_xml_only)
{
    const char *const body = "<html xmlns='x'><body>a<![CDATA[b <i> &amp;]]>c</body></html>";
    CHECK_STR(read_typed("application/xhtml+xml", slice_of(body)), "|ab <i> &amp;c");
    CHECK_STR(html("a<![CDATA[b <i>]]>c"), "|a]]>c"); /* a comment up to the first '>' */
    CHECK_STR(html("<math><mi>a<![CDATA[b]]></mi><![CDATA[>c]]></math>"), "|a>c");
}

TEST(malformed_utf8_is_replaced)
{
    CHECK_STR(html("a\xff"
                   "b\xc3(c\xe2\x82"),
              "|a\xef\xbf\xbd"
              "b\xef\xbf\xbd(c\xef\xbf\xbd");
    CHECK_STR(html("<title>\xed\xa0\x80</title>"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|");
    CHECK_STR(html("\xef\xbb\xbf<p>a"), "|a");
}

TEST(legacy_encodings_become_utf8)
{
    CHECK_STR(
        read_typed("text/html; charset=iso-8859-1", SLICE("<title>\xfc</title>caf\xe9 \x93x\x94 &eacute;")),
        "\xc3\xbc|caf\xc3\xa9 \xe2\x80\x9cx\xe2\x80\x9d \xc3\xa9");
    CHECK_STR(read_typed("text/html", SLICE("<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2")),
              "|\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82");
    /* The second byte of the first character is that of a backslash, of the next that of '|'. */
    CHECK_STR(read_typed("text/html; charset=shift_jis", SLICE("<p>\x83\x5c\x83\x7c &amp; \x82\xa0</p>")),
              "|\xe3\x82\xbd\xe3\x83\x9d & \xe3\x81\x82");
    CHECK_STR(read_typed("text/html; charset=gbk", SLICE("\xc4\xe3<br>\xba\xc3")),
              "|\xe4\xbd\xa0\n\xe5\xa5\xbd");
    CHECK_STR(read_typed("text/html; charset=shift_jis", SLICE("a\x83")), "|a\xef\xbf\xbd");
}

TEST(wide_encodings_become_utf8)
{
    const char page[] = "<html><title>t</title><p>a &amp; b";
    CHECK_STR(read_typed("text/html", wide(page, false, "\xff\xfe")), "t|a & b");
    CHECK_STR(read_typed("text/html", wide(page, true, "\xfe\xff")), "t|a & b");
    CHECK_STR(read_typed("", wide(page, false, "")), "t|a & b");
    CHECK_STR(read_typed("text/plain; charset=utf-16be", wide("a <b>", true, "")), "|a <b>");
    CHECK_STR(read_typed("text/html; charset=utf-16le", SLICE("a\0\x3d\xd8\x00\xde\0\xd8"
                                                              "b\0")),
              "|a\xf0\x9f\x98\x80\xef\xbf\xbd"
              "b");
    CHECK_STR(read_typed("text/html; charset=iso-2022-jp", SLICE("<p>\x1b$B$\"\x1b(B b")), "|\xe3\x81\x82 b");
    CHECK_STR(read_typed("text/html", SLICE("\xff\xfe")), "|");
}

TEST(plain_text_is_taken_as_it_is)
{
    CHECK_STR(read_typed("text/plain", SLICE(" a\r\n\r\n<b> &amp;  c ")), "| a\r\n\r\n<b> &amp;  c ");
    CHECK_STR(read_typed("text/plain; charset=latin1", SLICE("\xe9\n")), "|\xc3\xa9\n");
    CHECK_STR(read_typed("text/plain", SLICE("\xe9 a")), "|\xc3\xa9 a");
    CHECK_STR(read_typed("text/plain", SLICE("\xef\xbb\xbf\xc3\xa9")), "|\xc3\xa9");
    CHECK_STR(read_typed("text/csv", SLICE("a;b")), "|a;b");
    CHECK_STR(read_typed("", SLICE("Hello")), "|Hello");
}

TEST(other_types_have_no_text)
{
    CHECK_STR(read_typed("image/png", SLICE("\x89PNG\r\n\x1a\n<p>x")), "|");
    CHECK_STR(read_typed("text/css", SLICE("p { }")), "|");
    CHECK_STR(read_typed("application/json", SLICE("{}")), "|");
    CHECK_STR(read_typed("application/rss+xml", SLICE("<rss><title>x</title></rss>")), "|");
    CHECK_STR(read_typed("text/plain", SLICE("\0\1\2\3")), "|");
    CHECK_STR(read_typed("application/pdf", SLICE("%PDF-1.4")), "|");
}

TEST(text_is_cut_between_characters)
{
    CHECK_STR(read_in_steps("text/html", SLICE("<p>abc def"), 3, 1), "|abc...");
    CHECK_STR(read_in_steps("text/html", SLICE("<p>abc def"), 4, 1), "|abc...");
    CHECK_STR(read_in_steps("text/html", SLICE("<p>abc def"), 5, 1), "|abc d...");
    CHECK_STR(read_in_steps("text/html", SLICE("<p>abc def "), 7, 1), "|abc def");
    CHECK_STR(read_in_steps("text/html", SLICE("<p>a\xe2\x82\xac"), 3, 1), "|a...");
    CHECK_STR(read_in_steps("text/plain",
                            SLICE("a\xe2\x82\xac"
                                  "b"),
                            3, 1),
              "|a...");
    CHECK_STR(read_in_steps("text/html", SLICE("<p>a"), 0, 1), "|...");
    CHECK_STR(read_in_steps("text/html", SLICE("<p> </p>"), 0, 1), "|");
}

TEST(long_titles_are_cut)
{
    char page[3 * TEXT_TITLE_BYTES_MAX + 32] = "<title>";
    for (size_t i = 0; i < 3 * TEXT_TITLE_BYTES_MAX; i++)
        page[7 + i] = "\xe2\x82\xac"[i % 3];
    memcpy(page + 7 + 3 * TEXT_TITLE_BYTES_MAX, "</title>x", 10);
    CHECK_STR(html(page) + TEXT_TITLE_BYTES_MAX / 3 * 3, "|x");
}

/* Longer than a part, in each kind of encoding, with a character across the place where a part would end. */
TEST(long_runs_are_read_in_parts)
{
    enum { LEN = 3 * TEXT_PART_BYTES, LINE = 101 };
    static char text[LEN + 1] = "ab";
    for (size_t i = 2; i < LEN - 1; i++)
        text[i] = "\xe2\x82\xac"[(i - 2) % 3];
    text[LEN - 1] = 'c';
    CHECK_STR(html(text) + 1, text);
    CHECK_STR(read_typed("text/plain; charset=utf-8", slice_of(text)) + 1, text);
    for (size_t i = 0; i < LEN; i++) /* Shift_JIS: 50 letters and a space */
        text[i] = i % LINE == LINE - 1 ? ' ' : i % LINE % 2 ? '\xa0' : '\x82';
    const char *got = read_typed("text/plain; charset=shift_jis", (struct slice){text, LEN / LINE * LINE});
    CHECK(!strstr(got, "\xef\xbf\xbd"));
    CHECK_INT(strlen(got) - 1, LEN / LINE * (50 * 3 + 1));
}

TEST(every_prefix_is_read_within_its_bounds)
{
    static const char page[] =
        "<!doctype html><title>a &amp; b</title><!-- c --><p x='y'>d &eacute; \xe2\x82\xac"
        "<script>e</script><svg><g/></svg><pre>f\ng</pre><textarea>h</textarea>"
        "<![CDATA[i]]><template>j</template>&#x26;<br>k";
    static const char *const types[] = {
        "text/html", "application/xhtml+xml",        "text/plain",
        "",          "text/html; charset=shift_jis", "text/html; charset=utf-16le"};
    for (size_t type = 0; type < sizeof(types) / sizeof(types[0]); type++)
        for (size_t len = 0; len < sizeof(page); len++) {
            read_typed(types[type], (struct slice){page, len});
            read_in_steps(types[type], (struct slice){page, len}, len / 4, 7);
        }
}

/* Real pages: both are there, and neither markup nor scripts are left in the text. */
TEST(corpus_pages_have_title_and_text)
{
    const char *folder = check_corpus("html");
    if (!folder)
        SKIP("../shared/corpora/html is absent");
    DIR *directory = opendir(folder);
    CHECK(directory);
    size_t pages = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[4096];
        size_t len;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        char *page = check_read_file(path, &len);
        const char *got = read_typed("text/html", (struct slice){page, len});
        const char *text = got + title_len + 1;
        if (title_len == 0 || text[0] == '\0' || strstr(text, "<div") || strstr(text, "function("))
            check_failed(__FILE__, __LINE__, "%s: %.200s", entry->d_name, got);
        free(page);
        pages++;
    }
    closedir(directory);
    CHECK(pages > 0);
}
