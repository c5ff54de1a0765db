#include "engine/report/log_line.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Enough for every number that is meant; the rest of a longer one is garbage. */
enum { DIGITS_MAX = 18 };

/* The text that is left to read. */
struct rest {
    const char *at, *end;
};

/* Most columns are short: sixteen bytes at a time, without a call. */
static inline const char *find_blank(const char *at, const char *end)
{
#ifdef __SSE2__
    for (const __m128i blanks = _mm_set1_epi8(' '); end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, blanks));
        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    const char *blank = at < end ? memchr(at, ' ', (size_t)(end - at)) : NULL;
    return blank ? blank : end;
}

/* The next column; empty: there is none. Columns are aligned with several blanks. */
static inline struct slice next(struct rest *rest)
{
    const char *begin = rest->at, *end = rest->end;
    while (begin < end && *begin == ' ')
        begin++;
    rest->at = find_blank(begin, end);
    return slice_between(begin, rest->at);
}

/* The digits at the beginning; how many there are. */
static inline size_t read_digits(struct slice text, uint64_t *value)
{
    const char *at = text.ptr, *end = text.ptr + (text.len < DIGITS_MAX ? text.len : DIGITS_MAX);
    uint64_t result = 0;
    for (unsigned digit; at < end && (digit = (unsigned char)(*at - '0')) < 10; at++)
        result = result * 10 + digit;
    *value = result;
    return (size_t)(at - text.ptr);
}

/* The number in `digits` digits at `text`, in *value; false if one is none. */
static inline bool read_fixed(const char *text, unsigned digits, unsigned *value)
{
    unsigned result = 0;
    for (unsigned i = 0; i < digits; i++) {
        unsigned digit = (unsigned char)(text[i] - '0');
        if (digit > 9)
            return false;
        result = result * 10 + digit;
    }
    *value = result;
    return true;
}

/* Days from 1970 to a date of the Gregorian calendar; years are counted from March, so that the leap day is the last. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = year - (month <= 2), m = (month + 9) % 12;
    return (uint64_t)365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* "2026-11-18T00:49:35.532Z" */
static bool read_date(struct slice text, uint64_t *ms)
{
    static _Thread_local char day_text[10];
    static _Thread_local uint64_t day_ms;
    unsigned year, month, day, hour, minute, second, milli;
    if (text.len < 24 || text.ptr[10] != 'T' || !read_fixed(text.ptr + 11, 2, &hour) ||
        !read_fixed(text.ptr + 14, 2, &minute) || !read_fixed(text.ptr + 17, 2, &second) ||
        !read_fixed(text.ptr + 20, 3, &milli) || hour > 23 || minute > 59 || second > 60)
        return false;
    if (memcmp(day_text, text.ptr, sizeof day_text) != 0) { /* most lines have the day of the last one */
        if (!read_fixed(text.ptr, 4, &year) || !read_fixed(text.ptr + 5, 2, &month) ||
            !read_fixed(text.ptr + 8, 2, &day) || year < 1970 || month < 1 || month > 12 || day < 1 ||
            day > 31)
            return false;
        memcpy(day_text, text.ptr, sizeof day_text);
        day_ms = days_of(year, month, day) * 86400000;
    }
    *ms = day_ms + (((uint64_t)hour * 60 + minute) * 60 + second) * 1000 + milli;
    return true;
}

static bool read_status(struct slice text, int *status)
{
    bool is_negative = text.len && text.ptr[0] == '-';
    uint64_t value;
    struct slice digits = slice_skip(text, is_negative);
    size_t len = read_digits(digits, &value);
    if (len == 0 || len != digits.len || len > 5)
        return false;
    *status = is_negative ? -(int)value : (int)value;
    return true;
}

static bool is_dash(struct slice text)
{
    return text.len == 1 && text.ptr[0] == '-';
}

static bool read_size(struct slice text, int64_t *size)
{
    uint64_t value;
    *size = -1;
    if (is_dash(text))
        return true;
    if (text.len == 0 || read_digits(text, &value) != text.len)
        return false;
    *size = (int64_t)value;
    return true;
}

/* "20261118004935526+6": the milliseconds. */
static int64_t read_took(struct slice text)
{
    uint64_t value;
    if (text.len < 19 || text.ptr[17] != '+' || read_digits(slice_skip(text, 18), &value) == 0)
        return -1;
    return (int64_t)value;
}

/* The 13th column: numbers under the keys "v", "o" and "f". Others, of Heritrix or to come, are passed over. */
static void read_extra(struct log_line *line, struct slice text)
{
    uint64_t value;
    for (size_t i = 0; i + 4 < text.len; i++) {
        if (text.ptr[i] != '"' || text.ptr[i + 2] != '"' || text.ptr[i + 3] != ':')
            continue;
        size_t len = read_digits(slice_skip(text, i + 4), &value);
        if (len == 0)
            continue;
        if (text.ptr[i + 1] == 'v')
            line->visit = value;
        else if (text.ptr[i + 1] == 'o')
            line->outlinks = (int64_t)value;
        else if (text.ptr[i + 1] == 'f')
            line->first_byte_ms = (int64_t)value;
        i += 3 + len;
    }
}

bool log_line_read(struct log_line *line, struct slice text)
{
    struct rest rest = {text.ptr, text.ptr + text.len};
    *line = (struct log_line){.outlinks = -1, .first_byte_ms = -1};
    if (!read_date(next(&rest), &line->end_ms) || !read_status(next(&rest), &line->status) ||
        !read_size(next(&rest), &line->size))
        return false;
    line->url = next(&rest);
    line->hops = next(&rest);
    next(&rest); /* via */
    line->mime = next(&rest);
    next(&rest); /* the loop */
    struct slice start = next(&rest);
    if (start.len == 0)
        return false;
    line->took_ms = read_took(start);
    next(&rest); /* the digest */
    line->source = next(&rest);
    line->annotation = next(&rest);
    while (rest.at < rest.end && *rest.at == ' ')
        rest.at++;
    if (rest.end - rest.at > 2 && *rest.at == '{')
        read_extra(line, slice_between(rest.at, rest.end));
    return true;
}

unsigned log_line_depth(struct slice hops)
{
    uint64_t before;
    size_t len = read_digits(hops, &before);
    if (len && len < hops.len && hops.ptr[len] == '+' && before <= UINT16_MAX)
        return (unsigned)(before + hops.len - len - 1);
    return is_dash(hops) ? 0 : (unsigned)hops.len;
}

struct slice log_line_host(struct slice url)
{
    const char *colon = memchr(url.ptr, ':', url.len < 16 ? url.len : 16);
    if (!colon)
        return url;
    size_t begin = (size_t)(colon - url.ptr) + 1;
    if (url.len < begin + 2 || url.ptr[begin] != '/' || url.ptr[begin + 1] != '/')
        return (struct slice){url.ptr, begin};
    const char *slash = memchr(url.ptr + begin + 2, '/', url.len - begin - 2);
    return slash ? slice_between(url.ptr, slash) : url;
}
