/* links: all links of pages, the pages one after another as a loop would read them. */
#include "micro/content.h"

#include <stdlib.h>

#include "engine/content/html.h"
#include "engine/content/limits.h"
#include "engine/content/links.h"

#ifdef HAVE_LEXBOR
#include <lexbor/html/html.h>
#endif

#define TARGET_MB_PER_SECOND 1500
#define LINKS_MAX            10000

struct corpus {
    struct slice pages[CONTENT_PAGES_MAX];
    size_t count;
    struct link found[LINKS_MAX];
    char text[LINKS_MAX * LINKS_TEXT_PER_LINK];
};

static void add_page(void *context, char *page, size_t len)
{
    struct corpus *corpus = context;
    corpus->pages[corpus->count++] = (struct slice){page, len};
}

static bool begin(struct content_row *row)
{
    struct corpus *corpus = calloc(1, sizeof(*corpus));
    row->context = corpus;
    if (!content_each_page(row, add_page, corpus) || corpus->count == 0)
        return false;
    row->items = corpus->count;
    row->bytes = 0;
    for (size_t i = 0; i < corpus->count; i++)
        row->bytes += corpus->pages[i].len;
    return true;
}

static void finish(struct content_row *row)
{
    struct corpus *corpus = row->context;
    for (size_t i = 0; i < corpus->count; i++)
        free((char *)(uintptr_t)corpus->pages[i].ptr);
    free(corpus);
}

static uint64_t scan(struct content_row *row, const struct links_options *options)
{
    struct corpus *corpus = row->context;
    struct links links;
    uint64_t sum = 0;
    links_init(&links, corpus->found, LINKS_MAX);
    links_set_text(&links, corpus->text, sizeof(corpus->text));
    for (size_t i = 0; i < corpus->count; i++) {
        links_reset(&links);
        links_scan(&links, corpus->pages[i], options);
        sum += links.count + links.text_len;
    }
    return sum;
}

static uint64_t pass_scan(struct content_row *row)
{
    return scan(row, &(struct links_options){.plain = false});
}

static uint64_t pass_plain(struct content_row *row)
{
    return scan(row, &(struct links_options){.plain = true});
}

/* The floor: every '<' found, nothing understood. */
static uint64_t pass_brackets(struct content_row *row)
{
    const struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        const char *at = corpus->pages[i].ptr, *end = at + corpus->pages[i].len;
        for (; (at = memchr(at, '<', (size_t)(end - at))) != NULL; at++)
            sum++;
    }
    return sum;
}

static struct content_row rows[] = {
    {.name = "links/scan",
     .what = "all links of a page, as a crawl takes them",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_OURS,
     .target = TARGET_MB_PER_SECOND,
     .begin = begin,
     .pass = pass_scan,
     .finish = finish},
    {.name = "links/plain",
     .what = "the same in portable C",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_OURS,
     .begin = begin,
     .pass = pass_plain,
     .finish = finish},
    {.name = "links/brackets",
     .what = "memchr for every '<', no more",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_BASELINE,
     .begin = begin,
     .pass = pass_brackets,
     .finish = finish},
};

#ifdef HAVE_LEXBOR
static lxb_html_token_t *on_token(lxb_html_tokenizer_t *tokenizer, lxb_html_token_t *token, void *context)
{
    (void)tokenizer;
    *(uint64_t *)context += token->tag_id;
    return token;
}

static uint64_t pass_tokenizer(struct content_row *row)
{
    const struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        lxb_html_tokenizer_t *tokenizer = lxb_html_tokenizer_create();
        lxb_html_tokenizer_init(tokenizer);
        lxb_html_tokenizer_callback_token_done_set(tokenizer, on_token, &sum);
        lxb_html_tokenizer_begin(tokenizer);
        lxb_html_tokenizer_chunk(tokenizer, (const lxb_char_t *)corpus->pages[i].ptr, corpus->pages[i].len);
        lxb_html_tokenizer_end(tokenizer);
        lxb_html_tokenizer_destroy(tokenizer);
    }
    return sum;
}

static uint64_t pass_tree(struct content_row *row)
{
    const struct corpus *corpus = row->context;
    uint64_t sum = 0;
    for (size_t i = 0; i < corpus->count; i++) {
        lxb_html_document_t *document = lxb_html_document_create();
        sum +=
            lxb_html_document_parse(document, (const lxb_char_t *)corpus->pages[i].ptr, corpus->pages[i].len);
        lxb_html_document_destroy(document);
    }
    return sum;
}

static struct content_row lexbor_rows[] = {
    {.name = "links/lexbor-tokenizer",
     .what = "lexbor's tokens of the page, none looked at",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_PEER,
     .begin = begin,
     .pass = pass_tokenizer,
     .finish = finish},
    {.name = "links/lexbor-tree",
     .what = "lexbor's tree of the page, not walked",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_PEER,
     .begin = begin,
     .pass = pass_tree,
     .finish = finish},
};
#endif

__attribute__((constructor)) static void register_rows(void)
{
    content_register_pages(rows, sizeof(rows) / sizeof(rows[0]));
#ifdef HAVE_LEXBOR
    content_register_pages(lexbor_rows, sizeof(lexbor_rows) / sizeof(lexbor_rows[0]));
#endif
}
