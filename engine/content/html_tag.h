/* Parts of the HTML tokenizer that are the same for every instruction set: names, attributes, foreign
 * content. */
#pragma once

#include <endian.h>

#include "engine/content/html.h"

/* What a byte may end. */
enum html_class {
    HTML_SPACE = 1 << 0,
    HTML_NAME_END = 1 << 1,      /* of a tag's name: white space, / and > */
    HTML_ATTRIBUTE_END = 1 << 2, /* of an attribute's name: those and = */
    HTML_VALUE_END = 1 << 3,     /* of an unquoted value: white space and > */
    HTML_LETTER = 1 << 4,
};
extern const unsigned char html_class[256];

static inline bool html_is(char c, unsigned classes)
{
    return html_class[(unsigned char)c] & classes;
}

/* By the low five bits of a name's first two letters: whether an element of ours may begin so, and where the
 * names with that beginning are. */
#define HTML_PAIR(a, b) (((a)&31) << 5 | ((b)&31))
#define HTML_GROUP_A    1
extern const unsigned char html_groups[1024];

/* A quick no for most start tags: `name` has three readable bytes. All names but that of a have three
 * letters, which tells them from tr, li and em. */
static inline bool html_may_matter(const char *name)
{
    unsigned group = html_groups[HTML_PAIR(name[0], name[1])];
    return group == HTML_GROUP_A || (group && html_is(name[2], HTML_LETTER));
}

/* The same for end tags, of which those of a and template matter. */
static inline bool html_end_may_matter(const char *name)
{
    char first = name[0] | 0x20, second = name[1] | 0x20;
    return (first == 'a' && html_is(name[1], HTML_NAME_END)) || (first == 't' && second == 'e');
}

/* The element whose name starts at `name`. */
enum html_element html_find_element(const char *name, const char *end);

/* For XHTML: the element whose whole name is `name`, with a prefix (h:a). HTML_OTHER if the name has no prefix. */
enum html_element html_find_prefixed(struct slice name, const char *end);

/* The same, quick about the most frequent of all. Two bytes are readable. */
static inline enum html_element html_element_at(const char *name, const char *end)
{
    bool is_a = (name[0] | 0x20) == 'a' && html_is(name[1], HTML_NAME_END);
    return is_a ? HTML_A : html_find_element(name, end);
}

/* Which of our attributes this is, or HTML_ATTRIBUTES. */
enum html_attribute html_find_attribute(struct slice name);

/* Where `byte` is in four readable bytes: the top bit of each that is it, the first lowest. Bits above the first one set
 * may be wrong. */
static inline uint32_t html_find_in_four(const char *at, char byte)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    word = le32toh(word) ^ 0x01010101u * (unsigned char)byte; /* `byte` becomes 0 */
    return (word - 0x01010101u) & ~word & 0x80808080u;
}

#define HTML_BLOCK_BYTES 64

/* The bytes from `at` to the end, fewer than a block, with zeros behind them. Returns `padded`. */
const char *html_pad(char padded[HTML_BLOCK_BYTES], const char *at, const char *end);

/* Whether an HTML start tag of this element is followed by text in which only its own end tag is markup. */
bool html_is_raw(const struct html_walk *walk, enum html_element element);

/* Keep track of foreign content. `name` is the tag's whole name. html_foreign_start says whether the tag
 * itself is foreign. */
bool html_foreign_start(struct html_walk *walk, struct slice name, bool is_self_closing);
void html_foreign_end(struct html_walk *walk, struct slice name);
bool html_is_foreign(const struct html_walk *walk);

bool html_next_plain(struct html_walk *walk, struct html_tag *tag);
#if defined(__x86_64__)
bool html_next_avx2(struct html_walk *walk, struct html_tag *tag);
bool html_next_avx512(struct html_walk *walk, struct html_tag *tag);
#endif
