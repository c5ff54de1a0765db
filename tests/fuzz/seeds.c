/* Any bytes as a file of seeds. Each seed is a URL that reads the same when it is a seed again; the first
 * line that is none is named. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/frontier/seeds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool compare(void *owner, const struct url *url)
{
    const struct url *before = owner;
    if (!slice_equals(url_text(before), url_text(url)))
        abort();
    return true;
}

static bool take(void *owner, const struct url *url)
{
    struct tuning_error error;
    struct seeds_sink again = {.take = compare, .owner = (void *)(uintptr_t)url};
    (void)owner;
    if (url->len == 0 || url->len > URL_BYTES_MAX || url_host(url).len == 0)
        abort();
    if (url_page(url).len < URL_BYTES_MAX && !seeds_take_text(&again, url_text(url), &error))
        abort();
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuning_error error = {""};
    struct seeds_sink sink = {.take = take};
    char *copy = malloc(size + 1);
    struct slice text = {memcpy(copy, data, size), size};
    bool good = seeds_take_lines(&sink, "seeds.txt", text, &error);
    if (!good && strncmp(error.message, "seeds.txt:", 10) != 0)
        abort();
    free(copy);
    return 0;
}
