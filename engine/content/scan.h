/* From a response to its links: one way for the crawl and for `lycosa links`, whatever the document is.
 *
 *     scan_begin(&scan, &links, &page, &options);
 *     if (scan.room_bytes)
 *         scan.room = ...;                         room_bytes of memory, for UTF-16 and the like
 *     do {
 *         progress = scan_next(&scan, SCAN_STEP_BYTES);
 *         if (progress != SCAN_MORE)
 *             ... take what is in links, resolved against links.base ...
 *     } while (progress != SCAN_DONE);
 *
 * HTML, feeds and style sheets give their links at the end, when their base and their meta robots are known.
 * Sitemaps give them in pieces, each as long as `links` has room. A step is short, so that a long document
 * can be read in many turns of a loop. Nothing is allocated. */
#pragma once

#include "engine/content/css.h"
#include "engine/content/feed.h"
#include "engine/content/feed_json.h"
#include "engine/content/links.h"
#include "engine/content/sitemap.h"
#include "engine/content/sniff.h"

/* A response. Must stay unchanged as long as the scan runs and its links are used. */
struct scan_page {
    const struct url *url;           /* of the page; feeds with several bases need it. NULL: unknown */
    struct slice content_type;       /* as the head has it; empty: none */
    struct slice refresh;            /* the Refresh field; empty: none */
    const struct slice *link_fields; /* the values of all Link fields */
    size_t link_field_count;
    struct slice body; /* content codings undone, shorter than 4 GiB */
    bool is_sitemap;   /* it was requested as a sitemap: plain text is a list of URLs */
};

struct scan_options {
    struct slice agent; /* see struct links_options, as for the next three */
    bool forms;
    bool noscript;
    bool css;
    bool sheets;        /* read style sheets */
    size_t entries_max; /* URLs taken from a sitemap; 0: all */
};

enum scan_progress {
    SCAN_MORE,  /* go on; links are not to be taken yet */
    SCAN_PIECE, /* take the links, then go on: they are forgotten by the next step */
    SCAN_DONE,  /* take the links: there are no more */
};

struct scan {
    struct links *links;
    struct slice document; /* what is being read: the body, or what it was converted to */
    struct slice left;     /* of the body: not converted yet */
    const struct encoding *encoding;
    enum sniff_type type;
    bool reads_sheets;
    bool is_begun;
    char *room; /* the caller's */
    size_t room_bytes;
    size_t room_used;
    size_t entries_left;
    struct slice alternates; /* of the sitemap entry at hand: not read yet */
    struct links_options options;
    const struct url *url;
    union {
        struct links_walk html;
        struct css_walk css;
        struct feed feed;
        struct feed_json json;
    };
    struct sitemap map; /* last: it is long, and most pages do not touch it */
};

/* Forgets what is in `links`, finds out what the page is and adds the links of its head. */
void scan_begin(struct scan *scan, struct links *links, const struct scan_page *page,
                const struct scan_options *options);

/* Reads about `bytes` further; SCAN_STEP_BYTES take well under a millisecond each. */
enum scan_progress scan_next(struct scan *scan, size_t bytes);
