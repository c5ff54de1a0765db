#include "engine/content/sitemap.h"

#include <stdlib.h>

#include "engine/content/limits.h"
#include "tests/support/check.h"

static struct sitemap map;

/* The entries as "url|" or "[url]" for sitemaps. */
static const char *read_all(enum sitemap_form form, const char *text)
{
    static char out[65536];
    size_t len = strlen(text), used = 0;
    char *copy = check_guard_copy(text, len);
    struct sitemap_entry entry;
    out[0] = '\0';
    sitemap_init(&map, form, (struct slice){copy, len});
    while (sitemap_next(&map, &entry) == PARSE_DONE)
        if (entry.url.len)
            used += (size_t)snprintf(out + used, sizeof(out) - used, entry.is_sitemap ? "[%.*s]" : "%.*s|",
                                 (int)entry.url.len, entry.url.ptr);
    check_guard_free(copy, len);
    return out;
}

static const char urlset[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\n"
    "<url><loc> http://a/?b&amp;c </loc><lastmod>2024-01-02</lastmod><changefreq>daily</changefreq>"
    "<priority>0.8</priority></url>\n<!-- <url><loc>no</loc></url> -->"
    "<url><image:image><image:loc>no</image:loc></image:image><loc><![CDATA[http://d/]]></loc></url></"
    "urlset>";

TEST(pages_of_a_urlset_are_found)
{
    CHECK_STR(read_all(SITEMAP_XML, urlset), "http://a/?b&c|http://d/|");
}

TEST(fields_of_an_entry_are_trimmed)
{
    struct sitemap_entry entry;
    sitemap_init(&map, SITEMAP_XML, slice_of(urlset));
    CHECK_INT(sitemap_next(&map, &entry), PARSE_DONE);
    CHECK_SLICE(entry.url, "http://a/?b&c");
    CHECK_SLICE(entry.modified, "2024-01-02");
    CHECK_SLICE(entry.frequency, "daily");
    CHECK_SLICE(entry.priority, "0.8");
    CHECK(!entry.is_sitemap);
    CHECK_INT(sitemap_next(&map, &entry), PARSE_DONE);
    CHECK_SLICE(entry.modified, "");
    CHECK_INT(sitemap_next(&map, &entry), PARSE_PARTIAL);
}

TEST(an_index_names_sitemaps)
{
    CHECK_STR(read_all(SITEMAP_XML, "<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap>"
                                    "<sitemap><loc>http://a/2.xml.gz</loc></sitemap></sitemapindex>"),
              "[http://a/1.xml][http://a/2.xml.gz]");
}

TEST(prefixes_are_allowed_if_they_agree)
{
    CHECK_STR(read_all(SITEMAP_XML, "<s:urlset><s:url><loc>no</loc><s:loc>yes</s:loc></s:url></s:urlset>"),
              "yes|");
}

TEST(broken_entries_do_not_hide_the_next)
{
    CHECK_STR(read_all(SITEMAP_XML,
                       "<url><loc>a</loc><url><loc>b</loc></url><url></url><url><loc></loc></url>"
                       "<url/><url><loc>c</url><url><loc>d</loc></url>"),
              "a|b|d|");
}

TEST(too_long_urls_are_passed_over)
{
    size_t size = URL_BYTES_MAX + 200;
    char *text = malloc(size), *filler = malloc(URL_BYTES_MAX + 2);
    memset(filler, 'x', URL_BYTES_MAX + 1);
    filler[URL_BYTES_MAX + 1] = '\0';
    snprintf(text, size, "<url><loc>%s</loc></url><url><loc>a</loc></url>", filler);
    CHECK_STR(read_all(SITEMAP_XML, text), "a|");
    snprintf(text, size, "<url><loc>&amp;%s</loc></url><url><loc>a</loc></url>", filler);
    CHECK_STR(read_all(SITEMAP_XML, text), "a|");
    snprintf(text, size, "%s\na\n", filler);
    CHECK_STR(read_all(SITEMAP_TEXT, text), "a|");
    free(text);
    free(filler);
}

TEST(text_sitemaps_have_a_url_per_line)
{
    CHECK_STR(read_all(SITEMAP_TEXT, "http://a/\r\n\n  http://b/ \nhttp://c/"), "http://a/|http://b/|");
    CHECK_INT(map.rest.len, sizeof("http://c/") - 1);
    CHECK_STR(read_all(SITEMAP_TEXT, "\xef\xbb\xbfhttp://a/\n"), "http://a/|");
    CHECK_STR(read_all(SITEMAP_TEXT, ""), "");
}

/* Read in two pieces, cut anywhere, the result is the same. */
TEST(a_sitemap_may_come_in_pieces)
{
    size_t whole = sizeof(urlset) - 1;
    for (size_t cut = 0; cut <= whole; cut++) {
        struct sitemap_entry entry;
        size_t found = 0;
        char *first = check_guard_copy(urlset, cut);
        sitemap_init(&map, SITEMAP_XML, (struct slice){first, cut});
        while (sitemap_next(&map, &entry) == PARSE_DONE)
            found++;
        size_t left = map.rest.len, len = left + whole - cut;
        char *joined = malloc(len + 1);
        memcpy(joined, map.rest.ptr, left);
        memcpy(joined + left, urlset + cut, whole - cut);
        char *second = check_guard_copy(joined, len);
        sitemap_resume(&map, (struct slice){second, len});
        while (sitemap_next(&map, &entry) == PARSE_DONE)
            found++;
        CHECK_INT(found, 2);
        check_guard_free(first, cut);
        check_guard_free(second, len);
        free(joined);
    }
}

/* Longer than is read without a pause: `head`, `unit` again and again, `tail`. */
static char *long_text(const char *head, const char *unit, const char *tail)
{
    size_t bytes = 3 * SITEMAP_ENTRY_BYTES, used = strlen(head);
    char *text = malloc(bytes + 256);
    memcpy(text, head, used);
    for (; used < bytes; used += strlen(unit))
        memcpy(text + used, unit, strlen(unit));
    memcpy(text + used, tail, strlen(tail) + 1);
    return text;
}

static void check_long(enum sitemap_form form, const char *parts[3], const char *expected)
{
    char *text = long_text(parts[0], parts[1], parts[2]);
    CHECK_STR(read_all(form, text), expected);
    free(text);
}

TEST(what_follows_much_of_nothing_is_found)
{
    const char *const end = "<url><loc>b</loc></url>";
    const char *nothings[] = {"<url></url>", "<x y='z'>", "<!---->", "< "};
    for (size_t i = 0; i < sizeof(nothings) / sizeof(nothings[0]); i++)
        check_long(SITEMAP_XML, (const char *[]){"<url><loc>a</loc></url>", nothings[i], end}, "a|b|");
    check_long(SITEMAP_XML, (const char *[]){"<!--", "<url><loc>no</loc></url>", "--><url><loc>b</loc></url>"},
               "b|");
    check_long(SITEMAP_TEXT, (const char *[]){"a\n", " \n", "b\n"}, "a|b|");
    check_long(SITEMAP_TEXT, (const char *[]){"a\n", "no", "\nb\n"}, "a|b|");
}

/* Images without end: its URL counts, and so does the next entry. */
TEST(an_entry_that_is_too_long_keeps_its_url)
{
    check_long(SITEMAP_XML,
               (const char *[]){"<url><loc>a</loc>", "<i:image><i:loc>no</i:loc></i:image>",
                                "</url><url><loc>b</loc></url>"},
               "a|b|");
}
