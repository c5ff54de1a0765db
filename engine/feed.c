#include "engine/feed.h"

#include "engine/entity.h"
#include "engine/xml.h"

/* Elements whose text is a URL. */
static const struct {
    const char *name;
    enum link_kind kind;
} texts[] = {
    {"link", LINK_ENTRY}, {"guid", LINK_ENTRY}, {"comments", LINK_ENTRY}, {"docs", LINK_RELATED},
    {"url", LINK_IMAGE},  {"icon", LINK_ICON},  {"logo", LINK_IMAGE},
};

/* Elements with an attribute that is a URL. Atom's link is more than that: see add_link. */
static const struct {
    const char *name;
    const char *attribute;
    enum link_kind kind;
} attributes[] = {
    {"enclosure", "url", LINK_MEDIA}, {"thumbnail", "url", LINK_IMAGE}, {"content", "url", LINK_MEDIA},
    {"content", "src", LINK_ENTRY},   {"source", "url", LINK_FEED},     {"player", "url", LINK_RELATED},
};

static void add(struct links *links, struct slice url, enum link_kind kind)
{
    url = slice_trim(url);
    if (memchr(url.ptr, '&', url.len) || memchr(url.ptr, '<', url.len)) {
        char *to = links_reserve_text(links, url.len);
        if (!to) {
            links->dropped++;
            return;
        }
        url = slice_trim(links_keep_text(links, entity_decode_xml(url, to)));
    }
    if (url.len)
        links_add(links, (struct link){.url = url, .kind = (uint8_t)kind});
}

/* What Atom's link relation means; LINK_KINDS for nothing that is to be fetched. */
static enum link_kind kind_of_rel(struct slice rel)
{
    static const struct {
        const char *rel;
        enum link_kind kind;
    } known[] = {
        {"", LINK_ENTRY},          {"alternate", LINK_ENTRY},   {"replies", LINK_ENTRY},
        {"self", LINK_FEED},       {"next", LINK_FEED},         {"prev", LINK_FEED},
        {"previous", LINK_FEED},   {"first", LINK_FEED},        {"last", LINK_FEED},
        {"current", LINK_FEED},    {"prev-archive", LINK_FEED}, {"next-archive", LINK_FEED},
        {"enclosure", LINK_MEDIA}, {"icon", LINK_ICON},         {"hub", LINK_KINDS},
        {"edit", LINK_KINDS},      {"edit-media", LINK_KINDS},  {"search", LINK_KINDS},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_equals(rel, slice_of(known[i].rel)))
            return known[i].kind;
    return LINK_RELATED;
}

static void add_link(struct links *links, const struct xml_tag *tag)
{
    enum link_kind kind = kind_of_rel(xml_attribute(tag, SLICE("rel")));
    if (kind != LINK_KINDS)
        add(links, xml_attribute(tag, SLICE("href")), kind);
}

static void add_attributes(struct links *links, const struct xml_tag *tag)
{
    if (xml_is(tag, SLICE("link")))
        add_link(links, tag);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (xml_is(tag, slice_of(attributes[i].name)))
            add(links, xml_attribute(tag, slice_of(attributes[i].attribute)), attributes[i].kind);
}

/* A guid is a URL unless it says that it is none, or does not look like one. */
static bool is_url(const struct xml_tag *start, struct slice text)
{
    if (!xml_is(start, SLICE("guid")))
        return true;
    text = slice_trim(text);
    return !slice_equals(xml_attribute(start, SLICE("isPermaLink")), SLICE("false")) && text.len >= 4 &&
           slice_equals_nocase((struct slice){text.ptr, 4}, SLICE("http"));
}

static void add_text(struct links *links, const struct xml_tag *start, struct slice text)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (xml_is(start, slice_of(texts[i].name)) && is_url(start, text))
            add(links, text, texts[i].kind);
}

/* The base that holds for the whole feed; those of single entries are rare and not followed. */
static void read_base(struct links *links, const struct xml_tag *root)
{
    struct slice base = xml_attribute(root, SLICE("xml:base"));
    if (links->base.ptr == NULL && base.len)
        links->base = base;
}

void feed_scan(struct links *links, struct slice text)
{
    struct xml xml = xml_of(text);
    struct xml_tag tag, start = {.is_end = true};
    while (xml_next(&xml, &tag) == PARSE_DONE) {
        /* Text counts where an end tag follows its start tag with no other between them. */
        if (tag.is_end && !start.is_end && slice_equals(tag.name, start.name) &&
            slice_equals(tag.prefix, start.prefix))
            add_text(links, &start, slice_between(start.close, tag.open));
        if (!tag.is_end) {
            add_attributes(links, &tag);
            read_base(links, &tag);
        }
        start = tag;
        start.is_end |= tag.is_empty;
    }
}
