#include "micro/lockfree_memory.h"

#include <stdlib.h>

#include "micro/lockfree_items.h"

static uint64_t *memory;
static enum lockfree_contents contents;
static volatile uint64_t nothing; /* 0, which the compiler does not know */

uint64_t *lockfree_memory(enum lockfree_contents *before, enum lockfree_contents after)
{
    if (!memory)
        memory = lockfree_map(lockfree_memory_bytes());
    *before = contents;
    contents = after;
    return memory;
}

/* What is there stays. */
void *lockfree_memory_begin(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    enum lockfree_contents before;
    lockfree_memory(&before, contents);
    return memory;
}

static inline size_t line_of(uint64_t hash, uint64_t lines)
{
    return (size_t)((unsigned __int128)hash * lines >> 64) * LOCKFREE_LINE_WORDS;
}

/* The addresses of a block first, so that as many reads are under way as the processor is able to. */
void lockfree_memory_work(struct lockfree_worker *worker)
{
    uint64_t lines = lockfree_memory_bytes() / 64, sequence = (uint64_t)worker->index << 48, sum = 0;
    size_t at[LOCKFREE_BLOCK];
    const uint64_t *words = worker->state;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < LOCKFREE_BLOCK; i++)
            at[i] = line_of(lockfree_mix(sequence++), lines);
        for (int i = 0; i < LOCKFREE_BLOCK; i++)
            sum += words[at[i]];
        worker->ops += LOCKFREE_BLOCK;
    }
    nothing = sum & nothing;
    lockfree_end(worker);
}

/* Each address depends on what was read before. */
static void work_dependent(struct lockfree_worker *worker)
{
    uint64_t lines = lockfree_memory_bytes() / 64, sequence = (uint64_t)worker->index << 48, zero = nothing,
             read = 0;
    const uint64_t *words = worker->state;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < LOCKFREE_BLOCK; i++)
            read = words[line_of(lockfree_mix(sequence++) + (read & zero), lines)];
        worker->ops += LOCKFREE_BLOCK;
    }
    nothing = read & zero;
    lockfree_end(worker);
}

static struct lockfree_row rows[] = {
    {.bench = "memory",
     .mix = "dependent line reads",
     .impl = "floor",
     .begin = lockfree_memory_begin,
     .work = work_dependent},
    {.bench = "memory",
     .mix = "independent line reads",
     .impl = "floor",
     .begin = lockfree_memory_begin,
     .work = lockfree_memory_work},
};

LOCKFREE_REGISTER(rows)
