/* Treiber's stack (1986) of numbers instead of pointers, so that a number and a count of changes fit into one
 * word.
 *
 * Why it is correct. A push or pop makes its change by a compare-and-swap of the whole top, which no other
 * change can have left as it was: each raises the count. (It would have to be raised 2^32 times between a
 * thread's look and its compare-and-swap.) So when a pop succeeds, the number it read as top has been there
 * all the time, and `below` of a number does not change while the number is in the stack: what the pop read
 * there is right. What it read of a number that has left meanwhile is thrown away. The places are never
 * freed, so reading `below` is always safe.
 *
 * Whoever pops a number sees what was written before it was pushed: all changes of top are
 * read-modify-writes, so the release of that push (R1) is still in effect however many others came
 * between. */
#include "lockfree/id_stack.h"

#include <assert.h>

#define ONE_CHANGE (UINT64_C(1) << 32)

static uint64_t changed(uint64_t top, uint32_t id)
{
    uint64_t count = LF_BUG(id_stack_no_count, top + ONE_CHANGE, top) & ~(ONE_CHANGE - 1);
    return count | id;
}

void id_stack_init(struct id_stack *stack, _Atomic(uint32_t) *below)
{
    lf_store(&stack->top, 0, relaxed);
    stack->below = below;
}

void id_stack_push(struct id_stack *stack, uint32_t id, struct backoff *backoff)
{
    assert(id);
    uint64_t top = lf_load(&stack->top, relaxed);
    for (;;) {
        lf_store(&stack->below[id], (uint32_t)top, relaxed);
        /* R1, pairs with A1 in pop: the place, and what is below it. */
        if (lf_cas(&stack->top, &top, changed(top, id), release, relaxed))
            break;
        backoff_lost(backoff);
    }
    backoff_won(backoff);
}

uint32_t id_stack_pop(struct id_stack *stack, struct backoff *backoff)
{
    uint64_t top = lf_load(&stack->top, acquire); /* A1, pairs with R1 in push */
    while ((uint32_t)top) {
        uint32_t below = lf_load(&stack->below[(uint32_t)top], relaxed);
        if (lf_cas(&stack->top, &top, changed(top, below), acquire,
                   acquire)) { /* A1, pairs with R1 in push */
            backoff_won(backoff);
            break;
        }
        backoff_lost(backoff);
    }
    return (uint32_t)top;
}
