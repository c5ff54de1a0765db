#include "engine/xml.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_start(char c)
{
    char lower = slice_lower(c);
    return (lower >= 'a' && lower <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_end(char c)
{
    return is_space(c) || c == '/' || c == '>' || c == '=' || c == '<';
}

/* Behind `close` if that is in the text, else NULL. */
static const char *behind(const char *from, const char *end, struct slice close)
{
    const char *at = memmem(from, (size_t)(end - from), close.ptr, close.len);
    return at ? at + close.len : NULL;
}

/* Behind what begins with "<!" or "<?"; NULL if it does not end. A declaration's internal subset, which is in
 * brackets, may hold tags of its own. */
static const char *pass_declaration(const char *open, const char *end)
{
    struct slice rest = slice_between(open, end);
    if (slice_starts_with(rest, SLICE("<!--")))
        return behind(open + 4, end, SLICE("-->"));
    if (slice_starts_with(rest, SLICE("<![CDATA[")))
        return behind(open + 9, end, SLICE("]]>"));
    if (open[1] == '?')
        return behind(open + 2, end, SLICE("?>"));
    if (slice_starts_with(SLICE("<!--"), rest) || slice_starts_with(SLICE("<![CDATA["), rest))
        return NULL;
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

enum parse xml_next(struct xml *xml, struct xml_tag *tag)
{
    while (xml->at < xml->end) {
        const char *open = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
        xml->at = open ? open : xml->end;
        if (!open || xml->end - open < 3)
            return PARSE_PARTIAL;
        bool is_tag = is_name_start(open[1]) || (open[1] == '/' && is_name_start(open[2]));
        if (!is_tag && open[1] != '!' && open[1] != '?') {
            xml->at = open + 1;
            continue;
        }
        if (!is_tag) {
            const char *close = pass_declaration(open, xml->end);
            if (!close)
                return PARSE_PARTIAL;
            xml->at = close;
            continue;
        }
        const char *close = find_close(open + 1, xml->end);
        if (!close)
            return PARSE_PARTIAL;
        xml->at = close + 1;
        read_tag(tag, open, close);
        return PARSE_DONE;
    }
    return PARSE_PARTIAL;
}

struct slice xml_attribute(const struct xml_tag *tag, struct slice name)
{
    const char *at = tag->attributes.ptr, *end = at + tag->attributes.len;
    while (at < end) {
        while (at < end && is_space(*at))
            at++;
        const char *begin = at;
        while (at < end && !is_name_end(*at))
            at++;
        struct slice found = slice_between(begin, at);
        while (at < end && (is_space(*at) || *at == '='))
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
