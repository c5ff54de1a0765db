/* The input is a base, a newline, and a link. What comes out must be a fixed point, its parts in order, the
 * same as url_open finds, and must fit any smaller buffer or be refused; canonical rules must leave a URL. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/url/canonical.h"
#include "engine/url/domain.h"
#include "engine/url/surt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_same(const struct url *a, const struct url *b)
{
    require(slice_equals(url_text(a), url_text(b)));
    require(a->host == b->host && a->host_end == b->host_end && a->path == b->path && a->folder == b->folder);
    require(a->query == b->query && a->fragment == b->fragment && a->port == b->port);
}

static void check_stable(const struct url *url)
{
    char buffer[URL_BYTES_MAX];
    struct url again, opened;
    url_init(&again, buffer, sizeof buffer);
    require(url_parse(&again, NULL, url_text(url)) == URL_OK);
    require_same(&again, url);
    url_open(&opened, url_text(url));
    require_same(&opened, url);
}

static void check_small_buffer(const struct url *url, const struct url *base, struct slice link)
{
    size_t size = url->len - url->len / 3u;
    char *small = malloc(size + 1);
    struct url other;
    url_init(&other, small, size);
    if (url_parse(&other, base, link) == URL_OK)
        require_same(&other, url);
    free(small);
}

static void check_canonical(const struct url *url)
{
    char buffer[URL_BYTES_MAX], surt[SURT_BYTES_MAX];
    struct url copy, opened;
    for (unsigned rules = 0; rules <= CANONICAL_ALL; rules = rules * 2 + 1) {
        url_init(&copy, buffer, sizeof buffer);
        require(url_copy(&copy, url));
        canonical_apply(&copy, rules);
        url_open(&opened, url_text(&copy));
        require_same(&opened, &copy);
        require(surt_write(surt, &copy, SURT_AS_HTTP).len <= SURT_BYTES_MAX);
    }
    struct slice domain = domain_registrable(url_host(url));
    require(domain.ptr + domain.len == url->text + url->host_end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *newline = size ? memchr(text, '\n', size) : NULL;
    struct slice base_text = newline ? slice_between(text, newline) : (struct slice){text, 0};
    struct slice link = newline ? slice_between(newline + 1, text + size) : (struct slice){text, size};
    char base_buffer[URL_BYTES_MAX], buffer[URL_BYTES_MAX];
    struct url base, url;
    url_init(&base, base_buffer, sizeof base_buffer);
    url_init(&url, buffer, sizeof buffer);
    bool has_base = url_parse(&base, NULL, base_text) == URL_OK;
    if (url_parse(&url, has_base ? &base : NULL, link) != URL_OK)
        return 0;
    require(url.scheme_len + 3 <= url.host && url.host < url.host_end && url.host_end <= url.path);
    require(url.path < url.folder && url.folder <= url.query && url.query <= url.fragment &&
            url.fragment <= url.len);
    check_stable(&url);
    check_small_buffer(&url, has_base ? &base : NULL, link);
    check_canonical(&url);
    return 0;
}
