/* A host is, in this order of tests: an IPv6 address in brackets; a name that ends in a number, which then
 * must be an IPv4 address in one of its many spellings; any other name. */
#include "engine/url/url_host.h"

#include <stdio.h>

#include "engine/url/idna.h"
#include "engine/url/percent.h"

/* One number of an IPv4 host: decimal, 0x hexadecimal or 0 octal. Numbers that are too large stay above 32
 * bits. */
static bool read_number(struct slice text, uint64_t *number)
{
    int radix = 10;
    *number = 0;
    if (!text.len)
        return false;
    if (text.len >= 2 && text.ptr[0] == '0') {
        bool hex = slice_lower(text.ptr[1]) == 'x';
        radix = hex ? 16 : 8;
        text = slice_skip(text, hex ? 2 : 1);
    }
    for (size_t i = 0; i < text.len; i++) {
        int digit = slice_hex_value(text.ptr[i]);
        if (digit < 0 || digit >= radix)
            return false;
        if (*number <= UINT32_MAX)
            *number = *number * (unsigned)radix + (unsigned)digit;
    }
    return true;
}

static struct slice last_label(struct slice name)
{
    const char *dot = memrchr(name.ptr, '.', name.len);
    return dot ? slice_between(dot + 1, name.ptr + name.len) : name;
}

static struct slice without_last_dot(struct slice name)
{
    if (name.len > 1 && name.ptr[name.len - 1] == '.')
        name.len--;
    return name;
}

static bool ends_in_number(struct slice name)
{
    struct slice label = last_label(without_last_dot(name));
    uint64_t number;
    bool digits = label.len > 0;
    for (size_t i = 0; i < label.len; i++)
        digits &= label.ptr[i] >= '0' && label.ptr[i] <= '9';
    return digits || read_number(label, &number);
}

static enum url_error write_ipv4(struct url_writer *out, struct slice name)
{
    uint64_t numbers[4];
    size_t count = 0;
    for (struct slice rest = without_last_dot(name);;) {
        const char *dot = memchr(rest.ptr, '.', rest.len);
        struct slice part = dot ? slice_between(rest.ptr, dot) : rest;
        if (count == 4 || !read_number(part, &numbers[count++]))
            return URL_BAD_ADDRESS;
        if (!dot)
            break;
        rest = slice_skip(rest, part.len + 1);
    }
    uint64_t address = numbers[count - 1];
    if (address >= 1ull << (8 * (5 - count)))
        return URL_BAD_ADDRESS;
    for (size_t i = 0; i + 1 < count; i++) {
        if (numbers[i] > 255)
            return URL_BAD_ADDRESS;
        address |= numbers[i] << (8 * (3 - i));
    }
    char text[16];
    int len =
        snprintf(text, sizeof text, "%u.%u.%u.%u", (unsigned)(address >> 24), (unsigned)(address >> 16) & 255,
                 (unsigned)(address >> 8) & 255, (unsigned)address & 255);
    url_write(out, (struct slice){text, (size_t)len});
    return URL_OK;
}

/* The four decimal numbers at the end of an IPv6 address, into two of its pieces. */
static bool read_embedded_ipv4(struct slice text, uint16_t pieces[2])
{
    pieces[0] = pieces[1] = 0;
    for (unsigned seen = 0; seen < 4; seen++) {
        unsigned value = 0, digits = 0;
        if (seen && (!text.len || text.ptr[0] != '.'))
            return false;
        if (seen)
            text = slice_skip(text, 1);
        for (; text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9'; digits++) {
            if (digits && value == 0)
                return false;
            value = value * 10 + (unsigned)(text.ptr[0] - '0');
            if (value > 255)
                return false;
            text = slice_skip(text, 1);
        }
        if (!digits)
            return false;
        pieces[seen / 2] = (uint16_t)(pieces[seen / 2] * 256 + value);
    }
    return text.len == 0;
}

/* Up to four hexadecimal digits; returns how many there were. */
static size_t read_piece(struct slice text, uint16_t *piece)
{
    size_t i = 0;
    *piece = 0;
    for (; i < 4 && i < text.len && slice_hex_value(text.ptr[i]) >= 0; i++)
        *piece = (uint16_t)(*piece * 16 + slice_hex_value(text.ptr[i]));
    return i;
}

/* Moves the pieces after "::" to the end. */
static void spread_pieces(uint16_t pieces[8], unsigned count, unsigned gap)
{
    unsigned moved = count - gap;
    memmove(pieces + 8 - moved, pieces + gap, moved * sizeof *pieces);
    memset(pieces + gap, 0, (8 - count) * sizeof *pieces);
}

static bool read_ipv6(struct slice text, uint16_t pieces[8])
{
    unsigned count = 0;
    int gap = -1;
    if (text.len && text.ptr[0] == ':') {
        if (text.len < 2 || text.ptr[1] != ':')
            return false;
        text = slice_skip(text, 2);
        gap = 0;
    }
    while (text.len) {
        if (count == 8)
            return false;
        if (text.ptr[0] == ':') {
            if (gap >= 0)
                return false;
            text = slice_skip(text, 1);
            gap = (int)count;
            continue;
        }
        size_t digits = read_piece(text, &pieces[count]);
        if (digits < text.len && text.ptr[digits] == '.') {
            if (digits == 0 || count > 6 || !read_embedded_ipv4(text, &pieces[count]))
                return false;
            count += 2;
            break;
        }
        text = slice_skip(text, digits);
        count++;
        if (text.len && (text.ptr[0] != ':' || text.len == 1))
            return false;
        if (text.len)
            text = slice_skip(text, 1);
    }
    if (gap >= 0 && count < 8)
        spread_pieces(pieces, count, (unsigned)gap);
    else if (count != 8 || gap >= 0)
        return false;
    return true;
}

/* The longest run of two or more zero pieces, the first if several are equal; its length, 0 for none. */
static unsigned longest_zeros(const uint16_t pieces[8], unsigned *begin)
{
    unsigned best = 1, run = 0;
    for (unsigned i = 0; i < 8; i++) {
        run = pieces[i] ? 0 : run + 1;
        if (run > best) {
            best = run;
            *begin = i + 1 - run;
        }
    }
    return best > 1 ? best : 0;
}

static enum url_error write_ipv6(struct url_writer *out, struct slice text)
{
    uint16_t pieces[8];
    unsigned gap = 8, zeros;
    if (!read_ipv6(text, pieces))
        return URL_BAD_ADDRESS;
    zeros = longest_zeros(pieces, &gap);
    url_write_byte(out, '[');
    for (unsigned i = 0; i < 8; i++) {
        if (i == gap && zeros) {
            url_write(out, i == 0 ? SLICE("::") : SLICE(":"));
            i += zeros - 1;
            continue;
        }
        char piece[6];
        int len = snprintf(piece, sizeof piece, "%x%s", pieces[i], i < 7 ? ":" : "");
        url_write(out, (struct slice){piece, (size_t)len});
    }
    url_write_byte(out, ']');
    return URL_OK;
}

/* Percent-decodes `text` into `name`, ASCII letters to lower case; whether all of it is ASCII. */
static bool decode_name(char *name, size_t *len, struct slice text)
{
    bool ascii = true;
    *len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%' && percent_is_escape(slice_skip(text, i))) {
            c = percent_byte(slice_skip(text, i));
            i += 2;
        }
        ascii &= (uint8_t)c < 0x80;
        name[(*len)++] = slice_lower(c);
    }
    return ascii;
}

/* The standard's forbidden domain code points. */
static bool has_forbidden(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t byte = (uint8_t)name.ptr[i];
        if (byte <= ' ' || byte == 0x7f || memchr("#/:<>?@[\\]^|%", byte, 13))
            return true;
    }
    return false;
}

enum url_error url_host_write(struct url_writer *out, struct slice text)
{
    char decoded[URL_HOST_BYTES_MAX], ascii[URL_HOST_BYTES_MAX];
    size_t len;
    if (!text.len)
        return URL_EMPTY_HOST;
    if (text.ptr[0] == '[') {
        if (text.ptr[text.len - 1] != ']')
            return URL_BAD_ADDRESS;
        return write_ipv6(out, (struct slice){text.ptr + 1, text.len - 2});
    }
    if (text.len > URL_HOST_BYTES_MAX)
        return URL_BAD_HOST;
    struct slice name = {decoded, 0};
    if (!decode_name(decoded, &len, text)) {
        len = idna_to_ascii(ascii, sizeof ascii, (struct slice){decoded, len});
        name.ptr = ascii;
    }
    name.len = len;
    if (!name.len || has_forbidden(name))
        return URL_BAD_HOST;
    if (ends_in_number(name))
        return write_ipv4(out, name);
    url_write(out, name);
    return URL_OK;
}

bool url_host_is_address(struct slice host)
{
    return host.len && (host.ptr[0] == '[' || ends_in_number(host));
}
