/* The links of an RSS (0.9x, 1.0, 2.0) or Atom feed. */
#pragma once

#include "engine/links.h"

/* Adds LINK_ENTRY for each page that an entry, or the feed itself, points to, LINK_FEED for further pages of
 * the feed (Atom's rel=next, prev, self, ...), LINK_MEDIA for enclosures and LINK_IMAGE for images. `xml`
 * must stay unchanged as long as the links are used. */
void feed_scan(struct links *links, struct slice xml);
