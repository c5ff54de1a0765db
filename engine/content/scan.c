#include "engine/content/scan.h"

#include <assert.h>

#include "engine/content/encoding.h"
#include "engine/content/limits.h"
#include "engine/content/link_header.h"
#include "engine/content/links_meta.h"

/* Servers send sitemaps with any type, so what was requested as a sitemap is identified by its bytes. A list
 * of URLs begins like any other text: if the server says that it is code, or if it has tags, the server's type
 * is used. */
static enum sniff_type type_of(const struct scan_page *page, struct slice start)
{
    enum sniff_type stated = sniff_body(page->content_type, start);
    if (!page->is_sitemap)
        return stated;
    enum sniff_type found = sniff_body(SLICE(""), start);
    bool is_code =
        stated == SNIFF_CSS || stated == SNIFF_SCRIPT || stated == SNIFF_JSON || stated == SNIFF_JSON_FEED;
    bool is_list = !is_code && !memchr(start.ptr, '<', start.len);
    return found != SNIFF_TEXT || is_list ? found : stated;
}

static void find_out(struct scan *scan, const struct scan_page *page)
{
    char room[3 * SNIFF_BYTES_MAX + 4];
    const struct encoding *stated = encoding_stated(page->content_type, page->body);
    const struct encoding *wide = stated && stated->is_wide ? stated : NULL;
    scan->type = type_of(page, encoding_readable_start(wide, page->body, room));
    if (scan->type == SNIFF_TEXT && !page->is_sitemap)
        scan->type = SNIFF_EMPTY;
    if (stated)
        scan->encoding = stated;
    else if (scan->type == SNIFF_HTML)
        scan->encoding = encoding_detect(page->content_type, page->body);
    else
        scan->encoding = encoding_of_xml(page->body);
    scan->options.xml = scan->type == SNIFF_SVG || sniff_is_xml(page->content_type);
}

static bool is_read(const struct scan *scan)
{
    switch (scan->type) {
    case SNIFF_HTML:
    case SNIFF_SVG:
    case SNIFF_FEED:
    case SNIFF_JSON_FEED:
    case SNIFF_SITEMAP:
    case SNIFF_TEXT:
        return true;
    case SNIFF_CSS:
        return scan->reads_sheets;
    case SNIFF_XML:
    case SNIFF_SCRIPT:
    case SNIFF_JSON:
    case SNIFF_IMAGE:
    case SNIFF_MEDIA:
    case SNIFF_FONT:
    case SNIFF_PDF:
    case SNIFF_ARCHIVE:
    case SNIFF_BINARY:
    case SNIFF_EMPTY:
    case SNIFF_TYPES:
        break;
    }
    return false;
}

/* Links of the head are relative to the page's URL, whatever base its body states. */
static void add_head(struct links *links, const struct scan_page *page)
{
    struct slice url;
    for (size_t i = 0; i < page->link_field_count; i++)
        link_header_scan(links, page->link_fields[i]);
    if (links_meta_refresh(page->refresh, &url))
        links_add(links, (struct link){.url = url, .kind = LINK_REFRESH});
    for (size_t i = 0; i < links->count; i++)
        links->found[i].flags |= LINK_OF_HEAD;
}

void scan_begin(struct scan *scan, struct links *links, const struct scan_page *page,
                const struct scan_options *options)
{
    scan->links = links;
    scan->options = (struct links_options){
        .agent = options->agent, .forms = options->forms, .noscript = options->noscript, .css = options->css};
    scan->reads_sheets = options->sheets;
    scan->url = page->url;
    scan->entries_left = options->entries_max ? options->entries_max : SIZE_MAX;
    scan->is_begun = false;
    scan->room = NULL;
    scan->room_bytes = scan->room_used = 0;
    scan->alternates = (struct slice){"", 0};
    links_reset(links);
    add_head(links, page);
    scan->type = SNIFF_EMPTY;
    if (page->body.len)
        find_out(scan, page);
    scan->document = scan->left = page->body;
    if (!is_read(scan))
        return;
    size_t bom = encoding_bom(page->body);
    if (scan->encoding->is_wide) {
        scan->left = slice_skip(page->body, bom);
        scan->room_bytes = encoding_wide_bytes_max(scan->left.len);
    } else if (bom == 3 && scan->type != SNIFF_HTML) {
        scan->document = slice_skip(page->body, bom);
    }
}

/* Begins to read the document, once it is in a readable encoding. */
static void begin_reading(struct scan *scan)
{
    struct slice document = scan->document;
    const struct encoding *legacy = scan->room_bytes ? NULL : scan->encoding;
    scan->is_begun = true;
    if (scan->room_bytes)
        document = scan->document = (struct slice){scan->room, scan->room_used};
    scan->options.encoding = legacy;
    if (scan->type == SNIFF_HTML || scan->type == SNIFF_SVG)
        links_begin(&scan->html, scan->links, document, &scan->options);
    else if (scan->type == SNIFF_FEED)
        feed_begin(&scan->feed, scan->links, document,
                   &(struct feed_options){.encoding = legacy, .url = scan->url});
    else if (scan->type == SNIFF_JSON_FEED)
        feed_json_begin(&scan->json, scan->links, document);
    else if (scan->type == SNIFF_CSS)
        css_begin(&scan->css, scan->links, document);
    else
        sitemap_init(&scan->map, scan->type == SNIFF_TEXT ? SITEMAP_TEXT : SITEMAP_XML, document);
    scan->map.is_whole = true;
}

/* Converts one more part of a body in a wide encoding; none if the caller gave no room. */
static void convert(struct scan *scan)
{
    struct slice part = encoding_wide_part(scan->encoding, scan->left);
    scan->left = slice_skip(scan->left, part.len);
    if (!scan->room || scan->room_bytes - scan->room_used < encoding_utf8_bytes_max(part.len))
        scan->left.len = 0;
    else
        scan->room_used += encoding_to_utf8(scan->encoding, part, scan->room + scan->room_used);
    if (scan->left.len == 0)
        begin_reading(scan);
}

/* Copies the URL of an entry to memory that lasts as long as the piece. */
static bool keep_url(struct scan *scan, struct slice *url)
{
    struct links *links = scan->links;
    const struct encoding *legacy = scan->options.encoding;
    bool is_legacy = legacy && legacy->iconv && !encoding_is_ascii(*url);
    size_t len = is_legacy ? encoding_utf8_bytes_max(url->len) : url->len;
    if (!is_legacy && !sitemap_owns(&scan->map, *url))
        return true;
    char *to = links_reserve_text(links, len);
    if (!to)
        return false;
    if (is_legacy)
        len = encoding_to_utf8(legacy, *url, to);
    else
        memcpy(to, url->ptr, len);
    *url = links_keep_text(links, len);
    return true;
}

static void add_entry(struct scan *scan, struct slice url, enum link_kind kind)
{
    if (scan->entries_left == 0 || !keep_url(scan, &url)) {
        scan->links->dropped++;
        return;
    }
    scan->entries_left--;
    links_add(scan->links, (struct link){.url = url, .kind = (uint8_t)kind});
}

/* One more URL of the sitemap. False at its end. */
static bool next_entry(struct scan *scan)
{
    struct slice url;
    struct sitemap_entry entry;
    if (sitemap_alternate(&scan->map, &scan->alternates, &url)) {
        add_entry(scan, url, LINK_ALTERNATE);
        return true;
    }
    if (sitemap_next(&scan->map, &entry) != PARSE_DONE)
        return false;
    scan->alternates = entry.alternates;
    if (entry.url.len)
        add_entry(scan, entry.url, entry.is_sitemap ? LINK_SITEMAP : LINK_ENTRY);
    return true;
}

static bool has_room(const struct links *links)
{
    return links->count == 0 || (links->count < links->max &&
                                 links->text_max - links->text_len >= encoding_utf8_bytes_max(URL_BYTES_MAX));
}

/* A piece of a sitemap: as many entries as `links` has room for, or as many as `bytes` hold. */
static enum scan_progress read_sitemap(struct scan *scan, size_t bytes)
{
    const char *from = scan->map.rest.ptr;
    while (has_room(scan->links) && (size_t)(scan->map.rest.ptr - from) < bytes)
        if (!next_entry(scan))
            return SCAN_DONE;
    return SCAN_PIECE;
}

enum scan_progress scan_next(struct scan *scan, size_t bytes)
{
    bool is_done = true;
    if (!is_read(scan))
        return SCAN_DONE;
    if (!scan->is_begun && scan->room_bytes) {
        convert(scan);
        return SCAN_MORE;
    }
    if (!scan->is_begun)
        begin_reading(scan);
    else if (scan->type == SNIFF_SITEMAP || scan->type == SNIFF_TEXT)
        links_forget(scan->links);
    if (scan->type == SNIFF_SITEMAP || scan->type == SNIFF_TEXT)
        return read_sitemap(scan, bytes);
    if (scan->type == SNIFF_HTML || scan->type == SNIFF_SVG)
        is_done = links_step(&scan->html, bytes);
    else if (scan->type == SNIFF_FEED)
        is_done = feed_step(&scan->feed, bytes);
    else if (scan->type == SNIFF_JSON_FEED)
        is_done = feed_json_step(&scan->json, bytes);
    else if (scan->type == SNIFF_CSS)
        is_done = css_step(&scan->css, bytes);
    return is_done ? SCAN_DONE : SCAN_MORE;
}
