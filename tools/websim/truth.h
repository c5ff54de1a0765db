/* What a correct crawl must fetch: a breadth-first walk over the web as a function, no sockets involved. */
#pragma once

#include <stdio.h>

#include "tools/websim/graph.h"

enum websim_digest {
    WEBSIM_DIGEST_XXH3,
    WEBSIM_DIGEST_SHA1, /* base32, as in a WARC payload digest */
    WEBSIM_DIGEST_NONE, /* neither size nor digest: no page is written */
};

struct websim_truth_options {
    const char *agent;      /* product name of the crawler */
    uint64_t depth_max;     /* links from a seed; redirects count nothing */
    uint64_t redirects_max; /* in a row */
    bool embeds;            /* images and style sheets, too */
    bool sitemaps;          /* and sitemaps that robots.txt names */
    bool accept_expired;    /* certificates */
    bool contents;          /* also print which pages show the same, or nearly the same */
    bool all;               /* also print what is linked but not to be fetched, and why */
    enum websim_digest digest;
};

struct websim_truth_totals {
    uint64_t fetched;     /* URLs to be fetched */
    uint64_t ok;          /* of these with status 200 */
    uint64_t forbidden;   /* by robots.txt */
    uint64_t unreachable; /* host faults */
    uint64_t bytes;       /* of the fetched, unless digest is NONE */
};

struct websim_truth;

struct websim_truth *websim_truth_create(const struct websim_web *web,
                                         const struct websim_truth_options *options);
void websim_truth_destroy(struct websim_truth *truth);
void websim_truth_seed(struct websim_truth *truth, struct websim_url url);
/* Walks to the end. One line per URL to `out`: URL, status, size, digest and note, with tabs between; out may
 * be NULL. The note is - or the fault of the page, or `retry` where a host answers 429 or 503 now and then,
 * or (only with `all`, status 0) why it is not to be fetched. */
struct websim_truth_totals websim_truth_walk(struct websim_truth *truth, FILE *out);
/* After the walk: was it to be fetched? */
bool websim_truth_has(const struct websim_truth *truth, struct websim_url url);
