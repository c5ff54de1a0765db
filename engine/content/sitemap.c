#include "engine/content/sitemap.h"

#include "engine/content/encoding.h"
#include "engine/content/entity.h"
#include "engine/content/limits.h"
#include "engine/content/xml.h"

void sitemap_init(struct sitemap *map, enum sitemap_form form, struct slice body)
{
    map->form = form;
    map->is_whole = map->is_amid = false;
    map->closing = (struct slice){"", 0};
    map->rest = slice_skip(body, encoding_bom(body) == 3 ? 3 : 0);
}

void sitemap_resume(struct sitemap *map, struct slice body)
{
    map->rest = body;
}

/* Decodes the text of an element to `url`; empty if it is longer than a URL may be. */
static struct slice decode_url(struct sitemap *map, struct slice text)
{
    text = slice_trim(text);
    if (memchr(text.ptr, '&', text.len) || memchr(text.ptr, '<', text.len)) {
        if (text.len > sizeof(map->url))
            return (struct slice){"", 0};
        text = slice_trim((struct slice){map->url, entity_decode_xml(text, map->url)});
    }
    return text.len <= URL_BYTES_MAX ? text : (struct slice){"", 0};
}

static struct slice *field_of(struct sitemap_entry *entry, const struct xml_tag *tag)
{
    if (xml_is(tag, SLICE("loc")))
        return &entry->url;
    if (xml_is(tag, SLICE("lastmod")))
        return &entry->modified;
    if (xml_is(tag, SLICE("changefreq")))
        return &entry->frequency;
    return xml_is(tag, SLICE("priority")) ? &entry->priority : NULL;
}

static bool is_entry(const struct xml_tag *tag)
{
    return !tag->is_end && !tag->is_empty && (xml_is(tag, SLICE("url")) || xml_is(tag, SLICE("sitemap")));
}

static void clear(struct sitemap_entry *entry)
{
    const struct slice none = {"", 0};
    *entry = (struct sitemap_entry){
        .url = none, .modified = none, .frequency = none, .priority = none, .alternates = none};
}

/* Returns the place `bytes` behind `from`, or the end. */
static const char *ahead(const char *from, const char *end, size_t bytes)
{
    return (size_t)(end - from) > bytes ? from + bytes : end;
}

/* Continues at `at` in the next call. */
static void stop_at(struct sitemap *map, const struct xml *xml, const char *at)
{
    map->rest = slice_between(at, xml->end);
    map->closing = at == xml->at ? xml->closing : (struct slice){"", 0};
}

/* Finds the next <url> or <sitemap> tag, or pauses. */
static enum parse begin_entry(struct sitemap *map, struct xml *xml, struct xml_tag *start)
{
    enum parse result;
    while ((result = xml_next(xml, start)) == PARSE_DONE && !is_entry(start) && !xml_is_pause(start))
        ;
    stop_at(map, xml, result == PARSE_DONE ? start->open : xml->at);
    return result;
}

/* What is between <url> and </url>, extensions with a prefix of their own (image:loc) passed over. An entry
 * that is not closed ends where the next one begins, and any after SITEMAP_ENTRY_BYTES. */
static enum parse read_entry(struct sitemap *map, struct xml *xml, const struct xml_tag *start,
                             struct sitemap_entry *entry)
{
    struct xml_tag tag;
    const char *text = NULL;
    entry->is_sitemap = xml_is(start, SLICE("sitemap"));
    xml->pause = ahead(start->open, xml->end, SITEMAP_ENTRY_BYTES);
    while (xml_next(xml, &tag) == PARSE_DONE) {
        if (xml_is_pause(&tag)) {
            stop_at(map, xml, xml->at);
            return PARSE_DONE;
        }
        if (!slice_equals(tag.prefix, start->prefix)) {
            if (xml_is(&tag, SLICE("link")) && entry->alternates.len == 0)
                entry->alternates.ptr = tag.open;
            if (xml_is(&tag, SLICE("link")))
                entry->alternates.len = (size_t)(tag.close - entry->alternates.ptr);
            continue;
        }
        bool is_end = tag.is_end && slice_equals(tag.name, start->name);
        if (is_end || is_entry(&tag)) {
            xml->at = is_end ? tag.close : tag.open;
            stop_at(map, xml, xml->at);
            return PARSE_DONE;
        }
        struct slice *field = field_of(entry, &tag);
        if (field && tag.is_end && text && field->len == 0) {
            struct slice inside = slice_between(text, tag.open);
            *field = field == &entry->url ? decode_url(map, inside) : slice_trim(inside);
        }
        text = field && !tag.is_end ? tag.close : NULL;
    }
    return PARSE_PARTIAL;
}

/* The end of the line that begins the rest, or NULL if it has not come. Of a line that is too long, SITEMAP_STEP_BYTES
 * behind its beginning: is_cut then. */
static const char *line_end(const struct sitemap *map, bool *is_cut)
{
    const char *at = map->rest.ptr, *end = at + map->rest.len, *limit = ahead(at, end, SITEMAP_STEP_BYTES);
    while (at < limit && *at != '\n' && *at != '\r')
        at++;
    *is_cut = at == limit && limit < end;
    return at < end || map->is_whole ? at : NULL;
}

static enum parse next_line(struct sitemap *map, struct sitemap_entry *entry)
{
    const char *pause = ahead(map->rest.ptr, map->rest.ptr + map->rest.len, SITEMAP_STEP_BYTES);
    clear(entry);
    while (map->rest.len && map->rest.ptr < pause) {
        bool is_cut, is_amid = map->is_amid;
        const char *end = line_end(map, &is_cut);
        if (!end)
            return PARSE_PARTIAL;
        struct slice line = slice_trim(slice_between(map->rest.ptr, end));
        map->rest = slice_between(end, map->rest.ptr + map->rest.len);
        map->rest = slice_skip(map->rest, !is_cut && map->rest.len > 0);
        map->is_amid = is_cut;
        if (!is_cut && !is_amid && line.len && line.len <= URL_BYTES_MAX) {
            entry->url = line;
            return PARSE_DONE;
        }
    }
    return map->rest.len ? PARSE_DONE : PARSE_PARTIAL;
}

bool sitemap_alternate(struct sitemap *map, struct slice *alternates, struct slice *url)
{
    struct xml xml = xml_of(*alternates);
    struct xml_tag tag;
    while (alternates->len && xml_next(&xml, &tag) == PARSE_DONE) {
        *alternates = slice_between(xml.at, xml.end);
        if (tag.is_end || !xml_is(&tag, SLICE("link")) ||
            !slice_equals(xml_attribute(&tag, SLICE("rel")), SLICE("alternate")))
            continue;
        *url = decode_url(map, xml_attribute(&tag, SLICE("href")));
        if (url->len)
            return true;
    }
    alternates->len = 0;
    return false;
}

enum parse sitemap_next(struct sitemap *map, struct sitemap_entry *entry)
{
    if (map->form == SITEMAP_TEXT)
        return next_line(map, entry);
    struct xml xml = xml_of(map->rest);
    struct xml_tag start;
    const char *pause = ahead(xml.at, xml.end, SITEMAP_STEP_BYTES);
    xml.closing = map->closing;
    for (;;) {
        clear(entry);
        xml.pause = pause;
        enum parse result = begin_entry(map, &xml, &start);
        if (result != PARSE_DONE || xml_is_pause(&start))
            return result;
        if (read_entry(map, &xml, &start, entry) != PARSE_DONE)
            return PARSE_PARTIAL;
        if (entry->url.len)
            return PARSE_DONE;
    }
}
