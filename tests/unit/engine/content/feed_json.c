#include "engine/content/feed_json.h"

#include <stdlib.h>

#include "tests/unit/engine/content/found_links.h"

/* Read in steps of so many bytes. */
static const char *scan_in_steps(struct slice json, size_t step)
{
    struct feed_json feed;
    char *copy = check_guard_copy(json.ptr, json.len);
    found_begin();
    feed_json_begin(&feed, &links, (struct slice){copy, json.len});
    while (!feed_json_step(&feed, step))
        ;
    const char *out = found_text();
    check_guard_free(copy, json.len);
    return out;
}

static const char *scan(const char *json)
{
    char *whole = strdup(scan_in_steps(slice_of(json), SIZE_MAX));
    CHECK_STR(scan_in_steps(slice_of(json), 1), whole);
    free(whole);
    return scan_in_steps(slice_of(json), 7);
}

TEST(members_that_are_urls_are_links)
{
    CHECK_STR(
        scan("{\"version\":\"v\", \"home_page_url\" : \"h\",\"feed_url\":\"f\",\"next_url\":\"n\",\"items\":["
             "{\"id\":\"i\",\"url\":\"u\",\"external_url\":\" e \",\"image\":\"p\","
             "\"attachments\":[{\"url\":\"a\"}],\"authors\":[{\"avatar\":\"v\"}]}]}"),
        "entry h\nfeed f\nfeed n\nentry u\nentry e\nimage p\nentry a\nicon v");
}

TEST(what_is_no_url_is_passed_over)
{
    CHECK_STR(
        scan("{\"url\":1,\"url\":null,\"url\":{\"x\":\"n\"},\"url\":[\"n\"],\"title\":\"url\",\"url\":\"\"}"),
        "");
    CHECK_STR(scan("[\"url\",\"n\"]"), "");
    CHECK_STR(scan("{\"content_html\":\"\\\"url\\\":\\\"n\\\"\",\"url\":\"x\"}"), "entry x");
}

TEST(escapes_are_decoded)
{
    CHECK_STR(scan("{\"url\":\"http:\\/\\/i\\/\\u00e9\\u20AC\"}"), "entry http://i/\xc3\xa9\xe2\x82\xac");
    CHECK_STR(scan("{\"url\":\"\\ud83d\\ude00\"}"), "entry \xf0\x9f\x98\x80");
    CHECK_STR(scan("{\"url\":\"a\\u00\"}"), "entry au00");
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char json[] = "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"url\" : "
                        "\"\\ud83d\\ude00\\u00e9\\\\\"}]}";
    for (size_t len = 0; len < sizeof(json); len++) {
        scan_in_steps((struct slice){json, len}, SIZE_MAX);
        CHECK(links.count <= 1);
    }
    CHECK_INT(links.count, 1);
}

TEST(what_finds_no_room_is_counted)
{
    const struct slice json = SLICE("{\"url\":\"\\/\\/\\/\"}");
    struct link found[1];
    char text[2];
    struct feed_json feed;
    links_init(&links, found, 1);
    links_set_text(&links, text, sizeof(text));
    feed_json_begin(&feed, &links, json);
    while (!feed_json_step(&feed, SIZE_MAX))
        ;
    CHECK_INT(links.count, 0);
    CHECK_INT(links.dropped, 1);
}
