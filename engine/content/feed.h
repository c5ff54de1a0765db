/* The links of an RSS (0.9x, 1.0, 2.0) or Atom feed. */
#pragma once

#include "engine/content/limits.h"
#include "engine/content/links.h"
#include "engine/content/xml.h"
#include "engine/url/url.h"

/* Adds LINK_ENTRY for each page that an entry, or the feed itself, points to, LINK_FEED for further pages of
 * the feed (Atom's rel=next, prev, self, ...), LINK_MEDIA for enclosures and LINK_IMAGE for images. `xml`
 * must stay unchanged as long as the links are used. */
void feed_scan(struct links *links, struct slice xml);

/* The same in parts: feed_step reads about `bytes` further and is true at the end.
 *
 * The base of the whole feed (xml:base of its root) is links->base. A URL below an element with a base of its
 * own is resolved here; relative bases need the feed's URL for that. */
struct feed_options {
    const struct encoding *encoding; /* NULL: UTF-8; not one with is_wide */
    const struct url *url;           /* NULL: unknown */
};

struct feed_base {
    struct slice text;
    unsigned depth; /* of its element */
};

struct feed {
    struct links *links;
    struct feed_options options;
    struct xml xml;
    struct xml_tag last;
    size_t work; /* of this step, beside reading: in bytes */
    unsigned depth;
    unsigned base_count;
    struct feed_base bases[FEED_BASES_MAX];
};
void feed_begin(struct feed *feed, struct links *links, struct slice xml, const struct feed_options *options);
bool feed_step(struct feed *feed, size_t bytes);
