/* X-Robots-Tag headers and the content of meta robots elements: what may be done with a page once fetched. */
#pragma once

#include "net/slice.h"

enum robots_tag {
    ROBOTS_TAG_NOINDEX = 1 << 0,
    ROBOTS_TAG_NOFOLLOW = 1 << 1,
    ROBOTS_TAG_NOARCHIVE = 1 << 2,
    ROBOTS_TAG_NOIMAGEINDEX = 1 << 3,
    ROBOTS_TAG_NOSNIPPET = 1 << 4,
    ROBOTS_TAG_NOTRANSLATE = 1 << 5,
};

/* The bits of one directive; 0 if it is unknown. */
unsigned robots_tag_directive(struct slice name);

/* The bits of one header value or content attribute: directives between commas, "none" for noindex and
 * nofollow. "name: a, b" applies to the crawler of that name, until the next name; names are compared with
 * `agent`, ignoring case. Unknown directives and those with values are ignored. */
unsigned robots_tag_parse(struct slice value, struct slice agent);
