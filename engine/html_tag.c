#include "engine/html_tag.h"

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
    [HTML_PAIR('t', 'e')] = TEMPLATE, [HTML_PAIR('t', 'i')] = TITLE, [HTML_PAIR('t', 'r')] = TRACK, [HTML_PAIR('v', 'i')] = VIDEO,
    [HTML_PAIR('x', 'm')] = XMP,
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

static bool is_name(struct slice name, const char *lower_case)
{
    for (size_t i = 0; i < name.len; i++)
        if ((name.ptr[i] | 0x20) != lower_case[i])
            return false;
    return true;
}

enum html_attribute html_find_attribute(struct slice name)
{
    switch (name.len) {
    case 3:
        return is_name(name, "src") ? HTML_SRC : is_name(name, "rel") ? HTML_REL : HTML_ATTRIBUTES;
    case 4:
        return is_name(name, "href")   ? HTML_HREF
               : is_name(name, "type") ? HTML_TYPE
               : is_name(name, "name") ? HTML_NAME
               : is_name(name, "data") ? HTML_DATA
                                       : HTML_ATTRIBUTES;
    case 5:
        return is_name(name, "style") ? HTML_STYLE_ATTRIBUTE : HTML_ATTRIBUTES;
    case 6:
        return is_name(name, "srcset")   ? HTML_SRCSET
               : is_name(name, "action") ? HTML_ACTION
               : is_name(name, "method") ? HTML_METHOD
               : is_name(name, "poster") ? HTML_POSTER
                                         : HTML_ATTRIBUTES;
    case 7:
        return is_name(name, "content")   ? HTML_CONTENT
               : is_name(name, "charset") ? HTML_CHARSET
                                          : HTML_ATTRIBUTES;
    case 10:
        return is_name(name, "http-equiv") ? HTML_HTTP_EQUIV : HTML_ATTRIBUTES;
    case 11:
        return is_name(name, "imagesrcset") ? HTML_IMAGESRCSET : HTML_ATTRIBUTES;
    default:
        return HTML_ATTRIBUTES;
    }
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
