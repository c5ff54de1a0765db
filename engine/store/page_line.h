/* The line of a page, for `store.kind = jsonl`, made in steps that are short enough for a loop: the body is unpacked, its
 * title and text are found (content/text.h), the line is written (jsonl.h). One page at a time. No I/O.
 *
 * Only the first PAGE_LINE_SOURCE_BYTES of a document are looked at. If it is longer, text_cut says so. */
#pragma once

#include <stdbool.h>

#include "engine/content/text.h"
#include "engine/content/unpack.h"
#include "engine/store/jsonl.h"
#include "engine/store/limits.h"
#include "engine/tuning/tuning.h"
#include "engine/url/limits.h"

enum {
    /* The longest line: all its strings may have to be escaped. */
    PAGE_LINE_BYTES_MAX =
        JSONL_FRAME_BYTES +
        JSONL_ESCAPE_BYTES * (URL_BYTES_MAX + PAGE_LINE_TYPE_BYTES_MAX + PAGE_LINE_TRUNCATED_BYTES_MAX +
                              TEXT_TITLE_BYTES_MAX + JSONL_TEXT_BYTES_MAX),
};

enum page_line_phase { PAGE_LINE_UNPACKS, PAGE_LINE_READS, PAGE_LINE_WRITES, PAGE_LINE_IS_WRITTEN };

struct page_line {
    enum page_line_phase phase;
    bool is_cut; /* the document goes on behind what is looked at, or could not be unpacked to its end */
    struct decode *decode;
    char *source;             /* the document if it had to be unpacked: PAGE_LINE_SOURCE_BYTES and one more */
    char *room;               /* of the walk: title, text, and a converted document */
    char *text;               /* the line: PAGE_LINE_BYTES_MAX */
    size_t len;               /* of the line, once written */
    struct slice type;        /* of the page at hand */
    struct unpack_room space; /* of `source`, which does not grow */
    struct unpack unpack;
    struct text_walk walk;
};

/* False: no memory. page_line_fini either way. */
bool page_line_init(struct page_line *line, const struct tuning *tuning);
/* No-op if all is zero; may be called twice. */
void page_line_fini(struct page_line *line);

/* Begins a page, whatever became of the last one. The body and its content type stay as they are until the end. */
void page_line_begin(struct page_line *line, const struct unpack_body *body);
/* One step, of less than 5 ms. `page` has all but title and text. True: the line is written. */
bool page_line_step(struct page_line *line, const struct jsonl_page *page);
/* With its newline; valid until the next page. */
static inline struct slice page_line_text(const struct page_line *line)
{
    return (struct slice){line->text, line->len};
}
