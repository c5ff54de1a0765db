#include "engine/archive/cdxj.h"

#include <stdio.h>

#include "engine/url/utf8.h"

/* Where the line goes. */
struct output {
    char *text;
    size_t len;
    bool is_full;
};

static void put(struct output *out, struct slice bytes)
{
    if (bytes.len > CDXJ_LINE_BYTES_MAX - out->len)
        out->is_full = true;
    if (out->is_full)
        return;
    memcpy(out->text + out->len, bytes.ptr, bytes.len);
    out->len += bytes.len;
}

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

static size_t put_special(struct output *out, struct slice text)
{
    char escape[8];
    bool good;
    unsigned char c = (unsigned char)text.ptr[0];
    if (c < 0x80) {
        snprintf(escape, sizeof escape, c == '"' || c == '\\' ? "\\%c" : "\\u%04x", c);
        put(out, slice_of(escape));
        return 1;
    }
    size_t len = utf8_length(text, &good);
    put(out, good ? (struct slice){text.ptr, len} : SLICE("\xef\xbf\xbd"));
    return len;
}

static void put_string(struct output *out, struct slice text)
{
    put(out, SLICE("\""));
    while (text.len && !out->is_full) {
        size_t plain = 0;
        while (plain < text.len && is_plain(text.ptr[plain]))
            plain++;
        put(out, (struct slice){text.ptr, plain});
        text = slice_skip(text, plain);
        if (text.len)
            text = slice_skip(text, put_special(out, text));
    }
    put(out, SLICE("\""));
}

static void put_member(struct output *out, struct slice name, struct slice value)
{
    put(out, name);
    put_string(out, value.len ? value : SLICE("-"));
}

static void put_number(struct output *out, struct slice name, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put_member(out, name, (struct slice){digits + at, sizeof digits - at});
}

size_t cdxj_write(char *buffer, const struct cdxj *entry)
{
    struct output out = {.text = buffer};
    put(&out, entry->key);
    put(&out, SLICE(" "));
    put(&out, entry->timestamp);
    put(&out, SLICE(" "));
    put_member(&out, SLICE("{\"url\": "), entry->url);
    put_member(&out, SLICE(", \"mime\": "), entry->mime);
    put_member(&out, SLICE(", \"status\": "), entry->status);
    put_member(&out, SLICE(", \"digest\": "), entry->digest);
    put_number(&out, SLICE(", \"length\": "), entry->length);
    put_number(&out, SLICE(", \"offset\": "), entry->offset);
    put_member(&out, SLICE(", \"filename\": "), entry->filename);
    put(&out, SLICE("}\n"));
    return out.is_full ? 0 : out.len;
}

/* What is left of a line, and where unescaped text goes. */
struct input {
    struct slice rest;
    char *room;
};

static bool take(struct input *in, char c)
{
    in->rest = slice_skip_space(in->rest);
    if (in->rest.len == 0 || in->rest.ptr[0] != c)
        return false;
    in->rest = slice_skip(in->rest, 1);
    return true;
}

static bool take_hex4(struct input *in, unsigned *value)
{
    *value = 0;
    if (in->rest.len < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = slice_hex_value(in->rest.ptr[i]);
        if (digit < 0)
            return false;
        *value = *value * 16 + (unsigned)digit;
    }
    in->rest = slice_skip(in->rest, 4);
    return true;
}

static void write_utf8(struct input *in, unsigned code)
{
    if (code >= 0x10000) {
        *in->room++ = (char)(0xf0 | code >> 18);
        *in->room++ = (char)(0x80 | (code >> 12 & 0x3f));
    } else if (code >= 0x800) {
        *in->room++ = (char)(0xe0 | code >> 12);
    }
    if (code >= 0x800)
        *in->room++ = (char)(0x80 | (code >> 6 & 0x3f));
    else if (code >= 0x80)
        *in->room++ = (char)(0xc0 | code >> 6);
    *in->room++ = (char)(code >= 0x80 ? 0x80 | (code & 0x3f) : code);
}

/* Behind "\u". A pair of surrogates is one character, a lone one is U+FFFD. */
static bool take_code(struct input *in)
{
    unsigned code, low;
    if (!take_hex4(in, &code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && slice_starts_with(in->rest, SLICE("\\u"))) {
        struct slice before = in->rest;
        in->rest = slice_skip(in->rest, 2);
        if (take_hex4(in, &low) && low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            in->rest = before;
    }
    write_utf8(in, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
}

static bool take_escape(struct input *in)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (in->rest.len == 0)
        return false;
    char c = in->rest.ptr[0];
    in->rest = slice_skip(in->rest, 1);
    if (c == 'u')
        return take_code(in);
    const char *at = c ? strchr(names, c) : NULL;
    if (at)
        *in->room++ = values[at - names];
    return at;
}

/* A string; what has no escapes stays where it is. */
static bool take_string(struct input *in, struct slice *text)
{
    if (!take(in, '"'))
        return false;
    const char *begin = in->rest.ptr;
    char *room = in->room;
    bool has_escapes = false;
    while (in->rest.len && in->rest.ptr[0] != '"') {
        char c = in->rest.ptr[0];
        in->rest = slice_skip(in->rest, 1);
        if ((unsigned char)c < ' ')
            return false;
        has_escapes |= c == '\\';
        if (c != '\\')
            *in->room++ = c;
        else if (!take_escape(in))
            return false;
    }
    if (in->rest.len == 0)
        return false;
    *text = has_escapes ? slice_between(room, in->room) : slice_between(begin, in->rest.ptr);
    in->rest = slice_skip(in->rest, 1);
    return true;
}

/* A number, true, false or null, as it is written. */
static bool take_word(struct input *in, struct slice *text)
{
    size_t len = 0;
    in->rest = slice_skip_space(in->rest);
    while (len < in->rest.len && !strchr(",:{}[]\" \t\r\n", in->rest.ptr[len]))
        len++;
    *text = (struct slice){in->rest.ptr, len};
    in->rest = slice_skip(in->rest, len);
    return len > 0 && !memchr(text->ptr, '\0', len);
}

static bool is_next(struct input *in, char c)
{
    in->rest = slice_skip_space(in->rest);
    return in->rest.len && in->rest.ptr[0] == c;
}

static bool take_value(struct input *in, struct slice *text, unsigned depth);

/* An object or an array, of which nothing is used. */
static bool pass_nested(struct input *in, char end, unsigned depth)
{
    struct slice unused;
    in->rest = slice_skip(in->rest, 1);
    if (depth == CDXJ_DEPTH_MAX)
        return false;
    if (take(in, end))
        return true;
    do {
        if (end == '}' && (!take_string(in, &unused) || !take(in, ':')))
            return false;
        if (!take_value(in, &unused, depth + 1))
            return false;
    } while (take(in, ','));
    return take(in, end);
}

static bool take_value(struct input *in, struct slice *text, unsigned depth)
{
    *text = (struct slice){"", 0};
    if (is_next(in, '"'))
        return take_string(in, text);
    if (is_next(in, '{') || is_next(in, '['))
        return pass_nested(in, in->rest.ptr[0] == '{' ? '}' : ']', depth);
    return take_word(in, text);
}

/* Numbers stand as strings or as they are. False: it is none. */
static bool read_number(struct slice text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *number > (UINT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return text.len > 0;
}

static bool keep(struct cdxj *entry, struct slice name, struct slice value)
{
    const struct {
        struct slice name, *place;
    } texts[] = {{SLICE("url"), &entry->url},
                 {SLICE("mime"), &entry->mime},
                 {SLICE("status"), &entry->status},
                 {SLICE("digest"), &entry->digest},
                 {SLICE("filename"), &entry->filename}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (slice_equals(name, texts[i].name))
            *texts[i].place = value;
    if (slice_equals(name, SLICE("length")))
        return read_number(value, &entry->length) || slice_equals(value, SLICE("-"));
    if (slice_equals(name, SLICE("offset")))
        return read_number(value, &entry->offset);
    return true;
}

static bool take_column(struct input *in, struct slice *column)
{
    const char *space = memchr(in->rest.ptr, ' ', in->rest.len);
    if (!space)
        return false;
    *column = slice_between(in->rest.ptr, space);
    in->rest = slice_skip(in->rest, column->len + 1);
    return column->len > 0;
}

bool cdxj_parse(struct cdxj *entry, struct slice line, char *room)
{
    struct input in = {line, room};
    struct slice name, value;
    *entry = (struct cdxj){0};
    if (!take_column(&in, &entry->key) || !take_column(&in, &entry->timestamp) || !take(&in, '{'))
        return false;
    for (size_t i = 0; i < entry->timestamp.len; i++)
        if (entry->timestamp.ptr[i] < '0' || entry->timestamp.ptr[i] > '9')
            return false;
    if (!take(&in, '}')) {
        do
            if (!take_string(&in, &name) || !take(&in, ':') || !take_value(&in, &value, 0) ||
                !keep(entry, name, value))
                return false;
        while (take(&in, ','));
        if (!take(&in, '}'))
            return false;
    }
    return slice_skip_space(in.rest).len == 0;
}
