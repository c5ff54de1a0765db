/* The list of a page's links: its lines, and what it does when there is no room. */
#include "engine/crawl/outlinks.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"

static struct buffer_pool pool;
static struct outlinks outlinks;
static char base_text[64];
static struct url base;

static void set_up(size_t pool_bytes)
{
    buffer_pool_init(&pool, pool_bytes);
    outlinks = (struct outlinks){.len = 0};
    url_init(&base, base_text, sizeof base_text);
    CHECK_INT(url_parse(&base, NULL, SLICE("http://a.it/d/")), URL_OK);
}

static void tear_down(void)
{
    outlinks_release(&outlinks, &pool);
    CHECK_INT(pool.bytes_used, 0);
    CHECK_INT(outlinks.len, 0);
    buffer_pool_fini(&pool);
}

static void add(const char *text, size_t bytes_max)
{
    struct outlink link = {.base = &base, .text = slice_of(text), .hop = 'L', .context = SLICE("a/@href")};
    outlinks_add(&outlinks, &pool, bytes_max, &link);
}

TEST(lines_have_the_url_without_its_fragment)
{
    static const char expected[] =
        "outlink: http://a.it/d/b%20c L a/@href\r\noutlink: https://b.it/ L a/@href\r\n";
    set_up(1 << 20);
    add("b c#d", 1 << 16);
    add("mailto:x@a.it", 1 << 16);
    add("https://b.it", 1 << 16);
    CHECK_INT(outlinks.len, sizeof expected - 1);
    CHECK(memcmp(outlinks.buffer.bytes, expected, outlinks.len) == 0);
    CHECK_INT(outlinks.left_out, 0);
    tear_down();
}

TEST(what_finds_no_room_is_counted)
{
    const size_t line = sizeof "outlink: http://a.it/x L a/@href\r\n" - 1;
    set_up(1 << 20);
    add("/x", line);
    add("/y", 2 * line - 1);
    CHECK_INT(outlinks.len, line);
    CHECK_INT(outlinks.left_out, 1);
    tear_down();
}

TEST(it_grows_with_the_memory_for_pages_and_no_further)
{
    set_up(1 << 16);
    char text[32];
    unsigned count = 4000;
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof text, "/%04u", i);
        add(text, 1 << 20);
    }
    const size_t line = sizeof "outlink: http://a.it/0000 L a/@href\r\n" - 1;
    CHECK_INT(outlinks.left_out, count - outlinks.len / line);
    CHECK(outlinks.left_out && outlinks.len > 1 << 14);
    tear_down();
}

TEST(links_of_the_head_name_their_field)
{
    struct link anchor = {.kind = LINK_ANCHOR}, next = {.kind = LINK_RELATED, .flags = LINK_OF_HEAD};
    struct link refresh = {.kind = LINK_REFRESH, .flags = LINK_OF_HEAD};
    CHECK(slice_equals(outlinks_context(&anchor), SLICE("a/@href")));
    CHECK(slice_equals(outlinks_context(&next), SLICE("Link:")));
    CHECK(slice_equals(outlinks_context(&refresh), SLICE("Refresh:")));
    for (unsigned kind = 0; kind < LINK_KINDS; kind++)
        CHECK(outlinks_context(&(struct link){.kind = (uint8_t)kind}).len > 0);
}
