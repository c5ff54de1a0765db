#include "engine/store/jsonl.h"

#include <string.h>

#include "engine/content/fingerprint.h"
#include "engine/store/warc.h"
#include "engine/url/utf8.h"

/* The line under construction. */
struct line {
    char *at, *end;
    bool is_full; /* something did not fit */
};

static void put(struct line *line, struct slice text)
{
    if ((size_t)(line->end - line->at) < text.len) {
        line->is_full = true;
        line->end = line->at; /* nothing fits behind what is missing */
        return;
    }
    if (text.len)
        memcpy(line->at, text.ptr, text.len);
    line->at += text.len;
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t begin = sizeof digits;
    do
        digits[--begin] = (char)('0' + number % 10);
    while ((number /= 10));
    put(line, (struct slice){digits + begin, sizeof digits - begin});
}

/* Whether a byte stands for itself within a string. */
static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/* An ASCII character that may not stand in a string as it is. */
static void put_escaped(struct line *line, char c)
{
    static const char names[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *name = c ? strchr(names, c) : NULL;
    if (name)
        put(line, (struct slice){(char[]){'\\', letters[name - names]}, 2});
    else
        put(line, (struct slice){(char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6});
}

static void put_string(struct line *line, struct slice text)
{
    put(line, SLICE("\""));
    while (text.len && !line->is_full) {
        size_t len = 0;
        while (len < text.len && is_plain(text.ptr[len]))
            len++;
        if (len) {
            put(line, (struct slice){text.ptr, len});
        } else if (text.ptr[0] & 0x80) {
            bool good;
            len = utf8_length(text, &good);
            put(line, good ? (struct slice){text.ptr, len} : SLICE("\xef\xbf\xbd"));
        } else {
            put_escaped(line, text.ptr[0]);
            len = 1;
        }
        text = slice_skip(text, len);
    }
    put(line, SLICE("\""));
}

/* A member whose value is a string, unless that is empty. `name` has its punctuation with it. */
static void put_member(struct line *line, struct slice name, struct slice value)
{
    if (value.len == 0)
        return;
    put(line, name);
    put_string(line, value);
}

/* A MIME type without its parameters. */
static struct slice plain_type(struct slice type)
{
    const char *end = type.len ? memchr(type.ptr, ';', type.len) : NULL;
    return slice_trim(end ? slice_between(type.ptr, end) : type);
}

/* The text up to its bound, without the first part of a character that is cut. */
static struct slice bounded_text(struct slice text)
{
    size_t len = JSONL_TEXT_BYTES_MAX;
    if (text.len <= len)
        return text;
    for (int i = 0; i < 3 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80; i++)
        len--;
    return (struct slice){text.ptr, len};
}

static void put_date(struct line *line, uint64_t date_us)
{
    char date[WARC_DATE_CHARS];
    warc_write_date(date, date_us);
    put(line, SLICE(", \"date\": \""));
    put(line, (struct slice){date, sizeof date});
    put(line, SLICE("\""));
}

static void put_digest(struct line *line, const unsigned char *digest)
{
    char text[FINGERPRINT_BASE32_CHARS];
    if (!digest)
        return;
    fingerprint_base32(digest, text);
    put(line, SLICE(", \"digest\": \"sha1:"));
    put(line, (struct slice){text, sizeof text});
    put(line, SLICE("\""));
}

size_t jsonl_write(char *buffer, size_t size, const struct jsonl_page *page)
{
    struct line line = {.at = buffer, .end = buffer + size};
    struct slice text = bounded_text(page->text);
    put(&line, SLICE("{\"url\": "));
    put_string(&line, page->url);
    put(&line, SLICE(", \"status\": "));
    put_number(&line, page->status > 0 ? (uint64_t)page->status : 0);
    put_member(&line, SLICE(", \"type\": "), plain_type(page->type));
    put_date(&line, page->date_us);
    put(&line, SLICE(", \"bytes\": "));
    put_number(&line, page->bytes);
    put_digest(&line, page->digest);
    put_member(&line, SLICE(", \"truncated\": "), page->truncated);
    put_member(&line, SLICE(", \"title\": "), page->title);
    put_member(&line, SLICE(", \"text\": "), text);
    if (page->is_text_cut || text.len < page->text.len)
        put(&line, SLICE(", \"text_cut\": true"));
    put(&line, SLICE("}\n"));
    return line.is_full ? 0 : (size_t)(line.at - buffer);
}

size_t jsonl_bytes_max(const struct jsonl_page *page)
{
    size_t text = page->text.len < JSONL_TEXT_BYTES_MAX ? page->text.len : JSONL_TEXT_BYTES_MAX;
    size_t strings = page->url.len + page->type.len + page->truncated.len + page->title.len + text;
    return JSONL_FRAME_BYTES + JSONL_ESCAPE_BYTES * strings;
}
