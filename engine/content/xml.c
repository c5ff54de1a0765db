#include "engine/content/xml.h"

#include "engine/content/limits.h"

static bool is_name_start(char c)
{
    char lower = slice_lower(c);
    return (lower >= 'a' && lower <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_end(char c)
{
    return slice_is_space(c) || c == '/' || c == '>' || c == '=' || c == '<';
}

/* The end of a comment, a CDATA section or a processing instruction that begins here, and how long its beginning
 * is; empty: it is none of them. */
static struct slice closing_of(struct slice rest, size_t *opening_len)
{
    static const struct {
        struct slice opening, closing;
    } kinds[] = {
        {SLICE("<!--"), SLICE("-->")}, {SLICE("<![CDATA["), SLICE("]]>")}, {SLICE("<?"), SLICE("?>")}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        *opening_len = kinds[i].opening.len;
        if (slice_starts_with(rest, kinds[i].opening))
            return kinds[i].closing;
    }
    return (struct slice){"", 0};
}

/* On to behind xml->closing, or as far as the pause. False: it has not come. */
static bool pass_closing(struct xml *xml)
{
    const struct slice closing = xml->closing;
    const char *limit = xml->end - xml->pause >= (ptrdiff_t)closing.len ? xml->pause + closing.len : xml->end;
    const char *found = memmem(xml->at, (size_t)(limit - xml->at), closing.ptr, closing.len);
    if (found) {
        xml->at = found + closing.len;
        xml->closing.len = 0;
    } else if (limit - xml->at >= (ptrdiff_t)closing.len) {
        xml->at = limit - (closing.len - 1);
    }
    return found;
}

/* Behind a declaration; NULL if it does not end. Its internal subset, which is in brackets, may hold tags of its
 * own. */
static const char *pass_declaration(const char *open, const char *end)
{
    int depth = 0;
    for (const char *at = open; at < end; at++) {
        depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
        if (*at == '>' && depth <= 0)
            return at + 1;
    }
    return NULL;
}

/* The '>' of a tag, from its name on; NULL if it is not there. A '>' within quotes does not count. */
static const char *find_close(const char *at, const char *end)
{
    while (at < end && *at != '>') {
        if (*at == '"' || *at == '\'') {
            at = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (!at)
                return NULL;
        }
        at++;
    }
    return at < end ? at : NULL;
}

static void read_tag(struct xml_tag *tag, const char *open, const char *close)
{
    const char *name = open + 1 + (open[1] == '/'), *at = name;
    *tag = (struct xml_tag){.open = open, .close = close + 1, .is_end = open[1] == '/', .prefix = {name, 0}};
    while (at < close && !is_name_end(*at)) {
        if (*at == ':' && tag->prefix.len == 0)
            tag->prefix.len = (size_t)(at - name);
        at++;
    }
    size_t skipped = tag->prefix.len ? tag->prefix.len + 1 : 0;
    tag->name = slice_between(name + skipped, at);
    tag->is_empty = !tag->is_end && close[-1] == '/';
    tag->attributes = slice_between(at, close - tag->is_empty);
}

static bool is_tag_at(const char *open)
{
    return is_name_start(open[1]) || (open[1] == '/' && is_name_start(open[2]));
}

/* What begins with "<!" or "<?" is passed over, or begun to be. False: more of it must come. */
static bool pass_markup(struct xml *xml, const char *limit)
{
    const char *open = xml->at;
    struct slice rest = slice_between(open, xml->end);
    size_t opening_len;
    xml->closing = closing_of(rest, &opening_len);
    if (xml->closing.len) {
        xml->at = open + opening_len;
        return true;
    }
    if (slice_starts_with(SLICE("<!--"), rest) || slice_starts_with(SLICE("<![CDATA["), rest))
        return false;
    const char *close = pass_declaration(open, limit);
    if (close || limit < xml->end)
        xml->at = close ? close : limit;
    return close || limit < xml->end;
}

static void give_pause(const struct xml *xml, struct xml_tag *tag)
{
    const struct slice none = {xml->at, 0};
    *tag = (struct xml_tag){.prefix = none,
                            .name = none,
                            .attributes = none,
                            .open = xml->at,
                            .close = xml->at,
                            .is_end = true};
}

enum parse xml_next(struct xml *xml, struct xml_tag *tag)
{
    while (xml->at < xml->end) {
        if (xml->at >= xml->pause) {
            give_pause(xml, tag);
            return PARSE_DONE;
        }
        if (xml->closing.len) {
            if (!pass_closing(xml) && xml->at < xml->pause)
                return PARSE_PARTIAL;
            continue;
        }
        const char *open = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
        xml->at = open ? open : xml->end;
        if (!open || xml->end - open < 3)
            return PARSE_PARTIAL;
        const char *limit = xml->end - open > XML_TAG_BYTES_MAX ? open + XML_TAG_BYTES_MAX : xml->end;
        if (open[1] == '!' || open[1] == '?') {
            if (!pass_markup(xml, limit))
                return PARSE_PARTIAL;
            continue;
        }
        if (!is_tag_at(open)) {
            xml->at = open + 1;
            continue;
        }
        const char *close = find_close(open + 1, limit);
        if (!close && limit == xml->end)
            return PARSE_PARTIAL;
        xml->at = close ? close + 1 : limit;
        if (!close)
            continue;
        read_tag(tag, open, close);
        return PARSE_DONE;
    }
    return PARSE_PARTIAL;
}

struct slice xml_attribute(const struct xml_tag *tag, struct slice name)
{
    const char *at = tag->attributes.ptr, *end = at + tag->attributes.len;
    while (at < end) {
        while (at < end && slice_is_space(*at))
            at++;
        const char *begin = at;
        while (at < end && !is_name_end(*at))
            at++;
        struct slice found = slice_between(begin, at);
        while (at < end && (slice_is_space(*at) || *at == '='))
            at++;
        if (at == end)
            break;
        if (*at != '"' && *at != '\'') { /* no value, or garbage: on to the next white space */
            if (at == begin)
                at++;
            continue;
        }
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (!close)
            break;
        if (slice_equals(found, name))
            return slice_between(at + 1, close);
        at = close + 1;
    }
    return (struct slice){"", 0};
}
