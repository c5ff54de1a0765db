#include "engine/content/html_tag.h"

#include <endian.h>

#define ALL_ENDS (HTML_NAME_END | HTML_ATTRIBUTE_END | HTML_VALUE_END)

const unsigned char html_class[256] = {
    [' '] = HTML_SPACE | ALL_ENDS,
    ['\t'] = HTML_SPACE | ALL_ENDS,
    ['\n'] = HTML_SPACE | ALL_ENDS,
    ['\f'] = HTML_SPACE | ALL_ENDS,
    ['\r'] = HTML_SPACE | ALL_ENDS,
    ['>'] = ALL_ENDS,
    ['/'] = HTML_NAME_END | HTML_ATTRIBUTE_END,
    ['='] = HTML_ATTRIBUTE_END,
    ['a' ... 'z'] = HTML_LETTER,
    ['A' ... 'Z'] = HTML_LETTER,
};

/* Elements that share their first two letters stand together; `last` ends such a group. Names are compared
 * eight bytes at a time. */
struct name {
    char text[8];
    unsigned char len;
    unsigned char element;
    bool last;
};

enum {
    A = 1,
    AREA,
    AUDIO,
    BASE,
    EMBED,
    FORM,
    FRAME,
    IFRAME,
    IMG,
    IMAGE,
    INPUT,
    LINK,
    MATH,
    META,
    NOSCRIPT,
    NOEMBED,
    NOFRAMES,
    OBJECT,
    PLAINTEXT,
    SCRIPT,
    SOURCE,
    STYLE,
    SVG,
    TEMPLATE,
    TEXTAREA,
    TITLE,
    TRACK,
    USE,
    VIDEO,
    XMP,
};

/* clang-format off */
static const struct name names[] = {
    [A] = {"a", 1, HTML_A, true},
    [AREA] = {"area", 4, HTML_AREA, true},
    [AUDIO] = {"audio", 5, HTML_AUDIO, true},
    [BASE] = {"base", 4, HTML_BASE, true},
    [EMBED] = {"embed", 5, HTML_EMBED, true},
    [FORM] = {"form", 4, HTML_FORM, true},
    [FRAME] = {"frame", 5, HTML_FRAME, true},
    [IFRAME] = {"iframe", 6, HTML_IFRAME, true},
    [IMG] = {"img", 3, HTML_IMG, false},
    [IMAGE] = {"image", 5, HTML_IMG, true},
    [INPUT] = {"input", 5, HTML_INPUT, true},
    [LINK] = {"link", 4, HTML_LINK, true},
    [MATH] = {"math", 4, HTML_MATH, true},
    [META] = {"meta", 4, HTML_META, true},
    [NOSCRIPT] = {"noscript", 8, HTML_NOSCRIPT, false},
    [NOEMBED] = {"noembed", 7, HTML_NOEMBED, false},
    [NOFRAMES] = {"noframes", 8, HTML_NOFRAMES, true},
    [OBJECT] = {"object", 6, HTML_OBJECT, true},
    [PLAINTEXT] = {{'p', 'l', 'a', 'i', 'n', 't', 'e', 'x'}, 9, HTML_PLAINTEXT, true},
    [SCRIPT] = {"script", 6, HTML_SCRIPT, true},
    [SOURCE] = {"source", 6, HTML_SOURCE, true},
    [STYLE] = {"style", 5, HTML_STYLE, true},
    [SVG] = {"svg", 3, HTML_SVG, true},
    [TEMPLATE] = {"template", 8, HTML_TEMPLATE, false},
    [TEXTAREA] = {"textarea", 8, HTML_TEXTAREA, true},
    [TITLE] = {"title", 5, HTML_TITLE, true},
    [TRACK] = {"track", 5, HTML_TRACK, true},
    [USE] = {"use", 3, HTML_USE, true},
    [VIDEO] = {"video", 5, HTML_VIDEO, true},
    [XMP] = {"xmp", 3, HTML_XMP, true},
};

/* By the low five bits of the first two letters: the first name of a group, or 0. */
const unsigned char html_groups[1024] = {
    [HTML_PAIR('a', ' ')] = A, [HTML_PAIR('a', '>')] = A, [HTML_PAIR('a', '/')] = A, [HTML_PAIR('a', '\t')] = A,
    [HTML_PAIR('a', '\n')] = A, [HTML_PAIR('a', '\f')] = A, [HTML_PAIR('a', '\r')] = A,
    [HTML_PAIR('a', 'r')] = AREA, [HTML_PAIR('a', 'u')] = AUDIO, [HTML_PAIR('b', 'a')] = BASE, [HTML_PAIR('e', 'm')] = EMBED,
    [HTML_PAIR('f', 'o')] = FORM, [HTML_PAIR('f', 'r')] = FRAME, [HTML_PAIR('i', 'f')] = IFRAME, [HTML_PAIR('i', 'm')] = IMG,
    [HTML_PAIR('i', 'n')] = INPUT, [HTML_PAIR('l', 'i')] = LINK, [HTML_PAIR('m', 'a')] = MATH, [HTML_PAIR('m', 'e')] = META,
    [HTML_PAIR('n', 'o')] = NOSCRIPT, [HTML_PAIR('o', 'b')] = OBJECT, [HTML_PAIR('p', 'l')] = PLAINTEXT,
    [HTML_PAIR('s', 'c')] = SCRIPT, [HTML_PAIR('s', 'o')] = SOURCE, [HTML_PAIR('s', 't')] = STYLE, [HTML_PAIR('s', 'v')] = SVG,
    [HTML_PAIR('t', 'e')] = TEMPLATE, [HTML_PAIR('t', 'i')] = TITLE, [HTML_PAIR('t', 'r')] = TRACK, [HTML_PAIR('u', 's')] = USE,
    [HTML_PAIR('v', 'i')] = VIDEO, [HTML_PAIR('x', 'm')] = XMP,
};
/* clang-format on */

/* Of the first `len` bytes of a word, by memory order. */
static const unsigned char masks[9][8] = {
    {0},
    {255},
    {255, 255},
    {255, 255, 255},
    {255, 255, 255, 255},
    {255, 255, 255, 255, 255},
    {255, 255, 255, 255, 255, 255},
    {255, 255, 255, 255, 255, 255, 255},
    {255, 255, 255, 255, 255, 255, 255, 255},
};

#define LOWER_CASE 0x2020202020202020u

static uint64_t word_at(const void *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

enum html_element html_find_element(const char *name, const char *end)
{
    char padded[16] = {0};
    if (__builtin_expect(end - name < 16, 0))
        name = memcpy(padded, name, (size_t)(end - name));
    unsigned first = html_groups[HTML_PAIR(name[0], name[1])];
    if (first == 0)
        return HTML_OTHER;
    /* Setting bit 5 makes letters lower case; of other bytes none becomes a letter. */
    uint64_t word = word_at(name) | LOWER_CASE;
    for (const struct name *candidate = &names[first];; candidate++) {
        size_t compared = candidate->len < 8 ? candidate->len : 8;
        if ((word & word_at(masks[compared])) == word_at(candidate->text) &&
            (candidate->len <= 8 || (name[8] | 0x20) == 't') && html_is(name[candidate->len], HTML_NAME_END))
            return candidate->element;
        if (candidate->last)
            return HTML_OTHER;
    }
}

enum html_element html_find_prefixed(struct slice name, const char *end)
{
    const char *colon = memchr(name.ptr, ':', name.len);
    return colon && end - colon > 2 ? html_element_at(colon + 1, end) : HTML_OTHER;
}

#define BYTE(c)          ((uint64_t)(unsigned char)(c))
#define QUAD(a, b, c, d) (BYTE(a) | BYTE(b) << 8 | BYTE(c) << 16 | BYTE(d) << 24)
/* clang-format off */
#define NAME(literal)    {(literal), sizeof(literal) - 1}
/* clang-format on */

/* The first and the last four bytes of a name, lower case: of names up to eight bytes that is all there
 * is. */
static uint64_t attribute_key(struct slice name)
{
    const char *first = name.ptr, *last = name.ptr + name.len - 4;
    if (name.len == 3)
        return QUAD(first[0] | 0x20, first[1] | 0x20, first[2] | 0x20, 0);
    uint32_t words[2];
    memcpy(&words[0], first, sizeof(words[0]));
    memcpy(&words[1], last, sizeof(words[1]));
    return (le32toh(words[0]) | (uint64_t)le32toh(words[1]) << 32) | LOWER_CASE;
}

/* A perfect hash: the multiplier was searched for until no two keys shared their upper five bits. */
#define ATTRIBUTE_HASH  0xdc7a4beeca84ebcbu
#define ATTRIBUTE_SHIFT 59

/* clang-format off */
static const struct {
    struct slice name;
    uint64_t key;
    enum html_attribute attribute;
} attributes[1 << (64 - ATTRIBUTE_SHIFT)] = {
    [2] = {NAME("xlink:href"), QUAD('x', 'l', 'i', 'n') | QUAD('h', 'r', 'e', 'f') << 32, HTML_XLINK_HREF},
    [4] = {NAME("srcdoc"), QUAD('s', 'r', 'c', 'd') | QUAD('c', 'd', 'o', 'c') << 32, HTML_SRCDOC},
    [5] = {NAME("srcset"), QUAD('s', 'r', 'c', 's') | QUAD('c', 's', 'e', 't') << 32, HTML_SRCSET},
    [7] = {NAME("style"), QUAD('s', 't', 'y', 'l') | QUAD('t', 'y', 'l', 'e') << 32, HTML_STYLE_ATTRIBUTE},
    [9] = {NAME("http-equiv"), QUAD('h', 't', 't', 'p') | QUAD('q', 'u', 'i', 'v') << 32, HTML_HTTP_EQUIV},
    [12] = {NAME("imagesrcset"), QUAD('i', 'm', 'a', 'g') | QUAD('c', 's', 'e', 't') << 32, HTML_IMAGESRCSET},
    [13] = {NAME("poster"), QUAD('p', 'o', 's', 't') | QUAD('s', 't', 'e', 'r') << 32, HTML_POSTER},
    [14] = {NAME("rel"), QUAD('r', 'e', 'l', 0), HTML_REL},
    [15] = {NAME("name"), QUAD('n', 'a', 'm', 'e') | QUAD('n', 'a', 'm', 'e') << 32, HTML_NAME},
    [16] = {NAME("href"), QUAD('h', 'r', 'e', 'f') | QUAD('h', 'r', 'e', 'f') << 32, HTML_HREF},
    [18] = {NAME("data"), QUAD('d', 'a', 't', 'a') | QUAD('d', 'a', 't', 'a') << 32, HTML_DATA},
    [20] = {NAME("content"), QUAD('c', 'o', 'n', 't') | QUAD('t', 'e', 'n', 't') << 32, HTML_CONTENT},
    [26] = {NAME("method"), QUAD('m', 'e', 't', 'h') | QUAD('t', 'h', 'o', 'd') << 32, HTML_METHOD},
    [27] = {NAME("src"), QUAD('s', 'r', 'c', 0), HTML_SRC},
    [29] = {NAME("action"), QUAD('a', 'c', 't', 'i') | QUAD('t', 'i', 'o', 'n') << 32, HTML_ACTION},
    [30] = {NAME("charset"), QUAD('c', 'h', 'a', 'r') | QUAD('r', 's', 'e', 't') << 32, HTML_CHARSET},
    [31] = {NAME("type"), QUAD('t', 'y', 'p', 'e') | QUAD('t', 'y', 'p', 'e') << 32, HTML_TYPE},
};
/* clang-format on */

enum html_attribute html_find_attribute(struct slice name)
{
    if (name.len < 3 || name.len > 11)
        return HTML_ATTRIBUTES;
    uint64_t key = attribute_key(name);
    unsigned slot = (unsigned)(key * ATTRIBUTE_HASH >> ATTRIBUTE_SHIFT);
    if (attributes[slot].key != key || attributes[slot].name.len != name.len)
        return HTML_ATTRIBUTES;
    bool is_whole = name.len <= 8 || slice_equals_nocase(name, attributes[slot].name);
    return is_whole ? attributes[slot].attribute : HTML_ATTRIBUTES;
}

/* Compiled for any CPU: cleared with AVX-512 registers, the array would have to lie at a multiple of 64,
 * which the address sanitizer's stacks do not give. */
const char *html_pad(char padded[HTML_BLOCK_BYTES], const char *at, const char *end)
{
    memset(padded, 0, HTML_BLOCK_BYTES);
    if (end > at)
        memcpy(padded, at, (size_t)(end - at));
    return padded;
}

bool html_is_raw(const struct html_walk *walk, enum html_element element)
{
    static const uint64_t raw = 1ull << HTML_SCRIPT | 1ull << HTML_STYLE | 1ull << HTML_TEXTAREA |
                                1ull << HTML_TITLE | 1ull << HTML_XMP | 1ull << HTML_IFRAME |
                                1ull << HTML_NOEMBED | 1ull << HTML_NOFRAMES;
    if (element == HTML_NOSCRIPT)
        return !(walk->flags & HTML_READ_NOSCRIPT);
    return raw >> element & 1;
}
