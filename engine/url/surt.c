#include "engine/url/surt.h"

#include <assert.h>

struct output {
    char *text;
    size_t len;
};

static void put(struct output *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        out->text[out->len++] = slice_lower(bytes.ptr[i]);
}

static void put_reversed(struct output *out, struct slice host)
{
    while (host.len) {
        const char *dot = memrchr(host.ptr, '.', host.len);
        size_t begin = dot ? (size_t)(dot - host.ptr) + 1 : 0;
        put(out, slice_skip(host, begin));
        put(out, SLICE(","));
        host.len = dot ? begin - 1 : 0;
    }
}

/* Writes everything before the closing bracket. */
static void put_authority(struct output *out, const struct url *url, enum surt_scheme scheme)
{
    struct slice host = url_host(url);
    put(out, scheme == SURT_AS_HTTP ? SLICE("http") : url_scheme(url));
    put(out, SLICE("://("));
    if (url_host_is_address(host) && host.ptr[0] != '[')
        put(out, host);
    else
        put_reversed(out, host);
    put(out, url_part(url, url->host_end, url->path));
    if (url_has_userinfo(url)) {
        put(out, SLICE("@"));
        put(out, url_userinfo(url));
    }
}

struct slice surt_write(char *buffer, const struct url *url, enum surt_scheme scheme)
{
    struct output out = {.text = buffer};
    put_authority(&out, url, scheme);
    put(&out, SLICE(")"));
    put(&out, url_path_query(url));
    assert(out.len <= SURT_BYTES_MAX);
    return (struct slice){buffer, out.len};
}

/* People write "example.org" and "example.org:8080/x", so only a ':' before any dot ends a scheme. */
static bool has_scheme(struct slice seed)
{
    for (size_t i = 0; i < seed.len; i++)
        if (seed.ptr[i] == ':' || seed.ptr[i] == '.')
            return seed.ptr[i] == ':';
    return false;
}

/* Whether a slash follows the authority: url_parse adds the one that a person left out. */
static bool has_path(struct slice seed)
{
    const char *slashes = memmem(seed.ptr, seed.len, "//", 2);
    if (slashes)
        seed = slice_skip(seed, (size_t)(slashes - seed.ptr) + 2);
    return memchr(seed.ptr, '/', seed.len) != NULL;
}

enum url_error surt_prefix(char *buffer, struct slice seed, struct slice *prefix)
{
    char text[URL_BYTES_MAX], with_scheme[URL_BYTES_MAX];
    struct url url;
    seed = slice_trim(seed);
    if (!has_scheme(seed)) {
        struct slice http = SLICE("http://");
        if (seed.len > sizeof with_scheme - http.len)
            return URL_TOO_LONG;
        memcpy(with_scheme, http.ptr, http.len);
        memcpy(with_scheme + http.len, seed.ptr, seed.len);
        seed = (struct slice){with_scheme, http.len + seed.len};
    }
    url_init(&url, text, sizeof text);
    enum url_error error = url_parse(&url, NULL, seed);
    if (error != URL_OK)
        return error;
    struct output out = {.text = buffer};
    put_authority(&out, &url, SURT_AS_HTTP);
    if (has_path(seed)) {
        const char *slash = memrchr(url.text + url.path, '/', url.fragment - url.path);
        put(&out, SLICE(")"));
        put(&out, slice_between(url.text + url.path, slash + 1));
    }
    *prefix = (struct slice){buffer, out.len};
    return URL_OK;
}
