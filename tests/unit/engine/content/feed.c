#include "engine/content/feed.h"

#include "tests/unit/engine/content/found_links.h"

static const char *scan(const char *xml)
{
    return found_in(xml, feed_scan);
}

TEST(rss_items_point_to_pages)
{
    CHECK_STR(
        scan(
            "<rss version='2.0'><channel><link>http://a/</link><image><url>http://a/i.png</url></image>"
            "<item><title>x</title><link> http://a/1?b&amp;c </link><guid>http://a/g</guid>"
            "<comments><![CDATA[http://a/1#c]]></comments><enclosure url='http://a/m.mp3' length='1'/></item>"
            "</channel></rss>"),
        "entry http://a/\nimage http://a/i.png\nentry http://a/1?b&c\nentry http://a/g\nentry http://a/1#c\n"
        "media http://a/m.mp3");
}

TEST(a_guid_may_be_no_url)
{
    CHECK_STR(scan("<guid isPermaLink='false'>http://a/</guid><guid>12345</guid><guid "
                   "isPermaLink='true'>http://b/</guid>"),
              "entry http://b/");
}

TEST(atom_links_have_relations)
{
    CHECK_STR(
        scan("<feed><link href='a'/><link rel='alternate' href='b'/><link rel='self' href='c'/>"
             "<link rel=\"next\" href='d&amp;e'/><link rel='hub' href='no'/><link rel='enclosure' href='f'/>"
             "<link rel='license' href='g'/><icon>h</icon><entry><content src='i'/></entry></feed>"),
        "entry a\nentry b\nfeed c\nfeed d&e\nmedia f\nrelated g\nicon h\nentry i");
}

TEST(atom_links_inside_rss_count_too)
{
    CHECK_STR(scan("<rss><channel><atom:link href='a' rel='self'/><media:content url='b'/>"
                   "<media:thumbnail url='c'></media:thumbnail></channel></rss>"),
              "feed a\nmedia b\nimage c");
}

TEST(rss_1_is_read)
{
    CHECK_STR(
        scan("<rdf:RDF><channel><link>a</link></channel><item rdf:about='x'><link>b</link></item></rdf:RDF>"),
        "entry a\nentry b");
}

TEST(text_with_markup_inside_is_not_a_url)
{
    CHECK_STR(scan("<link>a<b/></link><link></link><link>  </link><description>c</description>"), "");
}

TEST(the_base_of_a_feed_is_kept)
{
    scan("<feed xml:base='http://b/'><link href='a'/></feed>");
    CHECK_INT(links.base.len, 9);
    scan("<feed><link href='a'/></feed>");
    CHECK(links.base.ptr == NULL);
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char xml[] = "<?xml?><feed xml:base='b'><link href='a&amp;b'/><link>c</link><guid "
                       "isPermaLink=\"true\">http</guid>";
    char prefix[sizeof(xml)];
    for (size_t len = 0; len < sizeof(xml); len++) {
        memcpy(prefix, xml, len);
        prefix[len] = '\0';
        scan(prefix);
        CHECK(links.count <= 3);
    }
}
