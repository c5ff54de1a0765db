#include "engine/crawl/outlinks.h"

#include <string.h>

struct slice outlinks_context(const struct link *link)
{
    static const struct slice contexts[LINK_KINDS] = {
        [LINK_ANCHOR] = {"a/@href", 7},         [LINK_FRAME] = {"iframe/@src", 11},
        [LINK_REFRESH] = {"meta/@content", 13}, [LINK_FORM] = {"form/@action", 12},
        [LINK_CANONICAL] = {"link/@href", 10},  [LINK_ALTERNATE] = {"link/@href", 10},
        [LINK_RELATED] = {"link/@href", 10},    [LINK_ENTRY] = {"=NAVLINK_MISC", 13},
        [LINK_FEED] = {"link/@href", 10},       [LINK_SITEMAP] = {"=NAVLINK_MISC", 13},
        [LINK_STYLESHEET] = {"link/@href", 10}, [LINK_SCRIPT] = {"script/@src", 11},
        [LINK_IMAGE] = {"img/@src", 8},         [LINK_ICON] = {"link/@href", 10},
        [LINK_MEDIA] = {"source/@src", 11},     [LINK_OBJECT] = {"object/@data", 12},
        [LINK_RESOURCE] = {"link/@href", 10},   [LINK_CSS] = {"=EMBED_MISC", 11},
    };
    if (link->flags & LINK_OF_HEAD)
        return link->kind == LINK_REFRESH ? SLICE("Refresh:") : SLICE("Link:");
    return contexts[link->kind];
}

static char *put(char *at, struct slice text)
{
    memcpy(at, text.ptr, text.len);
    return at + text.len;
}

void outlinks_add(struct outlinks *outlinks, struct buffer_pool *pages, size_t bytes_max,
                  const struct outlink *link)
{
    struct url url;
    char text[URL_BYTES_MAX];
    url_init(&url, text, sizeof text);
    if (url_parse(&url, link->base, link->text) != URL_OK)
        return;
    struct slice page = url_page(&url), name = SLICE("outlink: ");
    size_t needed = outlinks->len + name.len + page.len + link->context.len + sizeof " L \r\n" - 1;
    if (needed > bytes_max || !buffer_reserve(pages, &outlinks->buffer, needed, outlinks->len)) {
        outlinks->left_out++;
        return;
    }
    char *at = put(put(outlinks->buffer.bytes + outlinks->len, name), page);
    *at++ = ' ';
    *at++ = link->hop;
    *at++ = ' ';
    put(put(at, link->context), SLICE("\r\n"));
    outlinks->len = needed;
}

void outlinks_release(struct outlinks *outlinks, struct buffer_pool *pages)
{
    buffer_release(pages, &outlinks->buffer);
    *outlinks = (struct outlinks){.len = 0};
}
