#include "engine/content/text.h"

#include <assert.h>

#include "engine/content/entity.h"
#include "engine/content/html_tag.h"
#include "engine/content/sniff.h"
#include "engine/url/utf8.h"

#define DELETE     0x7f
#define NO_BREAK   SLICE("\xc2\xa0")
#define CDATA_OPEN SLICE("<![CDATA[")

/* Appends one character or some ASCII bytes, behind the gap that is pending. What does not fit is cut off. */
static void put(struct text_out *out, struct slice bytes)
{
    size_t gap = out->gap != TEXT_NO_GAP && out->at > out->begin;
    size_t room = (size_t)(out->end - out->at);
    if (room < gap + bytes.len) {
        out->is_cut = true;
        bool is_ascii = !(bytes.ptr[0] & 0x80);
        if (!is_ascii || room <= gap)
            return;
        bytes.len = room - gap;
    }
    if (gap)
        *out->at++ = out->gap == TEXT_LINE ? '\n' : ' ';
    memcpy(out->at, bytes.ptr, bytes.len);
    out->at += bytes.len;
    out->gap = TEXT_NO_GAP;
}

static void put_gap(struct text_out *out, enum text_gap gap)
{
    if (out->gap < gap)
        out->gap = gap;
}

/* The character that `text` begins with, which is not ASCII. Returns the bytes that it takes. */
static size_t put_character(struct text_out *out, struct slice text)
{
    bool good;
    size_t len = utf8_length(text, &good);
    put(out, good ? (struct slice){text.ptr, len} : SLICE("\xef\xbf\xbd"));
    return len;
}

/* Number of bytes at the start that are printable ASCII. */
static size_t word_length(struct slice text)
{
    size_t len = 0;
    while (len < text.len && (unsigned char)text.ptr[len] > ' ' && (unsigned char)text.ptr[len] < DELETE)
        len++;
    return len;
}

/* Text of a page in UTF-8, as far as it is well-formed. `gap_of_line` is what a line end counts for. */
static void put_text(struct text_out *out, struct slice text, enum text_gap gap_of_line)
{
    while (text.len && !out->is_cut) {
        size_t len = word_length(text);
        if (len) {
            put(out, (struct slice){text.ptr, len});
        } else if (text.ptr[0] & 0x80) {
            if (slice_starts_with(text, NO_BREAK)) {
                put_gap(out, TEXT_SPACE);
                len = 2;
            } else {
                len = put_character(out, text);
            }
        } else {
            if (slice_is_space(text.ptr[0]))
                put_gap(out, text.ptr[0] == '\n' ? gap_of_line : TEXT_SPACE);
            len = 1;
        }
        text = slice_skip(text, len);
    }
}

/* The same for plain text: all of it stays. */
static void put_plain(struct text_out *out, struct slice text)
{
    while (text.len && !out->is_cut) {
        size_t len = 0;
        while (len < text.len && !(text.ptr[len] & 0x80))
            len++;
        if (len)
            put(out, (struct slice){text.ptr, len});
        else
            len = put_character(out, text);
        text = slice_skip(text, len);
    }
}

/* Where a part of `text` may end: behind a space or line end, which no character of more than one byte contains in
 * any encoding of the web, or before the first byte of a character in UTF-8. A part in a legacy encoding that has
 * neither is cut anywhere: that costs one character. */
static struct slice part_of(const struct encoding *encoding, struct slice text)
{
    size_t len = TEXT_PART_BYTES;
    if (text.len <= len)
        return text;
    if (encoding == encoding_utf8) {
        for (int i = 0; i < 3 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80; i++)
            len--;
        return (struct slice){text.ptr, len};
    }
    while (len > 0 && !slice_is_space(text.ptr[len - 1]))
        len--;
    return (struct slice){text.ptr, len ? len : TEXT_PART_BYTES};
}

/* Text without markup or references, at most TEXT_PART_BYTES, in the document's encoding. */
static void put_part(struct text_walk *walk, struct text_out *out, struct slice part)
{
    char utf8[3 * TEXT_PART_BYTES + 4]; /* encoding_utf8_bytes_max, which is no constant */
    if (walk->encoding != encoding_utf8 && !encoding_is_ascii(part))
        part = (struct slice){utf8, encoding_to_utf8(walk->encoding, part, utf8)};
    if (walk->is_html)
        put_text(out, part, walk->is_pre ? TEXT_LINE : TEXT_SPACE);
    else
        put_plain(out, part);
}

/* The reference that `text` begins with, or the '&' itself. Returns the bytes that it takes. */
static size_t put_reference(struct text_walk *walk, struct text_out *out, struct slice text)
{
    char utf8[ENTITY_TEXT_BYTES_MAX];
    size_t used, len = entity_decode_text(text, utf8, &used);
    put_text(out, len ? (struct slice){utf8, len} : SLICE("&"), walk->is_pre ? TEXT_LINE : TEXT_SPACE);
    return len ? used : 1;
}

/* One part of `text`, up to a '<' unless it is the first byte: that one counts as text. Returns its length. */
static size_t read_text(struct text_walk *walk, struct text_out *out, struct slice text)
{
    if (text.ptr[0] == '&')
        return put_reference(walk, out, text);
    /* Before it is parted: part_of looks at TEXT_PART_BYTES each time, and references may come one upon another. */
    size_t len = 1;
    while (len < text.len && len <= TEXT_PART_BYTES && text.ptr[len] != '&' && text.ptr[len] != '<')
        len++;
    struct slice part =
        len <= TEXT_PART_BYTES ? (struct slice){text.ptr, len} : part_of(walk->encoding, text);
    put_part(walk, out, part);
    return part.len;
}

/* Behind the comment that `run` begins with, by the rule of the walk (html_walk.h). */
static size_t comment_length(struct slice run)
{
    const char *text = run.ptr + 4, *end = run.ptr + run.len;
    unsigned left = HTML_MISSES_MAX;
    for (const char *at = text; (at = memchr(at, '>', (size_t)(end - at))) != NULL && left--; at++) {
        if (at[-1] == '-' && at[-2] == '-')
            return (size_t)(at + 1 - run.ptr);
        if (at[-1] == '!' && at - text >= 3 && at[-2] == '-' && at[-3] == '-')
            return (size_t)(at + 1 - run.ptr);
    }
    return run.len;
}

/* Length of what `run` begins with if that is markup which the walk does not report; 0 if it is text. */
static size_t markup_length(struct slice run)
{
    char next = run.len > 1 ? run.ptr[1] : ' ';
    if (run.ptr[0] != '<')
        return 0;
    if (slice_starts_with(run, SLICE("<!--")))
        return comment_length(run);
    if (html_is(next, HTML_LETTER))
        return run.len; /* a tag that the document's end cuts off */
    if (next != '!' && next != '?' && next != '/')
        return 0;
    const char *close = run.len > 2 ? memchr(run.ptr + 2, '>', run.len - 2) : NULL;
    return close ? (size_t)(close - run.ptr) + 1 : run.len;
}

/* A CDATA section at the start of the run: its text is read next. */
static void begin_section(struct text_walk *walk)
{
    struct slice text = slice_skip(walk->run, CDATA_OPEN.len);
    const char *close = memmem(text.ptr, text.len, "]]>", 3);
    walk->section = close ? slice_between(text.ptr, close) : text;
    walk->run = close ? slice_skip(text, walk->section.len + 3) : slice_skip(text, text.len);
}

/* One part of the section or of the run. Returns how much was read. */
static size_t read_run(struct text_walk *walk)
{
    size_t len = 0;
    if (walk->section.len) {
        struct slice part = part_of(walk->encoding, walk->section);
        put_part(walk, &walk->text, part);
        walk->section = slice_skip(walk->section, part.len);
        return part.len;
    }
    if (!walk->is_raw && walk->reads_cdata && slice_starts_with(walk->run, CDATA_OPEN)) {
        begin_section(walk);
        return CDATA_OPEN.len;
    }
    if (!walk->is_raw)
        len = markup_length(walk->run);
    if (len == 0)
        len = read_text(walk, &walk->text, walk->run);
    walk->run = slice_skip(walk->run, len);
    return len;
}

/* By their first letter: elements that begin and end a line. The most frequent come first. */
static const char *const lines[26] = {
    ['a' - 'a'] = "article address aside",
    ['b' - 'a'] = "br body blockquote",
    ['c' - 'a'] = "center caption",
    ['d' - 'a'] = "div dd dt dl details dialog dir",
    ['f' - 'a'] = "form footer figure figcaption fieldset frameset",
    ['h' - 'a'] = "h2 h3 h1 h4 header hr h5 h6 head html hgroup",
    ['l' - 'a'] = "li legend listing",
    ['m' - 'a'] = "main menu",
    ['n' - 'a'] = "nav",
    ['o' - 'a'] = "ol option optgroup",
    ['p' - 'a'] = "p pre",
    ['s' - 'a'] = "section summary search",
    ['t' - 'a'] = "tr table tbody thead tfoot",
    ['u' - 'a'] = "ul",
    ['x' - 'a'] = "xmp",
};

/* Elements that are set off by a space. */
static const char spaced[] = "td th button textarea select";

static bool has_name(const char *names, struct slice name)
{
    while (names) {
        size_t len = strcspn(names, " ");
        if (slice_equals_nocase((struct slice){names, len}, name))
            return true;
        names = names[len] ? names + len + 1 : NULL;
    }
    return false;
}

static enum text_gap gap_of(struct slice name)
{
    if (has_name(lines[slice_lower(name.ptr[0]) - 'a'], name))
        return TEXT_LINE;
    return name.len > 1 && has_name(spaced, name) ? TEXT_SPACE : TEXT_NO_GAP;
}

static struct slice name_of(const struct html_tag *tag)
{
    const char *name = tag->open + (tag->is_end ? 2 : 1), *at = name;
    while (at < tag->close && !html_is(*at, HTML_NAME_END))
        at++;
    return slice_between(name, at);
}

/* The first part of a title is all that is looked at. */
static void read_title(struct text_walk *walk, struct slice title)
{
    walk->has_title = true;
    if (title.len > TEXT_TITLE_SOURCE_BYTES)
        title.len = TEXT_TITLE_SOURCE_BYTES;
    while (title.len && !walk->title.is_cut)
        title = slice_skip(title, read_text(walk, &walk->title, title));
}

/* Keeps track of what is not to be seen behind the tag. */
static void note_hidden(struct text_walk *walk)
{
    const struct html_tag *tag = &walk->tag;
    unsigned depth = walk->html.foreign_depth;
    if (depth < walk->svg_depth)
        walk->svg_depth = 0;
    if (walk->svg_depth == 0 && !tag->is_end && tag->element == HTML_SVG && depth)
        walk->svg_depth = depth;
    walk->is_hidden = walk->html.template_depth || walk->svg_depth;
    walk->reads_cdata = walk->is_xml || html_is_foreign(&walk->html);
}

static void read_start(struct text_walk *walk, const struct html_tag *tag)
{
    walk->from = tag->body.ptr + tag->body.len;
    if (tag->is_foreign || walk->is_hidden)
        return;
    if (tag->element == HTML_TITLE && !walk->has_title)
        read_title(walk, tag->body);
    if (tag->element == HTML_TEXTAREA || tag->element == HTML_XMP) {
        walk->run = tag->body;
        walk->is_raw = true;
    } else if (tag->element == HTML_PLAINTEXT) {
        walk->run = slice_between(tag->close, walk->html.end);
        walk->from = walk->html.end;
        walk->is_raw = true;
    }
}

/* What a tag does to the text behind it. A tag without bytes only says that the walk paused. */
static void read_tag(struct text_walk *walk)
{
    const struct html_tag *tag = &walk->tag;
    walk->has_tag = false;
    walk->from = tag->close;
    if (tag->open == tag->close)
        return;
    struct slice name = name_of(tag);
    note_hidden(walk);
    if (!walk->is_hidden)
        put_gap(&walk->text, gap_of(name));
    if (slice_equals_nocase(name, SLICE("pre")))
        walk->is_pre = !tag->is_end;
    if (!tag->is_end)
        read_start(walk, tag);
}

/* On to the next tag, and the text before it. */
static void next_run(struct text_walk *walk)
{
    walk->has_tag = html_next(&walk->html, &walk->tag);
    walk->run = slice_between(walk->from, walk->has_tag ? walk->tag.open : walk->html.end);
    walk->is_raw = false;
    if (walk->is_hidden)
        walk->run.len = 0;
    if (!walk->has_tag)
        walk->from = walk->html.end;
}

static void step_markup(struct text_walk *walk, size_t bytes)
{
    const char *begin = walk->html.at;
    size_t done = 0;
    walk->html.pause = (size_t)(walk->html.end - begin) > bytes ? begin + bytes : walk->html.end;
    while (!walk->text.is_cut && done < bytes && (size_t)(walk->html.at - begin) < bytes) {
        if (walk->run.len || walk->section.len)
            done += read_run(walk);
        else if (walk->has_tag)
            read_tag(walk);
        else if (walk->from < walk->html.end)
            next_run(walk);
        else
            break;
    }
    bool is_read = walk->from == walk->html.end && !walk->has_tag && !walk->run.len && !walk->section.len;
    if (is_read || walk->text.is_cut)
        walk->state = TEXT_NOTHING;
}

static void step_plain(struct text_walk *walk, size_t bytes)
{
    for (size_t done = 0; walk->run.len && !walk->text.is_cut && done < bytes;) {
        struct slice part = part_of(walk->encoding, walk->run);
        put_part(walk, &walk->text, part);
        walk->run = slice_skip(walk->run, part.len);
        done += part.len;
    }
    if (walk->run.len == 0 || walk->text.is_cut)
        walk->state = TEXT_NOTHING;
}

/* Divides the room: title, text, converted body. */
static void place(struct text_walk *walk)
{
    char *text = walk->room + TEXT_TITLE_BYTES_MAX;
    walk->is_placed = true;
    walk->title = (struct text_out){.at = walk->room, .begin = walk->room, .end = text};
    walk->text = (struct text_out){.at = text, .begin = text, .end = text + walk->text_bytes};
}

static void begin_reading(struct text_walk *walk, struct slice document)
{
    walk->run = document;
    walk->state = walk->is_html ? TEXT_MARKUP : TEXT_PLAIN;
    if (!walk->is_html)
        return;
    html_init(&walk->html, document, HTML_READ_ALL | (walk->is_xml ? HTML_XML : 0));
    walk->run.len = 0;
    walk->from = document.ptr;
    walk->reads_cdata = walk->is_xml;
}

/* Converts one more part of a body in a wide encoding. */
static void step_wide(struct text_walk *walk)
{
    char *converted = walk->room + TEXT_TITLE_BYTES_MAX + walk->text_bytes;
    struct slice part = encoding_wide_part(walk->encoding, walk->left);
    size_t room = walk->room_bytes - (size_t)(converted - walk->room) - walk->converted_bytes;
    walk->left = slice_skip(walk->left, part.len);
    if (room < encoding_utf8_bytes_max(part.len))
        walk->left.len = 0; /* malformed throughout: see encoding_wide_bytes_max */
    else
        walk->converted_bytes += encoding_to_utf8(walk->encoding, part, converted + walk->converted_bytes);
    if (walk->left.len)
        return;
    walk->encoding = encoding_utf8;
    begin_reading(walk, (struct slice){converted, walk->converted_bytes});
}

/* Plain text that states no encoding is UTF-8 as far as it can be. */
static const struct encoding *guess(struct slice text)
{
    if (text.len > ENCODING_GUESS_BYTES)
        text.len = ENCODING_GUESS_BYTES;
    return encoding_is_utf8(text) ? encoding_utf8 : encoding_windows_1252;
}

/* Type and encoding. False if there is no text in such a document. */
static bool find_out(struct text_walk *walk, const struct text_source *source)
{
    char room[3 * SNIFF_BYTES_MAX + 4];
    const struct encoding *stated = encoding_stated(source->content_type, source->body);
    const struct encoding *wide = stated && stated->is_wide ? stated : NULL;
    enum sniff_type type =
        sniff_body(source->content_type, encoding_readable_start(wide, source->body, room));
    walk->is_html = type == SNIFF_HTML;
    walk->is_xml = sniff_is_xml(source->content_type);
    if (stated)
        walk->encoding = stated;
    else if (walk->is_html)
        walk->encoding = encoding_detect(source->content_type, source->body);
    else
        walk->encoding = guess(source->body);
    return walk->is_html || type == SNIFF_TEXT;
}

void text_begin(struct text_walk *walk, const struct text_source *source)
{
    struct slice body = source->body;
    assert(body.len < UINT32_MAX);
    *walk = (struct text_walk){.state = TEXT_NOTHING};
    if (body.len == 0 || !find_out(walk, source))
        return;
    size_t longest = encoding_utf8_bytes_max(body.len);
    walk->text_bytes = source->text_bytes_max < longest ? source->text_bytes_max : longest;
    walk->room_bytes = TEXT_TITLE_BYTES_MAX + walk->text_bytes;
    body = slice_skip(body, encoding_bom(body));
    if (walk->encoding->is_wide) {
        walk->state = TEXT_WIDE;
        walk->left = body;
        walk->room_bytes += encoding_wide_bytes_max(body.len);
    } else {
        begin_reading(walk, body);
    }
}

bool text_step(struct text_walk *walk, size_t bytes)
{
    assert(walk->room || walk->room_bytes == 0);
    if (!walk->is_placed && walk->room_bytes)
        place(walk);
    switch (walk->state) {
    case TEXT_WIDE:
        step_wide(walk);
        break;
    case TEXT_PLAIN:
        step_plain(walk, bytes);
        break;
    case TEXT_MARKUP:
        step_markup(walk, bytes);
        break;
    case TEXT_NOTHING:
        break;
    }
    return walk->state == TEXT_NOTHING;
}

struct text_page text_page_of(const struct text_walk *walk)
{
    if (!walk->is_placed)
        return (struct text_page){{"", 0}, {"", 0}, false};
    return (struct text_page){slice_between(walk->title.begin, walk->title.at),
                              slice_between(walk->text.begin, walk->text.at), walk->text.is_cut};
}
