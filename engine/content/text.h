/* From a body to what a reader sees of it: its title and its text, in UTF-8.
 *
 *     text_begin(&walk, &source);
 *     walk.room = ...;                             room_bytes of memory, if that is not 0
 *     while (!text_step(&walk, TEXT_STEP_BYTES))
 *         ...
 *     page = text_page_of(&walk);
 *
 * HTML: a block element or br begins a line, a cell of a table and a button are set off by a space, any other run
 * of white space (no-break spaces included) is one space. Line ends inside pre stay. Character references are
 * decoded. Left out: scripts, styles, comments, templates, frames, drawings (svg), what noscript holds, and control
 * characters. So is all that only an attribute says: alt, title, value. Style sheets are not read, so what they
 * hide is text. The title is the first title element; a head has no other text.
 *
 * Plain text (text/plain and other kinds of text that are not code or data) is taken as it is, without a byte
 * order mark. Other types have neither title nor text.
 *
 * Whatever comes out is valid UTF-8: malformed input becomes U+FFFD. Nothing is allocated. */
#pragma once

#include "engine/content/encoding.h"
#include "engine/content/html.h"
#include "engine/content/limits.h"

/* Must stay unchanged as long as the walk runs. */
struct text_source {
    struct slice content_type; /* as the head has it; empty: none */
    struct slice body;         /* content codings undone, shorter than 4 GiB */
    size_t text_bytes_max;     /* longer text is cut between two characters */
};

/* Lies in the walk's room. */
struct text_page {
    struct slice title; /* cut at TEXT_TITLE_BYTES_MAX */
    struct slice text;
    bool is_cut; /* there was more text */
};

/* What separates the next character from the last one. */
enum text_gap { TEXT_NO_GAP, TEXT_SPACE, TEXT_LINE };

struct text_out {
    char *at, *begin, *end;
    enum text_gap gap;
    bool is_cut;
};

enum text_state {
    TEXT_NOTHING, /* no text in documents of this type, or all is read */
    TEXT_WIDE,    /* to be converted before it is read */
    TEXT_PLAIN,
    TEXT_MARKUP,
};

struct text_walk {
    enum text_state state;
    bool is_html;
    bool is_xml;
    bool is_placed;       /* the room is divided */
    bool is_raw;          /* no markup in `run` */
    bool is_pre;          /* line ends stay */
    bool is_hidden;       /* the text behind the last tag is not to be seen */
    bool reads_cdata;     /* CDATA sections are text behind the last tag */
    bool has_tag;         /* `tag` comes behind `run` */
    bool has_title;       /* the first one was read */
    unsigned svg_depth;   /* of foreign content: where the drawing began; 0: in none */
    struct slice run;     /* text before `tag`: not read yet */
    struct slice section; /* of CDATA, before `run`: not read yet */
    struct slice left;    /* of the body: not converted yet */
    const char *from;     /* behind the last tag */
    const struct encoding *encoding;
    struct text_out title, text;
    struct html_walk html;
    struct html_tag tag;
    char *room; /* the caller's */
    size_t room_bytes, text_bytes;
    size_t converted_bytes; /* of a wide encoding, at the end of the room */
};

/* Finds out what the page is and how much room is needed: text_bytes_max or what the longest text of such a body
 * takes, whichever is less, the title, and for UTF-16 and ISO-2022-JP the converted body. */
void text_begin(struct text_walk *walk, const struct text_source *source);

/* Reads about `bytes` further. TEXT_STEP_BYTES take a tenth of a millisecond for most pages, one for a page of nothing
 * but tags, two for malformed bytes in a legacy encoding. True at the end. */
bool text_step(struct text_walk *walk, size_t bytes);

/* What was read so far. */
struct text_page text_page_of(const struct text_walk *walk);
