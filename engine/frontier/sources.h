/* The seeds of a crawl by number: what crawl.log shows as the source tag of all that a seed led to.
 *
 * Filled by one thread, also while the loops run: what is there never moves. Any thread may look up a number that came to
 * it by a hand-over (an inbox, a ring), because that orders the seed's text before it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

/* In place of a number: the source is not known. */
#define SOURCES_NONE 0

/* Of tables with 64, 128, 256 ... seeds: more than numbers can tell apart. */
enum { SOURCES_TABLES = 27 };

struct sources_block;

struct sources {
    const char **tables[SOURCES_TABLES]; /* texts, each behind two bytes that have its length */
    struct sources_block *blocks;        /* where they are; the newest first */
    uint32_t count;
};

/* The number of one more seed; SOURCES_NONE: there is no memory for it, or it is longer than 65,535 bytes. */
uint32_t sources_add(struct sources *sources, struct slice url);
/* The URL; empty for SOURCES_NONE. */
struct slice sources_url(const struct sources *sources, uint32_t number);
void sources_fini(struct sources *sources);
