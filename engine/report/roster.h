/* Names and what was counted under each: hosts, MIME types, seeds. Exact up to a number of names that is fixed at the start;
 * what comes under further names is counted together in `others`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/url/hash.h"
#include "net/slice.h"

struct roster_entry {
    const char *name; /* in the roster's memory */
    uint64_t
        hash; /* keyed, so that nobody can make two names meet: among a million names the odds are 1 in 10^7 */
    uint32_t name_len;
    uint64_t urls;   /* lines of crawl.log */
    uint64_t pages;  /* of these, with a response */
    uint64_t bytes;  /* of their bodies */
    uint64_t failed; /* without a response, whatever the reason */
    uint64_t took_ms;
    uint64_t timed; /* pages whose time is known */
};

struct roster {
    struct hash_key key;
    struct roster_entry *entries; /* in order of appearance */
    uint32_t *index;              /* by hash: the entry's number + 1; 0: free */
    char **blocks;                /* of names */
    size_t count, room, max, index_size;
    size_t block_count, block_used;
    size_t last; /* the entry found last: lines in a row often have the same */
    struct roster_entry others;
    uint64_t names_missed; /* lookups that ended in `others` */
};

/* 0, or a negative errno. */
int roster_init(struct roster *roster, size_t names_max);
void roster_fini(struct roster *roster);

/* The entry of a name, made if it is new. Valid until the next call. `others` if there is no room for it. */
struct roster_entry *roster_find(struct roster *roster, struct slice name);

static inline struct slice roster_name(const struct roster_entry *entry)
{
    return (struct slice){entry->name, entry->name_len};
}

/* Sorts the entries by the pages, then by URLs, most first, and then by name. No roster_find may follow. */
void roster_sort(struct roster *roster);
