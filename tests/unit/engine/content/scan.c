#include "engine/content/scan.h"

#include <stdlib.h>

#include "engine/content/limits.h"
#include "tests/support/check.h"
#include "tests/unit/engine/content/wide_text.h"

#define LINKS_MAX 64
#define TEXT_MAX  (1 << 16)

static struct link found[LINKS_MAX];
static char text[TEXT_MAX], lines[1 << 16];
static struct links links;
static struct scan scanner;

/* Adds "kind url" of each link to `lines`. */
static void note_links(void)
{
    for (size_t i = 0; i < links.count; i++) {
        struct slice url = slice_trim(found[i].url);
        size_t used = strlen(lines);
        snprintf(lines + used, sizeof(lines) - used, "%s %.*s\n", link_kind_name(found[i].kind), (int)url.len,
                 url.ptr);
    }
}

/* The links of a page, read `step` bytes at a time; its body ends at an unreadable page. */
static const char *scanned_in_steps(struct scan_page page, struct scan_options options, size_t step)
{
    char *copy = check_guard_copy(page.body.ptr, page.body.len), *room = NULL;
    size_t body_len = page.body.len;
    enum scan_progress progress;
    page.body.ptr = copy;
    lines[0] = '\0';
    links_init(&links, found, LINKS_MAX);
    links_set_text(&links, text, TEXT_MAX);
    scan_begin(&scanner, &links, &page, &options);
    if (scanner.room_bytes)
        scanner.room = room = malloc(scanner.room_bytes);
    do {
        progress = scan_next(&scanner, step);
        if (progress != SCAN_MORE)
            note_links();
    } while (progress != SCAN_DONE);
    free(room);
    check_guard_free(copy, body_len);
    encoding_fini();
    return lines;
}

/* The same, which must not depend on the size of the steps. */
static const char *scanned(struct scan_page page, struct scan_options options)
{
    char *whole = strdup(scanned_in_steps(page, options, SIZE_MAX));
    page.refresh = page.refresh.ptr ? page.refresh : SLICE("");
    CHECK_STR(scanned_in_steps(page, options, 1), whole);
    free(whole);
    return lines;
}

static const char *typed(const char *type, struct slice body)
{
    return scanned((struct scan_page){.content_type = slice_of(type), .refresh = SLICE(""), .body = body},
                   (struct scan_options){.agent = SLICE("")});
}

static const char *sitemap(const char *type, struct slice body)
{
    return scanned(
        (struct scan_page){
            .content_type = slice_of(type), .refresh = SLICE(""), .body = body, .is_sitemap = true},
        (struct scan_options){.agent = SLICE("")});
}

TEST(a_page_is_read_by_what_it_is)
{
    CHECK_STR(typed("text/html", SLICE("<a href=x>")), "anchor x\n");
    CHECK_STR(typed("", SLICE("<html><a href=x>")), "anchor x\n");
    CHECK_STR(typed("text/plain", SLICE("<html><a href=x>")), "");
    CHECK_STR(typed("application/xml", SLICE("<rss><item><link>x</link></item></rss>")), "entry x\n");
    CHECK_STR(typed("image/png", SLICE("\x89PNG\r\n\x1a\n<a href=x>")), "");
    CHECK_STR(typed("text/html", SLICE("")), "");
    CHECK_STR(typed("text/css", SLICE("@import 'x'")), "");
    CHECK_STR(scanned((struct scan_page){.content_type = SLICE("text/css"), .body = SLICE("@import 'x'")},
                      (struct scan_options){.sheets = true}),
              "style x\n");
}

TEST(utf16_is_converted)
{
    const char page[] = "<html><a href=x>";
    CHECK_STR(typed("text/html", wide(page, false, "\xff\xfe")), "anchor x\n");
    CHECK_STR(typed("text/html", wide(page, true, "\xfe\xff")), "anchor x\n");
    CHECK_STR(typed("text/html; charset=utf-16le", wide(page, false, "")), "anchor x\n");
    CHECK_STR(typed("text/html; charset=utf-16be", wide(page, true, "")), "anchor x\n");
    CHECK_STR(typed("text/html", wide(page, false, "")), "anchor x\n");
    CHECK_STR(typed("", wide(page, true, "")), "anchor x\n");
    CHECK_STR(typed("text/xml", wide("<rss><link>x</link></rss>", false, "\xff\xfe")), "entry x\n");
    CHECK_STR(sitemap("text/plain", wide("http://i/\nhttp://j/", false, "\xff\xfe")),
              "entry http://i/\nentry http://j/\n");
}

/* Longer than is converted at a time, with a character of two units where a part would end. */
TEST(utf16_is_converted_in_parts)
{
    size_t len = 3 * ENCODING_PART_BYTES;
    char *page = calloc(1, len);
    for (size_t i = 0; i < len; i += 2)
        page[i] = ' ';
    memcpy(page, "<\0a\0 \0h\0r\0e\0f\0=\0'\0", 18);
    memcpy(page + ENCODING_PART_BYTES - 2, "\x3d\xd8\x00\xde'\0>\0", 8);
    struct slice body = {page, len};
    const char *got = typed("text/html; charset=utf-16le", body);
    size_t end = strlen(got);
    CHECK(end > 10 && strcmp(got + end - 5, "\xf0\x9f\x98\x80\n") == 0);
    free(page);
}

TEST(iso_2022_jp_is_converted)
{
    const char *const expected = "anchor \xe3\x81\x82\n";
    CHECK_STR(typed("text/html; charset=iso-2022-jp", SLICE("<a href='\x1b$B$\"\x1b(B'>")), expected);
    CHECK_STR(typed("text/html", SLICE("<meta charset=iso-2022-jp><a href='\x1b$B$\"\x1b(B'>")), expected);
}

/* Without the memory nothing is found, and nothing else happens. */
TEST(a_wide_page_without_room_gives_nothing)
{
    struct scan_page page = {.content_type = SLICE("text/html"),
                             .refresh = SLICE(""),
                             .body = wide("<a href=x>", false, "\xff\xfe")};
    links_init(&links, found, LINKS_MAX);
    links_set_text(&links, text, TEXT_MAX);
    scan_begin(&scanner, &links, &page, &(struct scan_options){0});
    CHECK(scanner.room_bytes > 0);
    while (scan_next(&scanner, SIZE_MAX) != SCAN_DONE)
        ;
    CHECK_INT(links.count, 0);
}

TEST(the_head_links_as_well)
{
    const struct slice fields[] = {SLICE("<a>; rel=next, <b>; rel=preconnect"), SLICE("<c>;rel=canonical")};
    struct scan_page page = {.content_type = SLICE("text/html"),
                             .refresh = SLICE("0; url=d"),
                             .link_fields = fields,
                             .link_field_count = 2,
                             .body = SLICE("<base href=/z><a href=e>")};
    CHECK_STR(scanned(page, (struct scan_options){0}), "related a\ncanonical c\nrefresh d\nanchor e\n");
    CHECK(found[0].flags & LINK_OF_HEAD && found[2].flags & LINK_OF_HEAD);
    CHECK(!(found[3].flags & LINK_OF_HEAD));
    page.body.len = 0;
    CHECK_STR(scanned(page, (struct scan_options){0}), "related a\ncanonical c\nrefresh d\n");
}

TEST(sitemaps_are_known_by_their_content)
{
    const struct slice set = SLICE("<urlset><url><loc>http://i/&amp;</loc></url></urlset>");
    const char *const types[] = {"text/xml", "text/plain", "text/html", "application/octet-stream",
                                 "",         "text/foo"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        CHECK_STR(typed(types[i], set), "entry http://i/&\n");
    const char *const wrong_types[] = {"text/css", "application/json", "text/javascript", "image/png"};
    for (size_t i = 0; i < sizeof(wrong_types) / sizeof(wrong_types[0]); i++) {
        CHECK_STR(sitemap(wrong_types[i], set), "entry http://i/&\n");
        CHECK_STR(typed(wrong_types[i], set), "");
    }
    CHECK_STR(typed("text/html", SLICE("\xef\xbb\xbf<?xml version='1.0'?><!-- c --><sitemapindex><sitemap>"
                                       "<loc>http://i/s.gz</loc></sitemap></sitemapindex>")),
              "sitemap http://i/s.gz\n");
}

TEST(a_list_of_urls_may_end_as_it_likes)
{
    const char *const expected = "entry http://i/1\nentry http://i/2\n";
    CHECK_STR(sitemap("text/plain", SLICE("http://i/1\nhttp://i/2\n")), expected);
    CHECK_STR(sitemap("text/plain", SLICE("http://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("text/plain", SLICE("http://i/1\r\n\r\nhttp://i/2\r\n")), expected);
    CHECK_STR(sitemap("text/plain", SLICE("http://i/1\rhttp://i/2\r")), expected);
    CHECK_STR(sitemap("text/plain", SLICE("\xef\xbb\xbfhttp://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("text/html", SLICE("http://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("", SLICE("http://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("application/gzip", SLICE("http://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("application/xml", SLICE("http://i/1\nhttp://i/2")), expected);
    CHECK_STR(sitemap("text/css", SLICE("http://i/1\nhttp://i/2")), "");
    CHECK_STR(sitemap("text/html", SLICE("<center>none</center><a href=x>")), "anchor x\n");
    CHECK_STR(typed("text/plain", SLICE("http://i/1\nhttp://i/2")), "");
}

TEST(sitemaps_name_pages_in_other_languages)
{
    CHECK_STR(
        typed("text/xml", SLICE("<urlset xmlns:xhtml='x'><url><loc>http://i/en</loc>"
                                "<xhtml:link rel='alternate' hreflang='de' href='http://i/de?a&amp;b'/>"
                                "<xhtml:link rel='alternate' hreflang='fr' href='http://i/fr'></xhtml:link>"
                                "<xhtml:link rel='canonical' href='http://i/no'/></url>"
                                "<url><loc>http://j/</loc></url></urlset>")),
        "entry http://i/en\nalternate http://i/de?a&b\nalternate http://i/fr\nentry http://j/\n");
}

TEST(a_sitemap_gives_no_more_than_is_wanted)
{
    char body[64 * 200];
    size_t len = 0;
    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(body + len, sizeof(body) - len, "<url><loc>http://i/%d&amp;</loc></url>", i);
    struct scan_page page = {.content_type = SLICE("text/xml"), .refresh = SLICE("")};
    char *set = NULL;
    CHECK(asprintf(&set, "<urlset>%s</urlset>", body) > 0);
    page.body = slice_of(set);
    size_t count = 0, dropped = 0;
    links_init(&links, found, LINKS_MAX);
    links_set_text(&links, text, TEXT_MAX);
    scan_begin(&scanner, &links, &page, &(struct scan_options){.entries_max = 150});
    enum scan_progress progress;
    do {
        progress = scan_next(&scanner, SIZE_MAX);
        CHECK(progress != SCAN_MORE);
        count += links.count;
        dropped += links.dropped;
    } while (progress != SCAN_DONE);
    CHECK_INT(count, 150);
    CHECK_INT(dropped, 50);
    free(set);
}

TEST(feeds_of_all_kinds)
{
    CHECK_STR(typed("application/feed+json", SLICE("{\"items\":[{\"url\":\"http:\\/\\/i\\/\\u00e9\"}]}")),
              "entry http://i/\xc3\xa9\n");
    CHECK_STR(typed("application/json", SLICE("{\"version\":\"https://jsonfeed.org/version/1\","
                                              "\"next_url\":\"n\",\"items\":[{\"url\" : \"u\"}]}")),
              "feed n\nentry u\n");
    CHECK_STR(typed("text/plain",
                    SLICE("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"url\":\"u\"}]}")),
              "entry u\n");
    CHECK_STR(typed("application/json", SLICE("{\"url\":\"u\"}")), "");
    CHECK_STR(typed("text/xml", SLICE("<?xml version='1.0' encoding='iso-8859-1'?><rss><link>http://i/\xe9"
                                      "</link></rss>")),
              "entry http://i/\xc3\xa9\n");
    CHECK_STR(typed("text/xml; charset=windows-1251", SLICE("<rss><link>http://i/\xe9</link></rss>")),
              "entry http://i/\xd0\xb9\n");
}

TEST(drawings_have_links)
{
    const struct slice drawing =
        SLICE("<?xml version='1.0'?><svg><a xlink:href='x'><text>t</text></a></svg>");
    CHECK_STR(typed("image/svg+xml", drawing), "anchor x\n");
    CHECK_STR(typed("text/xml", drawing), "anchor x\n");
    CHECK_STR(typed("image/png", drawing), "");
}

TEST(xhtml_is_read_as_xml)
{
    const struct slice page = SLICE("<html><head><script src='s'/><title/></head><a href='x'/></html>");
    CHECK_STR(typed("application/xhtml+xml", page), "script s\nanchor x\n");
    CHECK_STR(typed("text/html", page), "script s\n");
    CHECK_STR(typed("application/xhtml+xml", SLICE("<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:a "
                                                   "href='x'>t</h:a><x:b href='n'/></h:html>")),
              "anchor x\n");
    CHECK_STR(typed("application/xhtml+xml", SLICE("<html><![CDATA[<a href=no> ]]><a href='x'>")),
              "anchor x\n");
}
