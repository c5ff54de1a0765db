/* The links of a page: one pass over the bytes of an HTML document, without a tree and without allocation.
 *
 * The tokenizer's states are those of the HTML standard as far as they decide what is markup and what an
 * attribute's value is. Of tree construction it knows what changes tokenization (raw text elements, foreign
 * content) and what takes elements out of the page (template). A `struct links` belongs to one thread and is
 * reused page after page. */
#pragma once

#include <stddef.h>

#include "engine/content/css.h"
#include "engine/content/encoding.h"
#include "engine/content/html.h"
#include "engine/content/link.h"
#include "net/slice.h"

/* What was found, in the caller's memory. Link URLs that needed decoding are copied to `text`. */
struct links {
    struct link *found;
    size_t count;
    size_t max;
    char *text;
    size_t text_len;
    size_t text_max;
    size_t dropped;    /* links that found no place in `found` or `text`: counted, not kept */
    struct slice base; /* href of the first base element, decoded; ptr is NULL if there is none */
    unsigned robots;   /* enum robots_tag, from meta elements */
};

struct links_options {
    const struct encoding *encoding; /* NULL: UTF-8 */
    struct slice agent;              /* meta elements of this name count as meta robots do; may be empty */
    bool forms;                      /* report GET forms */
    bool noscript;                   /* read noscript as markup, as a browser without scripting does */
    bool css;                        /* report url() and @import of style elements and attributes */
    bool xml;                        /* the page is XHTML: an empty-element tag has no text behind it */
    bool plain;                      /* use the portable code even where the CPU has better */
};

/* A document being read part by part. */
struct links_walk {
    struct html_walk html;
    struct links *links;
    const struct links_options *options;
    const struct encoding *legacy; /* NULL: the document is in UTF-8 */
    const char *begin;
    struct link *anchor; /* whose end tag has not come yet, or NULL */
    unsigned depth;      /* of iframes' srcdocs; 0: the page itself */
    struct css_walk css; /* the style sheet at hand; at its end: none */
    struct slice sheet;  /* another one, that comes next */
};

/* `found` has room for `max` links; `text` for decoded URLs, text_max bytes (LINKS_TEXT_PER_LINK * max is
 * ample). Both stay the caller's. */
void links_init(struct links *links, struct link *found, size_t max);
void links_set_text(struct links *links, char *text, size_t text_max);

/* Drops what was found, keeps the memory. */
void links_reset(struct links *links);

/* Likewise, but keeps base and robots bits: more of the same document follows. */
void links_forget(struct links *links);

/* Adds the links of `html`, which must stay unchanged as long as the links are used, and is shorter than
 * 4 GiB. Whoever resolves them starts from links->base (itself resolved against the page's URL) if there is
 * one: it holds for the links before it as well. Broken markup is read as browsers do; a tag cut off by the
 * end of the document does not count. */
void links_scan(struct links *links, struct slice html, const struct links_options *options);

/* The same in parts, so that a long document need not be read in one go: `options`, too, must stay as long as
 * that takes. links_step reads about `bytes` further and is true at the end of the document. */
void links_begin(struct links_walk *walk, struct links *links, struct slice html,
                 const struct links_options *options);
bool links_step(struct links_walk *walk, size_t bytes);

/* One link from elsewhere (a header, a style sheet), as it is. False if it was dropped. */
bool links_add(struct links *links, struct link link);

/* Room for `len` bytes of decoded text, or NULL if there is none; links_keep_text claims what was written. */
char *links_reserve_text(struct links *links, size_t len);
struct slice links_keep_text(struct links *links, size_t len);
