/* The files of a crawl by name, with the lengths that commits gave them. A commit tells only of those that have changed
 * since the one before it, so all of them are added up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/files.h"
#include "net/slice.h"

struct length {
    char name[FILES_NAME_BYTES]; /* below the crawl's directory */
    uint64_t bytes;
};

struct lengths {
    struct length *all;
    size_t count, room;
    uint32_t *slots; /* a hash table of 2 * room: the place of a name in `all`, from 1 on; 0: free */
};

void lengths_fini(struct lengths *lengths);
/* The files that a COMMIT or a FILES frame names. 0; -ENOMEM; -EBADMSG: the name is not that of a file of a crawl. */
int lengths_note(struct lengths *lengths, struct slice payload);
/* Whether the file may have been removed because files were made of all its pages (store.kind = directory). */
bool lengths_may_be_gone(const struct length *length);
/* NULL: it is not there. */
const struct length *lengths_find(const struct lengths *lengths, const char *name);
