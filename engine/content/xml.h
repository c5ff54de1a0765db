/* A pull reader for the tags of XML documents: enough for sitemaps and feeds, forgiving, without a tree.
 * Comments, CDATA sections, processing instructions and declarations are passed over. */
#pragma once

#include <stdbool.h>

#include "net/parse.h"
#include "net/slice.h"

struct xml {
    const char *at;
    const char *end;
    const char *pause;    /* from here on a tag that is none is given: time to do something else */
    struct slice closing; /* what ends the comment or the like that `at` lies in; empty: it lies in none */
};

struct xml_tag {
    struct slice prefix;     /* "image" of image:loc, or empty */
    struct slice name;       /* "loc" of it */
    struct slice attributes; /* all of them, as written */
    const char *open;        /* its '<' */
    const char *close;       /* behind its '>' */
    bool is_end;
    bool is_empty; /* <tag/> */
};

static inline struct xml xml_of(struct slice text)
{
    return (struct xml){text.ptr, text.ptr + text.len, text.ptr + text.len, {"", 0}};
}

/* The next tag, or a pause. PARSE_PARTIAL: the text ends first; xml->at is where the unfinished tag begins, or in
 * the comment that xml->closing would end, or the end. Never PARSE_BAD: a '<' that begins nothing is text, as is a
 * tag longer than XML_TAG_BYTES_MAX. */
enum parse xml_next(struct xml *xml, struct xml_tag *tag);

static inline bool xml_is_pause(const struct xml_tag *tag)
{
    return tag->open == tag->close;
}

/* An attribute's value as written, by its whole name ("xml:base"); empty if it is not there. */
struct slice xml_attribute(const struct xml_tag *tag, struct slice name);

static inline bool xml_is(const struct xml_tag *tag, struct slice name)
{
    return slice_equals(tag->name, name);
}
