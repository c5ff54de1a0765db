#include "engine/content/feed.h"

#include "engine/content/entity.h"
#include "engine/content/xml.h"

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

/* A URL in UTF-8, from the feed's encoding; empty if there is no room. */
static struct slice converted(struct feed *feed, struct slice url)
{
    const struct encoding *encoding = feed->options.encoding;
    if (!encoding || !encoding->iconv || encoding_is_ascii(url))
        return url;
    char *to = links_reserve_text(feed->links, encoding_utf8_bytes_max(url.len));
    return to ? links_keep_text(feed->links, encoding_to_utf8(encoding, url, to)) : (struct slice){"", 0};
}

/* Decodes references and CDATA; empty if there is no room. */
static struct slice decoded(struct feed *feed, struct slice url)
{
    if (!memchr(url.ptr, '&', url.len) && !memchr(url.ptr, '<', url.len))
        return url;
    char *to = links_reserve_text(feed->links, url.len);
    return to ? links_keep_text(feed->links, entity_decode_xml(url, to)) : (struct slice){"", 0};
}

/* Resolved against the bases of the elements that it is in, from the outermost on. As it is if that fails. */
static struct slice resolved(struct feed *feed, struct slice url)
{
    char buffers[2][URL_BYTES_MAX];
    struct url steps[2];
    const struct url *base = feed->options.url;
    unsigned at = 0;
    for (unsigned i = 0; i < feed->base_count; i++) {
        url_init(&steps[at], buffers[at], URL_BYTES_MAX);
        if (url_parse(&steps[at], base, feed->bases[i].text) != URL_OK)
            continue;
        base = &steps[at];
        at = 1 - at;
    }
    feed->work += (feed->base_count + 1) * FEED_PARSE_BYTES;
    url_init(&steps[at], buffers[at], URL_BYTES_MAX);
    bool is_good = url_parse(&steps[at], base, url) == URL_OK;
    char *to = is_good ? links_reserve_text(feed->links, steps[at].len) : NULL;
    if (!to)
        return url;
    memcpy(to, steps[at].text, steps[at].len);
    return links_keep_text(feed->links, steps[at].len);
}

static void add(struct feed *feed, struct slice url, enum link_kind kind)
{
    url = slice_trim(url);
    if (url.len == 0)
        return;
    url = slice_trim(decoded(feed, converted(feed, url)));
    if (url.len == 0) {
        feed->links->dropped++;
        return;
    }
    bool is_below = feed->base_count && feed->bases[feed->base_count - 1].depth > 1;
    links_add(feed->links, (struct link){.url = is_below ? resolved(feed, url) : url, .kind = (uint8_t)kind});
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

static void add_link(struct feed *feed, const struct xml_tag *tag)
{
    enum link_kind kind = kind_of_rel(xml_attribute(tag, SLICE("rel")));
    if (kind != LINK_KINDS)
        add(feed, xml_attribute(tag, SLICE("href")), kind);
}

static void add_attributes(struct feed *feed, const struct xml_tag *tag)
{
    if (xml_is(tag, SLICE("link")))
        add_link(feed, tag);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (xml_is(tag, slice_of(attributes[i].name)))
            add(feed, xml_attribute(tag, slice_of(attributes[i].attribute)), attributes[i].kind);
}

/* A guid is a URL unless isPermaLink is false or it does not look like a URL. */
static bool is_url(const struct xml_tag *start, struct slice text)
{
    if (!xml_is(start, SLICE("guid")))
        return true;
    text = slice_trim(text);
    return !slice_equals(xml_attribute(start, SLICE("isPermaLink")), SLICE("false")) && text.len >= 4 &&
           slice_equals_nocase((struct slice){text.ptr, 4}, SLICE("http"));
}

static void add_text(struct feed *feed, const struct xml_tag *start, struct slice text)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (xml_is(start, slice_of(texts[i].name)) && is_url(start, text))
            add(feed, text, texts[i].kind);
}

/* An element of the feed begins: it may have a base of its own. */
static void open_element(struct feed *feed, const struct xml_tag *tag)
{
    feed->depth++;
    struct slice base = slice_trim(xml_attribute(tag, SLICE("xml:base")));
    if (base.len == 0 || feed->base_count == FEED_BASES_MAX)
        return;
    base = decoded(feed, converted(feed, base));
    if (feed->depth == 1)
        feed->links->base = base;
    feed->bases[feed->base_count++] = (struct feed_base){.text = base, .depth = feed->depth};
}

static void close_element(struct feed *feed)
{
    while (feed->base_count && feed->bases[feed->base_count - 1].depth >= feed->depth)
        feed->base_count--;
    feed->depth -= feed->depth > 0;
}

static void read_tag(struct feed *feed, const struct xml_tag *tag)
{
    const struct xml_tag *last = &feed->last;
    /* Only the text between a start tag and its own end tag counts, with no tag in between. */
    if (tag->is_end && !last->is_end && slice_equals(tag->name, last->name) &&
        slice_equals(tag->prefix, last->prefix))
        add_text(feed, last, slice_between(last->close, tag->open));
    if (!tag->is_end) {
        open_element(feed, tag);
        add_attributes(feed, tag);
    }
    if (tag->is_end || tag->is_empty)
        close_element(feed);
}

void feed_begin(struct feed *feed, struct links *links, struct slice text, const struct feed_options *options)
{
    *feed = (struct feed){.links = links, .options = *options, .xml = xml_of(text), .last = {.is_end = true}};
}

bool feed_step(struct feed *feed, size_t bytes)
{
    const char *from = feed->xml.at;
    struct xml_tag tag;
    feed->work = 0;
    feed->xml.pause = (size_t)(feed->xml.end - from) > bytes ? from + bytes : feed->xml.end;
    while ((size_t)(feed->xml.at - from) + feed->work < bytes) {
        if (xml_next(&feed->xml, &tag) != PARSE_DONE)
            return true;
        if (xml_is_pause(&tag))
            return false;
        read_tag(feed, &tag);
        feed->last = tag;
        feed->last.is_end |= tag.is_empty;
    }
    return false;
}

void feed_scan(struct links *links, struct slice text)
{
    struct feed feed;
    feed_begin(&feed, links, text, &(struct feed_options){0});
    while (!feed_step(&feed, SIZE_MAX))
        ;
}
