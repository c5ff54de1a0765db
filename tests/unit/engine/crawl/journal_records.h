/* For tests: what a loop has written to its journal, without a housekeeper. */
#pragma once

#include "engine/state/journal.h"
#include "tests/support/check.h"

/* The records of the oldest block, good until the next call; *frame is what they stand behind. Empty: there are none, or
 * the epoch ends here. */
static inline struct slice journal_records(struct journal_loop *journal, struct journal_frame *frame)
{
    static char records[OUTLET_BLOCK_BYTES];
    outlet_flush(&journal->outlet);
    struct outlet_block *block = outlet_next(&journal->outlet);
    *frame = (struct journal_frame){0};
    if (!block)
        return (struct slice){records, 0};
    CHECK(block->used >= sizeof *frame);
    memcpy(frame, block->bytes, sizeof *frame);
    size_t len = block->used - sizeof *frame;
    memcpy(records, block->bytes + sizeof *frame, len);
    outlet_done(&journal->outlet, block);
    return (struct slice){records, len};
}

/* Writes until it says that it has no room. */
static inline void journal_fill(struct journal_loop *journal)
{
    while (journal_has_room(journal))
        journal_add_done(journal, &(struct record_done){.signature = 1});
}

/* Throws away what was written, as far as the next seal. */
static inline void journal_drain(struct journal_loop *journal)
{
    struct journal_frame frame;
    while (journal_records(journal, &frame).len)
        ;
}
