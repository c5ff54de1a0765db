/* A link as it stands in a document: where it points to, what for, and under which restrictions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

/* Grouped so that link_is_navigation and link_is_embed are comparisons: keep the groups together. */
enum link_kind {
    /* Navigations: pages that a reader may go to. */
    LINK_ANCHOR,    /* a and area */
    LINK_FRAME,     /* frame and iframe: shown inside this page, but pages themselves */
    LINK_REFRESH,   /* meta refresh */
    LINK_FORM,      /* action of a GET form; found only when asked for */
    LINK_CANONICAL, /* rel=canonical: the page's preferred URL */
    LINK_ALTERNATE, /* rel=alternate: the page in another language or shape */
    LINK_RELATED,   /* rel=next, prev, author, license... and unknown relations */
    LINK_ENTRY,     /* a page named by a sitemap or an entry of a feed */
    LINK_FEED,      /* RSS or Atom: rel=alternate with such a type, or a feed's own next page */
    LINK_SITEMAP,   /* a sitemap named by a sitemap index, or rel=sitemap */
    /* Embeds: what a browser loads to show the page. */
    LINK_STYLESHEET, /* rel=stylesheet and @import */
    LINK_SCRIPT,
    LINK_IMAGE,    /* img, input, srcset, video poster, image and use of a drawing */
    LINK_ICON,     /* rel=icon and its relatives */
    LINK_MEDIA,    /* audio, video, source, track */
    LINK_OBJECT,   /* object and embed */
    LINK_RESOURCE, /* rel=preload, prefetch, manifest... */
    LINK_CSS,      /* url() in a style sheet: image or font */
    LINK_KINDS,
};

enum link_flag {
    LINK_NOFOLLOW = 1 << 0,
    LINK_UGC = 1 << 1,
    LINK_SPONSORED = 1 << 2,
    LINK_OF_HEAD = 1 << 3, /* of a header field: relative to the page's URL, not to the base in its body */
};

/* 32 bytes. `url` is free of entities but otherwise as written: white space at its ends, relative, not
 * normalised. It lies in the document itself or, where decoding changed it, in the set's own text buffer. */
struct link {
    struct slice url;
    uint32_t
        text_at; /* anchors: offset in the document of what stands between <a> and </a>, markup included */
    uint32_t text_len; /* 0 if there is none */
    uint8_t kind;      /* enum link_kind */
    uint8_t flags;     /* enum link_flag */
};

static inline bool link_is_navigation(enum link_kind kind)
{
    return kind < LINK_STYLESHEET;
}

static inline bool link_is_embed(enum link_kind kind)
{
    return kind >= LINK_STYLESHEET && kind < LINK_KINDS;
}

/* Lower-case name of a kind: "anchor", "frame", ... */
const char *link_kind_name(enum link_kind kind);

/* Flags that a list of link relations asks for: all that matters on an anchor. */
unsigned char link_rel_flags(struct slice rel);

/* What a list of link relations says. The strongest relation decides the kind; flags are gathered from all.
 * `type` is the media type written beside it, or empty. False if the relations name nothing to be fetched
 * (none at all, dns-prefetch, preconnect, ...). */
bool link_read_rel(struct slice rel, struct slice type, struct link *link);
