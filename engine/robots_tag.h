/* X-Robots-Tag headers and the content of meta robots elements: what may be done with a page once fetched. */
#pragma once

#include "net/slice.h"

/* The bits equal those of links_robots where both have them. */
enum robots_tag {
    ROBOTS_TAG_NOINDEX = 1 << 0,
    ROBOTS_TAG_NOFOLLOW = 1 << 1,
    ROBOTS_TAG_NOARCHIVE = 1 << 2,
    ROBOTS_TAG_NOIMAGEINDEX = 1 << 3,
    ROBOTS_TAG_NOSNIPPET = 1 << 4,
    ROBOTS_TAG_NOTRANSLATE = 1 << 5,
};

/* The bits of one header value or content attribute: directives between commas, "none" for noindex and
 * nofollow. "name: a, b" speaks to the crawler of that name until the next name; names compare with `agent`
 * without regard to case. Unknown directives and those with values count for nothing. */
unsigned robots_tag_parse(struct slice value, struct slice agent);
