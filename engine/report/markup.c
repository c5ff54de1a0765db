#include "engine/report/markup.h"

#include <stdint.h>

/* The code point at the start of the text, or -1; *len is how many bytes it takes. */
static int32_t decode(struct slice text, size_t *len)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    unsigned first = at[0];
    size_t need = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
    *len = 1;
    if (need == 1)
        return (int32_t)first;
    if (need == 0 || need > text.len)
        return -1;
    uint32_t code = first & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (at[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[need] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return -1;
    *len = need;
    return (int32_t)code;
}

/* Control characters, marks of direction, and what takes no room. */
static bool has_no_shape(int32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || (code >= 0xfff0 && code <= 0xfffb) ||
           (code >= 0xe0000 && code <= 0xe0fff);
}

static void write_escaped(FILE *out, struct slice text, int32_t code)
{
    if (code < 0)
        fprintf(out, "\\x%02X", (unsigned char)text.ptr[0]);
    else
        fprintf(out, code > 0xffff ? "\\U%08X" : "\\u%04X", (unsigned)code);
}

/* NULL: the character may stand for itself. */
static const char *entity_of(int32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void markup_text(FILE *out, struct slice text, size_t chars_max)
{
    size_t len;
    for (size_t chars = 0; text.len; text = slice_skip(text, len), chars++) {
        int32_t code = decode(text, &len);
        const char *entity = entity_of(code);
        if (chars + 1 == chars_max && text.len > len) {
            fputs("\xe2\x80\xa6", out);
            return;
        }
        if (code < 0 || has_no_shape(code))
            write_escaped(out, text, code);
        else if (entity)
            fputs(entity, out);
        else
            fwrite(text.ptr, 1, len, out);
    }
}

void markup_field(FILE *out, struct slice text)
{
    size_t len;
    for (; text.len; text = slice_skip(text, len)) {
        int32_t code = decode(text, &len);
        if (code < 0 || has_no_shape(code))
            write_escaped(out, text, code);
        else
            fwrite(text.ptr, 1, len, out);
    }
}
