/* What a body is: from its Content-Type and its first bytes, in the manner of the MIME Sniffing standard. */
#pragma once

#include "net/slice.h"

enum sniff_type {
    SNIFF_HTML,
    SNIFF_SVG, /* a drawing, with links in it */
    SNIFF_XML, /* XML of no kind below; XHTML counts as HTML */
    SNIFF_FEED,
    SNIFF_JSON_FEED,
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
 * text/plain that is binary, XML, HTML or plain text that is a feed or sitemap, no type at all, octet-stream
 * and other unknowns. */
enum sniff_type sniff_body(struct slice content_type, struct slice first);

/* Whether the header states text of some kind: HTML, XML, JSON, plain. */
bool sniff_is_text(struct slice content_type);

/* Whether a document of this type can have links: the header states one that can, or nothing that could be
 * believed. Unknown types, octet-stream among them, are files for somebody to keep. */
bool sniff_may_link(struct slice content_type);

/* Whether the first bytes are those of a text rather than of a packed or other binary file. */
bool sniff_looks_like_text(struct slice first);

/* Whether the header says that it is XML, XHTML included. */
bool sniff_is_xml(struct slice content_type);

/* "html", "xml", ... */
const char *sniff_type_name(enum sniff_type type);
