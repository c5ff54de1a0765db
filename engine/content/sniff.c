#include "engine/content/sniff.h"

#include <stdint.h>

#include "engine/content/encoding.h"
#include "engine/content/limits.h"

const char *sniff_type_name(enum sniff_type type)
{
    static const char *const names[SNIFF_TYPES] = {
        [SNIFF_HTML] = "html",           [SNIFF_XML] = "xml",       [SNIFF_FEED] = "feed",
        [SNIFF_SITEMAP] = "sitemap",     [SNIFF_TEXT] = "text",     [SNIFF_CSS] = "css",
        [SNIFF_SCRIPT] = "script",       [SNIFF_JSON] = "json",     [SNIFF_IMAGE] = "image",
        [SNIFF_MEDIA] = "media",         [SNIFF_FONT] = "font",     [SNIFF_PDF] = "pdf",
        [SNIFF_ARCHIVE] = "archive",     [SNIFF_BINARY] = "binary", [SNIFF_EMPTY] = "empty",
        [SNIFF_JSON_FEED] = "json-feed", [SNIFF_SVG] = "svg",
    };
    return type < SNIFF_TYPES ? names[type] : "unknown";
}

/* Bytes that identify a type of file, and their offset. */
struct signature {
    unsigned offset;
    struct slice bytes;
    enum sniff_type type;
};

#define BYTES(literal)                                                                                       \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }

static const struct signature signatures[] = {
    {0, BYTES("%PDF-"), SNIFF_PDF},
    {0, BYTES("%!PS-Adobe-"), SNIFF_BINARY},
    {0, BYTES("GIF87a"), SNIFF_IMAGE},
    {0, BYTES("GIF89a"), SNIFF_IMAGE},
    {0, BYTES("\x89PNG\r\n\x1a\n"), SNIFF_IMAGE},
    {0, BYTES("\xff\xd8\xff"), SNIFF_IMAGE},
    {8, BYTES("WEBPVP"), SNIFF_IMAGE},
    {0, BYTES("BM"), SNIFF_IMAGE},
    {0, BYTES("\0\0\1\0"), SNIFF_IMAGE},
    {0, BYTES("\0\0\2\0"), SNIFF_IMAGE},
    {4, BYTES("ftypavif"), SNIFF_IMAGE},
    {4, BYTES("ftyp"), SNIFF_MEDIA},
    {0, BYTES("OggS\0"), SNIFF_MEDIA},
    {0, BYTES("MThd\0\0\0\6"), SNIFF_MEDIA},
    {8, BYTES("AVI "), SNIFF_MEDIA},
    {8, BYTES("WAVE"), SNIFF_MEDIA},
    {0, BYTES("\x1a\x45\xdf\xa3"), SNIFF_MEDIA},
    {0, BYTES("ID3"), SNIFF_MEDIA},
    {0, BYTES("fLaC"), SNIFF_MEDIA},
    {0, BYTES(".snd"), SNIFF_MEDIA},
    {0, BYTES("\0\1\0\0"), SNIFF_FONT},
    {0, BYTES("OTTO"), SNIFF_FONT},
    {0, BYTES("ttcf"), SNIFF_FONT},
    {0, BYTES("wOFF"), SNIFF_FONT},
    {0, BYTES("wOF2"), SNIFF_FONT},
    {0, BYTES("\x1f\x8b\x08"), SNIFF_ARCHIVE},
    {0, BYTES("PK\3\4"), SNIFF_ARCHIVE},
    {0, BYTES("Rar!\x1a\7"), SNIFF_ARCHIVE},
    {0, BYTES("7z\xbc\xaf\x27\x1c"), SNIFF_ARCHIVE},
    {0,
     BYTES("\xfd"
           "7zXZ\0"),
     SNIFF_ARCHIVE},
    {0, BYTES("BZh"), SNIFF_ARCHIVE},
    {0, BYTES("\x28\xb5\x2f\xfd"), SNIFF_ARCHIVE},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What the types of a Content-Type mean. A name that ends in '/' stands for all that begin so. Those that are
 * missing here are unknown: the bytes decide. */
struct known_type {
    struct slice name;
    enum sniff_type type;
};

static const struct known_type known_types[] = {
    {BYTES("text/html"), SNIFF_HTML},
    {BYTES("application/xhtml+xml"), SNIFF_HTML},
    {BYTES("application/rss+xml"), SNIFF_FEED},
    {BYTES("application/atom+xml"), SNIFF_FEED},
    {BYTES("application/rdf+xml"), SNIFF_XML},
    {BYTES("text/xml"), SNIFF_XML},
    {BYTES("application/xml"), SNIFF_XML},
    {BYTES("image/svg+xml"), SNIFF_SVG},
    {BYTES("text/css"), SNIFF_CSS},
    {BYTES("text/javascript"), SNIFF_SCRIPT},
    {BYTES("application/javascript"), SNIFF_SCRIPT},
    {BYTES("application/x-javascript"), SNIFF_SCRIPT},
    {BYTES("application/ecmascript"), SNIFF_SCRIPT},
    {BYTES("text/ecmascript"), SNIFF_SCRIPT},
    {BYTES("application/feed+json"), SNIFF_JSON_FEED},
    {BYTES("application/json"), SNIFF_JSON},
    {BYTES("text/json"), SNIFF_JSON},
    {BYTES("application/pdf"), SNIFF_PDF},
    {BYTES("application/zip"), SNIFF_ARCHIVE},
    {BYTES("application/gzip"), SNIFF_ARCHIVE},
    {BYTES("application/x-gzip"), SNIFF_ARCHIVE},
    {BYTES("application/x-tar"), SNIFF_ARCHIVE},
    {BYTES("application/x-bzip2"), SNIFF_ARCHIVE},
    {BYTES("application/x-7z-compressed"), SNIFF_ARCHIVE},
    {BYTES("application/vnd.ms-fontobject"), SNIFF_FONT},
    {BYTES("application/font-woff"), SNIFF_FONT},
    {BYTES("text/"), SNIFF_TEXT},
    {BYTES("image/"), SNIFF_IMAGE},
    {BYTES("audio/"), SNIFF_MEDIA},
    {BYTES("video/"), SNIFF_MEDIA},
    {BYTES("font/"), SNIFF_FONT},
};

static bool ends_with(struct slice text, struct slice end)
{
    return text.len >= end.len && slice_equals_nocase(slice_skip(text, text.len - end.len), end);
}

static bool ends_name(char c)
{
    return c == ';' || c == ',' || slice_is_blank(c);
}

/* "text/html" of "text/html; charset=utf-8", and of the same without its semicolon. */
static struct slice type_name(struct slice content_type)
{
    struct slice name = slice_trim(content_type);
    size_t len = 0;
    while (len < name.len && !ends_name(name.ptr[len]))
        len++;
    return (struct slice){name.ptr, len};
}

bool sniff_is_xml(struct slice content_type)
{
    struct slice name = type_name(content_type);
    return ends_with(name, SLICE("+xml")) || ends_with(name, SLICE("/xml"));
}

/* What the header states, or SNIFF_TYPES if it states nothing that we know. */
static enum sniff_type type_of_name(struct slice name)
{
    for (size_t i = 0; i < COUNT(known_types); i++) {
        struct slice known = known_types[i].name;
        size_t len = known.ptr[known.len - 1] == '/' && name.len > known.len ? known.len : name.len;
        if (slice_equals_nocase((struct slice){name.ptr, len}, known))
            return known_types[i].type;
    }
    if (ends_with(name, SLICE("+xml")))
        return SNIFF_XML;
    return ends_with(name, SLICE("+json")) ? SNIFF_JSON : SNIFF_TYPES;
}

static enum sniff_type stated_type(struct slice content_type)
{
    return type_of_name(type_name(content_type));
}

bool sniff_is_text(struct slice content_type)
{
    enum sniff_type type = stated_type(content_type);
    return type <= SNIFF_JSON;
}

bool sniff_may_link(struct slice content_type)
{
    static const struct slice nothing[] = {BYTES("unknown/unknown"), BYTES("application/unknown"),
                                           BYTES("*/*")};
    struct slice name = type_name(content_type);
    enum sniff_type type = type_of_name(name);
    if (type != SNIFF_TYPES)
        return type <= SNIFF_JSON && type != SNIFF_SCRIPT;
    for (size_t i = 0; i < COUNT(nothing); i++)
        if (slice_equals_nocase(name, nothing[i]))
            return true;
    return name.len == 0 || !memchr(name.ptr, '/', name.len);
}

static enum sniff_type type_of_signature(struct slice first)
{
    for (size_t i = 0; i < COUNT(signatures); i++) {
        const struct signature *signature = &signatures[i];
        if (first.len >= signature->offset &&
            slice_starts_with(slice_skip(first, signature->offset), signature->bytes))
            return signature->type;
    }
    return SNIFF_TYPES;
}

static bool is_text(struct slice first)
{
    if (encoding_bom(first))
        return true;
    for (size_t i = 0; i < first.len; i++) {
        unsigned char c = (unsigned char)first.ptr[i];
        if (c <= 0x08 || c == 0x0b || (c >= 0x0e && c <= 0x1a) || (c >= 0x1c && c <= 0x1f))
            return false;
    }
    return true;
}

bool sniff_looks_like_text(struct slice first)
{
    if (first.len > SNIFF_BYTES_MAX)
        first.len = SNIFF_BYTES_MAX;
    return first.len > 0 && is_text(first);
}

static bool starts_with_nocase(struct slice text, struct slice prefix)
{
    return text.len >= prefix.len && slice_equals_nocase((struct slice){text.ptr, prefix.len}, prefix);
}

/* Whether it begins as HTML documents do, by the standard's list. */
static bool looks_like_html(struct slice first)
{
    static const struct slice tags[] = {
        BYTES("<!DOCTYPE HTML"),
        BYTES("<HTML"),
        BYTES("<HEAD"),
        BYTES("<SCRIPT"),
        BYTES("<IFRAME"),
        BYTES("<H1"),
        BYTES("<DIV"),
        BYTES("<FONT"),
        BYTES("<TABLE"),
        BYTES("<A"),
        BYTES("<STYLE"),
        BYTES("<TITLE"),
        BYTES("<B"),
        BYTES("<BODY"),
        BYTES("<BR"),
        BYTES("<P"),
        BYTES("<!--"),
    };
    first = slice_skip_space(first);
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (!starts_with_nocase(first, tags[i]))
            continue;
        bool is_comment = tags[i].ptr[1] == '!' && tags[i].ptr[2] == '-';
        char next = first.len > tags[i].len ? first.ptr[tags[i].len] : 'x';
        if (is_comment || next == '>' || slice_is_space(next))
            return true;
    }
    return false;
}

/* Past comments, processing instructions and declarations, to the root element's tag. */
static struct slice root_of(struct slice first)
{
    first = slice_skip(first, encoding_bom(first) == 3 ? 3 : 0);
    for (;;) {
        first = slice_skip_space(first);
        const char *close;
        if (slice_starts_with(first, SLICE("<!--")))
            close = memmem(first.ptr + 4, first.len - 4, "-->", 3);
        else if (slice_starts_with(first, SLICE("<?")) || slice_starts_with(first, SLICE("<!")))
            close = memchr(first.ptr, '>', first.len);
        else
            return first;
        if (!close)
            return slice_skip(first, first.len);
        first = slice_skip(first, (size_t)(close - first.ptr) + (*close == '-' ? 3 : 1));
    }
}

/* The name of a tag without its prefix. */
static struct slice local_name(struct slice tag)
{
    struct slice name = slice_skip(tag, 1);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == ':')
            return local_name(slice_skip(name, i));
        if (c == '>' || c == '/' || slice_is_space(c))
            name.len = i;
    }
    return name;
}

/* What kind of XML this is by its root element; `otherwise` if by none that we know. */
static enum sniff_type type_of_root(struct slice first, enum sniff_type otherwise)
{
    struct slice root = root_of(first);
    if (root.len < 2 || root.ptr[0] != '<')
        return otherwise;
    struct slice name = local_name(root);
    if (slice_equals(name, SLICE("urlset")) || slice_equals(name, SLICE("sitemapindex")))
        return SNIFF_SITEMAP;
    if (slice_equals(name, SLICE("rss")) || slice_equals(name, SLICE("feed")))
        return SNIFF_FEED;
    if (slice_equals(name, SLICE("RDF")) && memmem(root.ptr, root.len, "http://purl.org/rss/1.0/", 24))
        return SNIFF_FEED;
    if (slice_equals_nocase(name, SLICE("html")))
        return SNIFF_HTML;
    return slice_equals(name, SLICE("svg")) && otherwise == SNIFF_XML ? SNIFF_SVG : otherwise;
}

/* JSON feeds name the version of their format among their first members. */
static enum sniff_type type_of_json(struct slice first, enum sniff_type otherwise)
{
    struct slice text = slice_skip_space(slice_skip(first, encoding_bom(first) == 3 ? 3 : 0));
    bool is_feed = text.len && text.ptr[0] == '{' &&
                   (memmem(text.ptr, text.len, "//jsonfeed.org/version/", 23) ||
                    memmem(text.ptr, text.len, "\\/\\/jsonfeed.org\\/version", 25));
    return is_feed ? SNIFF_JSON_FEED : otherwise;
}

static enum sniff_type type_of_bytes(struct slice first)
{
    if (slice_starts_with(root_of(first), SLICE("<"))) {
        bool is_xml = slice_starts_with(slice_skip_space(slice_skip(first, encoding_bom(first) == 3 ? 3 : 0)),
                                        SLICE("<?xml"));
        enum sniff_type type = type_of_root(first, is_xml ? SNIFF_XML : SNIFF_TYPES);
        if (type != SNIFF_TYPES)
            return type;
    }
    if (looks_like_html(first))
        return SNIFF_HTML;
    enum sniff_type type = type_of_signature(first);
    if (type != SNIFF_TYPES)
        return type;
    return is_text(first) ? type_of_json(first, SNIFF_TEXT) : SNIFF_BINARY;
}

/* Plain text is what it says, unless it is a feed or sitemap, in JSON too, or no text at all. */
static enum sniff_type type_of_text(struct slice first)
{
    enum sniff_type type = type_of_root(first, SNIFF_TEXT);
    if (type == SNIFF_SITEMAP || type == SNIFF_FEED)
        return type;
    if (is_text(first))
        return type_of_json(first, SNIFF_TEXT);
    type = type_of_signature(first);
    return type == SNIFF_TYPES ? SNIFF_BINARY : type;
}

enum sniff_type sniff_body(struct slice content_type, struct slice first)
{
    if (first.len == 0)
        return SNIFF_EMPTY;
    if (first.len > SNIFF_BYTES_MAX)
        first.len = SNIFF_BYTES_MAX;
    enum sniff_type type = stated_type(content_type);
    if (type == SNIFF_TYPES)
        return type_of_bytes(first);
    if (type == SNIFF_HTML || type == SNIFF_XML || type == SNIFF_FEED)
        return type_of_root(first, type);
    if (type == SNIFF_JSON)
        return type_of_json(first, type);
    return type == SNIFF_TEXT ? type_of_text(first) : type;
}
