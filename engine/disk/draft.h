/* Bytes for an outlet that are made over several turns of a loop: they join the stream all at once, or never.
 *
 * A draft fills blocks of its outlet that are not part of the stream yet. Meanwhile the stream goes on, and may be
 * sealed. Belongs to the loop of the outlet, which has one draft at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/disk/outlet.h"

/* All zero: empty. */
struct draft {
    struct outlet_block *first, *last;
    size_t bytes;
};

/* Contiguous free bytes; after writing to them, draft_claim what was used. NULL: no block is free until more has
 * been written to the disk. */
char *draft_space(struct draft *draft, struct outlet *outlet, size_t *room);
void draft_claim(struct draft *draft, size_t used);

/* Appends the draft to the stream of the outlet it was made for, and empties it. Takes at most the time of copying
 * one block. */
void draft_join(struct draft *draft, struct outlet *outlet);
/* Empties the draft: its blocks are free once the housekeeper has passed them. */
void draft_drop(struct draft *draft, struct outlet *outlet);
