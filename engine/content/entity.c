#include "engine/content/entity.h"

#include "engine/content/entity_names.h"

#define REPLACEMENT 0xfffdu
#define CODE_MAX    0x10ffffu

size_t entity_put_utf8(unsigned code, char *out)
{
    if (code > CODE_MAX || (code >= 0xd800 && code <= 0xdfff))
        code = REPLACEMENT;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

int entity_find(struct slice name, unsigned code[2], bool *legacy)
{
    if (name.len > ENTITY_NAME_CHARS_MAX)
        return 0;
    const struct entity_group *group = &entity_groups[name.len];
    size_t low = 0, high = group->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = memcmp(name.ptr, group->names + middle * name.len, name.len);
        if (order == 0) {
            uint32_t packed = group->codes[middle];
            *legacy = packed & ENTITY_LEGACY;
            code[0] = packed & ENTITY_CODE_MASK;
            code[1] = entity_seconds[packed >> ENTITY_SECOND_SHIFT & ENTITY_SECOND_MASK];
            return code[1] ? 2 : 1;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

unsigned entity_windows_1252(unsigned char byte)
{
    static const unsigned short controls[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
    };
    return byte >= 0x80 && byte < 0xa0 ? controls[byte - 0x80] : byte;
}

static int digit_value(char c, unsigned base)
{
    int value = slice_hex_value(c);
    return value < (int)base ? value : -1;
}

/* `*at` is after "&#". Writes the character and moves `*at` past the reference; 0 if it is not one. */
static size_t decode_numeric(const char **at, const char *end, char *out)
{
    const char *p = *at;
    unsigned base = 10, code = 0;
    if (p < end && (*p | 0x20) == 'x') {
        base = 16;
        p++;
    }
    const char *digits = p;
    for (int value; p < end && (value = digit_value(*p, base)) >= 0; p++)
        code = code > CODE_MAX ? code : code * base + (unsigned)value;
    if (p == digits)
        return 0;
    if (p < end && *p == ';')
        p++;
    *at = p;
    return entity_put_utf8(code == 0      ? REPLACEMENT
                           : code < 0x100 ? entity_windows_1252((unsigned char)code)
                                          : code,
                           out);
}

static bool is_alnum(char c)
{
    char lower = slice_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

/* `*at` is after "&". In an attribute, a reference without a semicolon must not be followed by a letter, a
 * digit or '='. So the longest match of the standard is the whole run of letters and digits, or nothing. */
static size_t decode_named(const char **at, const char *end, char *out)
{
    const char *p = *at;
    if (end - p >= 4 && memcmp(p, "amp;", 4) == 0) { /* by far the most frequent in URLs */
        *at += 4;
        *out = '&';
        return 1;
    }
    while (p < end && is_alnum(*p))
        p++;
    unsigned code[2];
    bool legacy;
    int count = entity_find(slice_between(*at, p), code, &legacy);
    bool closed = p < end && *p == ';';
    if (count == 0 || (!closed && (!legacy || (p < end && *p == '='))))
        return 0;
    *at = p + closed;
    size_t len = entity_put_utf8(code[0], out);
    return count == 1 ? len : len + entity_put_utf8(code[1], out + len);
}

size_t entity_decode_attribute(struct slice value, char *out)
{
    const char *p = value.ptr, *end = value.ptr + value.len;
    char *to = out;
    while (p < end) {
        char c = *p++;
        if (c != '&' && c != '\0') {
            *to++ = c;
            continue;
        }
        if (c == '\0') {
            to += entity_put_utf8(REPLACEMENT, to);
            continue;
        }
        if (p < end) {
            const char *reference = *p == '#' ? p + 1 : p;
            size_t len = *p == '#' ? decode_numeric(&reference, end, to) : decode_named(&reference, end, to);
            if (len) {
                to += len;
                p = reference;
                continue;
            }
        }
        *to++ = c;
    }
    return (size_t)(to - out);
}

/* The longest name that may lack its semicolon: "middot". */
#define LEGACY_CHARS_MAX 6

/* The named reference that text[1...] begins with; 0 if there is none. In text the longest name that fits counts. */
static int find_in_text(struct slice text, unsigned code[2], size_t *used)
{
    bool legacy;
    size_t len = 0;
    while (len < ENTITY_NAME_CHARS_MAX && len + 1 < text.len && is_alnum(text.ptr[len + 1]))
        len++;
    if (len + 1 < text.len && text.ptr[len + 1] == ';') {
        int count = entity_find((struct slice){text.ptr + 1, len}, code, &legacy);
        *used = len + 2;
        if (count)
            return count;
    }
    for (len = len < LEGACY_CHARS_MAX ? len : LEGACY_CHARS_MAX; len > 1; len--) {
        int count = entity_find((struct slice){text.ptr + 1, len}, code, &legacy);
        *used = len + 1;
        if (count && legacy)
            return count;
    }
    return 0;
}

size_t entity_decode_text(struct slice text, char *out, size_t *used)
{
    unsigned code[2];
    if (text.len > 1 && text.ptr[1] == '#') {
        const char *at = text.ptr + 2;
        size_t len = decode_numeric(&at, text.ptr + text.len, out);
        *used = (size_t)(at - text.ptr);
        return len;
    }
    int count = find_in_text(text, code, used);
    if (count == 0)
        return 0;
    size_t len = entity_put_utf8(code[0], out);
    return count == 1 ? len : len + entity_put_utf8(code[1], out + len);
}

/* One of XML's five names, or 0. */
static char xml_entity(struct slice name)
{
    static const struct {
        struct slice name;
        char means;
    } known[] = {
        {{"amp", 3}, '&'}, {{"lt", 2}, '<'}, {{"gt", 2}, '>'}, {{"quot", 4}, '"'}, {{"apos", 4}, '\''},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_equals(name, known[i].name))
            return known[i].means;
    return 0;
}

/* `*at` is behind "&". */
static size_t decode_xml_reference(const char **at, const char *end, char *out)
{
    if (*at < end && **at == '#') {
        const char *p = *at + 1;
        size_t len = decode_numeric(&p, end, out);
        if (len)
            *at = p;
        return len;
    }
    const char *p = *at;
    while (p < end && is_alnum(*p))
        p++;
    if (p == end || *p != ';')
        return 0;
    *out = xml_entity(slice_between(*at, p));
    if (*out == 0)
        return 0;
    *at = p + 1;
    return 1;
}

size_t entity_decode_xml(struct slice text, char *out)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    char *to = out;
    while (p < end) {
        struct slice rest = slice_between(p, end);
        if (slice_starts_with(rest, SLICE("<![CDATA["))) {
            const char *close = memmem(p, rest.len, "]]>", 3);
            const char *begin = p + sizeof("<![CDATA[") - 1, *stop = close ? close : end;
            memmove(to, begin, (size_t)(stop - begin));
            to += stop - begin;
            p = close ? close + 3 : end;
            continue;
        }
        const char *reference = p + 1;
        size_t len = *p == '&' ? decode_xml_reference(&reference, end, to) : 0;
        if (len) {
            to += len;
            p = reference;
        } else {
            *to++ = *p++;
        }
    }
    return (size_t)(to - out);
}
