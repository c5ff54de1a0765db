#include "engine/content/links.h"

#include <assert.h>

#include "engine/content/entity.h"
#include "engine/content/html.h"
#include "engine/content/limits.h"
#include "engine/content/links_meta.h"
#include "engine/content/srcset.h"

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

void links_forget(struct links *links)
{
    links->count = 0;
    links->text_len = 0;
    links->dropped = 0;
}

void links_reset(struct links *links)
{
    links_forget(links);
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

/* What a value needs before it is a URL. */
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

/* The top bit of a byte is set if the word has '&' or NUL. */
static uint64_t find_reference(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t without_and = word ^ ones * '&'; /* '&' becomes 0 */
    return (((word - ones) & ~word) | ((without_and - ones) & ~without_and)) & ones << 7;
}

/* Of 8 to 16 bytes; those in the middle may be looked at twice. */
static unsigned traits_of_medium(struct slice value)
{
    uint64_t first, last;
    memcpy(&first, value.ptr, sizeof(first));
    memcpy(&last, value.ptr + value.len - sizeof(last), sizeof(last));
    return (find_reference(first) | find_reference(last) ? TRAIT_REFERENCE : 0) |
           ((first | last) & 0x8080808080808080u ? TRAIT_NOT_ASCII : 0);
}

static unsigned traits_of(struct slice value)
{
    if (value.len >= sizeof(bytes16))
        return traits_of_long(value);
    if (value.len >= sizeof(uint64_t))
        return traits_of_medium(value);
    unsigned traits = 0;
    for (size_t i = 0; i < value.len; i++) {
        traits |= value.ptr[i] == '&' || value.ptr[i] == '\0' ? TRAIT_REFERENCE : 0;
        traits |= value.ptr[i] & 0x80 ? TRAIT_NOT_ASCII : 0;
    }
    return traits;
}

/* `value` in UTF-8, from the document's encoding. False if there is no room. */
static bool convert(struct links_walk *walk, struct slice *value)
{
    char *to = links_reserve_text(walk->links, encoding_utf8_bytes_max(value->len));
    if (!to)
        return false;
    *value = links_keep_text(walk->links, encoding_to_utf8(walk->legacy, *value, to));
    return true;
}

/* An attribute's value as the DOM has it: in the document where that is possible, else in the text buffer.
 * False if there is no room for it. */
static bool decode(struct links_walk *walk, struct slice *value)
{
    unsigned traits = traits_of(*value);
    if (__builtin_expect(traits == 0, 1))
        return true;
    if ((traits & TRAIT_NOT_ASCII) && walk->legacy && !convert(walk, value))
        return false;
    if (traits & TRAIT_REFERENCE) {
        char *to = links_reserve_text(walk->links, ENTITY_GROWTH * value->len);
        if (!to)
            return false;
        *value = links_keep_text(walk->links, entity_decode_attribute(*value, to));
    }
    return true;
}

/* Adds `link`, whose URL is decoded already. */
static void add_decoded(struct links_walk *walk, struct link link)
{
    if (walk->legacy && (traits_of(link.url) & TRAIT_NOT_ASCII)) {
        char *to = links_reserve_text(walk->links, ENCODING_QUERY_GROWTH * link.url.len);
        if (!to) {
            walk->links->dropped++;
            return;
        }
        link.url = links_keep_text(walk->links, encoding_query(walk->legacy, link.url, to));
    }
    links_add(walk->links, link);
}

/* Adds `link` with the attribute's value as its URL; false if it has none. */
static bool add_attribute(struct links_walk *walk, const struct html_tag *tag, enum html_attribute attribute,
                          struct link link)
{
    if (!html_has(tag, attribute))
        return false;
    link.url = tag->value[attribute];
    if (!decode(walk, &link.url)) {
        walk->links->dropped++;
        return false;
    }
    size_t before = walk->links->count;
    add_decoded(walk, link);
    return walk->links->count > before;
}

/* Embeds have no use for an empty URL: browsers do not load it. */
static void add_embed(struct links_walk *walk, const struct html_tag *tag, enum html_attribute attribute,
                      enum link_kind kind)
{
    if (slice_trim(html_value(tag, attribute)).len)
        add_attribute(walk, tag, attribute, (struct link){.kind = kind});
}

static void add_srcset(struct links_walk *walk, const struct html_tag *tag, enum html_attribute attribute)
{
    if (!html_has(tag, attribute))
        return;
    struct slice rest = tag->value[attribute], url;
    if (!decode(walk, &rest)) {
        walk->links->dropped++;
        return;
    }
    while (srcset_next(&rest, &url))
        add_decoded(walk, (struct link){.url = url, .kind = LINK_IMAGE});
}

/* Drawings had an attribute of their own before they had href. */
static enum html_attribute href_of(const struct html_tag *tag)
{
    bool is_old = tag->is_foreign && html_has(tag, HTML_XLINK_HREF) && !html_has(tag, HTML_HREF);
    return is_old ? HTML_XLINK_HREF : HTML_HREF;
}

static void on_anchor(struct links_walk *walk, const struct html_tag *tag)
{
    if (walk->anchor)
        walk->anchor->text_len = (uint32_t)(tag->open - walk->begin) - walk->anchor->text_at;
    walk->anchor = NULL;
    if (tag->is_end)
        return;
    struct link link = {.kind = LINK_ANCHOR, .text_at = (uint32_t)(tag->close - walk->begin)};
    if (html_has(tag, HTML_REL))
        link.flags = link_rel_flags(tag->value[HTML_REL]);
    if (add_attribute(walk, tag, href_of(tag), link))
        walk->anchor = &walk->links->found[walk->links->count - 1];
}

static void on_area(struct links_walk *walk, const struct html_tag *tag)
{
    struct link link = {.kind = LINK_ANCHOR, .flags = link_rel_flags(html_value(tag, HTML_REL))};
    add_attribute(walk, tag, HTML_HREF, link);
}

/* An image of a drawing, or a part of another one. Most parts are of the drawing itself: nothing to load. */
static void on_drawn(struct links_walk *walk, const struct html_tag *tag)
{
    if (!slice_starts_with(slice_trim(html_value(tag, href_of(tag))), SLICE("#")))
        add_embed(walk, tag, href_of(tag), LINK_IMAGE);
}

static void on_image(struct links_walk *walk, const struct html_tag *tag)
{
    add_embed(walk, tag, HTML_SRC, LINK_IMAGE);
    add_srcset(walk, tag, HTML_SRCSET);
}

static void on_link(struct links_walk *walk, const struct html_tag *tag)
{
    struct link link = {0};
    struct slice rel = html_value(tag, HTML_REL), type = html_value(tag, HTML_TYPE);
    if (!decode(walk, &rel) || !decode(walk, &type) || !link_read_rel(rel, type, &link))
        return;
    if (slice_trim(html_value(tag, HTML_HREF)).len)
        add_attribute(walk, tag, HTML_HREF, link);
    if (link.kind == LINK_RESOURCE)
        add_srcset(walk, tag, HTML_IMAGESRCSET);
}

static void on_base(struct links_walk *walk, const struct html_tag *tag)
{
    struct slice href = html_value(tag, HTML_HREF);
    if (walk->links->base.ptr == NULL && html_has(tag, HTML_HREF) && decode(walk, &href))
        walk->links->base = href;
}

static void on_form(struct links_walk *walk, const struct html_tag *tag)
{
    struct slice method = html_value(tag, HTML_METHOD);
    bool is_get =
        !slice_equals_nocase(method, SLICE("post")) && !slice_equals_nocase(method, SLICE("dialog"));
    if (walk->options->forms && is_get)
        add_embed(walk, tag, HTML_ACTION, LINK_FORM);
}

/* The markup of a srcdoc, which replaces the document that src names. Its links count as the page's own and
 * have its base. */
static void scan_srcdoc(struct links_walk *walk, struct slice markup)
{
    struct links_walk inner;
    struct links_options options = *walk->options;
    struct links *links = walk->links;
    struct slice base = links->base;
    size_t before = links->count;
    unsigned robots = links->robots;
    options.encoding = NULL;
    links_begin(&inner, links, markup, &options);
    inner.depth = walk->depth + 1;
    while (!links_step(&inner, SIZE_MAX))
        ;
    links->base = base;
    links->robots = robots;
    for (size_t i = before; i < links->count; i++) /* its text is not in the document */
        links->found[i].text_at = links->found[i].text_len = 0;
}

static void on_iframe(struct links_walk *walk, const struct html_tag *tag)
{
    struct slice markup = html_value(tag, HTML_SRCDOC);
    if (!html_has(tag, HTML_SRCDOC) || walk->depth >= LINKS_SRCDOC_DEPTH_MAX ||
        markup.len > LINKS_SRCDOC_BYTES)
        add_embed(walk, tag, HTML_SRC, LINK_FRAME);
    else if (decode(walk, &markup))
        scan_srcdoc(walk, markup);
    else
        walk->links->dropped++;
}

static void on_meta(struct links_walk *walk, const struct html_tag *tag)
{
    struct slice content = html_value(tag, HTML_CONTENT), name = html_value(tag, HTML_NAME), url;
    if (!html_has(tag, HTML_CONTENT))
        return;
    if (slice_equals_nocase(html_value(tag, HTML_HTTP_EQUIV), SLICE("refresh"))) {
        if (decode(walk, &content) && links_meta_refresh(content, &url))
            add_decoded(walk, (struct link){.url = url, .kind = LINK_REFRESH});
        return;
    }
    if (slice_equals_nocase(name, SLICE("robots")) ||
        (walk->options->agent.len && slice_equals_nocase(name, walk->options->agent)))
        walk->links->robots |= links_meta_robots(content);
}

/* Style sheets wait for read_styles: one may be as long as the document. */
static void on_styles(struct links_walk *walk, const struct html_tag *tag)
{
    struct slice style = html_value(tag, HTML_STYLE_ATTRIBUTE);
    if (tag->element == HTML_STYLE)
        css_begin(&walk->css, walk->links, tag->body);
    if (style.len && decode(walk, &style))
        walk->sheet = style;
}

/* Reads about `bytes` of the style sheets that wait, and returns how many. */
static size_t read_styles(struct links_walk *walk, size_t bytes)
{
    const char *from = walk->css.at;
    if (from == walk->css.end) {
        css_begin(&walk->css, walk->links, walk->sheet);
        walk->sheet.len = 0;
        from = walk->css.at;
    }
    css_step(&walk->css, bytes);
    return (size_t)(walk->css.at - from);
}

static bool has_styles(const struct links_walk *walk)
{
    return walk->css.at < walk->css.end || walk->sheet.len;
}

static void on_tag(struct links_walk *walk, const struct html_tag *tag)
{
    switch (tag->element) {
    case HTML_A:
        on_anchor(walk, tag);
        break;
    case HTML_AREA:
        on_area(walk, tag);
        break;
    case HTML_BASE:
        on_base(walk, tag);
        break;
    case HTML_LINK:
        on_link(walk, tag);
        break;
    case HTML_META:
        on_meta(walk, tag);
        break;
    case HTML_FORM:
        on_form(walk, tag);
        break;
    case HTML_FRAME:
        add_embed(walk, tag, HTML_SRC, LINK_FRAME);
        break;
    case HTML_IFRAME:
        on_iframe(walk, tag);
        break;
    case HTML_IMG:
        if (tag->is_foreign)
            on_drawn(walk, tag);
        else
            on_image(walk, tag);
        break;
    case HTML_USE:
        if (tag->is_foreign)
            on_drawn(walk, tag);
        break;
    case HTML_INPUT:
        if (slice_equals_nocase(html_value(tag, HTML_TYPE), SLICE("image")))
            add_embed(walk, tag, HTML_SRC, LINK_IMAGE);
        break;
    case HTML_SCRIPT:
        add_embed(walk, tag, HTML_SRC, LINK_SCRIPT);
        break;
    case HTML_SOURCE:
        add_srcset(walk, tag, HTML_SRCSET);
        add_embed(walk, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_VIDEO:
        add_embed(walk, tag, HTML_POSTER, LINK_IMAGE);
        add_embed(walk, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_AUDIO:
    case HTML_TRACK:
        add_embed(walk, tag, HTML_SRC, LINK_MEDIA);
        break;
    case HTML_EMBED:
        add_embed(walk, tag, HTML_SRC, LINK_OBJECT);
        break;
    case HTML_OBJECT:
        add_embed(walk, tag, HTML_DATA, LINK_OBJECT);
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

void links_begin(struct links_walk *walk, struct links *links, struct slice html,
                 const struct links_options *options)
{
    walk->links = links;
    walk->options = options;
    walk->legacy = options->encoding && options->encoding->iconv ? options->encoding : NULL;
    walk->begin = html.ptr;
    walk->anchor = NULL;
    walk->depth = 0;
    walk->sheet = (struct slice){"", 0};
    css_begin(&walk->css, links, walk->sheet);
    unsigned flags = (options->noscript ? HTML_READ_NOSCRIPT : 0) | (options->css ? HTML_READ_STYLES : 0) |
                     (options->plain ? HTML_PLAIN : 0) | (options->xml ? HTML_XML : 0);
    html_init(&walk->html, html, flags);
}

bool links_step(struct links_walk *walk, size_t bytes)
{
    struct html_walk *html = &walk->html;
    const char *from = html->at;
    struct html_tag tag;
    size_t read = 0; /* of style sheets */
    html->pause = (size_t)(html->end - from) > bytes ? from + bytes : html->end;
    while ((size_t)(html->at - from) + read < bytes) {
        if (has_styles(walk)) {
            read += read_styles(walk, bytes - read);
            continue;
        }
        if (!html_next(&walk->html, &tag))
            return true;
        on_tag(walk, &tag);
        if (walk->options->css && !tag.is_end)
            on_styles(walk, &tag);
    }
    return false;
}

void links_scan(struct links *links, struct slice html, const struct links_options *options)
{
    struct links_walk walk;
    links_begin(&walk, links, html, options);
    while (!links_step(&walk, SIZE_MAX))
        ;
}
