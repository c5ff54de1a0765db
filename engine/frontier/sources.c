#include "engine/frontier/sources.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SEEDS = 64, FIRST_TEXT_BYTES = 4096 };

static bool grow_ends(struct sources *sources)
{
    size_t size = sources->size ? 2 * sources->size : FIRST_SEEDS;
    size_t *ends = realloc(sources->ends, size * sizeof *ends);
    if (!ends)
        return false;
    sources->ends = ends;
    sources->size = size;
    return true;
}

static bool grow_text(struct sources *sources, size_t len)
{
    size_t size = sources->text_size ? 2 * sources->text_size : FIRST_TEXT_BYTES;
    size = size > sources->text_len + len ? size : sources->text_len + len;
    char *text = realloc(sources->text, size);
    if (!text)
        return false;
    sources->text = text;
    sources->text_size = size;
    return true;
}

uint32_t sources_add(struct sources *sources, struct slice url)
{
    if (sources->count == UINT32_MAX || (sources->count == sources->size && !grow_ends(sources)) ||
        (url.len > sources->text_size - sources->text_len && !grow_text(sources, url.len)))
        return SOURCES_NONE;
    memcpy(sources->text + sources->text_len, url.ptr, url.len);
    sources->text_len += url.len;
    sources->ends[sources->count] = sources->text_len;
    return (uint32_t)++sources->count;
}

struct slice sources_url(const struct sources *sources, uint32_t number)
{
    if (number == SOURCES_NONE)
        return (struct slice){"", 0};
    assert(number <= sources->count);
    size_t begin = number > 1 ? sources->ends[number - 2] : 0;
    return (struct slice){sources->text + begin, sources->ends[number - 1] - begin};
}

void sources_fini(struct sources *sources)
{
    free(sources->text);
    free(sources->ends);
    *sources = (struct sources){0};
}
