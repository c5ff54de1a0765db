#include "engine/report/tasks.h"

#include <errno.h>
#include <stdlib.h>

enum { INDEX_SIZE = 4 * TASKS_OPEN_MAX };

int tasks_init(struct tasks *tasks)
{
    *tasks = (struct tasks){.ring = calloc(TASKS_OPEN_MAX, sizeof *tasks->ring),
                            .index = calloc(INDEX_SIZE, sizeof *tasks->index)};
    if (tasks->ring && tasks->index)
        return 0;
    tasks_fini(tasks);
    return -ENOMEM;
}

void tasks_fini(struct tasks *tasks)
{
    free(tasks->ring);
    free(tasks->index);
    tasks->ring = NULL;
    tasks->index = NULL;
}

/* Fibonacci hashing: visits of one loop have numbers in steps of 64. */
static size_t place_of(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 45) & (INDEX_SIZE - 1);
}

/* Where the key is in the index, or where it would be. */
static size_t find(const struct tasks *tasks, uint64_t key)
{
    size_t at = place_of(key);
    while (tasks->index[at] && tasks->ring[tasks->index[at] - 1].key != key)
        at = (at + 1) & (INDEX_SIZE - 1);
    return at;
}

/* Linear probing without marks: what follows moves up. */
static void forget(struct tasks *tasks, uint64_t key)
{
    size_t hole = find(tasks, key), at = hole;
    for (;;) {
        at = (at + 1) & (INDEX_SIZE - 1);
        if (!tasks->index[at])
            break;
        size_t home = place_of(tasks->ring[tasks->index[at] - 1].key);
        if (((at - home) & (INDEX_SIZE - 1)) < ((at - hole) & (INDEX_SIZE - 1)))
            continue;
        tasks->index[hole] = tasks->index[at];
        hole = at;
    }
    tasks->index[hole] = 0;
}

void tasks_end(struct tasks *tasks, const struct task *task)
{
    spread_add(&tasks->later_pages, task->pages - 1);
    spread_add(&tasks->took_ms, (task->took_ms + task->pages / 2) / task->pages);
    spread_add(&tasks->bytes, (task->bytes + task->pages / 2) / task->pages);
}

/* A free place in the ring: that of a task which was not seen while the hand went round. */
static size_t make_room(struct tasks *tasks)
{
    if (tasks->count < TASKS_OPEN_MAX)
        return tasks->count++;
    while (tasks->ring[tasks->hand].is_fresh) {
        tasks->ring[tasks->hand].is_fresh = false;
        tasks->hand = (tasks->hand + 1) & (TASKS_OPEN_MAX - 1);
    }
    size_t place = tasks->hand;
    tasks->hand = (tasks->hand + 1) & (TASKS_OPEN_MAX - 1);
    tasks_end(tasks, &tasks->ring[place]);
    forget(tasks, tasks->ring[place].key);
    return place;
}

unsigned tasks_add(struct tasks *tasks, uint64_t key, uint64_t took_ms, uint64_t bytes)
{
    size_t at = find(tasks, key);
    if (!tasks->index[at]) {
        size_t place = make_room(tasks);
        tasks->ring[place] = (struct task){.key = key};
        at = find(tasks, key); /* what was forgotten may have moved the hole */
        tasks->index[at] = (uint32_t)(place + 1);
    }
    struct task *task = &tasks->ring[tasks->index[at] - 1];
    task->is_fresh = task->pages > 0; /* a task of one page goes when the hand comes round */
    task->took_ms += took_ms;
    task->bytes += bytes;
    return task->pages++ > 0;
}

void tasks_finish(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        tasks_end(tasks, &tasks->ring[i]);
    tasks->count = tasks->hand = 0;
}
