/* liblfds 7.1.1, where -DLYCOSA_LIBLFDS=PREFIX found it: queue_bss and queue_bmm as rings, queue_umm, hash_a.
 * Its hash and lists cannot remove. */
#include "micro/lockfree_items.h"

#include "micro/lockfree_pool.h"
#include "micro/lockfree_set.h"

#if defined(HAVE_LFDS)
#include <liblfds711.h>

#define ABSENT NULL

/* The states differ, the elements too; the largest alignment that the library asks for is 128. */
struct ring_state {
    union {
        struct lfds711_queue_bss_state bss;
        struct lfds711_queue_bmm_state bmm;
    };
    union {
        struct lfds711_queue_bss_element bss_elements[LOCKFREE_RING];
        struct lfds711_queue_bmm_element bmm_elements[LOCKFREE_RING];
    };
};

static void *begin_bss(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring_state *state = lockfree_map(sizeof *state);
    lfds711_queue_bss_init_valid_on_current_logical_core(&state->bss, state->bss_elements, LOCKFREE_RING,
                                                         NULL);
    return state;
}

static void *begin_bmm(const struct lockfree_row *row, unsigned threads)
{
    (void)row, (void)threads;
    struct ring_state *state = lockfree_map(sizeof *state);
    lfds711_queue_bmm_init_valid_on_current_logical_core(&state->bmm, state->bmm_elements, LOCKFREE_RING,
                                                         NULL);
    return state;
}

static void finish_ring(void *state)
{
    lockfree_unmap(state, sizeof(struct ring_state));
}

static void thread_begin(struct lockfree_worker *worker)
{
    LFDS711_MISC_MAKE_VALID_ON_CURRENT_LOGICAL_CORE_INITS_COMPLETED_BEFORE_NOW_ON_ANY_OTHER_LOGICAL_CORE;
    lockfree_begin(worker);
}

LOCKFREE_INLINE bool push_bss(void *shared, void *own, uint64_t item)
{
    (void)own;
    struct ring_state *state = shared;
    return lfds711_queue_bss_enqueue(&state->bss, NULL, (void *)(uintptr_t)item);
}

LOCKFREE_INLINE bool pop_bss(void *shared, void *own, uint64_t *item)
{
    (void)own;
    struct ring_state *state = shared;
    void *key, *value;
    bool popped = lfds711_queue_bss_dequeue(&state->bss, &key, &value);
    if (popped)
        *item = (uintptr_t)value;
    return popped;
}

LOCKFREE_INLINE bool push_bmm(void *shared, void *own, uint64_t item)
{
    (void)own;
    struct ring_state *state = shared;
    return lfds711_queue_bmm_enqueue(&state->bmm, NULL, (void *)(uintptr_t)item);
}

LOCKFREE_INLINE bool pop_bmm(void *shared, void *own, uint64_t *item)
{
    (void)own;
    struct ring_state *state = shared;
    void *key, *value;
    bool popped = lfds711_queue_bmm_dequeue(&state->bmm, &key, &value);
    if (popped)
        *item = (uintptr_t)value;
    return popped;
}

static void work_bss(struct lockfree_worker *worker)
{
    static const struct lockfree_items items = {push_bss, pop_bss, lockfree_no_pass};
    thread_begin(worker);
    if (worker->threads == 1)
        lockfree_pairs(worker, NULL, items);
    else
        lockfree_transfer(worker, NULL, items, 1);
    lockfree_end(worker);
}

static const struct lockfree_items bmm = {push_bmm, pop_bmm, lockfree_no_pass};

static void pairs_bmm(struct lockfree_worker *worker)
{
    thread_begin(worker);
    lockfree_pairs(worker, NULL, bmm);
    lockfree_end(worker);
}

static void transfer_bmm(struct lockfree_worker *worker)
{
    thread_begin(worker);
    lockfree_transfer(worker, NULL, bmm, worker->threads / 2);
    lockfree_end(worker);
}

/* A popped element may be pushed again at once. */
struct umm_state {
    struct lfds711_queue_umm_state queue;
    struct lfds711_queue_umm_element dummy;
    struct lockfree_pool *pool;
};

struct umm_thread {
    struct umm_state *state;
    struct lockfree_pool_thread pool;
};

static void *begin_umm(const struct lockfree_row *row, unsigned threads)
{
    (void)row;
    struct umm_state *state = lockfree_map(sizeof *state);
    state->pool = lockfree_pool_create(threads);
    return state;
}

static void reset_umm(void *context)
{
    struct umm_state *state = context;
    lockfree_pool_reset(state->pool);
    lfds711_queue_umm_init_valid_on_current_logical_core(&state->queue, &state->dummy, NULL);
}

static void finish_umm(void *context)
{
    struct umm_state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE bool push_umm(void *shared, void *own, uint64_t item)
{
    struct umm_thread *self = own;
    struct umm_state *state = shared;
    struct lfds711_queue_umm_element *element = lockfree_pool_take(&self->pool);
    if (!element)
        return false;
    LFDS711_QUEUE_UMM_SET_VALUE_IN_ELEMENT(*element, (void *)(uintptr_t)item);
    lfds711_queue_umm_enqueue(&state->queue, element);
    return true;
}

LOCKFREE_INLINE bool pop_umm(void *shared, void *own, uint64_t *item)
{
    struct umm_thread *self = own;
    struct umm_state *state = shared;
    struct lfds711_queue_umm_element *element;
    if (!lfds711_queue_umm_dequeue(&state->queue, &element))
        return false;
    *item = (uintptr_t)LFDS711_QUEUE_UMM_GET_VALUE_FROM_ELEMENT(*element);
    lockfree_pool_give(&self->pool, element);
    return true;
}

static const struct lockfree_items umm = {push_umm, pop_umm, lockfree_no_pass};

static void pairs_umm(struct lockfree_worker *worker)
{
    struct umm_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    thread_begin(worker);
    lockfree_pairs(worker, &self, umm);
    lockfree_end(worker);
}

static void transfer_umm(struct lockfree_worker *worker)
{
    struct umm_thread self = {.state = worker->state};
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    thread_begin(worker);
    lockfree_transfer(worker, &self, umm, worker->threads / 2);
    lockfree_end(worker);
}

/* hash_a: an array of unbalanced trees, as many as map has buckets. A key's hash is its key too. */
struct hash_record {
    struct lfds711_hash_a_element element;
};

struct hash_state {
    struct lfds711_hash_a_state hash;
    struct lfds711_btree_au_state *trees;
    struct hash_record *records;
    size_t keys;
    bool is_full; /* of all keys, at first */
};

static int compare_keys(void const *a, void const *b)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return (x > y) - (x < y);
}

static void hash_key(void const *key, lfds711_pal_uint_t *hash)
{
    *hash = (lfds711_pal_uint_t)(uintptr_t)key;
}

LOCKFREE_INLINE bool insert_hash(void *context, uint64_t key)
{
    struct hash_state *state = context;
    struct hash_record *record = &state->records[key];
    LFDS711_HASH_A_SET_KEY_IN_ELEMENT(record->element, (void *)(uintptr_t)lockfree_mix(key));
    LFDS711_HASH_A_SET_VALUE_IN_ELEMENT(record->element, record);
    return lfds711_hash_a_insert(&state->hash, &record->element, NULL) == LFDS711_HASH_A_PUT_RESULT_SUCCESS;
}

LOCKFREE_INLINE bool find_hash(void *context, uint64_t key)
{
    struct hash_state *state = context;
    struct lfds711_hash_a_element *element;
    return lfds711_hash_a_get_by_key(&state->hash, NULL, NULL, (void *)(uintptr_t)lockfree_mix(key),
                                     &element);
}

static void reset_hash(void *context)
{
    struct hash_state *state = context;
    lfds711_hash_a_init_valid_on_current_logical_core(&state->hash, state->trees, state->keys, compare_keys,
                                                      hash_key, LFDS711_HASH_A_EXISTING_KEY_FAIL, NULL);
    for (size_t key = 0; state->is_full && key < state->keys; key++)
        insert_hash(state, key);
}

static void *begin_hash(const struct lockfree_row *row, unsigned threads)
{
    (void)threads;
    struct hash_state *state = lockfree_map(sizeof *state);
    state->keys = lockfree_set_keys();
    state->is_full = row->argument;
    state->trees = lockfree_map(state->keys * sizeof *state->trees);
    state->records = lockfree_map(state->keys * sizeof *state->records);
    reset_hash(state);
    return state;
}

static void finish_hash(void *context)
{
    struct hash_state *state = context;
    lockfree_unmap(state->records, state->keys * sizeof *state->records);
    lockfree_unmap(state->trees, state->keys * sizeof *state->trees);
    lockfree_unmap(state, sizeof *state);
}

static void work_find(struct lockfree_worker *worker)
{
    thread_begin(worker);
    lockfree_set_find(worker, worker->state,
                      (struct lockfree_set){.find = find_hash, .pass = lockfree_no_pass});
    lockfree_end(worker);
}

static void work_insert(struct lockfree_worker *worker)
{
    thread_begin(worker);
    lockfree_set_insert(worker, worker->state,
                        (struct lockfree_set){.insert = insert_hash, .pass = lockfree_no_pass});
    lockfree_end(worker);
}

#define FUNCTIONS(start, again, run, end) .begin = start, .reset = again, .work = run, .finish = end
#else
#define ABSENT                            "not installed"
#define FUNCTIONS(start, again, run, end) .begin = NULL
#endif

#define LFDS .impl = "lfds", .absent = ABSENT

static struct lockfree_row rows[] = {
    {LFDS, .bench = "ring_spsc", .mix = "pairs", .threads_max = 1,
     FUNCTIONS(begin_bss, NULL, work_bss, finish_ring)},
    {LFDS, .bench = "ring_spsc", .mix = "producer/consumer", .threads_min = 2, .threads_max = 2,
     FUNCTIONS(begin_bss, NULL, work_bss, finish_ring)},
    {LFDS, .bench = "ring_mpmc", .mix = "pairs", FUNCTIONS(begin_bmm, NULL, pairs_bmm, finish_ring)},
    {LFDS, .bench = "ring_mpmc", .mix = "producers/consumers", .threads_min = 2,
     FUNCTIONS(begin_bmm, NULL, transfer_bmm, finish_ring)},
    {LFDS, .bench = "queue", .mix = "pairs", FUNCTIONS(begin_umm, reset_umm, pairs_umm, finish_umm)},
    {LFDS, .bench = "queue", .mix = "producers/consumers", .threads_min = 2,
     FUNCTIONS(begin_umm, reset_umm, transfer_umm, finish_umm)},
    {LFDS, .bench = "map", .mix = LOCKFREE_MAP_FIND, .argument = 1,
     FUNCTIONS(begin_hash, NULL, work_find, finish_hash)},
    {LFDS, .bench = "map", .mix = LOCKFREE_MAP_INSERT, .measures_all = true,
     FUNCTIONS(begin_hash, reset_hash, work_insert, finish_hash)},
};

LOCKFREE_REGISTER(rows)
