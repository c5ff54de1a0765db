#include "engine/content/sniff.h"

#include "tests/support/check.h"

static const char *sniffed_bytes(const char *content_type, struct slice first)
{
    char *copy = check_guard_copy(first.ptr, first.len);
    const char *name = sniff_type_name(sniff_body(slice_of(content_type), (struct slice){copy, first.len}));
    check_guard_free(copy, first.len);
    return name;
}

static const char *sniffed(const char *content_type, const char *first)
{
    return sniffed_bytes(content_type, slice_of(first));
}

TEST(stated_types_are_believed)
{
    CHECK_STR(sniffed("text/html", "anything"), "html");
    CHECK_STR(sniffed("TEXT/HTML; charset=x", "anything"), "html");
    CHECK_STR(sniffed("text/html charset=x", "anything"), "html");
    CHECK_STR(sniffed(" text/html, text/html", "anything"), "html");
    CHECK_STR(sniffed("application/xhtml+xml", "<html>"), "html");
    CHECK_STR(sniffed("text/css", "<html>"), "css");
    CHECK_STR(sniffed("application/javascript", "<html>"), "script");
    CHECK_STR(sniffed("application/ld+json", "{}"), "json");
    CHECK_STR(sniffed("image/webp", "<html>"), "image");
    CHECK_STR(sniffed("image/svg+xml", "<svg>"), "svg");
    CHECK_STR(sniffed("audio/mpeg", "x"), "media");
    CHECK_STR(sniffed("font/woff2", "x"), "font");
    CHECK_STR(sniffed("application/pdf", "x"), "pdf");
    CHECK_STR(sniffed("application/x-gzip", "x"), "archive");
    CHECK_STR(sniffed("text/csv", "a,b"), "text");
}

TEST(xml_is_told_by_its_root)
{
    CHECK_STR(sniffed("text/xml", "<?xml version='1.0'?><a/>"), "xml");
    CHECK_STR(sniffed("text/xml", "<?xml version='1.0'?>\n<!-- c --><!DOCTYPE x><rss version='2.0'>"),
              "feed");
    CHECK_STR(sniffed("application/xml", "\xef\xbb\xbf<feed xmlns='x'>"), "feed");
    CHECK_STR(sniffed("application/xml", "<rdf:RDF xmlns='http://purl.org/rss/1.0/'>"), "feed");
    CHECK_STR(sniffed("application/xml", "<rdf:RDF xmlns='x'>"), "xml");
    CHECK_STR(sniffed("application/xml", "<urlset xmlns='x'>"), "sitemap");
    CHECK_STR(sniffed("application/xml", "<s:sitemapindex>"), "sitemap");
    CHECK_STR(sniffed("application/xml", "<html>"), "html");
    CHECK_STR(sniffed("application/xml", "<svg>"), "svg");
    CHECK_STR(sniffed("application/vnd.x+xml", "<y/>"), "xml");
    CHECK_STR(sniffed("application/xml", "not xml"), "xml");
}

TEST(html_may_be_a_feed)
{
    CHECK_STR(sniffed("text/html", "<?xml version='1.0'?><rss>"), "feed");
    CHECK_STR(sniffed("text/html", "<!doctype html><html>"), "html");
    CHECK_STR(sniffed("application/rss+xml", "<html>"), "html");
}

TEST(text_may_be_binary)
{
    CHECK_STR(sniffed("text/plain", "plain"), "text");
    CHECK_STR(sniffed("text/plain", "<html>"), "text");
    CHECK_STR(sniffed("text/plain", "{\"version\":\"https://jsonfeed.org/version/1\"}"), "json-feed");
    CHECK_STR(sniffed_bytes("text/plain", SLICE("\0\1\2\3")), "binary");
    CHECK_STR(sniffed("text/plain", "\x1f\x8b\x08\x08"), "archive");
    CHECK_STR(sniffed_bytes("text/plain", SLICE("\xff\xfe"
                                                "a\0")),
              "text");
}

TEST(unknown_types_are_told_by_their_bytes)
{
    CHECK_STR(sniffed("", " \n<!DOCTYPE html>"), "html");
    CHECK_STR(sniffed("", "<HTML lang=x>"), "html");
    CHECK_STR(sniffed("", "<b>x"), "html");
    CHECK_STR(sniffed("", "<!-- x --> y"), "html");
    CHECK_STR(sniffed("", "<blob>"), "text");
    CHECK_STR(sniffed("application/octet-stream", "<?xml?><urlset>"), "sitemap");
    CHECK_STR(sniffed("", "<?xml?><x>"), "xml");
    CHECK_STR(sniffed("", "<rss>"), "feed");
    CHECK_STR(sniffed("unknown/unknown", "%PDF-1.7"), "pdf");
    CHECK_STR(sniffed("", "GIF89a"), "image");
    CHECK_STR(sniffed_bytes("", SLICE("RIFF\0\0\0\0WEBPVP8 ")), "image");
    CHECK_STR(sniffed_bytes("", SLICE("RIFF\0\0\0\0WAVE")), "media");
    CHECK_STR(sniffed_bytes("", SLICE("\0\0\0\x18"
                                      "ftypmp42")),
              "media");
    CHECK_STR(sniffed_bytes("", SLICE("\0\1\0\0\0")), "font");
    CHECK_STR(sniffed_bytes("", SLICE("PK\3\4")), "archive");
    CHECK_STR(sniffed_bytes("", SLICE("\x7f"
                                      "ELF\2\1\1\0")),
              "binary");
    CHECK_STR(sniffed("", "just words"), "text");
}

TEST(some_types_may_link)
{
    const char *const may[] = {"text/html",
                               "TEXT/HTML; charset=x",
                               "text/plain",
                               "application/xml",
                               "image/svg+xml",
                               "application/ld+json",
                               "text/css",
                               "",
                               "html",
                               "*/*",
                               "unknown/unknown",
                               "Application/Unknown"};
    const char *const may_not[] = {"image/png",
                                   "video/mp4",
                                   "application/pdf",
                                   "application/gzip",
                                   "text/javascript",
                                   "application/octet-stream",
                                   "application/vnd.made.up"};
    for (size_t i = 0; i < sizeof may / sizeof may[0]; i++)
        CHECK(sniff_may_link(slice_of(may[i])));
    for (size_t i = 0; i < sizeof may_not / sizeof may_not[0]; i++)
        CHECK(!sniff_may_link(slice_of(may_not[i])));
}

TEST(nothing_is_empty)
{
    CHECK_STR(sniffed("text/html", ""), "empty");
    CHECK_STR(sniff_type_name(sniff_body((struct slice){NULL, 0}, (struct slice){NULL, 0})), "empty");
    CHECK_STR(sniff_type_name(sniff_body((struct slice){NULL, 0}, SLICE("x"))), "text");
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char text[] = "\xef\xbb\xbf <?xml version='1.0'?> <!-- x --> <!DOCTYPE y> <a:urlset xmlns='z'>";
    for (size_t len = 0; len < sizeof(text); len++) {
        sniffed_bytes("", (struct slice){text, len});
        sniffed_bytes("text/html", (struct slice){text, len});
    }
    CHECK_STR(sniffed("", text), "sitemap");
}

TEST(each_type_has_a_name)
{
    for (int type = 0; type < SNIFF_TYPES; type++)
        CHECK(strcmp(sniff_type_name(type), "unknown") != 0);
    CHECK_STR(sniff_type_name(SNIFF_TYPES), "unknown");
}
