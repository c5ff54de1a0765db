#include "engine/disk/draft.h"

#include <assert.h>

char *draft_space(struct draft *draft, struct outlet *outlet, size_t *room)
{
    *room = 0;
    if (!draft->last || draft->last->used == OUTLET_BLOCK_BYTES) {
        struct outlet_block *block = outlet_take_block(outlet);
        if (!block)
            return NULL;
        if (draft->last)
            draft->last->next = block;
        else
            draft->first = block;
        draft->last = block;
    }
    *room = OUTLET_BLOCK_BYTES - draft->last->used;
    return draft->last->bytes + draft->last->used;
}

void draft_claim(struct draft *draft, size_t used)
{
    assert(draft->last->used + used <= OUTLET_BLOCK_BYTES);
    draft->last->used += used;
    draft->bytes += used;
}

/* Hand-over: the block is the housekeeper's. There is room: the ring holds all blocks there are. */
static void hand_over(struct outlet *outlet, struct outlet_block *block)
{
    ring_spsc_push(&outlet->full, (uintptr_t)block);
}

/* A short draft is copied behind what is in the current block, so that no block goes to the disk nearly empty. Its
 * own block is kept for the next draft. */
static bool join_by_copy(struct draft *draft, struct outlet *outlet)
{
    size_t room = outlet->current ? OUTLET_BLOCK_BYTES - outlet->current->used : 0;
    if (draft->first != draft->last || draft->bytes > room)
        return false;
    outlet_append(outlet, (struct slice){draft->first->bytes, draft->bytes});
    draft->first->used = draft->bytes = 0;
    return true;
}

void draft_join(struct draft *draft, struct outlet *outlet)
{
    if (!draft->first || join_by_copy(draft, outlet))
        return;
    if (outlet->current)
        hand_over(outlet, outlet->current);
    while (draft->first != draft->last) {
        struct outlet_block *block = draft->first;
        draft->first = block->next; /* before the hand-over: then it is not ours any more */
        hand_over(outlet, block);
    }
    outlet->current = draft->last;
    lf_store(&outlet->appended, lf_load(&outlet->appended, relaxed) + draft->bytes, relaxed);
    *draft = (struct draft){0};
}

void draft_drop(struct draft *draft, struct outlet *outlet)
{
    while (draft->first) {
        struct outlet_block *block = draft->first;
        draft->first = block->next;
        block->used = 0; /* so that nothing of it is written */
        hand_over(outlet, block);
    }
    *draft = (struct draft){0};
}
