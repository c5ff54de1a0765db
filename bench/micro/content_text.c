/* text: title and text of pages, the pages one after another as a loop would read them. */
#include "micro/content.h"

#include <stdlib.h>

#include "engine/content/fingerprint.h"
#include "engine/content/text.h"

struct corpus {
    struct slice pages[CONTENT_PAGES_MAX];
    size_t count;
    char *room; /* for the longest page */
};

static void add_page(void *context, char *page, size_t len)
{
    struct corpus *corpus = context;
    corpus->pages[corpus->count++] = (struct slice){page, len};
}

static bool begin(struct content_row *row)
{
    struct corpus *corpus = calloc(1, sizeof(*corpus));
    size_t longest = 0;
    row->context = corpus;
    if (!content_each_page(row, add_page, corpus) || corpus->count == 0)
        return false;
    row->items = corpus->count;
    row->bytes = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        row->bytes += corpus->pages[i].len;
        longest = corpus->pages[i].len > longest ? corpus->pages[i].len : longest;
    }
    corpus->room = malloc(TEXT_TITLE_BYTES_MAX + encoding_utf8_bytes_max(longest));
    return true;
}

static void finish(struct content_row *row)
{
    struct corpus *corpus = row->context;
    for (size_t i = 0; i < corpus->count; i++)
        free((char *)(uintptr_t)corpus->pages[i].ptr);
    free(corpus->room);
    free(corpus);
    encoding_fini();
}

static uint64_t read_pages(struct content_row *row, struct slice type)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        struct text_walk walk;
        text_begin(&walk, &(struct text_source){type, corpus->pages[i], SIZE_MAX});
        walk.room = corpus->room;
        while (!text_step(&walk, TEXT_STEP_BYTES))
            ;
        struct text_page page = text_page_of(&walk);
        sum += page.title.len + page.text.len;
    }
    return sum;
}

static uint64_t pass_page(struct content_row *row)
{
    return read_pages(row, SLICE("text/html; charset=utf-8"));
}

static uint64_t pass_legacy(struct content_row *row)
{
    return read_pages(row, SLICE("text/html; charset=windows-1251"));
}

static uint64_t pass_normalise(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++)
        sum += fingerprint_normalise(corpus->pages[i], corpus->room);
    return sum;
}

#define ROW(row_name, row_what, row_role, row_pass)                                                          \
    {                                                                                                        \
        .name = row_name, .what = row_what, .unit = CONTENT_MB_PER_SECOND, .role = row_role, .begin = begin, \
        .pass = row_pass, .finish = finish                                                                   \
    }

static struct content_row rows[] = {
    ROW("text/page", "title and text of a page", CONTENT_OURS, pass_page),
    ROW("text/legacy", "the same through iconv", CONTENT_OURS, pass_legacy),
    ROW("text/normalise", "its words for near-duplicates", CONTENT_BASELINE, pass_normalise),
};

__attribute__((constructor)) static void register_rows(void)
{
    content_register_pages(rows, sizeof(rows) / sizeof(rows[0]));
}
