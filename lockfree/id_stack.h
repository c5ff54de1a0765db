/* Stack of small numbers: the free places of a table. Many threads push and pop.
 *
 * | may run at the same time as | push | pop |
 * |-----------------------------|------|-----|
 * | push, pop                   | yes  | yes |
 *
 * Progress: push and pop are lock-free. A thread stopped anywhere in them stops no other.
 *
 * Ownership: push hands over the place with this number and what was written to it; pop takes it. A number is
 * in one stack at most, and once. */
#pragma once

#include "lockfree/atomic.h"
#include "lockfree/backoff.h"

struct id_stack {
    LF_ISOLATED _Atomic(uint64_t) top; /* the number of changes above, the number on top below; 0: empty */
    _Atomic(uint32_t) *below;          /* for each number in the stack, the one under it */
};

/* `below` has a place for each number up to the largest and lives as long as the stack. It need not be
 * initialised. */
void id_stack_init(struct id_stack *stack, _Atomic(uint32_t) *below);

/* `id` is not 0. */
void id_stack_push(struct id_stack *stack, uint32_t id, struct backoff *backoff);
/* 0: the stack is empty. */
uint32_t id_stack_pop(struct id_stack *stack, struct backoff *backoff);
