/* URLs that the sieve has admitted, but for which the frontier has no memory, or no record for their host. They wait
 * on disk until there is room, in the order in which they were found. One per loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/spool.h"
#include "engine/state/record.h"

struct spill {
    struct spool spool;
};

/* The names of its scratch files begin with `prefix`. 0 or a negative errno. */
int spill_init(struct spill *spill, const struct disk *disk, const char *prefix);
void spill_fini(struct spill *spill);

/* Whether there is room for a batch of the harvest. If not, the page has to wait. */
bool spill_has_room(struct spill *spill);
/* Appends a URL; `via` may be empty. */
void spill_push(struct spill *spill, const struct record_url *url, struct slice via);
/* The oldest URL; its texts are valid until spill_pop. False if there is none in memory. */
bool spill_front(struct spill *spill, struct record_url *url, struct slice *via);
void spill_pop(struct spill *spill);

static inline uint64_t spill_count(const struct spill *spill)
{
    return spool_count(&spill->spool);
}
