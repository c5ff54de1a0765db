#include "engine/content/link.h"

#include "tests/support/check.h"

static int kind_of(const char *rel, const char *type)
{
    struct link link = {0};
    return link_read_rel(slice_of(rel), slice_of(type), &link) ? link.kind : -1;
}

TEST(relations_decide_the_kind)
{
    CHECK_INT(kind_of("stylesheet", ""), LINK_STYLESHEET);
    CHECK_INT(kind_of("CANONICAL", ""), LINK_CANONICAL);
    CHECK_INT(kind_of("shortcut icon", ""), LINK_ICON);
    CHECK_INT(kind_of("next", ""), LINK_RELATED);
    CHECK_INT(kind_of("something-unheard-of", ""), LINK_RELATED);
    CHECK_INT(kind_of("next canonical", ""), LINK_CANONICAL);
    CHECK_INT(kind_of("preload", "font/woff2"), LINK_RESOURCE);
    CHECK_INT(kind_of("sitemap", "application/xml"), LINK_SITEMAP);
}

TEST(relations_without_a_page_name_no_link)
{
    CHECK_INT(kind_of("", ""), -1);
    CHECK_INT(kind_of("  ", ""), -1);
    CHECK_INT(kind_of("dns-prefetch", ""), -1);
    CHECK_INT(kind_of("preconnect nofollow", ""), -1);
}

TEST(alternates_with_a_feeds_type_are_feeds)
{
    CHECK_INT(kind_of("alternate", "application/rss+xml"), LINK_FEED);
    CHECK_INT(kind_of("alternate", "Application/Atom+XML; charset=utf-8"), LINK_FEED);
    CHECK_INT(kind_of("alternate", "text/html"), LINK_ALTERNATE);
    CHECK_INT(kind_of("next", "application/rss+xml"), LINK_RELATED);
}

TEST(an_alternate_style_sheet_is_a_style_sheet)
{
    CHECK_INT(kind_of("alternate stylesheet", "text/css"), LINK_STYLESHEET);
    CHECK_INT(kind_of("stylesheet alternate", "text/css"), LINK_STYLESHEET);
}

TEST(flags_are_gathered_from_all_words)
{
    CHECK_INT(link_rel_flags(SLICE("nofollow")), LINK_NOFOLLOW);
    CHECK_INT(link_rel_flags(SLICE("noopener NoFollow\tugc")), LINK_NOFOLLOW | LINK_UGC);
    CHECK_INT(link_rel_flags(SLICE("sponsored")), LINK_SPONSORED);
    CHECK_INT(link_rel_flags(SLICE("nofollows")), 0);
    struct link link = {0};
    CHECK(link_read_rel(SLICE("next nofollow"), SLICE(""), &link));
    CHECK_INT(link.flags, LINK_NOFOLLOW);
}

TEST(each_kind_is_a_navigation_or_an_embed_and_has_a_name)
{
    for (int kind = 0; kind < LINK_KINDS; kind++) {
        CHECK(link_is_navigation(kind) != link_is_embed(kind));
        CHECK(strcmp(link_kind_name(kind), "unknown") != 0);
    }
    CHECK(link_is_navigation(LINK_SITEMAP));
    CHECK(link_is_embed(LINK_CSS));
    CHECK_STR(link_kind_name(LINK_KINDS), "unknown");
}
