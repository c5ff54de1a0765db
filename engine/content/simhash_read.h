/* Reads a page and collects its letters. Compiled once per instruction set: the including file defines what
 * simhash_count.h needs, and
 *
 *     struct simhash_words READ(words)(const char *)  where words are, and what ends them, in a readable block
 *     struct simhash_tags READ(tags)(const char *)    where the parts of tags are in it
 *     uint64_t READ(append)(char *, const char *, struct simhash_letters)  copies the bytes that the mask has a bit for,
 *                                                     in lower case; returns which of them begin a word
 *
 * and gets READ(document).
 *
 * A page is read in blocks of 64 bytes, and each block as masks with a bit per byte. The bits of tags, and of words
 * that do not count, are cleared. The letters that are left are copied one behind the other, without gaps, so that a
 * shingle can reach over several words.
 *
 * The walk (html.h) knows all of HTML, but takes a hundred instructions per tag. So a tag that has no meaning here
 * and lies within one block is skipped by the masks alone. The walk skips all other tags, and comments; behind each
 * of them the reading by blocks goes on. */
#include "engine/content/simhash_count.h"

/* The run of ones in `words` that bit `at` belongs to, from that bit on. */
static inline uint64_t READ(run_from)(uint64_t words, uint64_t at)
{
    return words & ~(words + at); /* the carry ends behind the run */
}

/* The whole run. */
static inline READ_TARGET uint64_t READ(run_around)(uint64_t words, uint64_t at)
{
    uint64_t gaps = ~words & (at - 1);
    uint64_t below = gaps ? ~UINT64_C(0) << (64 - __builtin_clzll(gaps)) & (at - 1) : at - 1;
    return READ(run_from)(words, at) | below;
}

/* A block, and where its text is. */
struct READ(view) {
    const char *at;    /* in the document */
    const char *block; /* the same, or a copy with enough room behind it */
    uint64_t inside;   /* a bit for each byte of text */
    unsigned len;      /* bytes that are done with: up to 64 */
    bool is_stuck;     /* at a tag that the walk has to pass */
};

/* `words` of a block without character references. */
static READ_TARGET __attribute__((noinline)) uint64_t
READ(drop_references)(const struct simhash_reader *reader, const struct READ(view) * view, uint64_t words,
                      uint64_t ampersands)
{
    const char *block = view->block;
    uint64_t names = simhash_follows_ampersand(reader, view->at) |
                     (uint64_t)simhash_follows_ampersand(reader, view->at + 1) << 1;
    for (; ampersands; ampersands &= ampersands - 1) {
        unsigned at = (unsigned)__builtin_ctzll(ampersands) + 1;
        at += at < SIMHASH_BLOCK_BYTES && block[at] == '#';
        names |= at < SIMHASH_BLOCK_BYTES ? UINT64_C(1) << at : 0;
    }
    for (names &= words; names; names &= names - 1) {
        uint64_t run = READ(run_from)(words, names & -names);
        unsigned end = 64 - (unsigned)__builtin_clzll(run);
        if (end < SIMHASH_BLOCK_BYTES && block[end] == ';')
            words &= ~run;
    }
    return words;
}

/* Whether the word of these bits is the name of a month or the like. */
static inline READ_TARGET bool READ(is_date)(const char *block, uint64_t run)
{
    unsigned begin = (unsigned)__builtin_ctzll(run), len = 64 - (unsigned)__builtin_clzll(run) - begin;
    if (len > 9)
        return false;
    uint64_t letters = simhash_letters_at(block + begin) | SIMHASH_FOLD * UINT64_C(0x0101010101010101);
    if (len == 9)
        return simhash_is_long_date(letters, (uint64_t)(block[begin + 8] | SIMHASH_FOLD));
    return simhash_is_date(len < 8 ? letters & ~(~UINT64_C(0) << (8 * len)) : letters);
}

/* Takes the letters of a block. */
__attribute__((always_inline)) static inline READ_TARGET void
READ(take)(struct simhash_reader *reader, const struct READ(view) * view, const struct simhash_words *masks)
{
    uint64_t words = (masks->letters | masks->digits) & view->inside;
    for (uint64_t digits = masks->digits & words; __builtin_expect(digits != 0, 0); digits &= words)
        words &= ~READ(run_around)(words, digits & -digits);
    uint64_t ampersands = masks->ampersand & view->inside;
    if (__builtin_expect(ampersands || simhash_follows_mark(reader, view->at), 0) && reader->is_html)
        words = READ(drop_references)(reader, view, words, ampersands);
    for (uint64_t dates = masks->dates & words & ~(words << 1); dates; dates &= dates - 1) {
        uint64_t run = READ(run_from)(words, dates & -dates);
        if (READ(is_date)(view->block, run))
            words &= ~run;
    }
    uint64_t starts = words & ~(words << 1);
    struct simhash_letters letters = {words & ~masks->leads,
                                      (starts & ~masks->leads) | (starts & masks->leads) << 1};
    simhash_add_starts(reader, READ(append)(reader->letters + reader->letters_len, view->block, letters));
    reader->letters_len += (unsigned)__builtin_popcountll(letters.all);
    if (__builtin_expect(reader->letters_len > SIMHASH_WAITING_MAX, 0))
        READ(flush)(reader);
}

/* A word that is longer than a block, byte by byte. Returns its end. */
static READ_TARGET __attribute__((noinline)) const char *
READ(take_long_word)(struct simhash_reader *reader, const char *word, const char *end)
{
    const char *at = word;
    bool has_digit = false;
    for (; at < end && simhash_is_word_byte(*at); at++)
        has_digit |= *at >= '0' && *at <= '9';
    bool is_reference = at < end && *at == ';' && reader->is_html && simhash_follows_ampersand(reader, word);
    if (has_digit || is_reference)
        return at;
    for (bool is_first = true; word < at; word++) {
        if (word + 1 < at && simhash_is_lead(word[0], word[1]))
            continue;
        simhash_add_starts(reader, is_first);
        is_first = false;
        reader->letters[reader->letters_len++] = *word | SIMHASH_FOLD;
        if (reader->letters_len > SIMHASH_WAITING_MAX)
            READ(flush)(reader);
    }
    return at;
}

static inline bool READ(is_full)(const struct simhash_reader *reader)
{
    return reader->letters_count + reader->letters_len >= SIMHASH_LETTERS_MAX;
}

static inline uint64_t READ(below)(size_t bit)
{
    return bit < 64 ? (UINT64_C(1) << bit) - 1 : ~UINT64_C(0);
}

/* How many bytes of a block can be taken when text goes on behind it: not its last word, which may go on as well. 0: all of it
 * is one word. */
static inline READ_TARGET size_t READ(whole_words)(uint64_t words)
{
    return words >> 63 ? words == ~UINT64_C(0) ? 0 : 64 - (size_t)__builtin_clzll(~words) : 64;
}

/* A text up to `end`, which need not be that of the document. `has_markup`: a '<' in it begins a comment or a declaration, which
 * count as tags. */
static READ_TARGET __attribute__((noinline)) void
READ(take_text)(struct simhash_reader *reader, const char *at, const char *end, bool has_markup)
{
    char padded[SIMHASH_BLOCK_ROOM];
    while (at < end && reader->tags_left && !READ(is_full)(reader)) {
        bool is_last = reader->end - at < SIMHASH_BLOCK_ROOM;
        struct READ(view) view = {at, is_last ? simhash_pad(padded, at, reader->end) : at, 0, 0, false};
        struct simhash_words masks = READ(words)(view.block);
        size_t len = (size_t)(end - at);
        uint64_t opens = has_markup ? masks.open & READ(below)(len) : 0;
        while (opens && !simhash_is_markup(at + __builtin_ctzll(opens), end))
            opens &= opens - 1;
        if (opens)
            len = (size_t)__builtin_ctzll(opens);
        else if (len > SIMHASH_BLOCK_BYTES)
            len = READ(whole_words)(masks.letters | masks.digits);
        if (len == 0 && !opens) {
            at = READ(take_long_word)(reader, at, end);
            continue;
        }
        view.inside = READ(below)(len);
        READ(take)(reader, &view, &masks);
        at += len < SIMHASH_BLOCK_BYTES ? len : SIMHASH_BLOCK_BYTES;
        if (opens) {
            at = simhash_skip_markup(at, end);
            reader->tags_left--;
        }
    }
}

/* From `from`, which is not within a tag, to behind the next tag, with the help of the walk. NULL if there is none. */
static READ_TARGET __attribute__((noinline)) const char *
READ(walk_on)(struct simhash_reader *reader, struct html_walk *walk, const char *from)
{
    struct html_tag tag;
    walk->at = from;
    if (!html_next(walk, &tag)) {
        READ(take_text)(reader, from, reader->end, true);
        return NULL;
    }
    READ(take_text)(reader, from, tag.open, true);
    from = tag.close;
    if (!tag.is_end && tag.body.len) {
        from = tag.body.ptr + tag.body.len;
        if (tag.element == HTML_TITLE || tag.element == HTML_TEXTAREA)
            READ(take_text)(reader, tag.body.ptr, from, false);
    }
    if (reader->tags_left == 0)
        return NULL;
    reader->tags_left--;
    if (walk->at == from)
        return from;
    READ(take_text)(reader, from, reader->end, true); /* plaintext: no tag ends it */
    return NULL;
}

/* Whether nothing but its end is of interest of the tag at `open`: it has no text of its own kind behind it. */
static inline READ_TARGET bool READ(is_brief)(const char *open, const char *end)
{
    static const uint64_t others = 1ull << HTML_SCRIPT | 1ull << HTML_STYLE | 1ull << HTML_TEXTAREA |
                                   1ull << HTML_TITLE | 1ull << HTML_XMP | 1ull << HTML_IFRAME |
                                   1ull << HTML_NOEMBED | 1ull << HTML_NOFRAMES | 1ull << HTML_PLAINTEXT |
                                   1ull << HTML_SVG | 1ull << HTML_MATH;
    if (open[1] == '/')
        return html_is(open[2], HTML_LETTER);
    return html_is(open[1], HTML_LETTER) &&
           (!html_may_matter(open + 1) || !(others >> html_element_at(open + 1, end) & 1));
}

/* Behind the '>' of the tag whose name begins at bit `since` of a block: the bit, or 0 if that is not certain or not in the
 * block. It is where each quote follows a '=' that follows a name, and no other '=' is near: see html_walk.h, pass_tag. */
static inline READ_TARGET unsigned READ(close_of)(const char *block, const struct simhash_tags *tags,
                                                  unsigned since)
{
    uint64_t stops = tags->close | tags->double_quote | tags->single_quote;
    for (bool in_name = true; since < SIMHASH_BLOCK_BYTES; in_name = false) {
        uint64_t rest = ~UINT64_C(0) << since, stop = stops & rest;
        if (!stop)
            return 0;
        unsigned at = (unsigned)__builtin_ctzll(stop);
        uint64_t bit = stop & -stop;
        if (tags->close & bit)
            return at + 1;
        if (in_name) {
            since = (unsigned)__builtin_ctzll((tags->space & rest) | UINT64_C(1) << 63);
            if (!html_is(block[since], HTML_SPACE))
                return 0;
        }
        if (since + 3 > at || (tags->equals & rest & (bit - 1)) != bit >> 1 ||
            html_is(block[at - 2], HTML_ATTRIBUTE_END))
            return 0;
        uint64_t quotes = (tags->double_quote & bit ? tags->double_quote : tags->single_quote) & ~bit & -bit;
        if (!quotes)
            return 0;
        since = (unsigned)__builtin_ctzll(quotes) + 1;
    }
    return 0;
}

/* Passes the tags of a block. A tag that does not end in it is left for the next one, which begins there. */
static inline READ_TARGET struct READ(view)
    READ(look)(struct simhash_reader *reader, const char *block, uint64_t opens)
{
    struct READ(view) view = {block, block, ~UINT64_C(0), SIMHASH_BLOCK_BYTES, false};
    if (!opens)
        return view;
    struct simhash_tags tags = READ(tags)(block);
    while (opens) {
        unsigned at = (unsigned)__builtin_ctzll(opens);
        if (!simhash_is_markup(block + at, reader->end)) {
            opens &= opens - 1;
            continue;
        }
        bool is_brief = READ(is_brief)(block + at, reader->end);
        unsigned close = is_brief ? READ(close_of)(block, &tags, at + 1 + (block[at + 1] == '/')) : 0;
        if (!close) {
            view.inside &= READ(below)(at);
            view.len = at;
            view.is_stuck = !is_brief || at == 0;
            return view;
        }
        view.inside &= READ(below)(at) | ~READ(below)(close);
        opens &= ~READ(below)(close);
        reader->tags_left--;
    }
    return view;
}

/* Blocks from `at` on, while there are whole ones and no tag stops it. Returns where it stopped. */
static inline READ_TARGET const char *READ(take_blocks)(struct simhash_reader *reader, const char *at)
{
    while (reader->end - at >= SIMHASH_BLOCK_ROOM && !READ(is_full)(reader) &&
           reader->tags_left > SIMHASH_BLOCK_BYTES) {
        struct simhash_words masks = READ(words)(at);
        struct READ(view) view = READ(look)(reader, at, masks.open);
        if (view.len == SIMHASH_BLOCK_BYTES) {
            view.len = (unsigned)READ(whole_words)((masks.letters | masks.digits) & view.inside);
            view.inside &= READ(below)(view.len);
            if (view.len == 0) {
                at = READ(take_long_word)(reader, at, reader->end);
                continue;
            }
        }
        READ(take)(reader, &view, &masks);
        at += view.len;
        if (view.is_stuck)
            break;
    }
    return at;
}

static READ_TARGET void READ(take_page)(struct simhash_reader *reader, unsigned flags)
{
    struct html_walk walk;
    const char *at = reader->begin;
    html_init(&walk, slice_between(at, reader->end),
              HTML_READ_ALL | HTML_READ_NOSCRIPT | HTML_SKIP_ATTRIBUTES | flags);
    while (at && reader->tags_left && !READ(is_full)(reader)) {
        if (!walk.foreign_depth)
            at = READ(take_blocks)(reader, at);
        at = READ(walk_on)(reader, &walk, at);
    }
}

static READ_TARGET void READ(document)(struct simhash_reader *reader, unsigned flags)
{
    if (reader->is_html)
        READ(take_page)(reader, flags);
    else
        READ(take_text)(reader, reader->begin, reader->end, false);
    READ(finish)(reader);
}
