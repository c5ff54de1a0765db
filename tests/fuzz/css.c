/* Any bytes as a style sheet: links lie in it or in the text buffer, and nothing is read beyond its end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/css.h"
#include "engine/content/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link found[64];
    char text[1024], *copy = malloc(size + 1);
    struct links links;
    memcpy(copy + 1, data, size);
    links_init(&links, found, 64);
    links_set_text(&links, text, sizeof(text));
    css_scan(&links, (struct slice){copy + 1, size});
    for (size_t i = 0; i < links.count; i++) {
        uintptr_t url = (uintptr_t)found[i].url.ptr, css = (uintptr_t)copy + 1, own = (uintptr_t)text;
        bool in_css = url >= css && url + found[i].url.len <= css + size;
        bool in_text = url >= own && url + found[i].url.len <= own + links.text_len;
        if (found[i].url.len == 0 || (!in_css && !in_text))
            abort();
    }
    free(copy);
    return 0;
}
