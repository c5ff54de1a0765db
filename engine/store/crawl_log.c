#include "engine/store/crawl_log.h"

#include <string.h>

#include "engine/content/fingerprint.h"
#include "engine/store/warc.h"

/* The line under construction. Text that does not fit is cut, but the newline always fits. Numbers are
 * formatted by hand because printf took as long as the sieve and the frontier together. */
struct line {
    char *at, *end;
};

static void put(struct line *line, struct slice text)
{
    size_t room = (size_t)(line->end - line->at), len = text.len < room ? text.len : room;
    if (len)
        memcpy(line->at, text.ptr, len);
    line->at += len;
}

/* A number, with blanks before it up to `width`. */
static void put_number(struct line *line, int64_t number, size_t width)
{
    char digits[32];
    size_t begin = sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do
        digits[--begin] = (char)('0' + rest % 10);
    while ((rest /= 10));
    if (number < 0)
        digits[--begin] = '-';
    while (sizeof digits - begin < width)
        digits[--begin] = ' ';
    put(line, (struct slice){digits + begin, sizeof digits - begin});
}

/* The start in 17 digits, and the duration. */
static void put_start(struct line *line, const struct crawl_log_entry *entry)
{
    char digits[17];
    if (!entry->start_us) {
        put(line, SLICE("-"));
        return;
    }
    warc_write_date_digits(digits, sizeof digits, entry->start_us);
    put(line, (struct slice){digits, sizeof digits});
    put(line, SLICE("+"));
    put_number(line, (int64_t)((entry->end_us - entry->start_us) / 1000), 0);
}

static void put_digest(struct line *line, const unsigned char *digest)
{
    char text[FINGERPRINT_BASE32_CHARS];
    if (!digest) {
        put(line, SLICE("-"));
        return;
    }
    fingerprint_base32(digest, text);
    put(line, SLICE("sha1:"));
    put(line, (struct slice){text, sizeof text});
}

static void put_loop(struct line *line, unsigned loop)
{
    put(line, loop < 10 ? SLICE(" #00") : loop < 100 ? SLICE(" #0") : SLICE(" #"));
    put_number(line, loop, 0);
    put(line, SLICE(" "));
}

/* A MIME type without parameters, cut at the first byte that would break the columns. */
static struct slice plain_mime(struct slice mime)
{
    size_t len = 0;
    while (len < mime.len && len < 100 && mime.ptr[len] > ' ' && mime.ptr[len] < 127 && mime.ptr[len] != ';')
        len++;
    return len ? (struct slice){mime.ptr, len} : SLICE("-");
}

static void put_or_dash(struct line *line, struct slice text)
{
    put(line, text.len ? text : SLICE("-"));
}

/* Annotations are separated by commas; `first` is where they begin. */
static void put_annotation(struct line *line, const char *first, struct slice text)
{
    if (text.len && line->at != first)
        put(line, SLICE(","));
    put(line, text);
}

static void put_annotations(struct line *line, const struct crawl_log_entry *entry)
{
    char tries[16];
    const char *first = line->at;
    if (entry->outcome != FETCH_DONE)
        put_annotation(line, first, slice_of(fetch_outcome_name(entry->outcome)));
    if (entry->tries > 1) {
        struct line text = {tries, tries + sizeof tries};
        put_number(&text, entry->tries, 0);
        put(&text, SLICE("t"));
        put_annotation(line, first, slice_between(tries, text.at));
    }
    put_annotation(line, first, entry->annotation);
    if (line->at == first)
        put(line, SLICE("-"));
}

/* `,"key":value`, or without the comma if it is the first since `first`. */
static void put_member(struct line *line, const char *first, struct slice key, int64_t value)
{
    put(line, line->at == first ? SLICE("\"") : SLICE(",\""));
    put(line, key);
    put(line, SLICE("\":"));
    put_number(line, value, 0);
}

static void put_extra(struct line *line, const struct crawl_log_extra *extra)
{
    put(line, SLICE(" {"));
    const char *first = line->at;
    if (extra->visit)
        put_member(line, first, SLICE("v"), (int64_t)extra->visit);
    if (extra->outlinks >= 0)
        put_member(line, first, SLICE("o"), extra->outlinks);
    if (extra->first_byte_ms >= 0)
        put_member(line, first, SLICE("f"), extra->first_byte_ms);
    put(line, SLICE("}"));
}

size_t crawl_log_write(char *buffer, const struct crawl_log_entry *entry)
{
    struct line line = {buffer, buffer + CRAWL_LOG_LINE_BYTES_MAX - 1};
    char date[WARC_DATE_CHARS];
    warc_write_date(date, entry->end_us);
    date[23] = 'Z'; /* milliseconds are enough */
    put(&line, (struct slice){date, 24});
    put(&line, SLICE(" "));
    put_number(&line, entry->status ? entry->status : fetch_outcome_log_code(entry->outcome), 5);
    if (entry->size >= 0) {
        put(&line, SLICE(" "));
        put_number(&line, entry->size, 10);
    } else {
        put(&line, SLICE("          -"));
    }
    put(&line, SLICE(" "));
    put(&line, entry->url_host);
    put(&line, entry->url_path);
    put(&line, SLICE(" "));
    put_or_dash(&line, entry->hops);
    put(&line, SLICE(" "));
    put_or_dash(&line, entry->via);
    put(&line, SLICE(" "));
    put(&line, plain_mime(entry->mime));
    put_loop(&line, entry->loop);
    put_start(&line, entry);
    put(&line, SLICE(" "));
    put_digest(&line, entry->digest);
    put(&line, SLICE(" "));
    put_or_dash(&line, entry->source);
    put(&line, SLICE(" "));
    put_annotations(&line, entry);
    if (entry->has_extra)
        put_extra(&line, &entry->extra);
    *line.at++ = '\n';
    return (size_t)(line.at - buffer);
}
