/* The seeds of a crawl by number: what crawl.log shows as the source tag of all that a seed led to.
 *
 * Filled by one thread before the loops run; only read from then on, by all of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

/* In place of a number: the source is not known. */
#define SOURCES_NONE 0

struct sources {
    char *text;   /* the URLs, one behind the other */
    size_t *ends; /* where each of them ends in it */
    size_t text_len, text_size;
    size_t count, size;
};

/* The number of one more seed; SOURCES_NONE: there is no memory for it. */
uint32_t sources_add(struct sources *sources, struct slice url);
/* The URL; empty for SOURCES_NONE. */
struct slice sources_url(const struct sources *sources, uint32_t number);
void sources_fini(struct sources *sources);
