#include "engine/content/link_header.h"

#include "tests/unit/engine/content/found_links.h"

static const char *scan(const char *value)
{
    return found_in(value, link_header_scan);
}

TEST(links_have_relations)
{
    CHECK_STR(scan("<http://a/>; rel=\"canonical\""), "canonical http://a/");
    CHECK_STR(scan("</b>;rel=next"), "related /b");
    CHECK_STR(scan("<a> ; rel = preload ; as=style, <b>; rel=stylesheet"), "resource a\nstyle b");
    CHECK_STR(scan("<a>; REL='next'"), "related a");
    CHECK_STR(scan("<a>; rel=\"next nofollow\""), "related a nofollow");
    CHECK_STR(scan("<a>; rel=alternate; type=\"application/rss+xml\""), "feed a");
}

TEST(the_first_relation_counts)
{
    CHECK_STR(scan("<a>; rel=canonical; rel=stylesheet"), "canonical a");
}

TEST(links_without_use_are_passed_over)
{
    CHECK_STR(scan("<a>"), "");
    CHECK_STR(scan("<a>; title=x"), "");
    CHECK_STR(scan("<a>; rel=preconnect"), "");
    CHECK_STR(scan("<a>; rel=next; anchor=\"#x\""), "");
    CHECK_STR(scan(""), "");
}

TEST(commas_and_semicolons_in_urls_and_quotes_belong_to_them)
{
    CHECK_STR(scan("<a,b;c>; title=\"d,e;<f>\"; rel=next, <g>; rel=next"), "related a,b;c\nrelated g");
    CHECK_STR(scan("<a>; title=\"x\\\"y\"; rel=next"), "related a");
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char value[] = "<a>; rel=\"next\\\" x\"; type=text/html , <b>;rel=canonical;; anchor";
    char prefix[sizeof(value)];
    for (size_t len = 0; len < sizeof(value); len++) {
        memcpy(prefix, value, len);
        prefix[len] = '\0';
        scan(prefix);
    }
}
