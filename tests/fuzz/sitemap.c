/* Any bytes as a sitemap, as a feed and as a Link header. A sitemap read in two pieces must give as many
 * entries as read at once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/feed.h"
#include "engine/content/link_header.h"
#include "engine/content/sitemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sitemap map;

static size_t count(void)
{
    struct sitemap_entry entry;
    size_t entries = 0;
    while (sitemap_next(&map, &entry) == PARSE_DONE) {
        if (entry.url.len > URL_BYTES_MAX)
            abort();
        entries += entry.url.len > 0; /* none: it paused */
    }
    return entries;
}

static void check_pieces(enum sitemap_form form, struct slice text, size_t cut)
{
    sitemap_init(&map, form, text);
    size_t whole = count();
    if (cut < 3) /* a byte order mark is looked for in the first piece alone */
        return;
    sitemap_init(&map, form, (struct slice){text.ptr, cut});
    size_t first = count();
    sitemap_resume(&map, (struct slice){map.rest.ptr, map.rest.len + text.len - cut});
    if (first + count() != whole)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link found[64];
    char buffer[1024], *copy = malloc(size + 1);
    struct slice text = {memcpy(copy, data, size), size};
    struct links links;
    size_t cut = size ? data[size - 1] % (size + 1) : 0;
    check_pieces(SITEMAP_XML, text, cut);
    check_pieces(SITEMAP_TEXT, text, cut);
    links_init(&links, found, 64);
    links_set_text(&links, buffer, sizeof(buffer));
    feed_scan(&links, text);
    link_header_scan(&links, text);
    free(copy);
    return 0;
}
