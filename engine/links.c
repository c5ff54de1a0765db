#include "engine/links.h"

#include <assert.h>

#include "engine/css.h"
#include "engine/entity.h"
#include "engine/html.h"
#include "engine/limits.h"
#include "engine/links_meta.h"
#include "engine/srcset.h"

/* One run of links_scan. */
struct scan {
    struct links *links;
    const struct links_options *options;
    const struct encoding *legacy; /* NULL: the document is in UTF-8 */
    const char *begin;
    struct link *anchor; /* whose end tag has not come yet, or NULL */
};

void links_init(struct links *links, struct link *found, size_t max)
{
    *links = (struct links){.found = found, .max = max};
}

void links_set_text(struct links *links, char *text, size_t text_max)
{
    links->text = text;
    links->text_len = 0;
    links->text_max = text_max;
}

void links_reset(struct links *links)
{
    links->count = 0;
    links->text_len = 0;
    links->dropped = 0;
    links->base = (struct slice){NULL, 0};
    links->robots = 0;
}

bool links_add(struct links *links, struct link link)
{
    if (links->count == links->max) {
        links->dropped++;
        return false;
    }
    links->found[links->count++] = link;
    return true;
}

char *links_reserve_text(struct links *links, size_t len)
{
    return links->text_max - links->text_len >= len ? links->text + links->text_len : NULL;
}

struct slice links_keep_text(struct links *links, size_t len)
{
    assert(links->text_max - links->text_len >= len);
    struct slice kept = {links->text + links->text_len, len};
    links->text_len += len;
    return kept;
}

/* What has to be done to a value before it is a URL. */
enum trait {
    TRAIT_REFERENCE = 1 << 0, /* holds '&' or NUL */
    TRAIT_NOT_ASCII = 1 << 1,
};

/* Sixteen bytes at a time, with whatever vectors the compiler has for the CPU. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

/* Of at least 16 bytes; the last ones may be looked at twice. */
static unsigned traits_of_long(struct slice value)
{
    bytes16 seen = {0}, references = {0}, bytes;
    const char *last = value.ptr + value.len - sizeof(bytes);
    for (const char *at = value.ptr;; at = last - at < (ptrdiff_t)sizeof(bytes) ? last : at + sizeof(bytes)) {
        memcpy(&bytes, at, sizeof(bytes));
        seen |= bytes;
        references |= (bytes16)(bytes == '&') | (bytes16)(bytes == 0);
        if (at == last)
            break;
    }
    uint64_t halves[4];
    memcpy(halves, &references, sizeof(references));
    memcpy(halves + 2, &seen, sizeof(seen));
    bool is_not_ascii = (halves[2] | halves[3]) & 0x8080808080808080u;
    return (halves[0] | halves[1] ? TRAIT_REFERENCE : 0) | (is_not_ascii ? TRAIT_NOT_ASCII : 0);
}

static unsigned traits_of(struct slice value)
{
    if (value.len >= sizeof(bytes16))
        return traits_of_long(value);
    unsigned traits = 0;
    for (size_t i = 0; i < value.len; i++) {
        traits |= value.ptr[i] == '&' || value.ptr[i] == '\0' ? TRAIT_REFERENCE : 0;
        traits |= value.ptr[i] & 0x80 ? TRAIT_NOT_ASCII : 0;
    }
    return traits;
}

/* `value` in UTF-8, from the document's encoding. False if there is no room. */
static bool convert(struct scan *scan, struct slice *value)
{
    char *to = links_reserve_text(scan->links, encoding_utf8_bytes_max(value->len));
    if (!to)
        return false;
    *value = links_keep_text(scan->links, encoding_to_utf8(scan->legacy, *value, to));
    return true;
}

/* An attribute's value as the DOM has it: in the document where that is possible, else in the text buffer.
 * False if there is no room for it. */
static bool decode(struct scan *scan, struct slice *value)
{
    unsigned traits = traits_of(*value);
    if (__builtin_expect(traits == 0, 1))
        return true;
    if ((traits & TRAIT_NOT_ASCII) && scan->legacy && !convert(scan, value))
        return false;
    if (traits & TRAIT_REFERENCE) {
        char *to = links_reserve_text(scan->links, ENTITY_GROWTH * value->len);
        if (!to)
            return false;
        *value = links_keep_text(scan->links, entity_decode_attribute(*value, to));
    }
    return true;
}

/* Adds `link`, whose URL is decoded already. */
static void add_decoded(struct scan *scan, struct link link)
{
    if (scan->legacy && (traits_of(link.url) & TRAIT_NOT_ASCII)) {
        char *to = links_reserve_text(scan->links, ENCODING_QUERY_GROWTH * link.url.len);
        if (!to) {
            scan->links->dropped++;
            return;
        }
        link.url = links_keep_text(scan->links, encoding_query(scan->legacy, link.url, to));
    }
    links_add(scan->links, link);
}

/* Adds `link` with the attribute's value as its URL; false if it has none. */
static bool add_attribute(struct scan *scan, const struct html_tag *tag, enum html_attribute attribute,
                          struct link link)
{
    if (!html_has(tag, attribute))
        return false;
    link.url = tag->value[attribute];
    if (!decode(scan, &link.url)) {
        scan->links->dropped++;
        return false;
    }
    size_t before = scan->links->count;
    add_decoded(scan, link);
    return scan->links->count > before;
}

/* Embeds have no use for an empty URL: browsers do not load it. */
static void add_embed(struct scan *scan, const struct html_tag *tag, enum html_attribute attribute,
                      enum link_kind kind)
{
    if (slice_trim(html_value(tag, attribute)).len)
        add_attribute(scan, tag, attribute, (struct link){.kind = kind});
}

static void add_srcset(struct scan *scan, const struct html_tag *tag, enum html_attribute attribute)
{
    if (!html_has(tag, attribute))
        return;
    struct slice rest = tag->value[attribute], url;
    if (!decode(scan, &rest)) {
        scan->links->dropped++;
        return;
    }
    while (srcset_next(&rest, &url))
        add_decoded(scan, (struct link){.url = url, .kind = LINK_IMAGE});
}

static void on_anchor(struct scan *scan, const struct html_tag *tag)
{
    if (scan->anchor)
        scan->anchor->text_len = (uint32_t)(tag->open - scan->begin) - scan->anchor->text_at;
    scan->anchor = NULL;
    if (tag->is_end)
        return;
    struct link link = {.kind = LINK_ANCHOR, .text_at = (uint32_t)(tag->close - scan->begin)};
    if (html_has(tag, HTML_REL))
        link.flags = link_rel_flags(tag->value[HTML_REL]);
    if (add_attribute(scan, tag, HTML_HREF, link))
        scan->anchor = &scan->links->found[scan->links->count - 1];
}

static void on_area(struct scan *scan, const struct html_tag *tag)
{
    struct link link = {.kind = LINK_ANCHOR, .flags = link_rel_flags(html_value(tag, HTML_REL))};
    add_attribute(scan, tag, HTML_HREF, link);
}

static void on_link(struct scan *scan, const struct html_tag *tag)
{
    struct link link = {0};
    struct slice rel = html_value(tag, HTML_REL), type = html_value(tag, HTML_TYPE);
    if (!decode(scan, &rel) || !decode(scan, &type) || !link_read_rel(rel, type, &link))
        return;
    if (slice_trim(html_value(tag, HTML_HREF)).len)
        add_attribute(scan, tag, HTML_HREF, link);
    if (link.kind == LINK_RESOURCE)
        add_srcset(scan, tag, HTML_IMAGESRCSET);
}

static void on_base(struct scan *scan, const struct html_tag *tag)
{
    struct slice href = html_value(tag, HTML_HREF);
    if (scan->links->base.ptr == NULL && html_has(tag, HTML_HREF) && decode(scan, &href))
        scan->links->base = href;
}

static void on_form(struct scan *scan, const struct html_tag *tag)
{
    struct slice method = html_value(tag, HTML_METHOD);
    bool is_get =
        !slice_equals_nocase(method, SLICE("post")) && !slice_equals_nocase(method, SLICE("dialog"));
    if (scan->options->forms && is_get)
        add_embed(scan, tag, HTML_ACTION, LINK_FORM);
}

static void on_meta(struct scan *scan, const struct html_tag *tag)
{
    struct slice content = html_value(tag, HTML_CONTENT), name = html_value(tag, HTML_NAME), url;
    if (!html_has(tag, HTML_CONTENT))
        return;
    if (slice_equals_nocase(html_value(tag, HTML_HTTP_EQUIV), SLICE("refresh"))) {
        if (decode(scan, &content) && links_meta_refresh(content, &url))
            add_decoded(scan, (struct link){.url = url, .kind = LINK_REFRESH});
        return;
    }
    if (slice_equals_nocase(name, SLICE("robots")) ||
        (scan->options->agent.len && slice_equals_nocase(name, scan->options->agent)))
        scan->links->robots |= links_meta_robots(content);
}

static void on_styles(struct scan *scan, const struct html_tag *tag)
{
    if (tag->element == HTML_STYLE)
        css_scan(scan->links, tag->body);
    struct slice style = html_value(tag, HTML_STYLE_ATTRIBUTE);
    if (style.len && decode(scan, &style))
        css_scan(scan->links, style);
}

static void on_tag(struct scan *scan, const struct html_tag *tag)
{
    switch (tag->element) {
    case HTML_A:
        on_anchor(scan, tag);
        break;
    case HTML_AREA:
        on_area(scan, tag);
        break;
    case HTML_BASE:
        on_base(scan, tag);
        break;
    case HTML_LINK:
        on_link(scan, tag);
        break;
    case HTML_META:
        on_meta(scan, tag);
        break;
    case HTML_FORM:
        on_form(scan, tag);
        break;
    case HTML_FRAME:
    case HTML_IFRAME:
        add_embed(scan, tag, HTML_SRC, LINK_FRAME);
        break;
    case HTML_IMG:
        add_embed(scan, tag, HTML_SRC, LINK_IMAGE);
        add_srcset(scan, tag, HTML_SRCSET);
        break;
    case HTML_INPUT:
        if (slice_equals_nocase(html_value(tag, HTML_TYPE), SLICE("image")))
            add_embed(scan, tag, HTML_SRC, LINK_IMAGE);
        break;
    case HTML_SCRIPT:
        add_embed(scan, tag, HTML_SRC, LINK_SCRIPT);
        break;
    case HTML_SOURCE:
        add_srcset(scan, tag, HTML_SRCSET);
        add_embed(scan, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_VIDEO:
        add_embed(scan, tag, HTML_POSTER, LINK_IMAGE);
        add_embed(scan, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_AUDIO:
    case HTML_TRACK:
        add_embed(scan, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_EMBED:
        add_embed(scan, tag, HTML_SRC, LINK_OBJECT);
        break;
    case HTML_OBJECT:
        add_embed(scan, tag, HTML_DATA, LINK_OBJECT);
        break;
    case HTML_STYLE:
    case HTML_OTHER:
    case HTML_MATH:
    case HTML_NOEMBED:
    case HTML_NOFRAMES:
    case HTML_NOSCRIPT:
    case HTML_PLAINTEXT:
    case HTML_SVG:
    case HTML_TEMPLATE:
    case HTML_TEXTAREA:
    case HTML_TITLE:
    case HTML_XMP:
    case HTML_ELEMENTS:
        break;
    }
}

void links_scan(struct links *links, struct slice html, const struct links_options *options)
{
    struct scan scan = {.links = links, .options = options, .begin = html.ptr};
    if (options->encoding && options->encoding->iconv)
        scan.legacy = options->encoding;
    unsigned flags = (options->noscript ? HTML_READ_NOSCRIPT : 0) | (options->css ? HTML_READ_STYLES : 0) |
                     (options->plain ? HTML_PLAIN : 0);
    struct html_walk walk;
    struct html_tag tag;
    html_init(&walk, html, flags);
    while (html_next(&walk, &tag)) {
        on_tag(&scan, &tag);
        if (options->css && !tag.is_end)
            on_styles(&scan, &tag);
    }
}
