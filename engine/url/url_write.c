#include "engine/url/url_write.h"

#include "engine/url/utf8.h"

#define FRAGMENT URL_IN_FRAGMENT
#define QUERY    URL_IN_QUERY
#define PATH     (URL_IN_PATH | URL_PATH_STOP)
#define USER     URL_IN_USERINFO
#define ALWAYS   (FRAGMENT | QUERY | PATH | USER)
#define PLAIN    URL_HOST_PLAIN
#define STOP     URL_PATH_STOP

const uint8_t url_classes[256] = {
    [0x00 ... 0x20] = ALWAYS,
    [0x7f ... 0xff] = ALWAYS,
    ['"'] = ALWAYS,
    ['<'] = ALWAYS,
    ['>'] = ALWAYS,
    ['\''] = QUERY,
    ['`'] = FRAGMENT | PATH | USER,
    ['{'] = PATH | USER,
    ['}'] = PATH | USER,
    ['^'] = PATH | USER,
    ['#'] = QUERY | PATH | USER | URL_ENDS_PATH | URL_ENDS_AUTHORITY,
    ['?'] = PATH | USER | URL_ENDS_PATH | URL_ENDS_AUTHORITY,
    ['/'] = USER | URL_ENDS_AUTHORITY,
    ['\\'] = USER | STOP | URL_ENDS_AUTHORITY,
    [':'] = USER,
    [';'] = USER,
    ['='] = USER,
    ['@'] = USER,
    ['['] = USER,
    [']'] = USER,
    ['|'] = USER,
    ['%'] = STOP,
    ['.'] = STOP | PLAIN,
    ['-'] = PLAIN,
    ['_'] = PLAIN,
    ['0' ... '9'] = PLAIN,
    ['a' ... 'z'] = PLAIN,
    ['A' ... 'Z'] = PLAIN,
};

size_t url_write_span(struct url_writer *out, struct slice bytes, unsigned stop)
{
    size_t room = out->size - out->len, n = bytes.len < room ? bytes.len : room, i = 0;
    char *to = out->text + out->len;
    for (; i + 8 <= n; i += 8) {
        unsigned classes = 0;
        for (size_t j = 0; j < 8; j++)
            classes |= url_classes[(uint8_t)bytes.ptr[i + j]];
        if (classes & stop)
            break;
        memcpy(to + i, bytes.ptr + i, 8);
    }
    while (i < n && !url_class_has(bytes.ptr[i], stop)) {
        to[i] = bytes.ptr[i];
        i++;
    }
    out->len += i;
    if (i == room && i < bytes.len && !url_class_has(bytes.ptr[i], stop))
        out->full = true;
    return i;
}

static void write_hex(struct url_writer *out, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    const char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};
    url_write(out, (struct slice){escape, 3});
}

static size_t write_character(struct url_writer *out, struct slice bytes)
{
    bool good;
    size_t len = utf8_length(bytes, &good);
    if (!good) {
        url_write(out, SLICE("%EF%BF%BD"));
        return len;
    }
    for (size_t i = 0; i < len; i++)
        write_hex(out, (uint8_t)bytes.ptr[i]);
    return len;
}

/* Escapes the first character of `bytes`; returns its length. */
static size_t write_escape(struct url_writer *out, struct slice bytes, enum url_class set)
{
    uint8_t byte = (uint8_t)bytes.ptr[0];
    if (byte >= 0x80 && !(set == URL_IN_QUERY && out->query_raw))
        return write_character(out, bytes);
    write_hex(out, byte);
    return 1;
}

void url_write_escaped(struct url_writer *out, struct slice bytes, enum url_class set)
{
    while (!out->full) {
        bytes = slice_skip(bytes, url_write_span(out, bytes, set));
        if (!bytes.len || out->full)
            return;
        bytes = slice_skip(bytes, write_escape(out, bytes, set));
    }
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Skips one dot, plain or as %2e; false if there is none. */
static bool skip_dot(struct slice *path)
{
    if (path->len && path->ptr[0] == '.') {
        *path = slice_skip(*path, 1);
        return true;
    }
    if (path->len >= 3 && path->ptr[0] == '%' && path->ptr[1] == '2' && (path->ptr[2] | 0x20) == 'e') {
        *path = slice_skip(*path, 3);
        return true;
    }
    return false;
}

/* Whether a segment of one or two dots begins here; skips it together with the slash that ends it. */
static unsigned skip_dots(struct slice *path)
{
    struct slice rest = *path;
    unsigned dots = 0;
    while (dots < 3 && skip_dot(&rest))
        dots++;
    if (dots == 0 || dots == 3 || (rest.len && !url_class_has(rest.ptr[0], URL_ENDS_AUTHORITY)))
        return 0;
    *path = rest.len && is_slash(rest.ptr[0]) ? slice_skip(rest, 1) : rest;
    return dots;
}

static void drop_last_segment(struct url_writer *out, size_t floor)
{
    if (out->len == floor + 1)
        return;
    const char *slash = memrchr(out->text + floor, '/', out->len - 1 - floor);
    out->len = (size_t)(slash - out->text) + 1;
}

/* Writes the byte at which a span stopped. */
static struct slice write_stop(struct url_writer *out, struct slice path)
{
    if (path.ptr[0] == '\\')
        url_write_byte(out, '/');
    else if (url_class_has(path.ptr[0], URL_IN_PATH))
        return slice_skip(path, write_escape(out, path, URL_IN_PATH));
    else
        url_write_byte(out, path.ptr[0]);
    return slice_skip(path, 1);
}

/* Copies the bytes of a path up to the first that needs a look: one of URL_PATH_STOP, but a dot or an escape only at the
 * start of a segment, where it may be a segment of dots. May set `full`. */
static struct slice write_plain(struct url_writer *out, struct slice path)
{
    size_t room = out->size - out->len, n = path.len < room ? path.len : room, i = 0;
    char *to = out->text + out->len, last = to[-1];
    for (; i < n; i++) {
        char c = path.ptr[i];
        if (url_class_has(c, URL_PATH_STOP) && ((c != '.' && c != '%') || last == '/'))
            break;
        to[i] = last = c;
    }
    out->len += i;
    out->full = i == room && i < path.len && !url_class_has(path.ptr[i], URL_PATH_STOP);
    return slice_skip(path, i);
}

struct slice url_write_path(struct url_writer *out, struct slice input, size_t floor)
{
    while (!out->full) {
        input = write_plain(out, input);
        if (!input.len || url_class_has(input.ptr[0], URL_ENDS_PATH))
            break;
        unsigned dots = out->text[out->len - 1] == '/' ? skip_dots(&input) : 0;
        if (dots == 2)
            drop_last_segment(out, floor);
        else if (dots == 0)
            input = write_stop(out, input);
    }
    return input;
}
