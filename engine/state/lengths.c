#include "engine/state/lengths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/journal_read.h"

void lengths_fini(struct lengths *lengths)
{
    free(lengths->all);
    *lengths = (struct lengths){0};
}

/* A file of the crawl, and not one that somebody has written into the journal to have it cut. */
static bool is_name(struct slice name)
{
    return name.len > 0 && name.len < FILES_NAME_BYTES && name.ptr[0] != '/' &&
           !memmem(name.ptr, name.len, "..", 2) && !slice_starts_with(name, SLICE("state/")) &&
           !memchr(name.ptr, '\0', name.len);
}

static bool grow(struct lengths *lengths)
{
    if (lengths->count < lengths->room)
        return true;
    size_t room = lengths->room ? 2 * lengths->room : 64;
    struct length *all = realloc(lengths->all, room * sizeof *all);
    if (!all)
        return false;
    lengths->all = all;
    lengths->room = room;
    return true;
}

static int note_one(struct lengths *lengths, struct slice name, uint64_t bytes)
{
    struct length *all = lengths->all;
    if (!is_name(name))
        return -EBADMSG;
    for (size_t i = lengths->count; i-- > 0;)
        if (slice_equals(slice_of(all[i].name), name)) {
            struct length found = all[i];
            found.bytes = bytes;
            all[i] = all[lengths->count - 1]; /* those that are asked for again and again stay at the end */
            all[lengths->count - 1] = found;
            return 0;
        }
    if (!grow(lengths))
        return -ENOMEM;
    struct length *length = &lengths->all[lengths->count++];
    snprintf(length->name, sizeof length->name, "%.*s", (int)name.len, name.ptr);
    length->bytes = bytes;
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

const struct length *lengths_find(const struct lengths *lengths, const char *name)
{
    for (size_t i = 0; i < lengths->count; i++)
        if (strcmp(lengths->all[i].name, name) == 0)
            return &lengths->all[i];
    return NULL;
}
