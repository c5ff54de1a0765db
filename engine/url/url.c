/* The standard describes one state machine for all schemes. For http and https it falls into parts that can
 * be taken one after another, and this file follows those:
 *
 *     input -> trimmed, tabs and line ends out -> scheme? -> authority? -> path -> query -> fragment
 *
 * Parts that the input omits at its start come from the base. Each part is written to the caller's buffer as
 * it is read; the hot loops (url_write_span, plain_host) copy bytes that need no change. */
#include "engine/url/url.h"

#include <assert.h>

#include "engine/url/url_host.h"
#include "engine/url/url_write.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443

void url_init(struct url *url, char *buffer, size_t size)
{
    *url = (struct url){.text = buffer, .size = (uint16_t)(size < URL_BYTES_MAX ? size : URL_BYTES_MAX)};
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool is_alpha(char c)
{
    c = slice_lower(c);
    return c >= 'a' && c <= 'z';
}

static bool is_scheme_byte(char c)
{
    return is_alpha(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/* Reads "scheme:" off the input. `len` is the length of the scheme's name, 0 if the input has none. */
static enum url_error read_scheme(struct slice *input, size_t *len)
{
    size_t i = 0;
    *len = 0;
    if (!input->len || !is_alpha(input->ptr[0]))
        return URL_OK;
    while (i < input->len && is_scheme_byte(input->ptr[i]))
        i++;
    if (i == input->len || input->ptr[i] != ':')
        return URL_OK;
    struct slice scheme = {input->ptr, i};
    if (!slice_equals_nocase(scheme, SLICE("https")) && !slice_equals_nocase(scheme, SLICE("http")))
        return URL_NOT_HTTP;
    *len = i;
    *input = slice_skip(*input, i + 1);
    return URL_OK;
}

/* The userinfo before the last '@' of an authority. */
static void write_userinfo(struct url_writer *out, struct slice userinfo)
{
    const char *colon = memchr(userinfo.ptr, ':', userinfo.len);
    struct slice user = colon ? slice_between(userinfo.ptr, colon) : userinfo;
    struct slice password = slice_skip(userinfo, colon ? user.len + 1 : user.len);
    if (!user.len && !password.len)
        return;
    url_write_escaped(out, user, URL_IN_USERINFO);
    if (password.len) {
        url_write_byte(out, ':');
        url_write_escaped(out, password, URL_IN_USERINFO);
    }
    url_write_byte(out, '@');
}

/* The colon that begins the port, or NULL; colons within brackets belong to an IPv6 address. */
static const char *find_port(struct slice text)
{
    bool inside = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '[')
            inside = true;
        else if (text.ptr[i] == ']')
            inside = false;
        else if (text.ptr[i] == ':' && !inside)
            return text.ptr + i;
    }
    return NULL;
}

static enum url_error write_port(struct url *url, struct url_writer *out, struct slice digits)
{
    uint32_t port = 0;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return URL_BAD_PORT;
        port = port * 10 + (uint32_t)(digits.ptr[i] - '0');
        if (port > UINT16_MAX)
            return URL_BAD_PORT;
    }
    if (!digits.len || port == url->port)
        return URL_OK;
    url->port = (uint16_t)port;
    while (digits.len > 1 && digits.ptr[0] == '0')
        digits = slice_skip(digits, 1);
    url_write_byte(out, ':');
    url_write(out, digits);
    return URL_OK;
}

static enum url_error write_authority(struct url *url, struct url_writer *out, struct slice authority)
{
    const char *at = memrchr(authority.ptr, '@', authority.len);
    if (at) {
        write_userinfo(out, slice_between(authority.ptr, at));
        authority = slice_skip(authority, (size_t)(at - authority.ptr) + 1);
    }
    const char *colon = find_port(authority);
    struct slice host = colon ? slice_between(authority.ptr, colon) : authority;
    url->host = (uint16_t)out->len;
    enum url_error error = url_host_write(out, host);
    if (error != URL_OK)
        return error;
    url->host_end = (uint16_t)out->len;
    return colon ? write_port(url, out, slice_skip(authority, host.len + 1)) : URL_OK;
}

/* The bytes of ":digits" where the authority ends with it; 0 if something else is there. */
static size_t plain_port(struct slice input)
{
    size_t i = 1;
    while (i < input.len && input.ptr[i] >= '0' && input.ptr[i] <= '9')
        i++;
    return i == input.len || url_class_has(input.ptr[i], URL_ENDS_AUTHORITY) ? i : 0;
}

/* The common authority: a name of plain bytes that does not end in a number, no userinfo, and then perhaps a
 * port, which is not written. Returns the length of the name, 0 if it is of another kind and nothing is
 * written. */
static size_t plain_host(struct url_writer *out, struct slice input)
{
    size_t room = out->size - out->len, n = input.len < room ? input.len : room, i = 0;
    char *to = out->text + out->len;
    for (; i < n && url_class_has(input.ptr[i], URL_HOST_PLAIN); i++)
        to[i] = slice_lower(input.ptr[i]);
    if (i == 0 || (i == n && n < input.len))
        return 0;
    if (i < n && !url_class_has(input.ptr[i], URL_ENDS_AUTHORITY) &&
        !(input.ptr[i] == ':' && plain_port(slice_skip(input, i))))
        return 0;
    size_t label = i;
    while (label > 0 && to[label - 1] != '.')
        label--;
    if (label == i || (to[label] >= '0' && to[label] <= '9'))
        return 0;
    out->len += i;
    return i;
}

/* Reads the authority off the input, which begins with it, and writes it. */
static enum url_error parse_authority(struct url *url, struct url_writer *out, struct slice *input)
{
    size_t len = plain_host(out, *input);
    if (len) {
        url->host_end = (uint16_t)out->len;
        url->host = (uint16_t)(out->len - len);
        if (len < input->len && input->ptr[len] == ':') {
            size_t port = plain_port(slice_skip(*input, len));
            enum url_error error = write_port(url, out, (struct slice){input->ptr + len + 1, port - 1});
            if (error != URL_OK)
                return error;
            len += port;
        }
    } else {
        while (len < input->len && !url_class_has(input->ptr[len], URL_ENDS_AUTHORITY))
            len++;
        enum url_error error = write_authority(url, out, (struct slice){input->ptr, len});
        if (error != URL_OK)
            return error;
    }
    *input = slice_skip(*input, len);
    url->path = (uint16_t)out->len;
    return URL_OK;
}

/* Everything up to the path, for an input that names its host. */
static enum url_error parse_front(struct url *url, struct url_writer *out, struct slice *input)
{
    url_write(out, url->scheme_len == 5 ? SLICE("https://") : SLICE("http://"));
    url->port = url->scheme_len == 5 ? HTTPS_PORT : HTTP_PORT;
    while (input->len && is_slash(input->ptr[0]))
        *input = slice_skip(*input, 1);
    return parse_authority(url, out, input);
}

/* The first `len` bytes of the base. */
static void copy_front(struct url *url, struct url_writer *out, const struct url *base, size_t len)
{
    url_write(out, (struct slice){base->text, len});
    url->scheme_len = base->scheme_len;
    url->host = base->host;
    url->host_end = base->host_end;
    url->path = base->path;
    url->port = base->port;
}

static void note_folder(struct url *url, const struct url_writer *out)
{
    const char *slash = memrchr(out->text + url->path, '/', out->len - url->path);
    url->folder = (uint16_t)(slash + 1 - out->text);
}

/* `input` begins with '?' or '#', or is empty. */
static void parse_query_fragment(struct url *url, struct url_writer *out, struct slice input)
{
    if (input.len && input.ptr[0] == '?') {
        const char *hash = memchr(input.ptr, '#', input.len);
        struct slice query = hash ? slice_between(input.ptr, hash) : input;
        url_write_escaped(out, query, URL_IN_QUERY);
        input = slice_skip(input, query.len);
    }
    url->fragment = (uint16_t)out->len;
    if (input.len)
        url_write_escaped(out, input, URL_IN_FRAGMENT);
}

/* `input` is what follows the folder that is written already, which ends in '/'. */
static enum url_error parse_tail(struct url *url, struct url_writer *out, struct slice input)
{
    input = url_write_path(out, input, url->path);
    if (out->full)
        return URL_TOO_LONG;
    note_folder(url, out);
    url->query = (uint16_t)out->len;
    parse_query_fragment(url, out, input);
    url->len = (uint16_t)out->len;
    return out->full ? URL_TOO_LONG : URL_OK;
}

/* The path of an input that named its host, or that begins with one slash. */
static enum url_error parse_root(struct url *url, struct url_writer *out, struct slice input)
{
    url_write_byte(out, '/');
    if (out->full)
        return URL_TOO_LONG;
    if (input.len && is_slash(input.ptr[0]))
        input = slice_skip(input, 1);
    return parse_tail(url, out, input);
}

/* An input without a path: "?query", "#fragment" or nothing at all. */
static enum url_error parse_same_path(struct url *url, struct url_writer *out, struct slice input,
                                      const struct url *base)
{
    bool has_query = input.len && input.ptr[0] == '?';
    copy_front(url, out, base, has_query ? base->query : base->fragment);
    url->folder = base->folder;
    url->query = base->query;
    parse_query_fragment(url, out, input);
    url->len = (uint16_t)out->len;
    return out->full ? URL_TOO_LONG : URL_OK;
}

static enum url_error parse_relative(struct url *url, struct url_writer *out, struct slice input,
                                     const struct url *base)
{
    if (!input.len || url_class_has(input.ptr[0], URL_ENDS_PATH))
        return parse_same_path(url, out, input, base);
    if (!is_slash(input.ptr[0])) {
        copy_front(url, out, base, base->folder);
        return out->full ? URL_TOO_LONG : parse_tail(url, out, input);
    }
    if (input.len >= 2 && is_slash(input.ptr[1])) {
        url->scheme_len = base->scheme_len;
        enum url_error error = parse_front(url, out, &input);
        return error != URL_OK ? error : parse_root(url, out, input);
    }
    copy_front(url, out, base, base->path);
    return parse_root(url, out, input);
}

/* Whether the input begins with scheme and authority of the base, byte for byte: most links that name their
 * host name the page's. */
static bool repeats_front(struct slice input, const struct url *base)
{
    return base && input.len > base->path && input.ptr[base->path] == '/' &&
           memcmp(input.ptr, base->text, base->path) == 0;
}

/* `input` is trimmed and has no tabs and line ends. */
static enum url_error parse_clean(struct url *url, const struct url *base, struct slice input)
{
    struct url_writer out = {.text = url->text, .size = url->size, .query_raw = url->query_raw};
    size_t scheme_len;
    if (input.len <= URL_BYTES_MAX && repeats_front(input, base)) {
        copy_front(url, &out, base, base->path);
        return parse_root(url, &out, slice_skip(input, base->path));
    }
    enum url_error error = read_scheme(&input, &scheme_len);
    if (error != URL_OK)
        return error;
    if (input.len > URL_BYTES_MAX)
        return URL_TOO_LONG;
    bool two_slashes = input.len >= 2 && input.ptr[0] == '/' && input.ptr[1] == '/';
    if (scheme_len == 0 || (base && base->scheme_len == scheme_len && !two_slashes))
        return base ? parse_relative(url, &out, input, base) : URL_RELATIVE;
    url->scheme_len = (uint8_t)scheme_len;
    error = parse_front(url, &out, &input);
    return error != URL_OK ? error : parse_root(url, &out, input);
}

/* Whether any byte is below 14, as tabs and line ends are. Eight bytes at a time, the last ones perhaps twice. */
static bool has_controls(struct slice input)
{
    const uint64_t ones = 0x0101010101010101, highs = ones << 7;
    uint64_t found = 0, word;
    bool any = false;
    if (input.len < sizeof word) {
        for (size_t i = 0; i < input.len; i++)
            any |= (uint8_t)input.ptr[i] < 14;
        return any;
    }
    const char *last = input.ptr + input.len - sizeof word;
    for (const char *at = input.ptr; at < last; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        found |= (word - ones * 14) & ~word;
    }
    memcpy(&word, last, sizeof word);
    found |= (word - ones * 14) & ~word;
    return found & highs;
}

static __attribute__((noinline)) enum url_error parse_with_controls(struct url *url, const struct url *base,
                                                                    struct slice input)
{
    char clean[URL_BYTES_MAX + sizeof "https:"]; /* one too many: parse_clean refuses it as too long */
    size_t len = 0;
    for (size_t i = 0; i < input.len && len < sizeof clean; i++) {
        char c = input.ptr[i];
        if (c != '\t' && c != '\n' && c != '\r')
            clean[len++] = c;
    }
    return parse_clean(url, base, (struct slice){clean, len});
}

enum url_error url_parse(struct url *url, const struct url *base, struct slice input)
{
    assert(!base || base->text != url->text);
    while (input.len && (uint8_t)input.ptr[0] <= ' ')
        input = slice_skip(input, 1);
    while (input.len && (uint8_t)input.ptr[input.len - 1] <= ' ')
        input.len--;
    if (has_controls(input))
        return parse_with_controls(url, base, input);
    return parse_clean(url, base, input);
}

void url_open(struct url *url, struct slice text)
{
    const char *begin = text.ptr, *end = begin + text.len;
    assert(text.len <= URL_BYTES_MAX && slice_starts_with(text, SLICE("http")));
    *url =
        (struct url){.text = (char *)(uintptr_t)begin, .size = (uint16_t)text.len, .len = (uint16_t)text.len};
    url->scheme_len = begin[4] == 's' ? 5 : 4;
    const char *authority = begin + url->scheme_len + 3;
    const char *path = memchr(authority, '/', (size_t)(end - authority));
    const char *at = memrchr(authority, '@', (size_t)(path - authority));
    const char *host = at ? at + 1 : authority;
    const char *colon = find_port(slice_between(host, path));
    const char *hash = memchr(path, '#', (size_t)(end - path));
    const char *page_end = hash ? hash : end;
    const char *query = memchr(path, '?', (size_t)(page_end - path));
    url->host = (uint16_t)(host - begin);
    url->host_end = (uint16_t)((colon ? colon : path) - begin);
    url->path = (uint16_t)(path - begin);
    url->fragment = (uint16_t)(page_end - begin);
    url->query = (uint16_t)((query ? query : page_end) - begin);
    url->folder = (uint16_t)((const char *)memrchr(path, '/', url->query - url->path) + 1 - begin);
    url->port = url->scheme_len == 5 ? HTTPS_PORT : HTTP_PORT;
    if (colon) {
        url->port = 0;
        for (const char *digit = colon + 1; digit < path; digit++)
            url->port = (uint16_t)(url->port * 10 + (*digit - '0'));
    }
}

struct slice url_join_text(struct slice host_key, struct slice path_query, char *buffer, size_t size)
{
    size_t len = host_key.len + path_query.len;
    if (len > size)
        return (struct slice){buffer, 0};
    memcpy(buffer, host_key.ptr, host_key.len);
    memcpy(buffer + host_key.len, path_query.ptr, path_query.len);
    return (struct slice){buffer, len};
}

bool url_join(struct url *url, struct slice host_key, struct slice path_query)
{
    uint16_t size = url->size;
    struct slice text = url_join_text(host_key, path_query, url->text, size);
    if (text.len == 0)
        return false;
    url_open(url, text);
    url->size = size;
    return true;
}

bool url_copy(struct url *copy, const struct url *url)
{
    char *text = copy->text;
    uint16_t size = copy->size;
    if (url->len > size)
        return false;
    *copy = *url;
    copy->text = text;
    copy->size = size;
    memcpy(text, url->text, url->len);
    return true;
}

struct slice url_host_key(const struct url *url)
{
    assert(!url_has_userinfo(url));
    return url_part(url, 0, url->path);
}

const char *url_error_text(enum url_error error)
{
    switch (error) {
    case URL_OK:
        return "ok";
    case URL_NOT_HTTP:
        return "not http or https";
    case URL_RELATIVE:
        return "relative, without a base";
    case URL_EMPTY_HOST:
        return "empty host";
    case URL_BAD_HOST:
        return "bad host";
    case URL_BAD_ADDRESS:
        return "bad IP address";
    case URL_BAD_PORT:
        return "bad port";
    case URL_TOO_LONG:
        return "too long";
    }
    return "unknown";
}
