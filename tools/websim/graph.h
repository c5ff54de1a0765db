/* What a URL of the web answers with, and where it leads: known without writing any HTML.
 *
 * The pages of a host form a tree below its root, page 0, and the roots of the hosts form a tree below that
 * of host 0; so everything can be reached. All other links are drawn at random. Redirects, duplicates and
 * faults befall leaves of the tree only, and thus hide nothing. */
#pragma once

#include "tools/websim/web.h"

enum websim_body {
    WEBSIM_BODY_HTML,
    WEBSIM_BODY_NONE, /* a redirect: a line of text */
    WEBSIM_BODY_GONE,
    WEBSIM_BODY_IMAGE,
    WEBSIM_BODY_STYLE,
    WEBSIM_BODY_ROBOTS,
    WEBSIM_BODY_SITEMAP,
};

struct websim_page {
    struct websim_site site;
    struct websim_url url;
    uint64_t bits;    /* of the content: duplicates share them */
    uint32_t content; /* the page whose content this is */
    uint32_t first_child, children;
    uint32_t host_links; /* a root's links to other roots, and to its calendar */
    uint32_t links;      /* all of them */
    uint16_t status;
    enum websim_body body;
    enum websim_fault fault;
    struct websim_url target; /* of a redirect */
    bool redirects;
    bool near;            /* content but for a sentence */
    bool portable;        /* has no link that depends on its own path */
    bool meta_nofollow;   /* says so in a meta element */
    bool header_nofollow; /* says so in X-Robots-Tag */
    bool has_base;
    bool only_home; /* its transfer is faulty: the only link is to the root, so that nothing depends on it */
};

struct websim_link {
    struct websim_url url;
    uint64_t bits; /* for the way it is written */
    bool nofollow;
};

void websim_page_init(struct websim_page *page, const struct websim_web *web, struct websim_url url);
/* Link i < page->links of a page. */
struct websim_link websim_page_link(const struct websim_page *page, uint32_t i);
/* Number of images, and image i of them. Every HTML page embeds the style sheet, too. */
uint32_t websim_page_images(const struct websim_page *page);
struct websim_url websim_page_image(const struct websim_page *page, uint32_t i);
