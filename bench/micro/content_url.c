/* url: the links of real pages, resolved against a base that is parsed once per page, normalised and
 * hashed. */
#include "micro/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/url/url.h"

#ifdef HAVE_LEXBOR
#include <lexbor/url/url.h>
#endif

#define TARGET_NS 300 /* resolve + normalise + hash; the aim is half of it */

struct page {
    char base[200];
    size_t first_link, end_link;
};

struct links {
    struct slice *items;
    struct page *pages;
    size_t count, size, page_count;
};

static void add_link(struct links *links, const char *begin, const char *end)
{
    char *copy = malloc((size_t)(end - begin) + 1);
    size_t len = 0;
    for (const char *c = begin; c < end; c++) {
        copy[len++] = *c;
        if (end - c >= 5 && memcmp(c, "&amp;", 5) == 0)
            c += 4;
    }
    if (links->count == links->size) {
        links->size = links->size ? links->size * 2 : 1024;
        links->items = realloc(links->items, links->size * sizeof *links->items);
    }
    links->items[links->count++] = (struct slice){copy, len};
}

/* Every value of that attribute in double quotes: what a link extractor would hand over. */
static void add_attribute(struct links *links, const char *text, const char *attribute)
{
    for (const char *at = text; (at = strstr(at, attribute));) {
        at += strlen(attribute);
        const char *quote = strchr(at, '"');
        if (!quote)
            return;
        if (strncmp(at, "data:", 5) != 0)
            add_link(links, at, quote);
        at = quote;
    }
}

static void add_page(void *context, const char *relative)
{
    struct links *links = context;
    size_t len;
    char *text = content_read(relative, &len);
    if (!text)
        return;
    links->pages = realloc(links->pages, (links->page_count + 1) * sizeof *links->pages);
    struct page *page = &links->pages[links->page_count++];
    const char *name = strrchr(relative, '/') + 1;
    snprintf(page->base, sizeof page->base, "https://www.%.*s.example.org/articles/2015/03/page.html",
             (int)strcspn(name, "."), name);
    page->first_link = links->count;
    add_attribute(links, text, " href=\"");
    add_attribute(links, text, " src=\"");
    page->end_link = links->count;
    free(text);
}

static bool begin(struct content_row *row)
{
    struct links *links = calloc(1, sizeof *links);
    row->context = links;
    if (!content_each_file("html", add_page, links) || !links->count)
        return false;
    row->items = links->count;
    row->bytes = 0;
    for (size_t i = 0; i < links->count; i++)
        row->bytes += links->items[i].len;
    return true;
}

static void finish(struct content_row *row)
{
    struct links *links = row->context;
    for (size_t i = 0; i < links->count; i++)
        free((char *)(uintptr_t)links->items[i].ptr);
    free(links->items);
    free(links->pages);
    free(links);
}

static uint64_t pass_resolve(struct content_row *row)
{
    const struct links *links = row->context;
    char base_buffer[URL_BYTES_MAX], buffer[URL_BYTES_MAX];
    struct url base, url;
    uint64_t sum = 0;
    url_init(&base, base_buffer, sizeof base_buffer);
    url_init(&url, buffer, sizeof buffer);
    for (size_t p = 0; p < links->page_count; p++) {
        const struct page *page = &links->pages[p];
        url_parse(&base, NULL, slice_of(page->base));
        for (size_t i = page->first_link; i < page->end_link; i++)
            if (url_parse(&url, &base, links->items[i]) == URL_OK)
                sum += url_hash(&url);
    }
    return sum;
}

/* The floor: the bytes copied and hashed, nothing understood. */
static uint64_t pass_copy(struct content_row *row)
{
    const struct links *links = row->context;
    char buffer[URL_BYTES_MAX];
    uint64_t sum = 0;
    for (size_t i = 0; i < links->count; i++) {
        size_t len = links->items[i].len < sizeof buffer ? links->items[i].len : sizeof buffer;
        memcpy(buffer, links->items[i].ptr, len);
        sum += hash_bytes(buffer, len);
    }
    return sum;
}

static struct content_row rows[] = {
    {.name = "url/resolve",
     .what = "resolve, normalise, hash a link of a page",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_OURS,
     .target = TARGET_NS,
     .begin = begin,
     .pass = pass_resolve,
     .finish = finish},
    {.name = "url/copy",
     .what = "copy and hash the link's bytes",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_BASELINE,
     .begin = begin,
     .pass = pass_copy,
     .finish = finish},
};

#ifdef HAVE_LEXBOR
static lxb_status_t hash_part(const lxb_char_t *data, size_t len, void *context)
{
    struct slice *out = context;
    memcpy((char *)(uintptr_t)out->ptr + out->len, data, len);
    out->len += len;
    return LXB_STATUS_OK;
}

static uint64_t pass_lexbor(struct content_row *row)
{
    const struct links *links = row->context;
    lxb_url_parser_t *parser = lxb_url_parser_create();
    char buffer[64 * 1024];
    uint64_t sum = 0;
    lxb_url_parser_init(parser, NULL);
    for (size_t p = 0; p < links->page_count; p++) {
        const struct page *page = &links->pages[p];
        lxb_url_t *base = lxb_url_parse(parser, NULL, (const lxb_char_t *)page->base, strlen(page->base));
        for (size_t i = page->first_link; i < page->end_link; i++) {
            lxb_url_parser_clean(parser);
            lxb_url_t *url =
                lxb_url_parse(parser, base, (const lxb_char_t *)links->items[i].ptr, links->items[i].len);
            if (!url)
                continue;
            struct slice out = {buffer, 0};
            lxb_url_serialize(url, hash_part, &out, true);
            sum += hash_slice(out);
            lxb_url_destroy(url);
        }
        lxb_url_destroy(base);
    }
    lxb_url_parser_memory_destroy(parser);
    lxb_url_parser_destroy(parser, true);
    return sum;
}

static struct content_row lexbor_row = {.name = "url/lexbor",
                                        .what = "the same by lexbor's lxb_url_parse and _serialize",
                                        .unit = CONTENT_NS_PER_ITEM,
                                        .role = CONTENT_PEER,
                                        .begin = begin,
                                        .pass = pass_lexbor,
                                        .finish = finish};
#endif

__attribute__((constructor)) static void register_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        content_register(&rows[i]);
#ifdef HAVE_LEXBOR
    content_register(&lexbor_row);
#endif
}
