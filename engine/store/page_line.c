#include "engine/store/page_line.h"

#include <assert.h>
#include <stdlib.h>

/* All there is was allocated at the start. */
static bool refuse_growth(struct unpack_room *room, size_t size, size_t used)
{
    (void)used;
    return size <= room->size;
}

/* What text_begin may ask for: a whole text, a title, and a whole document in UTF-16. */
static size_t room_bytes(void)
{
    return TEXT_TITLE_BYTES_MAX + JSONL_TEXT_BYTES_MAX + encoding_wide_bytes_max(PAGE_LINE_SOURCE_BYTES);
}

bool page_line_init(struct page_line *line, const struct tuning *tuning)
{
    struct decode_options options = {.bytes_max = tuning->fixed.net.decoded_bytes_max,
                                     .ratio_max = tuning->fixed.net.decoded_ratio_max};
    *line = (struct page_line){.decode = decode_create(&options),
                               .source = malloc(PAGE_LINE_SOURCE_BYTES + 1),
                               .room = malloc(room_bytes()),
                               .text = malloc(PAGE_LINE_BYTES_MAX)};
    line->space = (struct unpack_room){line->source, PAGE_LINE_SOURCE_BYTES + 1, refuse_growth};
    return line->decode && line->source && line->room && line->text;
}

void page_line_fini(struct page_line *line)
{
    if (line->decode)
        decode_destroy(line->decode);
    free(line->source);
    free(line->room);
    free(line->text);
    *line = (struct page_line){0};
}

void page_line_begin(struct page_line *line, const struct unpack_body *body)
{
    struct unpack_body start = *body;
    /* One byte more than is read tells that the document goes on. */
    start.bytes_max = PAGE_LINE_SOURCE_BYTES + 1;
    line->phase = PAGE_LINE_UNPACKS;
    line->type = body->content_type;
    line->is_cut = false;
    line->len = 0;
    unpack_begin(&line->unpack, &start, line->decode, &line->space);
}

static void unpack_some(struct page_line *line)
{
    enum unpack_result result = unpack_step(&line->unpack);
    if (result == UNPACK_MORE)
        return;
    struct slice document = line->unpack.document;
    line->is_cut = result != UNPACK_WHOLE || document.len > PAGE_LINE_SOURCE_BYTES;
    if (document.len > PAGE_LINE_SOURCE_BYTES)
        document.len = PAGE_LINE_SOURCE_BYTES;
    text_begin(&line->walk, &(struct text_source){.content_type = line->type,
                                                  .body = document,
                                                  .text_bytes_max = JSONL_TEXT_BYTES_MAX});
    assert(line->walk.room_bytes <= room_bytes());
    line->walk.room = line->room;
    line->phase = PAGE_LINE_READS;
}

static void write_line(struct page_line *line, const struct jsonl_page *page)
{
    struct text_page found = text_page_of(&line->walk);
    struct jsonl_page whole = *page;
    if (whole.type.len > PAGE_LINE_TYPE_BYTES_MAX)
        whole.type.len = PAGE_LINE_TYPE_BYTES_MAX;
    whole.title = found.title;
    whole.text = found.text;
    /* What has no text, a picture say, lacks none. */
    whole.is_text_cut = found.is_cut || (line->is_cut && line->walk.room_bytes);
    line->len = jsonl_write(line->text, PAGE_LINE_BYTES_MAX, &whole);
    assert(line->len);
    line->phase = PAGE_LINE_IS_WRITTEN;
}

bool page_line_step(struct page_line *line, const struct jsonl_page *page)
{
    switch (line->phase) {
    case PAGE_LINE_UNPACKS:
        unpack_some(line);
        break;
    case PAGE_LINE_READS:
        if (text_step(&line->walk, TEXT_STEP_BYTES))
            line->phase = PAGE_LINE_WRITES;
        break;
    case PAGE_LINE_WRITES:
        write_line(line, page);
        break;
    case PAGE_LINE_IS_WRITTEN:
        break;
    }
    return line->phase == PAGE_LINE_IS_WRITTEN;
}
