#include "engine/frontier/sources.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_SIZE_FIRST = 64, LENGTH_BYTES = 2, BLOCK_BYTES = 64 << 10 };

struct sources_block {
    struct sources_block *next;
    size_t used, size;
    char text[];
};

/* Where a number is: table n begins with the number 64 * (2^n - 1) + 1. */
struct place {
    unsigned table;
    size_t at;
};

static struct place place_of(uint32_t number)
{
    uint64_t from_first = (uint64_t)number - 1 + TABLE_SIZE_FIRST;
    unsigned table = 63 - (unsigned)__builtin_clzll(from_first / TABLE_SIZE_FIRST);
    return (struct place){table, (size_t)(from_first - ((uint64_t)TABLE_SIZE_FIRST << table))};
}

/* NULL: no memory. */
static char *room_for(struct sources *sources, size_t bytes)
{
    struct sources_block *block = sources->blocks;
    if (!block || block->size - block->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = malloc(sizeof *block + size);
        if (!block)
            return NULL;
        *block = (struct sources_block){.next = sources->blocks, .size = size};
        sources->blocks = block;
    }
    char *room = block->text + block->used;
    block->used += bytes;
    return room;
}

uint32_t sources_add(struct sources *sources, struct slice url)
{
    if (sources->count == UINT32_MAX || url.len > UINT16_MAX)
        return SOURCES_NONE;
    struct place place = place_of(sources->count + 1);
    const char ***table = &sources->tables[place.table];
    if (!*table && !(*table = calloc((size_t)TABLE_SIZE_FIRST << place.table, sizeof **table)))
        return SOURCES_NONE;
    char *text = room_for(sources, LENGTH_BYTES + url.len);
    if (!text)
        return SOURCES_NONE;
    uint16_t len = (uint16_t)url.len;
    memcpy(text, &len, LENGTH_BYTES);
    memcpy(text + LENGTH_BYTES, url.ptr, url.len);
    (*table)[place.at] = text;
    return ++sources->count;
}

struct slice sources_url(const struct sources *sources, uint32_t number)
{
    if (number == SOURCES_NONE)
        return (struct slice){"", 0};
    struct place place = place_of(number);
    const char *text = sources->tables[place.table][place.at];
    uint16_t len;
    memcpy(&len, text, LENGTH_BYTES);
    return (struct slice){text + LENGTH_BYTES, len};
}

void sources_fini(struct sources *sources)
{
    for (unsigned i = 0; i < SOURCES_TABLES; i++)
        free(sources->tables[i]);
    while (sources->blocks) {
        struct sources_block *block = sources->blocks;
        sources->blocks = block->next;
        free(block);
    }
    *sources = (struct sources){0};
}
