#include "tests/support/history.h"
#include "lockfree/atomic.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#include <stdlib.h>

/* A history that needs more is beyond the checker: many pushes at once with no pop between have as many
 * states as orders. */
#define VISITED_MAX (1u << 20)

/* State of the sequential object: a queue's values from the oldest on, or per key its value + 1 (0:
 * absent). */
struct state {
    uint8_t count;
    uint8_t items[HISTORY_KEYS_MAX];
};

struct visited {
    uint64_t done; /* 0: free slot; the empty set is never looked up */
    struct state state;
};

struct search {
    const struct history *h;
    uint64_t before[HISTORY_MAX]; /* operations that must come first */
    struct visited *table;
    size_t used, size;
};

void history_init(struct history *h, enum history_spec spec)
{
    h->spec = spec;
    h->capacity = 0;
    h->by_happens_before = false;
    h->clock = 0;
    h->count = 0;
}

static uint64_t next_moment(struct history *h)
{
    return lf_fetch_add((_Atomic(uint64_t) *)&h->clock, 1, seq_cst);
}

struct history_op *history_begin(struct history *h, struct history_op op)
{
    unsigned index = lf_fetch_add((_Atomic(unsigned) *)&h->count, 1, seq_cst);
    CHECK(index < HISTORY_MAX);
    struct history_op *slot = &h->ops[index];
    *slot = op;
    slot->end = UINT64_MAX;
    for (unsigned i = 0; model_is_running() && i < MODEL_THREADS_MAX; i++)
        slot->time_seen[i] = model_time_seen(i);
    slot->begin = next_moment(h);
    return slot;
}

void history_end(struct history *h, struct history_op *op, uint64_t result)
{
    op->result = result;
    op->time_end = model_is_running() ? model_time() : 0;
    op->end = next_moment(h);
}

void history_end_void(struct history *h, struct history_op *op)
{
    op->is_void = true;
    history_end(h, op, 0);
}

static bool apply_queue(struct state *s, const struct history_op *op, unsigned capacity)
{
    if (op->kind == HISTORY_PUSH) {
        bool has_room = s->count < capacity;
        if (has_room)
            s->items[s->count++] = (uint8_t)op->arg;
        return op->result == has_room;
    }
    if (s->count == 0)
        return op->result == HISTORY_NONE;
    if (op->result != s->items[0])
        return false;
    s->count--;
    memmove(s->items, s->items + 1, s->count);
    s->items[s->count] = 0;
    return true;
}

static bool apply_map(struct state *s, const struct history_op *op)
{
    uint8_t *item = &s->items[op->arg % HISTORY_KEYS_MAX];
    bool was_there = *item != 0;
    switch (op->kind) {
    case HISTORY_INSERT:
        if (!was_there)
            *item = (uint8_t)(op->value + 1);
        return op->result == !was_there;
    case HISTORY_REMOVE:
        *item = 0;
        return op->result == was_there;
    case HISTORY_FIND:
        return op->result == (was_there ? (uint64_t)*item - 1 : HISTORY_NONE);
    case HISTORY_PUSH:
    case HISTORY_POP:
        break;
    }
    return false;
}

static bool apply(const struct history *h, struct state *s, const struct history_op *op)
{
    if (h->spec == HISTORY_MAP)
        return apply_map(s, op);
    return apply_queue(s, op, h->spec == HISTORY_RING ? h->capacity : HISTORY_KEYS_MAX);
}

static bool precedes(const struct history *h, const struct history_op *a, const struct history_op *b)
{
    if (a == b || a->is_void || b->is_void)
        return false;
    bool is_outside = a->thread >= MODEL_THREADS_MAX || b->thread >= MODEL_THREADS_MAX;
    if (a->thread == b->thread || is_outside || !h->by_happens_before)
        return a->end < b->begin;
    return a->time_end <= b->time_seen[a->thread];
}

static size_t slot_of(const struct search *search, uint64_t done, const struct state *s)
{
    uint64_t hash = done * 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < sizeof s->items; i += 8) {
        uint64_t word;
        memcpy(&word, s->items + i, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    size_t i = hash % search->size;
    while (search->table[i].done &&
           (search->table[i].done != done || memcmp(&search->table[i].state, s, sizeof *s) != 0))
        i = (i + 1) % search->size;
    return i;
}

static void grow(struct search *search)
{
    struct visited *old = search->table;
    size_t old_size = search->size;
    search->size = old_size ? old_size * 2 : 256;
    CHECK(search->size <= VISITED_MAX);
    search->table = calloc(search->size, sizeof *search->table);
    CHECK(search->table);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].done)
            search->table[slot_of(search, old[i].done, &old[i].state)] = old[i];
    free(old);
}

/* Remembers the pair; false if it was known. */
static bool visit(struct search *search, uint64_t done, const struct state *s)
{
    if (2 * search->used >= search->size)
        grow(search);
    struct visited *slot = &search->table[slot_of(search, done, s)];
    if (slot->done)
        return false;
    *slot = (struct visited){.done = done, .state = *s};
    search->used++;
    return true;
}

static bool explain(struct search *search, uint64_t done, const struct state *s)
{
    const struct history *h = search->h;
    uint64_t all = h->count == 64 ? UINT64_MAX : (1ull << h->count) - 1;
    if (done == all)
        return true;
    for (unsigned i = 0; i < h->count; i++) {
        if (done >> i & 1 || search->before[i] & ~done)
            continue;
        struct state next = *s;
        uint64_t with = done | 1ull << i;
        if (apply(h, &next, &h->ops[i]) && visit(search, with, &next) && explain(search, with, &next))
            return true;
    }
    return false;
}

/* The pop that got what `push` put in; NULL if none did. */
static const struct history_op *pop_of(const struct history *h, const struct history_op *push)
{
    for (unsigned i = 0; i < h->count; i++) {
        const struct history_op *op = &h->ops[i];
        if (op->kind == HISTORY_POP && !op->is_void && op->result == push->arg)
            return op;
    }
    return NULL;
}

static bool is_accepted_push(const struct history_op *op)
{
    return op->kind == HISTORY_PUSH && !op->is_void && op->result == 1;
}

/* Each value was pushed once. */
static bool has_unique_values(const struct history *h)
{
    uint64_t seen[4] = {0};
    for (unsigned i = 0; i < h->count; i++) {
        const struct history_op *op = &h->ops[i];
        if (!is_accepted_push(op))
            continue;
        if (op->arg > 255 || seen[op->arg / 64] >> op->arg % 64 & 1)
            return false;
        seen[op->arg / 64] |= 1ull << op->arg % 64;
    }
    return true;
}

/* First in, first out: of two values the one whose pop comes first, or that alone is popped, was pushed
 * first. Without this knowledge the search would try all orders of pushes that overlap, and see only at the
 * pops. */
static void order_pushes(struct search *search)
{
    const struct history *h = search->h;
    for (unsigned i = 0; i < h->count; i++)
        for (unsigned k = 0; k < h->count; k++) {
            if (i == k || !is_accepted_push(&h->ops[i]) || !is_accepted_push(&h->ops[k]))
                continue;
            const struct history_op *first = pop_of(h, &h->ops[k]), *second = pop_of(h, &h->ops[i]);
            if (first && (!second || precedes(h, first, second)))
                search->before[i] |= 1ull << k;
        }
}

bool history_is_linearizable(const struct history *h)
{
    struct search search = {.h = h};
    struct state empty = {0};
    CHECK(h->count <= HISTORY_MAX);
    for (unsigned i = 0; i < h->count; i++)
        for (unsigned k = 0; k < h->count; k++)
            if (precedes(h, &h->ops[k], &h->ops[i]))
                search.before[i] |= 1ull << k;
    if (h->spec != HISTORY_MAP && has_unique_values(h))
        order_pushes(&search);
    uint64_t done = 0;
    for (unsigned i = 0; i < h->count; i++)
        done |= (uint64_t)h->ops[i].is_void << i;
    bool is_explained = explain(&search, done, &empty);
    free(search.table);
    return is_explained;
}

void history_print(const struct history *h)
{
    static const char *const names[] = {"push", "pop", "insert", "remove", "find"};
    for (unsigned i = 0; i < h->count; i++) {
        const struct history_op *op = &h->ops[i];
        if (op->is_void)
            continue;
        printf("  thread %u  [%ju, %ju]  %s(%ju", op->thread, (uintmax_t)op->begin, (uintmax_t)op->end,
               names[op->kind], (uintmax_t)op->arg);
        if (op->kind == HISTORY_INSERT)
            printf(", %ju", (uintmax_t)op->value);
        if (op->result == HISTORY_NONE)
            printf(") = none\n");
        else
            printf(") = %ju\n", (uintmax_t)op->result);
    }
}

void history_verify(const struct history *h)
{
    if (history_is_linearizable(h))
        return;
    if (!getenv("MODEL_PLANTED"))
        history_print(h);
    model_fail(MODEL_HISTORY, "no sequential order explains the history of %u operations", h->count);
}
