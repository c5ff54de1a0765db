#include "engine/state/lengths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/journal_read.h"
#include "engine/url/hash.h"

void lengths_fini(struct lengths *lengths)
{
    free(lengths->all);
    free(lengths->slots);
    *lengths = (struct lengths){0};
}

/* A file of the crawl, and not one that somebody has written into the journal to have it cut. */
static bool is_name(struct slice name)
{
    return name.len > 0 && name.len < FILES_NAME_BYTES && name.ptr[0] != '/' &&
           !memmem(name.ptr, name.len, "..", 2) && !slice_starts_with(name, SLICE("state/")) &&
           !memchr(name.ptr, '\0', name.len);
}

/* The slot of a name, or the free one where it belongs. A crawl with store.kind = directory makes a file each second, so
 * there are too many to be searched one by one. */
static uint32_t *slot_of(const struct lengths *lengths, struct slice name)
{
    size_t mask = 2 * lengths->room - 1, at = hash_slice(name) & mask;
    while (lengths->slots[at] && !slice_equals(slice_of(lengths->all[lengths->slots[at] - 1].name), name))
        at = (at + 1) & mask;
    return &lengths->slots[at];
}

/* The old memory stays if there is none for more. */
static bool grow(struct lengths *lengths)
{
    if (lengths->count < lengths->room)
        return true;
    size_t room = lengths->room ? 2 * lengths->room : 64;
    uint32_t *slots = calloc(2 * room, sizeof *slots);
    struct length *all = slots ? realloc(lengths->all, room * sizeof *all) : NULL;
    if (!all) {
        free(slots);
        return false;
    }
    free(lengths->slots);
    lengths->all = all;
    lengths->room = room;
    lengths->slots = slots;
    for (size_t i = 0; i < lengths->count; i++)
        *slot_of(lengths, slice_of(all[i].name)) = (uint32_t)i + 1;
    return true;
}

static int note_one(struct lengths *lengths, struct slice name, uint64_t bytes)
{
    if (!is_name(name))
        return -EBADMSG;
    if (!grow(lengths))
        return -ENOMEM;
    uint32_t *slot = slot_of(lengths, name);
    if (*slot == 0) {
        struct length *length = &lengths->all[lengths->count];
        snprintf(length->name, sizeof length->name, "%.*s", (int)name.len, name.ptr);
        *slot = (uint32_t)++lengths->count;
    }
    lengths->all[*slot - 1].bytes = bytes;
    return 0;
}

int lengths_note(struct lengths *lengths, struct slice payload)
{
    struct slice name;
    uint64_t bytes;
    int error = 0;
    while (!error && journal_next_file(&payload, &name, &bytes))
        error = note_one(lengths, name, bytes);
    return error;
}

bool lengths_may_be_gone(const struct length *length)
{
    return strncmp(length->name, "incoming/", 9) == 0;
}

const struct length *lengths_find(const struct lengths *lengths, const char *name)
{
    uint32_t place = lengths->count ? *slot_of(lengths, slice_of(name)) : 0;
    return place ? &lengths->all[place - 1] : NULL;
}
