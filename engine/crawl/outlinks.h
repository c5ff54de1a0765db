/* The links of a page as lines of its metadata record, in Heritrix's form: "outlink: URL HOP CONTEXT". They are gathered
 * while the page is read, and wait with it until it is stored. The memory is the loop's for pages; it grows up to a
 * maximum, and nothing is allocated per link. */
#pragma once

#include <stddef.h>

#include "engine/content/link.h"
#include "engine/crawl/buffer.h"
#include "engine/url/url.h"

struct outlinks {
    struct buffer buffer;
    size_t len;
    size_t left_out; /* links for which there was no room */
};

struct outlink {
    const struct url *base;
    struct slice text;    /* as the page has it */
    char hop;             /* as crawl.log shows it */
    struct slice context; /* "a/@href" */
};

/* Where a link of this kind stands; one kind stands for several elements, and the usual one is named. */
struct slice outlinks_context(const struct link *link);

/* Adds a line, up to `bytes_max` bytes in all. A link that is no URL of the web is left out, and not counted. */
void outlinks_add(struct outlinks *outlinks, struct buffer_pool *pages, size_t bytes_max,
                  const struct outlink *link);

/* No-op if there are none. */
void outlinks_release(struct outlinks *outlinks, struct buffer_pool *pages);
