/* A pull tokenizer for HTML that stops only at the tags which matter to a crawler.
 *
 *     html_init(&walk, document, 0);
 *     while (html_next(&walk, &tag))
 *         ... tag.element, html_value(&tag, HTML_HREF) ...
 *
 * Everything else (text, comments, uninteresting tags, the bodies of raw text elements, what is inside
 * template) is passed over. States are those of the HTML standard's tokenizer. Nothing is allocated, nothing
 * is read beyond the document. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/content/limits.h"
#include "net/slice.h"

enum html_element {
    HTML_OTHER, /* of no interest by its name */
    /* Links. */
    HTML_A,
    HTML_AREA,
    HTML_AUDIO,
    HTML_BASE,
    HTML_EMBED,
    HTML_FORM,
    HTML_FRAME,
    HTML_IFRAME,
    HTML_IMG, /* and image, which browsers take for it; inside svg an element of its own */
    HTML_INPUT,
    HTML_LINK,
    HTML_META,
    HTML_OBJECT,
    HTML_SCRIPT,
    HTML_SOURCE,
    HTML_STYLE,
    HTML_TRACK,
    HTML_USE, /* a part of this or another drawing */
    HTML_VIDEO,
    /* Change how the rest is read. The walk keeps them to itself. */
    HTML_MATH,
    HTML_NOEMBED,
    HTML_NOFRAMES,
    HTML_NOSCRIPT,
    HTML_PLAINTEXT,
    HTML_SVG,
    HTML_TEMPLATE,
    HTML_TEXTAREA,
    HTML_TITLE,
    HTML_XMP,
    HTML_ELEMENTS,
};

enum html_attribute {
    HTML_ACTION,
    HTML_CHARSET,
    HTML_CONTENT,
    HTML_DATA,
    HTML_HREF,
    HTML_HTTP_EQUIV,
    HTML_IMAGESRCSET,
    HTML_METHOD,
    HTML_NAME,
    HTML_POSTER,
    HTML_REL,
    HTML_SRC,
    HTML_SRCDOC,
    HTML_SRCSET,
    HTML_STYLE_ATTRIBUTE,
    HTML_TYPE,
    HTML_XLINK_HREF,
    HTML_ATTRIBUTES,
};

struct html_tag {
    enum html_element element;
    bool is_end;                         /* of all end tags only </a> is reported */
    bool is_self_closing;                /* as written: "/>" */
    bool is_foreign;                     /* inside svg or math */
    uint32_t has;                        /* a bit per enum html_attribute */
    const char *open;                    /* its '<' */
    const char *close;                   /* behind its '>' */
    struct slice body;                   /* script and style: their text */
    struct slice value[HTML_ATTRIBUTES]; /* as written, references not decoded; valid where `has` says so */
};

enum html_flag {
    HTML_READ_NOSCRIPT = 1 << 0,   /* noscript is markup, as without scripting */
    HTML_READ_STYLES = 1 << 1,     /* report every tag that has a style attribute */
    HTML_READ_ALL = 1 << 2,        /* report every tag, wherever it is */
    HTML_PLAIN = 1 << 3,           /* portable code even where the CPU has better */
    HTML_XML = 1 << 4,             /* XHTML: <script/> is empty, CDATA sections are everywhere */
    HTML_SKIP_ATTRIBUTES = 1 << 5, /* attributes, and names of end tags, are left out: takes less time */
};

/* Where certain bytes are within 64 bytes from `at`: a bit each. */
struct html_block {
    const char *at;
    uint64_t lt;
    uint64_t gt;
    uint64_t double_quote;
    uint64_t single_quote;
    uint64_t equals;
    uint64_t name_end; /* = / > and everything up to the space: where a name may end */
};

struct html_walk {
    const char *at;
    const char *end;
    const char *pause; /* the first tag after this is reported even if it is of no interest, as HTML_OTHER */
    struct html_block block;
    bool (*next)(struct html_walk *walk, struct html_tag *tag);
    unsigned flags;
    unsigned template_depth;
    unsigned foreign_depth; /* 0: HTML content */
    unsigned char foreign[HTML_FOREIGN_DEPTH_MAX];
};

void html_init(struct html_walk *walk, struct slice document, unsigned flags);

static inline bool html_next(struct html_walk *walk, struct html_tag *tag)
{
    return walk->next(walk, tag);
}

static inline bool html_has(const struct html_tag *tag, enum html_attribute attribute)
{
    return tag->has >> attribute & 1;
}

/* The attribute's value, or an empty slice if there is no such attribute. */
static inline struct slice html_value(const struct html_tag *tag, enum html_attribute attribute)
{
    return html_has(tag, attribute) ? tag->value[attribute] : (struct slice){"", 0};
}

/* Which implementation html_init chooses on this machine: "avx512", "avx2" or "plain". */
const char *html_implementation(void);
