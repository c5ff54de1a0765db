#include "engine/content/xml.h"

#include <stdlib.h>

#include "engine/content/limits.h"
#include "tests/support/check.h"

/* The tags as "prefix:name" with "/" before for end tags and behind for empty ones, each followed by a
 * space. */
static const char *tags(const char *text)
{
    static char out[1024];
    size_t len = strlen(text), used = 0;
    char *copy = check_guard_copy(text, len);
    struct xml xml = xml_of((struct slice){copy, len});
    struct xml_tag tag;
    out[0] = '\0';
    while (xml_next(&xml, &tag) == PARSE_DONE)
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s%s%.*s%s ", tag.is_end ? "/" : "",
                                 (int)tag.prefix.len, tag.prefix.ptr, tag.prefix.len ? ":" : "",
                                 (int)tag.name.len, tag.name.ptr, tag.is_empty ? "/" : "");
    check_guard_free(copy, len);
    return out;
}

TEST(tags_come_in_their_order)
{
    CHECK_STR(tags("<a><b:c x='1'/>text</a>"), "a b:c/ /a ");
    CHECK_STR(tags("<a\n>< b><1>&lt;</a >"), "a /a ");
}

TEST(what_is_no_tag_is_passed_over)
{
    CHECK_STR(tags("<?xml version='1.0'?><!-- <x> --><a><![CDATA[<y>]]></a>"), "a /a ");
    CHECK_STR(tags("<!DOCTYPE a [ <!ENTITY b '<c>'> ]><d>"), "d ");
    CHECK_STR(tags("<!DOCTYPE a><d>"), "d ");
}

TEST(brackets_in_quotes_do_not_close)
{
    CHECK_STR(tags("<a x='>' y=\"/>\"><b/>"), "a b/ ");
}

TEST(the_unfinished_is_left)
{
    const char *const unfinished[] = {"<a", "<a x='", "<!-- x", "<![CDATA[ x", "<?x",
                                      "<!", "<",      "</",     "<!DOCTYPE x"};
    for (size_t i = 0; i < sizeof(unfinished) / sizeof(unfinished[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "<z>%s", unfinished[i]);
        struct xml xml = xml_of(slice_of(text));
        struct xml_tag tag;
        CHECK_INT(xml_next(&xml, &tag), PARSE_DONE);
        CHECK_INT(xml_next(&xml, &tag), PARSE_PARTIAL);
        CHECK(xml.at - text == 3 || xml.closing.len);
    }
}

TEST(every_prefix_of_a_tag_is_partial)
{
    const char text[] = "<a:b c='d' e=\"f>\" />";
    for (size_t len = 0; len < sizeof(text); len++) {
        char *copy = check_guard_copy(text, len);
        struct xml xml = xml_of((struct slice){copy, len});
        struct xml_tag tag;
        CHECK_INT(xml_next(&xml, &tag), len == sizeof(text) - 1 ? PARSE_DONE : PARSE_PARTIAL);
        check_guard_free(copy, len);
    }
}

TEST(attributes_are_found_by_name)
{
    struct xml xml = xml_of(SLICE("<a b='1' c = \"2\" xml:base='3' d e='4'>"));
    struct xml_tag tag;
    CHECK_INT(xml_next(&xml, &tag), PARSE_DONE);
    CHECK_SLICE(xml_attribute(&tag, SLICE("b")), "1");
    CHECK_SLICE(xml_attribute(&tag, SLICE("c")), "2");
    CHECK_SLICE(xml_attribute(&tag, SLICE("xml:base")), "3");
    CHECK_SLICE(xml_attribute(&tag, SLICE("e")), "4");
    CHECK_SLICE(xml_attribute(&tag, SLICE("base")), "");
}

TEST(garbage_among_attributes_ends)
{
    const char *const garbage[] = {"<a =>", "<a =b>", "<a / / >", "<a b=c d='e'>", "<a <b c='d'>", "<a '>"};
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        struct xml xml = xml_of(slice_of(garbage[i]));
        struct xml_tag tag;
        if (xml_next(&xml, &tag) == PARSE_DONE)
            CHECK_SLICE(xml_attribute(&tag, SLICE("nothing")), "");
    }
}

/* `text` between two tags is passed over, however often there is a pause. */
static void check_pauses(const char *text, size_t step)
{
    size_t len = strlen(text), pauses = 0;
    char *copy = check_guard_copy(text, len);
    struct xml xml = xml_of((struct slice){copy, len});
    struct xml_tag tag;
    char names[8] = "";
    do {
        xml.pause = len - (size_t)(xml.at - copy) > step ? xml.at + step : xml.end;
        while (xml_next(&xml, &tag) == PARSE_DONE && !xml_is_pause(&tag))
            strncat(names, tag.name.ptr, tag.name.len);
        pauses++;
    } while (xml.at < xml.end);
    CHECK_STR(names, "ab");
    CHECK(pauses > 1);
    check_guard_free(copy, len);
}

TEST(what_is_passed_over_can_be_passed_in_parts)
{
    for (size_t step = 1; step < 9; step++) {
        check_pauses("<a>< < < < < < < < < < <b>", step);
        check_pauses("<a><!-- <x> -- > -> <y> --><b>", step);
        check_pauses("<a><![CDATA[ <x> ]] > ]> <y> ]]]><b>", step);
        check_pauses("<a><?x <x> ? > <y> ?\?><b>", step);
    }
}

TEST(a_tag_that_is_too_long_is_text)
{
    size_t len = 2 * XML_TAG_BYTES_MAX;
    char *text = malloc(len);
    memset(text, 'x', len);
    memcpy(text, "<a b='", 6);
    memcpy(text + len - 6, "'><c/>", 6);
    struct xml xml = xml_of((struct slice){text, len});
    struct xml_tag tag;
    CHECK_INT(xml_next(&xml, &tag), PARSE_DONE);
    CHECK_SLICE(tag.name, "c");
    free(text);
}
