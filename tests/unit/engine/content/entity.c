#include "engine/content/entity.h"

#include <stdlib.h>

#include "tests/support/check.h"

/* Decodes a copy at a guard page. */
static struct slice decoded(const char *text, size_t (*decode)(struct slice, char *))
{
    static char out[4096];
    size_t len = strlen(text);
    char *copy = check_guard_copy(text, len);
    struct slice result = {out, decode((struct slice){copy, len}, out)};
    check_guard_free(copy, len);
    return result;
}

#define ATTRIBUTE(written, expected) CHECK_SLICE(decoded(written, entity_decode_attribute), expected)
#define XML(written, expected)       CHECK_SLICE(decoded(written, entity_decode_xml), expected)

TEST(named_references_are_decoded)
{
    ATTRIBUTE("a&amp;b", "a&b");
    ATTRIBUTE("&lt;&gt;&quot;&apos;", "<>\"'");
    ATTRIBUTE("&eacute;", "\xc3\xa9");
    ATTRIBUTE("&CounterClockwiseContourIntegral;", "\xe2\x88\xb3");
    ATTRIBUTE("&nGt;", "\xe2\x89\xab\xe2\x83\x92");
    ATTRIBUTE("&fjlig;", "fj");
    ATTRIBUTE("&Afr;", "\xf0\x9d\x94\x84");
}

TEST(names_are_case_sensitive)
{
    ATTRIBUTE("&AMP;&Amp;", "&&Amp;");
    ATTRIBUTE("&Eacute;&eacute;", "\xc3\x89\xc3\xa9");
}

TEST(a_missing_semicolon_is_forgiven_where_browsers_do)
{
    ATTRIBUTE("a&amp", "a&");
    ATTRIBUTE("a&amp b", "a& b");
    ATTRIBUTE("?x=1&copy=2", "?x=1&copy=2");
    ATTRIBUTE("?x=1&copyright", "?x=1&copyright");
    ATTRIBUTE("?x=1&copy/2", "?x=1\xc2\xa9/2");
    ATTRIBUTE("&notin &notin; &notit;", "&notin \xe2\x88\x89 &notit;");
    ATTRIBUTE("&hellip", "&hellip");
}

/* The reference at the start of `written` and the bytes that it takes. */
static void check_text(const char *written, const char *expected, size_t expected_used)
{
    size_t len = strlen(written), used = 0;
    char out[ENTITY_TEXT_BYTES_MAX], *copy = check_guard_copy(written, len);
    size_t made = entity_decode_text((struct slice){copy, len}, out, &used);
    CHECK_SLICE(((struct slice){out, made}), expected);
    if (made)
        CHECK_INT(used, expected_used);
    check_guard_free(copy, len);
}

TEST(references_in_text_take_the_longest_name)
{
    check_text("&amp;b", "&", 5);
    check_text("&amp", "&", 4);
    check_text("&copy2", "\xc2\xa9", 5);
    check_text("&copy=", "\xc2\xa9", 5);
    check_text("&notin;", "\xe2\x88\x89", 7);
    check_text("&notit;", "\xc2\xac", 4); /* the standard's own example */
    check_text("&CounterClockwiseContourIntegral;x", "\xe2\x88\xb3", 33);
    check_text("&nGt;", "\xe2\x89\xab\xe2\x83\x92", 5);
    check_text("&#x41;B", "A", 6);
    check_text("&#65B", "A", 4);
    check_text("&euro", "", 0);
    check_text("&unknown;", "", 0);
    check_text("&", "", 0);
    check_text("&;", "", 0);
    check_text("&#", "", 0);
    check_text("&#x", "", 0);
    check_text("&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;", "", 0);
}

TEST(what_is_no_reference_stays)
{
    ATTRIBUTE("&", "&");
    ATTRIBUTE("&;", "&;");
    ATTRIBUTE("& b", "& b");
    ATTRIBUTE("a=1&b=2&c=3", "a=1&b=2&c=3");
    ATTRIBUTE("&unknown;", "&unknown;");
    ATTRIBUTE("&#;&#x;&#xg;&#a;", "&#;&#x;&#xg;&#a;");
}

TEST(numeric_references_are_decoded)
{
    ATTRIBUTE("&#65;&#x41;&#X4a;&#65 &#65", "AAJA A");
    ATTRIBUTE("&#128;&#x99;", "\xe2\x82\xac\xe2\x84\xa2");
    ATTRIBUTE("&#0;&#xd800;&#x110000;&#99999999999999999999;",
              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    ATTRIBUTE("&#x10ffff;&#x7ff;", "\xf4\x8f\xbf\xbf\xdf\xbf");
}

TEST(nul_becomes_the_replacement_character)
{
    char out[16];
    CHECK_INT(entity_decode_attribute((struct slice){"a\0b", 3}, out), 5);
    CHECK(memcmp(out,
                 "a\xef\xbf\xbd"
                 "b",
                 5) == 0);
}

TEST(all_names_of_the_standard_are_known)
{
    unsigned code[2];
    bool legacy;
    CHECK_INT(entity_find(SLICE("amp"), code, &legacy), 1);
    CHECK(legacy && code[0] == '&');
    CHECK_INT(entity_find(SLICE("gg"), code, &legacy), 1);
    CHECK(!legacy);
    CHECK_INT(entity_find(SLICE("nvlt"), code, &legacy), 2);
    CHECK(code[0] == '<' && code[1] == 0x20d2);
    CHECK_INT(entity_find(SLICE("zwnj"), code, &legacy), 1);
    CHECK_INT(entity_find(SLICE("DD"), code, &legacy), 1);
    CHECK_INT(entity_find(SLICE("xi"), code, &legacy), 1);
    CHECK_INT(entity_find(SLICE(""), code, &legacy), 0);
    CHECK_INT(entity_find(SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), code, &legacy), 0);
}

TEST(xml_knows_five_names)
{
    XML("a&amp;b&lt;&gt;&quot;&apos;", "a&b<>\"'");
    XML("&eacute;&nbsp;&amp", "&eacute;&nbsp;&amp");
    XML("&#65;&#x42;", "AB");
    XML("&", "&");
}

TEST(cdata_is_taken_as_it_stands)
{
    XML("<![CDATA[a&amp;b]]>c&amp;", "a&amp;bc&");
    XML("x<![CDATA[]]>y", "xy");
    XML("<![CDATA[never closed &amp;", "never closed &amp;");
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char text[] = "&amp;&copy=&#x41;&#65;&eacute<![CDATA[x]]>&CounterClockwiseContourIntegral;";
    char out[ENTITY_GROWTH * sizeof(text)];
    for (size_t len = 0; len < sizeof(text); len++) {
        char *copy = check_guard_copy(text, len);
        CHECK(entity_decode_attribute((struct slice){copy, len}, out) <= len);
        CHECK(entity_decode_xml((struct slice){copy, len}, out) <= len);
        check_guard_free(copy, len);
    }
}

TEST(windows_1252_has_letters_in_place_of_controls)
{
    CHECK_INT(entity_windows_1252('a'), 'a');
    CHECK_INT(entity_windows_1252(0x80), 0x20ac);
    CHECK_INT(entity_windows_1252(0x81), 0x81);
    CHECK_INT(entity_windows_1252(0x9f), 0x178);
    CHECK_INT(entity_windows_1252(0xe9), 0xe9);
}
