#include "engine/robots/robots_pattern.h"

#include "engine/url/percent.h"

enum class {
    UNRESERVED = 1, /* never escaped */
    RESERVED = 2,   /* sub-delims without * and $ */
    DELIMITER = 4,  /* gen-delims */
    SPECIAL = 8,    /* * $ : reserved, with a meaning of their own in patterns */
    PERCENT = 16,
    OTHER = 32, /* always escaped */
};

static const uint8_t classes[256] = {
    [0 ... 0x20] = OTHER,
    [0x7f ... 0xff] = OTHER,
    ['"'] = OTHER,
    ['<'] = OTHER,
    ['>'] = OTHER,
    ['\\'] = OTHER,
    ['^'] = OTHER,
    ['`'] = OTHER,
    ['{'] = OTHER,
    ['|'] = OTHER,
    ['}'] = OTHER,
    ['a' ... 'z'] = UNRESERVED,
    ['A' ... 'Z'] = UNRESERVED,
    ['0' ... '9'] = UNRESERVED,
    ['-'] = UNRESERVED,
    ['.'] = UNRESERVED,
    ['_'] = UNRESERVED,
    ['~'] = UNRESERVED,
    ['!'] = RESERVED,
    ['&'] = RESERVED,
    ['\''] = RESERVED,
    ['('] = RESERVED,
    [')'] = RESERVED,
    ['+'] = RESERVED,
    [','] = RESERVED,
    [';'] = RESERVED,
    ['='] = RESERVED,
    [':'] = DELIMITER,
    ['/'] = DELIMITER,
    ['?'] = DELIMITER,
    ['#'] = DELIMITER,
    ['['] = DELIMITER,
    [']'] = DELIMITER,
    ['@'] = DELIMITER,
    ['*'] = SPECIAL,
    ['$'] = SPECIAL,
    ['%'] = PERCENT,
};

static enum class class_of(char byte) { return classes[(uint8_t)byte]; }

static size_t put_escape(char *to, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    to[0] = '%';
    to[1] = digits[byte >> 4];
    to[2] = digits[byte & 15];
    return 3;
}

/* Writes the normal form of the escape that `text` begins with. */
static size_t put_normal_escape(char *to, struct slice text, bool decode_delimiters)
{
    char byte = percent_byte(text);
    if (class_of(byte) == UNRESERVED || (decode_delimiters && class_of(byte) == DELIMITER)) {
        to[0] = byte;
        return 1;
    }
    return put_escape(to, (uint8_t)byte);
}

/* Writes the normal form of the first character of `text`; `used` is how many bytes it had. */
static size_t put_character(char *to, struct slice text, bool decode_delimiters, size_t *used)
{
    *used = 1;
    switch (class_of(text.ptr[0])) {
    case PERCENT:
        if (percent_is_escape(text)) {
            *used = 3;
            return put_normal_escape(to, text, decode_delimiters);
        }
        break;
    case OTHER:
    case SPECIAL:
        return put_escape(to, (uint8_t)text.ptr[0]);
    case UNRESERVED:
    case RESERVED:
    case DELIMITER:
        break;
    }
    to[0] = text.ptr[0];
    return 1;
}

size_t robots_pattern_normalise(char *to, struct slice pattern)
{
    size_t len = 0, used;
    bool in_query = false;
    for (; pattern.len; pattern = slice_skip(pattern, used)) {
        used = 1;
        if (pattern.ptr[0] == '*') {
            if (!len || to[len - 1] != '*')
                to[len++] = '*';
        } else if (pattern.ptr[0] == '$' && pattern.len == 1) {
            to[len++] = '$';
        } else {
            in_query |= pattern.ptr[0] == '?';
            len += put_character(to + len, pattern, in_query, &used);
        }
    }
    return len;
}

bool robots_path_is_normal(struct slice path)
{
    const uint8_t *bytes = (const uint8_t *)path.ptr;
    uint8_t seen = 0;
    size_t i = 0;
    for (; i + 4 <= path.len; i += 4)
        seen |= classes[bytes[i]] | classes[bytes[i + 1]] | classes[bytes[i + 2]] | classes[bytes[i + 3]];
    for (; i < path.len; i++)
        seen |= classes[bytes[i]];
    return !(seen & (OTHER | SPECIAL | PERCENT));
}

size_t robots_path_normalise(char *to, struct slice path, enum robots_query query)
{
    size_t len = 0, used;
    bool in_query = false;
    for (; path.len; path = slice_skip(path, used)) {
        in_query |= path.ptr[0] == '?';
        len += put_character(to + len, path, in_query && query == ROBOTS_QUERY_DECODED, &used);
    }
    return len;
}
