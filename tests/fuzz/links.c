/* The first byte chooses options, the rest is a document. All implementations must report the same tags,
 * every link must lie in the document or in the text buffer, and no more may be kept than there is room
 * for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/html_tag.h"
#include "engine/content/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FOUND_MAX 64
#define TEXT_MAX  4096

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool lies_in(struct slice part, struct slice whole)
{
    return (uintptr_t)part.ptr >= (uintptr_t)whole.ptr &&
           (uintptr_t)part.ptr + part.len <= (uintptr_t)whole.ptr + whole.len;
}

static void compare_walks(struct slice html, unsigned flags)
{
    struct html_walk best, plain;
    struct html_tag a, b;
    html_init(&best, html, flags);
    html_init(&plain, html, flags | HTML_PLAIN);
    for (;;) {
        bool more = html_next(&best, &a);
        require(html_next(&plain, &b) == more);
        if (!more)
            return;
        require(a.element == b.element && a.is_end == b.is_end && a.open == b.open && a.close == b.close);
        require(a.has == b.has);
        for (int i = 0; i < HTML_ATTRIBUTES; i++)
            require(!html_has(&a, i) || slice_equals(a.value[i], b.value[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[] = {"utf-8", "windows-1252", "shift_jis", "windows-1251"};
    struct link found[FOUND_MAX];
    char text[TEXT_MAX];
    if (size == 0)
        return 0;
    /* A copy of its own: the sanitizer then sees a read beyond the end. */
    struct slice html = {memcpy(malloc(size), data + 1, size - 1), size - 1};
    struct links_options options = {.forms = data[0] & 1,
                                    .noscript = data[0] & 2,
                                    .css = data[0] & 4,
                                    .plain = data[0] & 8,
                                    .agent = SLICE("lycosa"),
                                    .encoding = encoding_find(slice_of(labels[data[0] >> 4 & 3]))};
    struct links links;
    links_init(&links, found, FOUND_MAX);
    links_set_text(&links, text, TEXT_MAX);
    links_scan(&links, html, &options);
    require(links.count <= FOUND_MAX && links.text_len <= TEXT_MAX);
    for (size_t i = 0; i < links.count; i++) {
        require(found[i].kind < LINK_KINDS);
        require(found[i].url.len == 0 || lies_in(found[i].url, html) ||
                lies_in(found[i].url, (struct slice){text, links.text_len}));
        require((size_t)found[i].text_at + found[i].text_len <= html.len);
    }
    compare_walks(html, data[0] >> 6);
    encoding_detect(SLICE(""), html);
    free((char *)(uintptr_t)html.ptr);
    return 0;
}
