#include "engine/content/css.h"

#include <stdlib.h>

#include "engine/content/limits.h"
#include "tests/unit/engine/content/found_links.h"

static const char *scan(const char *css)
{
    return found_in(css, css_scan);
}

TEST(urls_are_found_quoted_or_not)
{
    CHECK_STR(scan("a { b: url(x) }"), "css x");
    CHECK_STR(scan("a { b: url( \"x y\" ) }"), "css x y");
    CHECK_STR(scan("a{b:URL('x')}"), "css x");
    CHECK_STR(scan("url(x)url(y)"), "css x\ncss y");
    CHECK_STR(scan("src:url(x.woff2)format('woff2'),url(y)"), "css x.woff2\ncss y");
}

TEST(imports_are_style_sheets)
{
    CHECK_STR(scan("@import 'x';"), "style x");
    CHECK_STR(scan("@import\"x\" screen;"), "style x");
    CHECK_STR(scan("@IMPORT url(x);"), "style x");
    CHECK_STR(scan("@import /* why */ url('x') print;"), "style x");
    CHECK_STR(scan("@imports 'x';"), "");
    CHECK_STR(scan("@import x;"), "");
}

TEST(comments_and_strings_are_not_code)
{
    CHECK_STR(scan("/* url(x) */ a { b: url(y) }"), "css y");
    CHECK_STR(scan("a { content: 'url(x)' } b { c: url(y) }"), "css y");
    CHECK_STR(scan("a { content: \"\\\"url(x)\" }"), "");
    CHECK_STR(scan("/* url(x)"), "");
    CHECK_STR(scan("a { b: c/d; e: url(f) } / url(g)"), "css f\ncss g");
}

TEST(a_line_end_ends_a_bad_string)
{
    CHECK_STR(scan("a { content: 'x\n; b: url(y) }"), "css y");
    CHECK_STR(scan("a { b: url('x\n); c: url(y) }"), "css y");
}

TEST(longer_words_are_not_url)
{
    CHECK_STR(scan("curl(x) -url(y) urls(z) url (w)"), "");
    CHECK_STR(scan("(url(x))"), "css x");
}

TEST(bad_urls_are_passed_over)
{
    CHECK_STR(scan("url(a b) url(c)"), "css c");
    CHECK_STR(scan("url(a'b) url(c)"), "css c");
    CHECK_STR(scan("url(a(b) url(c)"), "css c");
}

TEST(escapes_are_decoded)
{
    CHECK_STR(scan("url(a\\20 b)"), "css a b");
    CHECK_STR(scan("url(a\\)b)"), "css a)b");
    CHECK_STR(scan("url('a\\'b')"), "css a'b");
    CHECK_STR(scan("url('a\\\nb')"), "css ab");
    CHECK_STR(scan("url(\\000041\\e9)"), "css A\xc3\xa9");
    CHECK_STR(scan("url(\\0)"), "css \xef\xbf\xbd");
}

TEST(what_is_no_place_is_not_reported)
{
    CHECK_STR(scan("url() url('') url( ) url(#id) url(data:image/png;base64,xx) @namespace url(x); url(y)"),
              "css y");
}

TEST(the_end_closes_what_is_open)
{
    CHECK_STR(scan("url(x"), "css x");
    CHECK_STR(scan("url('x"), "css x");
    CHECK_STR(scan("@import 'x"), "style x");
    CHECK_STR(scan("url("), "");
    CHECK_STR(scan("@import"), "");
    CHECK_STR(scan("url(x\\"), "css x");
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char css[] =
        "/* a */ @import url( 'b\\41 c' ); @namespace d; e { f: url(g\\)h) ; i: \"j\\\"k\" } url(l m)";
    for (size_t len = 0; len < sizeof(css); len++) {
        char prefix[sizeof(css)];
        memcpy(prefix, css, len);
        prefix[len] = '\0';
        scan(prefix);
    }
}

TEST(decoded_urls_without_room_are_counted)
{
    struct link found[4];
    links_init(&links, found, 4);
    css_scan(&links, SLICE("url(a\\)b) url(c)"));
    CHECK_INT(links.count, 1);
    CHECK_INT(links.dropped, 1);
}

/* What is between two URLs is passed over, though it is longer than a token is read at once. */
static void check_long(const char *opening, char fill, const char *closing)
{
    size_t bytes = 3 * CSS_TOKEN_BYTES_MAX, size = bytes + 256;
    char *text = malloc(size);
    int used = snprintf(text, size, "url(a)%s", opening);
    memset(text + used, fill, bytes);
    snprintf(text + used + bytes, 64, "%s;b:url(c)", closing);
    CHECK_STR(scan(text), "css a\ncss c");
    free(text);
}

TEST(tokens_that_are_too_long_are_passed_over)
{
    check_long("url(data:", 'x', ")");
    check_long("url(\"data:", '(', "\")");
    check_long("'", 'x', "'");
    check_long("'", 'x', "\n");
    check_long("/*", '*', "*/");
    check_long("/*", 'x', "*/");
    check_long("@import '", 'x', "'");
    check_long("", ' ', "");
}
