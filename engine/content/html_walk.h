/* The walk over a document, compiled once per instruction set: the including file defines
 *
 *     WALK_TARGET                                  attribute of every function
 *     void WALK(load)(struct html_block *, const char *)  all masks of 64 readable bytes
 *     uint64_t WALK(find)(const char *, char)      mask of one byte value in 64 readable bytes
 *
 * and gets WALK(step), which is html_next.
 *
 * Bytes are looked at 64 at a time. The block's masks say where a tag may begin or end, so that a tag of no
 * interest costs a few bit operations however long it is. A position that leaves the block loads the next one
 * from there. */
#include "engine/content/html_tag.h"

static inline WALK_TARGET void WALK(load_at)(struct html_walk *walk, const char *at)
{
    if (__builtin_expect(walk->end - at >= HTML_BLOCK_BYTES, 1)) {
        WALK(load)(&walk->block, at);
    } else {
        char padded[HTML_BLOCK_BYTES];
        WALK(load)(&walk->block, html_pad(padded, at, walk->end));
    }
    walk->block.at = at;
}

/* The first `byte` (not a NUL) from `at` on, or the end. */
static inline WALK_TARGET const char *WALK(seek)(struct html_walk *walk, const char *at, char byte)
{
    for (; walk->end - at >= HTML_BLOCK_BYTES; at += HTML_BLOCK_BYTES) {
        uint64_t mask = WALK(find)(at, byte);
        if (mask)
            return at + __builtin_ctzll(mask);
    }
    char padded[HTML_BLOCK_BYTES];
    uint64_t mask = WALK(find)(html_pad(padded, at, walk->end), byte);
    return mask ? at + __builtin_ctzll(mask) : walk->end;
}

/* Whether `at` lies in the block; sets the mask of the bits from `at` on. */
static inline bool WALK(has)(const struct html_block *block, const char *at)
{
    return (uintptr_t)at - (uintptr_t)block->at < HTML_BLOCK_BYTES;
}

static inline const char *WALK(behind)(const struct html_walk *walk)
{
    return walk->end - walk->block.at > HTML_BLOCK_BYTES ? walk->block.at + HTML_BLOCK_BYTES : walk->end;
}

static inline uint64_t WALK(from)(const struct html_block *block, const char *at)
{
    return ~0ull << (at - block->at);
}

/* The next '<' from `at` on, or the end. */
static inline WALK_TARGET const char *WALK(seek_tag)(struct html_walk *walk, const char *at)
{
    const struct html_block *block = &walk->block;
    if (WALK(has)(block, at)) {
        uint64_t mask = block->lt & WALK(from)(block, at);
        if (mask)
            return block->at + __builtin_ctzll(mask);
        at = WALK(behind)(walk);
    }
    return WALK(seek)(walk, at, '<');
}

/* The closing quote of a value that begins at `at`, or the end. */
static inline WALK_TARGET const char *WALK(seek_quote)(struct html_walk *walk, const char *at, char quote)
{
    const struct html_block *block = &walk->block;
    if (WALK(has)(block, at)) {
        uint64_t mask = quote == '"' ? block->double_quote : block->single_quote;
        mask &= WALK(from)(block, at);
        if (mask)
            return block->at + __builtin_ctzll(mask);
        at = WALK(behind)(walk);
    }
    return WALK(seek)(walk, at, quote);
}

/* The first byte from `at` on that ends a name: HTML_NAME_END for tags, HTML_ATTRIBUTE_END for attributes. */
static inline const char *WALK(pass_name)(const struct html_walk *walk, const char *at, unsigned ends)
{
    const struct html_block *block = &walk->block;
    if (WALK(has)(block, at)) {
        uint64_t mask = block->name_end & WALK(from)(block, at);
        at = mask ? block->at + __builtin_ctzll(mask) : WALK(behind)(walk);
    }
    /* The mask has more than ends a name: controls, and '=', which does not end that of a tag. */
    while (at < walk->end && !html_is(*at, ends))
        at++;
    return at;
}

/* One attribute from `at` on, by the letter of the standard. Returns the place behind it; behind the '>' with
 * name.ptr NULL (and name.len 1 if the tag closes itself) if there is no further attribute; NULL if the
 * document ends before the tag. */
static inline WALK_TARGET __attribute__((always_inline)) const char *
WALK(attribute)(struct html_walk *walk, const char *at, struct slice *name, struct slice *value)
{
    const char *end = walk->end, *from = at;
    while (at < end && (html_is(*at, HTML_SPACE) || *at == '/'))
        at++;
    if (at == end)
        return NULL;
    if (*at == '>') {
        *name = (struct slice){NULL, at > from && at[-1] == '/'};
        return at + 1;
    }
    name->ptr = at; /* whatever it is, a '=' as well */
    at = WALK(pass_name)(walk, at + 1, HTML_ATTRIBUTE_END);
    name->len = (size_t)(at - name->ptr);
    while (at < end && html_is(*at, HTML_SPACE))
        at++;
    *value = (struct slice){"", 0};
    if (at == end || *at != '=')
        return at;
    at++;
    while (at < end && html_is(*at, HTML_SPACE))
        at++;
    if (at == end || *at == '>')
        return at;
    if (*at == '"' || *at == '\'') {
        const char *close = WALK(seek_quote)(walk, at + 1, *at);
        *value = slice_between(at + 1, close);
        return close == end ? NULL : close + 1;
    }
    value->ptr = at;
    while (at < end && !html_is(*at, HTML_VALUE_END))
        at++;
    value->len = (size_t)(at - value->ptr);
    return at;
}

/* Behind the '>' of a tag, attribute by attribute; NULL if there is none. */
static WALK_TARGET __attribute__((noinline)) const char *WALK(pass_attributes)(struct html_walk *walk,
                                                                               const char *at)
{
    struct slice name, value;
    unsigned left = HTML_TAG_ATTRIBUTES_MAX;
    while ((at = WALK(attribute)(walk, at, &name, &value)) != NULL && name.ptr)
        if (left-- == 0)
            return NULL;
    return at;
}

/* Behind the '>' of a tag whose name starts at `name`; NULL if there is none.
 *
 * A quote begins a value if it follows a '=' that follows an attribute's name. That is certain where the text
 * since the last value (or the tag's name) has one '=' only, right before the quote and right behind a byte
 * of a name. Everything else is left to pass_attributes. */
static inline WALK_TARGET const char *WALK(pass_tag)(struct html_walk *walk, const char *name)
{
    struct html_block *block = &walk->block;
    const char *since = name;
    unsigned left = HTML_TAG_ATTRIBUTES_MAX;
    bool in_name = true;
    if (!WALK(has)(block, name) || name - block->at > HTML_BLOCK_BYTES / 2)
        WALK(load_at)(walk, name);
    for (;;) {
        uint64_t stops = block->gt | block->double_quote | block->single_quote;
        uint64_t mask = stops & WALK(from)(block, since);
        if (mask == 0) {
            if (since > block->at && WALK(behind)(walk) < walk->end) {
                WALK(load_at)(walk, since);
                continue;
            }
            return WALK(pass_attributes)(walk, in_name ? WALK(pass_name)(walk, since, HTML_NAME_END) : since);
        }
        const char *stop = block->at + __builtin_ctzll(mask);
        if (*stop == '>')
            return stop + 1;
        if (in_name) {
            since = WALK(pass_name)(walk, since, HTML_NAME_END);
            in_name = false;
            if (since > stop)
                return WALK(pass_attributes)(walk, since);
        }
        uint64_t between = WALK(from)(block, since) & ((mask & -mask) - 1);
        if (stop - since < 3 || (block->equals & between) != (mask & -mask) >> 1 ||
            html_is(stop[-2], HTML_ATTRIBUTE_END))
            return WALK(pass_attributes)(walk, since);
        since = WALK(seek_quote)(walk, stop + 1, *stop);
        if (since == walk->end || left-- == 0)
            return NULL;
        since++;
        if (!WALK(has)(block, since)) {
            if (since == walk->end)
                return NULL;
            WALK(load_at)(walk, since);
        }
    }
}

/* Behind the '>' of a tag that begins at `open` and whose name at `name`; NULL if there is none. Most tags have no
 * attributes: a '>' among their first six bytes ends them, for the shortest that has one in a value is <p x=">">. */
static inline WALK_TARGET const char *WALK(pass_short_tag)(struct html_walk *walk, const char *open,
                                                           const char *name)
{
    if (walk->end - open >= 6) {
        uint32_t gt = html_find_in_four(open + 2, '>');
        if (gt)
            return open + 3 + __builtin_ctz(gt) / 8;
    }
    return WALK(pass_tag)(walk, name);
}

/* Behind the comment whose text begins at `at`: at --> or --!>, where the dashes of <!-- count for the
 * first. */
static WALK_TARGET const char *WALK(pass_comment)(struct html_walk *walk, const char *text)
{
    unsigned left = HTML_MISSES_MAX;
    for (const char *at = text; (at = WALK(seek)(walk, at, '>')) < walk->end && left--; at++) {
        if (at[-1] == '-' && at[-2] == '-')
            return at + 1;
        if (at[-1] == '!' && at - text >= 3 && at[-2] == '-' && at[-3] == '-')
            return at + 1;
    }
    return walk->end;
}

static WALK_TARGET const char *WALK(pass_cdata)(struct html_walk *walk, const char *text)
{
    unsigned left = HTML_MISSES_MAX;
    for (const char *at = text; (at = WALK(seek)(walk, at, '>')) < walk->end && left--; at++)
        if (at - text >= 2 && at[-1] == ']' && at[-2] == ']')
            return at + 1;
    return walk->end;
}

/* Behind what begins with <! or <? or </ and is no tag. */
static WALK_TARGET __attribute__((noinline)) const char *WALK(pass_declaration)(struct html_walk *walk,
                                                                                const char *open)
{
    struct slice rest = slice_between(open, walk->end);
    if (slice_starts_with(rest, SLICE("<!--")))
        return WALK(pass_comment)(walk, open + 4);
    if ((html_is_foreign(walk) || walk->flags & HTML_XML) && slice_starts_with(rest, SLICE("<![CDATA[")))
        return WALK(pass_cdata)(walk, open + 9);
    const char *close = WALK(seek)(walk, open + 2, '>');
    return close == walk->end ? close : close + 1;
}

/* Whether "</" and the name, or "<" and the name if `slash` is 0, stand at `at`. */
static bool WALK(is_tag)(const struct html_walk *walk, const char *at, struct slice name, size_t slash)
{
    if ((size_t)(walk->end - at) < name.len + slash + 2)
        return false;
    return (slash == 0 || at[1] == '/') &&
           slice_equals_nocase((struct slice){at + 1 + slash, name.len}, name) &&
           html_is(at[1 + slash + name.len], HTML_NAME_END);
}

/* The end tag of a raw text element, or the end. */
static WALK_TARGET const char *WALK(seek_end_tag)(struct html_walk *walk, const char *at, struct slice name)
{
    unsigned left = HTML_MISSES_MAX;
    /* Blocks overlap by a byte, so that a "</" between two of them is seen. */
    for (; walk->end - at > HTML_BLOCK_BYTES; at += HTML_BLOCK_BYTES - 1)
        for (uint64_t mask = WALK(find)(at, '<') & WALK(find)(at, '/') >> 1; mask; mask &= mask - 1) {
            const char *open = at + __builtin_ctzll(mask);
            if (left-- == 0)
                return walk->end;
            if ((open[2] | 0x20) == (name.ptr[0] | 0x20) && WALK(is_tag)(walk, open, name, 1))
                return open;
        }
    while ((at = WALK(seek)(walk, at, '<')) < walk->end && !WALK(is_tag)(walk, at, name, 1))
        at++;
    return at;
}

/* The "-->" between `from` and `to`, whose dashes may be those of a "<!--" right before; NULL if there is
 * none. */
static const char *WALK(find_arrow)(const char *from, const char *to)
{
    for (const char *at = from; (at = memchr(at, '>', (size_t)(to - at))) != NULL; at++)
        if (at[-1] == '-' && at[-2] == '-')
            return at;
    return NULL;
}

/* The end tag of a script, or the end. Behind "<!--", until "-->", script tags nest once. */
static WALK_TARGET const char *WALK(seek_end_script)(struct html_walk *walk, const char *at)
{
    enum { PLAIN, ESCAPED, DOUBLE } state = PLAIN;
    for (unsigned left = HTML_MISSES_MAX; left--;) {
        const char *open = WALK(seek)(walk, at, '<');
        if (state != PLAIN && WALK(find_arrow)(at, open))
            state = PLAIN;
        if (open == walk->end)
            return open;
        at = open + 1;
        if (state == PLAIN && slice_starts_with(slice_between(open, walk->end), SLICE("<!--"))) {
            state = ESCAPED;
            at = open + 4;
        } else if (WALK(is_tag)(walk, open, SLICE("script"), 1)) {
            if (state != DOUBLE)
                return open;
            state = ESCAPED;
        } else if (state == ESCAPED && WALK(is_tag)(walk, open, SLICE("script"), 0)) {
            state = DOUBLE;
        }
    }
    return walk->end;
}

/* Past the text of a raw text element, to its end tag. */
static WALK_TARGET const char *WALK(pass_raw)(struct html_walk *walk, struct html_tag *tag, struct slice name)
{
    const char *end = tag->element == HTML_SCRIPT ? WALK(seek_end_script)(walk, tag->close)
                                                  : WALK(seek_end_tag)(walk, tag->close, name);
    tag->body = slice_between(tag->close, end);
    return end;
}

/* Fills in `tag` from the attributes behind its name. NULL if the document ends before the tag. */
static WALK_TARGET const char *WALK(read_attributes)(struct html_walk *walk, const char *at,
                                                     struct html_tag *tag)
{
    struct slice name, value;
    unsigned left = HTML_TAG_ATTRIBUTES_MAX;
    tag->has = 0;
    if (at < walk->end && !WALK(has)(&walk->block, at))
        WALK(load_at)(walk, at);
    while ((at = WALK(attribute)(walk, at, &name, &value)) != NULL && name.ptr) {
        if (left-- == 0)
            return NULL;
        if (!WALK(has)(&walk->block, at) && at < walk->end)
            WALK(load_at)(walk, at);
        enum html_attribute attribute = html_find_attribute(name);
        if (attribute < HTML_ATTRIBUTES && !html_has(tag, attribute)) {
            tag->has |= 1u << attribute;
            tag->value[attribute] = value;
        }
    }
    tag->close = at;
    tag->is_self_closing = at && name.len;
    return at;
}

/* Whether the caller of html_next is to see this start tag. */
static inline bool WALK(is_wanted)(const struct html_walk *walk, const struct html_tag *tag, bool is_foreign)
{
    if (walk->flags & HTML_READ_ALL)
        return true;
    if (walk->template_depth)
        return false;
    bool is_drawn = tag->element == HTML_A || tag->element == HTML_IMG || tag->element == HTML_USE;
    if (tag->element >= HTML_A && tag->element <= HTML_VIDEO && (!is_foreign || is_drawn))
        return true;
    return (walk->flags & HTML_READ_STYLES) && html_has(tag, HTML_STYLE_ATTRIBUTE);
}

/* Behind a start tag, as read_attributes does it, for who wants no attributes. */
static WALK_TARGET const char *WALK(skip_attributes)(struct html_walk *walk, const char *open,
                                                     struct html_tag *tag)
{
    tag->has = 0;
    tag->is_self_closing = false; /* of meaning only in foreign content and XML */
    return tag->close = WALK(pass_tag)(walk, open + 1);
}

/* Whether it is enough to know where a start tag ends. */
static inline bool WALK(is_brief)(const struct html_walk *walk, enum html_element element)
{
    return walk->flags & HTML_SKIP_ATTRIBUTES && !(walk->flags & HTML_XML) && !walk->foreign_depth &&
           element != HTML_SVG && element != HTML_MATH;
}

/* A start tag that matters. Sets walk->at behind it and its raw text. True if it is to be reported. */
static WALK_TARGET bool WALK(start_tag)(struct html_walk *walk, const char *open, struct html_tag *tag)
{
    struct slice name = slice_between(open + 1, WALK(pass_name)(walk, open + 1, HTML_NAME_END));
    const char *at = WALK(is_brief)(walk, tag->element)
                         ? WALK(skip_attributes)(walk, open, tag)
                         : WALK(read_attributes)(walk, name.ptr + name.len, tag);
    walk->at = at ? at : walk->end;
    if (!at)
        return false;
    if (walk->flags & HTML_XML && tag->element == HTML_OTHER)
        tag->element = html_find_prefixed(name, walk->end);
    tag->open = open;
    tag->is_end = false;
    tag->body = (struct slice){at, 0};
    bool is_foreign = false;
    if (walk->foreign_depth || tag->element == HTML_SVG || tag->element == HTML_MATH)
        is_foreign = html_foreign_start(walk, name, tag->is_self_closing);
    tag->is_foreign = is_foreign;
    bool is_wanted = WALK(is_wanted)(walk, tag, is_foreign);
    if (is_foreign || (tag->is_self_closing && walk->flags & HTML_XML))
        return is_wanted;
    if (html_is_raw(walk, tag->element))
        walk->at = WALK(pass_raw)(walk, tag, name);
    else if (tag->element == HTML_PLAINTEXT)
        walk->at = walk->end;
    else if (tag->element == HTML_TEMPLATE)
        walk->template_depth++;
    return is_wanted;
}

/* An end tag that matters. True if it is to be reported. */
static WALK_TARGET bool WALK(end_tag)(struct html_walk *walk, const char *open, struct html_tag *tag)
{
    const char *close = WALK(pass_short_tag)(walk, open, open + 2);
    walk->at = close ? close : walk->end;
    if (!close)
        return false;
    tag->element = html_element_at(open + 2, walk->end);
    if (walk->foreign_depth)
        html_foreign_end(walk, slice_between(open + 2, WALK(pass_name)(walk, open + 2, HTML_NAME_END)));
    if (tag->element == HTML_TEMPLATE && walk->template_depth)
        walk->template_depth--;
    tag->is_end = true;
    tag->has = 0;
    tag->open = open;
    tag->close = close;
    return (tag->element == HTML_A && walk->template_depth == 0) || (walk->flags & HTML_READ_ALL);
}

/* A tag of which nobody wants more than its place. True if it is reported: the document does not end in it. */
static inline WALK_TARGET bool WALK(brief_tag)(struct html_walk *walk, const char *open, struct html_tag *tag)
{
    tag->is_end = open[1] == '/';
    const char *close = WALK(pass_short_tag)(walk, open, open + 1 + tag->is_end);
    walk->at = close ? close : walk->end;
    if (!close)
        return false;
    tag->has = 0;
    tag->is_self_closing = tag->is_foreign = false;
    tag->open = open;
    tag->close = close;
    tag->body = (struct slice){close, 0};
    return true;
}

/* Pauses the walk: reports a tag of no interest, so that the caller can do something else. */
static WALK_TARGET __attribute__((noinline)) bool WALK(rest)(struct html_walk *walk, const char *at,
                                                             struct html_tag *tag)
{
    tag->element = HTML_OTHER;
    tag->is_end = false;
    tag->has = 0;
    tag->open = tag->close = at;
    walk->at = at;
    walk->pause = walk->end;
    return true;
}

static WALK_TARGET bool WALK(step)(struct html_walk *walk, struct html_tag *tag)
{
    const char *at = walk->at, *end = walk->end;
    /* No tag that matters is shorter than "</a>". */
    while (end - at >= 4 && end - (at = WALK(seek_tag)(walk, at)) >= 4) {
        bool is_brief = walk->flags & HTML_READ_ALL && WALK(is_brief)(walk, HTML_OTHER);
        bool is_careful = walk->foreign_depth || walk->flags & (HTML_READ_STYLES | HTML_READ_ALL | HTML_XML);
        if (html_is(at[1], HTML_LETTER)) {
            tag->element = html_may_matter(at + 1) ? html_element_at(at + 1, end) : HTML_OTHER;
            if (is_brief && tag->element <= HTML_A) {
                if (WALK(brief_tag)(walk, at, tag))
                    return true;
                at = walk->at;
            } else if (tag->element != HTML_OTHER || is_careful) {
                if (WALK(start_tag)(walk, at, tag))
                    return true;
                at = walk->at;
            } else {
                at = WALK(pass_short_tag)(walk, at, at + 1);
            }
        } else if (at[1] == '/' && html_is(at[2], HTML_LETTER)) {
            if (is_brief && !html_end_may_matter(at + 2)) {
                tag->element = HTML_OTHER;
                if (WALK(brief_tag)(walk, at, tag))
                    return true;
                at = walk->at;
            } else if (is_careful || html_end_may_matter(at + 2)) {
                if (WALK(end_tag)(walk, at, tag))
                    return true;
                at = walk->at;
            } else {
                at = WALK(pass_short_tag)(walk, at, at + 2);
            }
        } else if (at[1] == '!' || at[1] == '?' || at[1] == '/') {
            at = WALK(pass_declaration)(walk, at);
        } else {
            at++;
        }
        if (!at)
            break;
        if (__builtin_expect(at > walk->pause, 0))
            return WALK(rest)(walk, at, tag);
    }
    walk->at = end;
    return false;
}
