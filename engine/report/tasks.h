/* Tasks: the pages of one visit, or of one host. The first page of a task has level 0, all others level 1.
 *
 * The end of a visit is not in the log. A visit counts as ended when TASKS_OPEN_MAX others have begun since a line of it was
 * seen last, or when the log ends: many more than a crawl has open at once, so none is counted twice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/report/spread.h"

enum { TASKS_OPEN_MAX = 1 << 17 };

struct task {
    uint64_t key; /* 0: the place is free */
    uint32_t pages;
    bool is_fresh; /* seen since the hand passed */
    uint64_t took_ms;
    uint64_t bytes;
};

struct tasks {
    struct task *ring;
    uint32_t *index; /* by the key's hash: the place in the ring + 1 */
    size_t hand, count;
    struct spread later_pages; /* per task: pages of level 1 */
    struct spread took_ms;     /* per task: the mean over its pages */
    struct spread bytes;       /* likewise */
};

/* 0, or a negative errno. */
int tasks_init(struct tasks *tasks);
void tasks_fini(struct tasks *tasks);

/* Counts a page of the task; returns its level, 0 or 1. */
unsigned tasks_add(struct tasks *tasks, uint64_t key, uint64_t took_ms, uint64_t bytes);
/* Counts a task as a whole. */
void tasks_end(struct tasks *tasks, const struct task *task);
/* Ends all that are open. */
void tasks_finish(struct tasks *tasks);
