#include "engine/content/link_header.h"

#include "tests/support/check.h"

static const char *scan(const char *value)
{
    static char out[4096];
    static struct link found[64];
    struct links links;
    size_t len = strlen(value), used = 0;
    char *copy = check_guard_copy(value, len);
    links_init(&links, found, 64);
    link_header_scan(&links, (struct slice){copy, len});
    out[0] = '\0';
    for (size_t i = 0; i < links.count; i++)
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%s %.*s%s", i ? "\n" : "",
                                 link_kind_name(found[i].kind), (int)found[i].url.len, found[i].url.ptr,
                                 found[i].flags & LINK_NOFOLLOW ? " nofollow" : "");
    check_guard_free(copy, len);
    return out;
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
