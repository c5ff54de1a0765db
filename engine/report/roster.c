#include "engine/report/roster.h"

#include <errno.h>
#include <stdlib.h>

enum { ROOM_FIRST = 256, BLOCK_BYTES = 1 << 20 };

int roster_init(struct roster *roster, size_t names_max)
{
    *roster = (struct roster){.max = names_max,
                              .room = ROOM_FIRST,
                              .index_size = 2 * ROOM_FIRST,
                              .block_used = BLOCK_BYTES,
                              .others = {.name = "(others)", .name_len = 8}};
    int error = hash_key_init(&roster->key);
    if (error)
        return error;
    roster->entries = malloc(roster->room * sizeof *roster->entries);
    roster->index = calloc(roster->index_size, sizeof *roster->index);
    if (roster->entries && roster->index)
        return 0;
    roster_fini(roster);
    return -ENOMEM;
}

void roster_fini(struct roster *roster)
{
    for (size_t i = 0; i < roster->block_count; i++)
        free(roster->blocks[i]);
    free(roster->blocks);
    free(roster->entries);
    free(roster->index);
    *roster = (struct roster){0};
}

static void fill_index(struct roster *roster, uint32_t *index, size_t size)
{
    for (size_t i = 0; i < roster->count; i++) {
        const struct roster_entry *entry = &roster->entries[i];
        size_t at = entry->hash & (size - 1);
        while (index[at])
            at = (at + 1) & (size - 1);
        index[at] = (uint32_t)(i + 1);
    }
}

/* Twice the room. */
static bool grow(struct roster *roster)
{
    size_t room = 2 * roster->room;
    struct roster_entry *entries = realloc(roster->entries, room * sizeof *entries);
    if (entries)
        roster->entries = entries;
    uint32_t *index = entries ? calloc(2 * room, sizeof *index) : NULL;
    if (!index)
        return false;
    fill_index(roster, index, 2 * room);
    free(roster->index);
    roster->index = index;
    roster->index_size = 2 * room;
    roster->room = room;
    return true;
}

/* A copy of the name; NULL: no memory. */
static char *keep(struct roster *roster, struct slice name)
{
    if (name.len > BLOCK_BYTES)
        return NULL;
    if (!roster->block_count || BLOCK_BYTES - roster->block_used < name.len) {
        char **blocks = realloc(roster->blocks, (roster->block_count + 1) * sizeof *blocks);
        char *block = blocks ? malloc(BLOCK_BYTES) : NULL;
        if (blocks)
            roster->blocks = blocks;
        if (!block)
            return NULL;
        roster->blocks[roster->block_count++] = block;
        roster->block_used = 0;
    }
    char *copy = roster->blocks[roster->block_count - 1] + roster->block_used;
    memcpy(copy, name.ptr, name.len);
    roster->block_used += name.len;
    return copy;
}

static struct roster_entry *miss(struct roster *roster)
{
    roster->names_missed++;
    return &roster->others;
}

static struct roster_entry *add(struct roster *roster, struct slice name, uint64_t hash)
{
    if (roster->count == roster->max || (roster->count == roster->room && !grow(roster)))
        return miss(roster);
    const char *copy = keep(roster, name);
    if (!copy)
        return miss(roster);
    size_t at = hash & (roster->index_size - 1);
    while (roster->index[at])
        at = (at + 1) & (roster->index_size - 1);
    struct roster_entry *entry = &roster->entries[roster->count++];
    roster->index[at] = (uint32_t)roster->count;
    *entry = (struct roster_entry){.name = copy, .name_len = (uint32_t)name.len, .hash = hash};
    return entry;
}

struct roster_entry *roster_find(struct roster *roster, struct slice name)
{
    if (roster->last < roster->count && slice_equals(roster_name(&roster->entries[roster->last]), name))
        return &roster->entries[roster->last];
    uint64_t hash = hash_keyed(&roster->key, name.ptr, name.len);
    for (size_t at = hash & (roster->index_size - 1); roster->index[at];
         at = (at + 1) & (roster->index_size - 1)) {
        struct roster_entry *entry = &roster->entries[roster->index[at] - 1];
        if (entry->hash == hash) {
            roster->last = (size_t)(entry - roster->entries);
            return entry;
        }
    }
    return add(roster, name, hash);
}

static int compare(const void *a, const void *b)
{
    const struct roster_entry *one = a, *two = b;
    if (one->pages != two->pages)
        return one->pages < two->pages ? 1 : -1;
    if (one->urls != two->urls)
        return one->urls < two->urls ? 1 : -1;
    size_t len = one->name_len < two->name_len ? one->name_len : two->name_len;
    int order = len ? memcmp(one->name, two->name, len) : 0;
    return order ? order : (one->name_len > two->name_len) - (one->name_len < two->name_len);
}

void roster_sort(struct roster *roster)
{
    if (roster->count)
        qsort(roster->entries, roster->count, sizeof *roster->entries, compare);
}
