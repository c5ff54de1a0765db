#include "engine/archive/cdxj_key.h"

#include <stdint.h>
#include <stdlib.h>

#include "engine/url/canonical.h"
#include "engine/url/percent.h"
#include "engine/url/url.h"

_Static_assert(CDXJ_KEY_BYTES_MAX >= 3 * URL_BYTES_MAX + 64, "room for any URL, escaped");

struct output {
    char *text;
    size_t len;
};

static void put(struct output *out, char c)
{
    out->text[out->len++] = slice_lower(c);
}

static void put_escaped(struct output *out, char c)
{
    static const char hex[] = "0123456789abcdef";
    put(out, '%');
    put(out, hex[(unsigned char)c >> 4]);
    put(out, hex[c & 15]);
}

/* In place, until nothing is left to unescape; returns the length. */
static size_t unescape(char *text, size_t len)
{
    size_t before;
    do {
        before = len;
        len = 0;
        for (size_t i = 0; i < before; i++) {
            struct slice rest = {text + i, before - i};
            bool is_escape = percent_is_escape(rest);
            text[len++] = is_escape ? percent_byte(rest) : text[i];
            i += is_escape ? 2 : 0;
        }
    } while (len < before);
    return len;
}

/* All that is no visible ASCII character is escaped, and '%' and '#'. */
static void put_plain(struct output *out, char c)
{
    if (c <= ' ' || c == 0x7f || c == '%' || c == '#')
        put_escaped(out, c);
    else
        put(out, c);
}

static size_t www_length(struct slice host)
{
    size_t at = 3;
    if (!slice_starts_with(host, SLICE("www")))
        return 0;
    while (at < host.len && host.ptr[at] >= '0' && host.ptr[at] <= '9')
        at++;
    return at < host.len && host.ptr[at] == '.' ? at + 1 : 0;
}

static void put_host(struct output *out, struct slice host)
{
    host = slice_skip(host, www_length(host));
    while (host.len && host.ptr[host.len - 1] == '.')
        host.len--;
    while (host.len) {
        const char *dot = host.ptr[0] == '[' ? NULL : memrchr(host.ptr, '.', host.len);
        size_t begin = dot ? (size_t)(dot - host.ptr) + 1 : 0;
        for (size_t i = begin; i < host.len; i++)
            put(out, host.ptr[i]);
        if (dot)
            put(out, ',');
        host.len = dot ? begin - 1 : 0;
    }
}

static void put_path(struct output *out, struct slice path)
{
    char last = '\0';
    size_t begin = out->len;
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] != '/' || last != '/')
            put_plain(out, path.ptr[i]);
        last = path.ptr[i];
    }
    if (last == '/' && out->len > begin + 1)
        out->len--;
}

/* An argument of a query; without '=' it has no value, and comes before one whose value is empty. */
struct argument {
    struct slice text;
    size_t name_len;
};

static int compare_slices(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_arguments(const void *left, const void *right)
{
    const struct argument *a = left, *b = right;
    int order =
        compare_slices((struct slice){a->text.ptr, a->name_len}, (struct slice){b->text.ptr, b->name_len});
    return order ? order : compare_slices(slice_skip(a->text, a->name_len), slice_skip(b->text, b->name_len));
}

static struct argument argument_at(const char *begin, const char *end)
{
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    return (struct argument){slice_between(begin, end), (size_t)((equals ? equals : end) - begin)};
}

/* Writes the query, escaped, to `text`, and then its arguments in their order to the key. False: no memory. */
static bool put_query(struct output *out, struct slice query)
{
    char text[3 * URL_BYTES_MAX];
    struct output escaped = {.text = text};
    size_t count = 1;
    for (size_t i = 0; i < query.len; i++) {
        put_plain(&escaped, query.ptr[i]);
        count += query.ptr[i] == '&';
    }
    struct argument *arguments = malloc(count * sizeof *arguments);
    if (!arguments)
        return false;
    const char *begin = text, *end = text + escaped.len;
    for (size_t i = 0; i < count; i++) {
        const char *next = memchr(begin, '&', (size_t)(end - begin));
        arguments[i] = argument_at(begin, next ? next : end);
        begin = next ? next + 1 : end;
    }
    qsort(arguments, count, sizeof *arguments, compare_arguments);
    for (size_t i = 0; i < count; i++) {
        put(out, i ? '&' : '?');
        memcpy(out->text + out->len, arguments[i].text.ptr, arguments[i].text.len);
        out->len += arguments[i].text.len;
    }
    free(arguments);
    return true;
}

/* What has no host is found under its own name. */
static struct slice write_opaque(struct output *out, struct slice url)
{
    if (url.len > CDXJ_KEY_BYTES_MAX / 3)
        return (struct slice){out->text, 0};
    for (size_t i = 0; i < url.len; i++) {
        if (url.ptr[i] >= 0 && (url.ptr[i] <= ' ' || url.ptr[i] == 0x7f))
            put_escaped(out, url.ptr[i]);
        else
            out->text[out->len++] = url.ptr[i];
    }
    return (struct slice){out->text, out->len};
}

struct slice cdxj_key_write(char *buffer, struct slice text)
{
    char url_buffer[URL_BYTES_MAX];
    struct output out = {.text = buffer};
    struct url url;
    url_init(&url, url_buffer, sizeof url_buffer);
    if (url_parse(&url, NULL, text) != URL_OK)
        return write_opaque(&out, slice_trim(text));
    canonical_apply(&url, CANONICAL_FRAGMENT | CANONICAL_USERINFO | CANONICAL_SESSION_IDS);
    put_host(&out, url_host(&url));
    for (size_t i = url.host_end; i < url.path; i++)
        put(&out, url.text[i]);
    put(&out, ')');
    struct slice path = url_path(&url), query = url_query(&url);
    path.len = unescape(url.text + url.path, path.len);
    put_path(&out, path);
    if (query.len > 1) {
        query = slice_skip(query, 1);
        query.len = unescape(url.text + url.query + 1, query.len);
        if (!put_query(&out, query))
            out.len = 0;
    }
    return (struct slice){buffer, out.len};
}
