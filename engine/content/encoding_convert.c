/* Conversion between encodings, by iconv except for windows-1252. */
#include "engine/content/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>

#include "engine/content/entity.h"
#include "engine/content/limits.h"
#include "engine/url/utf8.h"

#define HIGH_BITS 0x8080808080808080u /* of eight bytes: none is set in ASCII */
#define NOT_OPEN  ((iconv_t)-1)

/* iconv_open takes a lock and reads files: once per encoding and thread is enough. */
static _Thread_local struct {
    const struct encoding *encoding;
    iconv_t decoder; /* to UTF-8 */
    iconv_t encoder; /* from UTF-8 */
} open_now = {NULL, NOT_OPEN, NOT_OPEN};

void encoding_fini(void)
{
    if (open_now.decoder != NOT_OPEN)
        iconv_close(open_now.decoder);
    if (open_now.encoder != NOT_OPEN)
        iconv_close(open_now.encoder);
    open_now.decoder = open_now.encoder = NOT_OPEN;
    open_now.encoding = NULL;
}

static void use(const struct encoding *encoding)
{
    if (open_now.encoding == encoding)
        return;
    encoding_fini();
    open_now.encoding = encoding;
    open_now.decoder = iconv_open("UTF-8", encoding->iconv);
    open_now.encoder = iconv_open(encoding->iconv, "UTF-8");
}

bool encoding_is_utf8(struct slice text)
{
    while (text.len) {
        uint64_t word;
        if (text.len >= sizeof(word)) {
            memcpy(&word, text.ptr, sizeof(word));
            if ((word & HIGH_BITS) == 0) {
                text = slice_skip(text, sizeof(word));
                continue;
            }
        }
        bool good = true;
        size_t len = text.ptr[0] & 0x80 ? utf8_length(text, &good) : 1;
        if (!good) /* a sequence that is right so far and ends with the text */
            return len == text.len && (unsigned char)text.ptr[0] >= 0xc2 &&
                   (unsigned char)text.ptr[0] <= 0xf4;
        text = slice_skip(text, len);
    }
    return true;
}

bool encoding_is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] & 0x80)
            return false;
    return true;
}

size_t encoding_wide_bytes_max(size_t len)
{
    return len + len / 2 + encoding_utf8_bytes_max(ENCODING_PART_BYTES + 2);
}

/* UTF-16 is cut before the second half of a pair. ISO-2022-JP returns to ASCII at the end of each line. */
struct slice encoding_wide_part(const struct encoding *encoding, struct slice document)
{
    if (document.len <= ENCODING_PART_BYTES)
        return document;
    if (strncmp(encoding->name, "UTF-16", 6) == 0) {
        size_t high = strcmp(encoding->name, "UTF-16LE") == 0;
        bool is_cut = ((unsigned char)document.ptr[ENCODING_PART_BYTES + high] & 0xfc) == 0xdc;
        return (struct slice){document.ptr, ENCODING_PART_BYTES + (is_cut ? 2 : 0)};
    }
    const char *line = memrchr(document.ptr, '\n', ENCODING_PART_BYTES);
    return (struct slice){document.ptr, line ? (size_t)(line - document.ptr) + 1 : ENCODING_PART_BYTES};
}

static size_t from_windows_1252(struct slice text, char *out)
{
    char *to = out;
    while (text.len) {
        uint64_t word = ~0ull;
        if (text.len >= sizeof(word))
            memcpy(&word, text.ptr, sizeof(word));
        if ((word & HIGH_BITS) == 0) {
            memcpy(to, &word, sizeof(word));
            to += sizeof(word);
            text = slice_skip(text, sizeof(word));
        } else {
            to += entity_put_utf8(entity_windows_1252((unsigned char)text.ptr[0]), to);
            text = slice_skip(text, 1);
        }
    }
    return (size_t)(to - out);
}

static size_t copy_utf8(struct slice text, char *out)
{
    char *to = out;
    while (text.len) {
        bool good = true;
        size_t len = text.ptr[0] & 0x80 ? utf8_length(text, &good) : 1;
        if (good) {
            memcpy(to, text.ptr, len);
            to += len;
        } else {
            to += entity_put_utf8(0xfffd, to);
        }
        text = slice_skip(text, len);
    }
    return (size_t)(to - out);
}

size_t encoding_to_utf8(const struct encoding *encoding, struct slice text, char *out)
{
    if (encoding == encoding_windows_1252)
        return from_windows_1252(text, out);
    if (encoding == encoding_utf8)
        return copy_utf8(text, out);
    use(encoding);
    if (open_now.decoder == NOT_OPEN) /* the system lacks this module: only ASCII can be read */
        return copy_utf8(text, out);
    iconv(open_now.decoder, NULL, NULL, NULL, NULL);
    char *from = (char *)(uintptr_t)text.ptr, *to = out;
    size_t left = text.len, room = encoding_utf8_bytes_max(text.len);
    size_t unit =
        strncmp(encoding->name, "UTF-16", 6) == 0 ? 2 : 1; /* half of a pair must not shift the rest */
    while (left) {
        if (iconv(open_now.decoder, &from, &left, &to, &room) != (size_t)-1)
            break;
        if (room < 3 || left == 0)
            break;
        to += entity_put_utf8(0xfffd, to);
        room -= 3;
        if (errno == EINVAL) /* the last character is cut off */
            break;
        size_t skipped = unit < left ? unit : left;
        from += skipped;
        left -= skipped;
    }
    /* Flush: some decoders hold the last letter back in case an accent follows. */
    iconv(open_now.decoder, NULL, NULL, &to, &room);
    return (size_t)(to - out);
}

struct slice encoding_readable_start(const struct encoding *wide, struct slice document, char *room)
{
    struct slice start = {document.ptr, document.len < SNIFF_BYTES_MAX ? document.len : SNIFF_BYTES_MAX};
    if (!wide)
        return start;
    start = slice_skip(start, encoding_bom(start));
    return (struct slice){room, encoding_to_utf8(wide, start, room)};
}

static unsigned utf8_code(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    unsigned code = len == 1 ? p[0] : p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

static char *put_escaped(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";
    *to++ = '%';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

/* One character of a query in `encoding`; what it lacks becomes an escaped numeric reference. */
static char *put_character(const struct encoding *encoding, struct slice character, char *to)
{
    char bytes[8], *end = bytes, *from = (char *)(uintptr_t)character.ptr;
    size_t left = character.len, room = sizeof(bytes);
    use(encoding);
    bool is_known =
        open_now.encoder != NOT_OPEN && iconv(open_now.encoder, &from, &left, &end, &room) == 0 && left == 0;
    if (is_known) {
        for (char *byte = bytes; byte < end; byte++)
            to = put_escaped(to, (unsigned char)*byte);
        return to;
    }
    char digits[8], *digit = digits + sizeof(digits);
    for (unsigned code = utf8_code(character.ptr, character.len); code; code /= 10)
        *--digit = (char)('0' + code % 10);
    memcpy(to, "%26%23", 6);
    to += 6;
    while (digit < digits + sizeof(digits))
        *to++ = *digit++;
    memcpy(to, "%3B", 3);
    return to + 3;
}

size_t encoding_query(const struct encoding *encoding, struct slice url, char *out)
{
    char *to = out;
    bool in_query = false, in_fragment = false;
    while (url.len) {
        bool good = true;
        size_t len = url.ptr[0] & 0x80 ? utf8_length(url, &good) : 1;
        in_fragment |= url.ptr[0] == '#';
        in_query = !in_fragment && (in_query || url.ptr[0] == '?');
        if (len > 1 && good && in_query && encoding->iconv && !encoding->is_wide) {
            to = put_character(encoding, (struct slice){url.ptr, len}, to);
        } else {
            memcpy(to, url.ptr, len);
            to += len;
        }
        url = slice_skip(url, len);
    }
    return (size_t)(to - out);
}
