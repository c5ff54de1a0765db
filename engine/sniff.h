/* What a body is: from its Content-Type and its first bytes, in the manner of the MIME Sniffing standard. */
#pragma once

#include "net/slice.h"

enum sniff_type {
    SNIFF_HTML,
    SNIFF_XML, /* XML of no kind below; XHTML counts as HTML */
    SNIFF_FEED,
    SNIFF_SITEMAP, /* XML sitemap or sitemap index */
    SNIFF_TEXT,
    SNIFF_CSS,
    SNIFF_SCRIPT,
    SNIFF_JSON,
    SNIFF_IMAGE,
    SNIFF_MEDIA, /* audio and video */
    SNIFF_FONT,
    SNIFF_PDF,
    SNIFF_ARCHIVE, /* compressed files included */
    SNIFF_BINARY,
    SNIFF_EMPTY,
    SNIFF_TYPES,
};

/* `content_type` may be empty. `first` is the start of the decoded body: SNIFF_BYTES_MAX of it, or all if it
 * is shorter. A type that the header states is believed except where servers are known to be wrong:
 * text/plain that is binary, XML that is a feed or sitemap, no type at all, octet-stream and other unknowns.
 */
enum sniff_type sniff_body(struct slice content_type, struct slice first);

/* "html", "xml", ... */
const char *sniff_type_name(enum sniff_type type);
