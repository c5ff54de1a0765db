/* The first byte chooses a type and options, the second the size of steps, the rest is a document. Whatever
 * it is, links lie in memory that lasts, a sitemap keeps to its bound, and steps do not change what is
 * found. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FOUND_MAX   64
#define TEXT_MAX    4096
#define ENTRIES_MAX 200

static const char *const types[] = {"text/html",
                                    "",
                                    "application/xhtml+xml",
                                    "text/xml",
                                    "text/plain",
                                    "text/css",
                                    "application/feed+json",
                                    "text/html; charset=utf-16le",
                                    "text/html; charset=iso-2022-jp",
                                    "text/xml; charset=gbk",
                                    "image/svg+xml",
                                    "application/rss+xml",
                                    "text/html; charset=windows-1251"};

static struct link found[FOUND_MAX];
static char text[TEXT_MAX];
static struct scan scan;

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool lies_in(struct slice part, struct slice whole)
{
    return part.len == 0 || ((uintptr_t)part.ptr >= (uintptr_t)whole.ptr &&
                             (uintptr_t)part.ptr + part.len <= (uintptr_t)whole.ptr + whole.len);
}

/* A number that stands for all links and their order. */
static uint64_t sum_of(const struct links *links, uint64_t sum)
{
    for (size_t i = 0; i < links->count; i++) {
        sum = sum * 31 + found[i].kind;
        for (size_t j = 0; j < found[i].url.len; j++)
            sum = sum * 31 + (unsigned char)found[i].url.ptr[j];
    }
    return sum;
}

static uint64_t run(const struct scan_page *page, const struct scan_options *options, size_t step)
{
    struct links links;
    uint64_t sum = 0;
    size_t entries = 0;
    enum scan_progress progress;
    links_init(&links, found, FOUND_MAX);
    links_set_text(&links, text, TEXT_MAX);
    scan_begin(&scan, &links, page, options);
    char *room = scan.room_bytes ? malloc(scan.room_bytes) : NULL;
    scan.room = room;
    do {
        progress = scan_next(&scan, step);
        if (progress == SCAN_MORE)
            continue;
        require(links.count <= FOUND_MAX && links.text_len <= TEXT_MAX);
        for (size_t i = 0; i < links.count; i++)
            require(lies_in(found[i].url, page->body) || lies_in(found[i].url, scan.document) ||
                    lies_in(found[i].url, (struct slice){text, TEXT_MAX}) ||
                    lies_in(found[i].url, page->link_fields[0]));
        entries += links.count;
        sum = sum_of(&links, sum);
    } while (progress != SCAN_DONE);
    require(entries <= FOUND_MAX + ENTRIES_MAX);
    free(room);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    /* A copy of its own: the sanitizer then sees a read beyond the end. */
    struct slice body = {memcpy(malloc(size), data + 2, size - 2), size - 2};
    struct slice field = {body.ptr, body.len < 100 ? body.len : 100};
    struct scan_options options = {.agent = SLICE("lycosa"),
                                   .noscript = data[0] & 0x10,
                                   .css = data[0] & 0x20,
                                   .sheets = true,
                                   .forms = data[0] & 0x40,
                                   .entries_max = ENTRIES_MAX};
    struct scan_page page = {.content_type =
                                 slice_of(types[(data[0] & 15) % (sizeof(types) / sizeof(types[0]))]),
                             .refresh = field,
                             .link_fields = &field,
                             .link_field_count = data[1] & 1,
                             .body = body,
                             .is_sitemap = data[0] & 0x80};
    uint64_t whole = run(&page, &options, SIZE_MAX);
    require(run(&page, &options, 1u + (data[1] >> 1)) == whole);
    free((char *)(uintptr_t)body.ptr);
    return 0;
}
