/* Sitemaps (sitemaps.org): XML sitemaps, sitemap indexes and plain text, read entry by entry in one pass.
 *
 *     sitemap_init(&map, SITEMAP_XML, body);
 *     while (sitemap_next(&map, &entry) == PARSE_DONE)
 *         ...
 *
 * A file is read in pieces as well: on PARSE_PARTIAL map.rest is what has not been read. Put it at the
 * start of a buffer, append more of the file, and go on with sitemap_resume. At the end of the file what is
 * left in map.rest is not an entry, except the last line of a text sitemap: set map.is_whole before the
 * last piece. */
#pragma once

#include <stdbool.h>

#include "engine/url/limits.h"
#include "net/parse.h"
#include "net/slice.h"

enum sitemap_form {
    SITEMAP_XML,  /* urlset or sitemapindex: which one is told entry by entry */
    SITEMAP_TEXT, /* one URL per line; lines end with LF, CR or both */
};

struct sitemap {
    struct slice rest;
    enum sitemap_form form;
    bool is_whole;           /* nothing follows: a last line without an end counts */
    bool is_amid;            /* the rest begins within a line that is too long */
    struct slice closing;    /* of a comment or the like that the rest begins within; empty: within none */
    char url[URL_BYTES_MAX]; /* where an URL with entities is decoded */
};

/* Valid until the next call. Only `url` is decoded; the others are as written, trimmed, empty if absent. */
struct sitemap_entry {
    struct slice url;
    struct slice modified;
    struct slice frequency;
    struct slice priority;
    struct slice alternates; /* for sitemap_alternate */
    bool is_sitemap;         /* the URL of another sitemap rather than a page */
};

void sitemap_init(struct sitemap *map, enum sitemap_form form, struct slice body);
void sitemap_resume(struct sitemap *map, struct slice body);

/* PARSE_DONE: `entry` is filled. PARSE_PARTIAL: no further entry is complete. Never PARSE_BAD: what is not an
 * entry is passed over, as are entries without a URL or with one beyond URL_BYTES_MAX. Where that takes long, it
 * pauses: PARSE_DONE with an empty URL, which is to be ignored. */
enum parse sitemap_next(struct sitemap *map, struct sitemap_entry *entry);

/* The page in another language (xhtml:link rel="alternate"): takes the next one off the front of
 * `*alternates`, which begins as entry.alternates. False at the end. `*url` is valid until the next call. */
bool sitemap_alternate(struct sitemap *map, struct slice *alternates, struct slice *url);

/* Whether a URL that was given out lies in map->url, where the next call overwrites it. */
static inline bool sitemap_owns(const struct sitemap *map, struct slice url)
{
    return url.ptr >= map->url && url.ptr < map->url + sizeof(map->url);
}
