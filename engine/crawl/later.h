/* URLs that wait until the sieve on disk has said whether they are new, in the order in which they were found. One
 * per loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/spill.h"
#include "engine/sieve/mill.h"

struct later_answer {
    struct record_url url;
    struct slice via;
    bool is_new;
};

struct later {
    struct spill urls;
    struct mill_loop *mill;
};

/* The names of its scratch files begin with `prefix`. 0 or a negative errno. */
int later_init(struct later *later, const struct disk *disk, const char *prefix, struct mill_loop *mill);
void later_fini(struct later *later);

/* Whether there is room for a batch of the harvest. If not, the page has to wait. */
bool later_has_room(struct later *later);
/* Appends a URL, with its signature; `via` may be empty. */
void later_push(struct later *later, const struct record_url *url, struct slice via);
/* The oldest URL and the answer. Its texts are valid until later_pop, which must follow. False: it is not there yet. */
bool later_next(struct later *later, struct later_answer *answer);
void later_pop(struct later *later);

static inline uint64_t later_count(const struct later *later)
{
    return spill_count(&later->urls);
}
