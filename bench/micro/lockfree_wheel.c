/* wheel: pop one due id, touch its record, insert it again 1 to 31 seconds from then. The baseline is a
 * binary heap. Time is simulated: when nothing is due it goes on to the next deadline. */
#include "lockfree/wheel.h"

#include <stdio.h>
#include <stdlib.h>

#include "lockfree/clock.h"
#include "micro/lockfree_items.h"
#include "micro/lockfree_memory.h"

#define IDS_MAX      10000000
#define ID_BYTES     96 /* of the memory: the record, and half as much for comfort */
#define WAIT_MIN_NS  CLOCK_NS_PER_S
#define WAIT_SPAN_NS (30 * CLOCK_NS_PER_S)

struct record {
    uint64_t deadline_ns, visits;
    _Alignas(64) char end[];
};

struct entry {
    uint64_t deadline_ns;
    uint32_t id;
};

struct state {
    struct record *records;
    uint32_t ids;
    uint64_t now_ns;
    struct wheel wheel;
    void *memory;
    size_t memory_bytes;
    struct entry *heap; /* heap[0] is the first */
};

uint32_t lockfree_wheel_ids(void)
{
    size_t ids = lockfree_memory_bytes() / ID_BYTES;
    return ids < IDS_MAX ? (uint32_t)ids : IDS_MAX;
}

static uint64_t wait_of(uint64_t random)
{
    return WAIT_MIN_NS + (uint64_t)((unsigned __int128)random * WAIT_SPAN_NS >> 64);
}

static struct state *create(size_t bytes)
{
    enum lockfree_contents before;
    struct state *state = lockfree_map(sizeof *state);
    state->records = (struct record *)lockfree_memory(&before, LOCKFREE_UNKNOWN);
    state->ids = lockfree_wheel_ids();
    state->memory_bytes = bytes;
    state->memory = lockfree_map(bytes);
    return state;
}

static void *begin_wheel(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    uint32_t chunks = wheel_chunks_for(lockfree_wheel_ids());
    struct state *state = create(wheel_bytes(chunks));
    struct wheel_options options = {.tick_ns = WHEEL_TICK_NS_DEFAULT,
                                    .chunks_max = chunks,
                                    .records = state->records,
                                    .record_bytes = sizeof *state->records};
    wheel_init(&state->wheel, state->memory, &options);
    for (uint32_t id = 0; id < state->ids; id++)
        wheel_insert(&state->wheel, id, wait_of(lockfree_mix(id)));
    return state;
}

static void finish(void *context)
{
    struct state *state = context;
    lockfree_unmap(state->memory, state->memory_bytes);
    lockfree_unmap(state, sizeof *state);
}

static void work_wheel(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < LOCKFREE_BLOCK; i++) {
            uint32_t id;
            while (!wheel_pop(&state->wheel, state->now_ns, &id))
                state->now_ns = wheel_next_due(&state->wheel);
            uint64_t deadline_ns = state->now_ns + wait_of(lockfree_random(worker));
            state->records[id].deadline_ns = deadline_ns;
            state->records[id].visits++;
            if (wheel_insert(&state->wheel, id, deadline_ns) != WHEEL_OK)
                abort();
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_end(worker);
}

static void sift_down(struct state *state, size_t at, struct entry entry)
{
    struct entry *heap = state->heap;
    for (size_t child; (child = 2 * at + 1) < state->ids; at = child) {
        if (child + 1 < state->ids && heap[child + 1].deadline_ns < heap[child].deadline_ns)
            child++;
        if (entry.deadline_ns <= heap[child].deadline_ns)
            break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
}

static void *begin_heap(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct state *state = create(lockfree_wheel_ids() * sizeof(struct entry));
    state->heap = state->memory;
    for (uint32_t id = 0; id < state->ids; id++)
        state->heap[id] = (struct entry){wait_of(lockfree_mix(id)), id};
    for (size_t at = state->ids / 2; at-- > 0;)
        sift_down(state, at, state->heap[at]);
    return state;
}

static void work_heap(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < LOCKFREE_BLOCK; i++) {
            struct entry entry = state->heap[0];
            entry.deadline_ns += wait_of(lockfree_random(worker));
            state->records[entry.id].deadline_ns = entry.deadline_ns;
            state->records[entry.id].visits++;
            sift_down(state, 0, entry);
        }
        worker->ops += LOCKFREE_BLOCK;
    }
    lockfree_end(worker);
}

static struct lockfree_row rows[] = {
    {.bench = "wheel",
     .mix = "pop and insert again",
     .impl = "lycosa",
     .begin = begin_wheel,
     .work = work_wheel,
     .finish = finish,
     .threads_max = 1},
    {.bench = "wheel",
     .mix = "pop and insert again",
     .impl = "heap",
     .begin = begin_heap,
     .work = work_heap,
     .finish = finish,
     .threads_max = 1},
};

LOCKFREE_REGISTER(rows)
