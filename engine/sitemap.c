#include "engine/sitemap.h"

#include "engine/encoding.h"
#include "engine/entity.h"
#include "engine/xml.h"

void sitemap_init(struct sitemap *map, enum sitemap_form form, struct slice body)
{
    map->form = form;
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
    *entry = (struct sitemap_entry){.url = none, .modified = none, .frequency = none, .priority = none};
}

/* The next <url> or <sitemap> tag; what is before it is read. */
static enum parse begin_entry(struct sitemap *map, struct xml *xml, struct xml_tag *start)
{
    enum parse result;
    while ((result = xml_next(xml, start)) == PARSE_DONE && !is_entry(start))
        ;
    map->rest = slice_between(result == PARSE_DONE ? start->open : xml->at, xml->end);
    return result;
}

/* What is between <url> and </url>, extensions with a prefix of their own (image:loc) passed over. An entry
 * that is not closed ends where the next one begins. */
static enum parse read_entry(struct sitemap *map, struct xml *xml, const struct xml_tag *start,
                             struct sitemap_entry *entry)
{
    struct xml_tag tag;
    const char *text = NULL;
    clear(entry);
    entry->is_sitemap = xml_is(start, SLICE("sitemap"));
    while (xml_next(xml, &tag) == PARSE_DONE) {
        if (!slice_equals(tag.prefix, start->prefix))
            continue;
        bool is_end = tag.is_end && slice_equals(tag.name, start->name);
        if (is_end || is_entry(&tag)) {
            map->rest = slice_between(is_end ? tag.close : tag.open, xml->end);
            xml->at = map->rest.ptr;
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

static enum parse next_line(struct sitemap *map, struct sitemap_entry *entry)
{
    for (;;) {
        const char *end = memchr(map->rest.ptr, '\n', map->rest.len);
        if (!end)
            return PARSE_PARTIAL;
        struct slice line = slice_trim(slice_between(map->rest.ptr, end));
        map->rest = slice_skip(map->rest, (size_t)(end - map->rest.ptr) + 1);
        if (line.len && line.len <= URL_BYTES_MAX) {
            clear(entry);
            entry->url = line;
            return PARSE_DONE;
        }
    }
}

enum parse sitemap_next(struct sitemap *map, struct sitemap_entry *entry)
{
    if (map->form == SITEMAP_TEXT)
        return map->rest.len ? next_line(map, entry) : PARSE_PARTIAL;
    struct xml xml = xml_of(map->rest);
    struct xml_tag start;
    while (begin_entry(map, &xml, &start) == PARSE_DONE) {
        if (read_entry(map, &xml, &start, entry) != PARSE_DONE)
            return PARSE_PARTIAL;
        if (entry->url.len)
            return PARSE_DONE;
    }
    return PARSE_PARTIAL;
}
