#include "engine/crawl_log.h"

#include <string.h>

#include "engine/fingerprint.h"
#include "engine/warc.h"

/* Heritrix keeps the last 50 hops. */
enum { HOPS_SHOWN = 50 };

int crawl_log_code(enum fetch_outcome outcome)
{
    if (outcome == FETCH_ROBOTS_DENIED)
        return -9998;
    if (outcome == FETCH_ROBOTS_UNREACHABLE)
        return -61;
    if (outcome == FETCH_HOST_LIMIT || outcome == FETCH_ADDRESS_FULL)
        return -5003;
    if (outcome == FETCH_ADDRESS_FORBIDDEN)
        return -5001;
    if (outcome == FETCH_REDIRECTS_TOO_MANY)
        return -4001;
    if (outcome == FETCH_FRONTIER_FULL || outcome == FETCH_SIEVE_FULL)
        return -60;
    if (outcome < FETCH_NO_DESCRIPTOR)
        return -1; /* DNS */
    if (outcome < FETCH_REQUEST_TOO_LONG)
        return -2; /* connection and TLS */
    if (strstr(outcome_name(outcome), "timeout"))
        return -4;
    return -3; /* the connection was lost, or what came over it was no HTTP */
}

/* The line under construction; what does not fit is cut, but for the end of the line. Written by hand: printf
 * cost as much as the sieve and the frontier together. */
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

/* "LLLR": the depth in hops, of which only the last is known by kind. */
static void put_hops(struct line *line, const struct crawl_log_entry *entry)
{
    char hops[HOPS_SHOWN];
    if (entry->depth == 0 && (entry->kind == '-' || entry->kind == 0)) {
        put(line, SLICE("-"));
        return;
    }
    if (entry->depth > HOPS_SHOWN) {
        put_number(line, entry->depth - HOPS_SHOWN, 0);
        put(line, SLICE("+"));
    }
    unsigned shown = entry->depth > HOPS_SHOWN ? HOPS_SHOWN : entry->depth ? entry->depth : 1;
    memset(hops, 'L', shown);
    hops[shown - 1] = entry->kind;
    put(line, (struct slice){hops, shown});
}

/* 17 digits of the start and how long it took. */
static void put_start(struct line *line, const struct crawl_log_entry *entry)
{
    char date[WARC_DATE_CHARS], digits[17];
    size_t len = 0;
    if (!entry->start_us) {
        put(line, SLICE("-"));
        return;
    }
    warc_write_date(date, entry->start_us);
    for (size_t i = 0; len < sizeof digits; i++)
        if (date[i] >= '0' && date[i] <= '9')
            digits[len++] = date[i];
    put(line, (struct slice){digits, len});
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

/* A MIME type without parameters and without what would break the columns. */
static struct slice plain_mime(struct slice mime)
{
    size_t len = 0;
    while (len < mime.len && len < 100 && mime.ptr[len] > ' ' && mime.ptr[len] < 127 && mime.ptr[len] != ';')
        len++;
    return len ? (struct slice){mime.ptr, len} : SLICE("-");
}

size_t crawl_log_write(char *buffer, const struct crawl_log_entry *entry)
{
    struct line line = {buffer, buffer + CRAWL_LOG_LINE_BYTES_MAX - 1};
    char date[WARC_DATE_CHARS];
    warc_write_date(date, entry->end_us);
    date[23] = 'Z'; /* milliseconds are enough */
    put(&line, (struct slice){date, 24});
    put(&line, SLICE(" "));
    put_number(&line, entry->status ? entry->status : crawl_log_code(entry->outcome), 5);
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
    put_hops(&line, entry);
    put(&line, SLICE(" - "));
    put(&line, plain_mime(entry->mime));
    put_loop(&line, entry->loop);
    put_start(&line, entry);
    put(&line, SLICE(" "));
    put_digest(&line, entry->digest);
    put(&line, SLICE(" - "));
    put(&line, slice_of(outcome_name(entry->outcome)));
    put(&line, entry->annotation.len ? SLICE(",") : SLICE(""));
    put(&line, entry->annotation);
    *line.at++ = '\n';
    return (size_t)(line.at - buffer);
}
