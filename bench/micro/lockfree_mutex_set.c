/* The baseline for maps and lists: chains under one mutex. A list is a map with one bucket, kept sorted. */
#include "micro/lockfree_set.h"

#include <pthread.h>

#include "micro/lockfree_pool.h"

struct record {
    union {
        struct lockfree_pool_node unused;
        struct record *next;
    };
    uint64_t hash; /* a list's: the key */
    _Alignas(LOCKFREE_SET_NODE_BYTES) char end[];
};

struct state {
    _Alignas(128) pthread_mutex_t mutex;
    struct record **buckets; /* chains in the order of the hash */
    size_t buckets_count;    /* a power of two */
    size_t keys;
    unsigned step; /* every step-th key is there at first; 0: none */
    struct record *records;
    struct lockfree_pool *pool;
};

struct thread {
    struct state *state;
    struct lockfree_pool_thread pool;
};

LOCKFREE_INLINE uint64_t hash_of(const struct state *state, uint64_t key)
{
    return state->buckets_count > 1 ? lockfree_mix(key) : key;
}

/* The link to the record of this hash, or to where it belongs. */
LOCKFREE_INLINE struct record **place_of(struct state *state, uint64_t hash)
{
    struct record **link = &state->buckets[hash & (state->buckets_count - 1)];
    while (*link && (*link)->hash < hash)
        link = &(*link)->next;
    return link;
}

LOCKFREE_INLINE bool find(void *context, uint64_t key)
{
    struct state *state = ((struct thread *)context)->state;
    uint64_t hash = hash_of(state, key);
    pthread_mutex_lock(&state->mutex);
    struct record *record = *place_of(state, hash);
    bool found = record && record->hash == hash;
    pthread_mutex_unlock(&state->mutex);
    return found;
}

LOCKFREE_INLINE bool insert(struct state *state, struct record *record, uint64_t key)
{
    record->hash = hash_of(state, key);
    pthread_mutex_lock(&state->mutex);
    struct record **link = place_of(state, record->hash);
    bool is_new = !*link || (*link)->hash != record->hash;
    if (is_new) {
        record->next = *link;
        *link = record;
    }
    pthread_mutex_unlock(&state->mutex);
    return is_new;
}

LOCKFREE_INLINE bool insert_own(void *context, uint64_t key)
{
    struct state *state = ((struct thread *)context)->state;
    return insert(state, &state->records[key], key);
}

LOCKFREE_INLINE bool insert_any(void *context, uint64_t key)
{
    struct thread *self = context;
    struct record *record = lockfree_pool_take(&self->pool);
    if (!record || insert(self->state, record, key))
        return record != NULL;
    lockfree_pool_give(&self->pool, record);
    return false;
}

LOCKFREE_INLINE bool remove_any(void *context, uint64_t key)
{
    struct thread *self = context;
    struct state *state = self->state;
    uint64_t hash = hash_of(state, key);
    pthread_mutex_lock(&state->mutex);
    struct record **link = place_of(state, hash), *record = *link;
    bool found = record && record->hash == hash;
    if (found)
        *link = record->next;
    pthread_mutex_unlock(&state->mutex);
    if (found)
        lockfree_pool_give(&self->pool, record);
    return found;
}

static void reset(void *context)
{
    struct state *state = context;
    lockfree_pool_reset(state->pool);
    for (size_t i = 0; i < state->buckets_count; i++)
        state->buckets[i] = NULL;
    for (size_t key = 0; state->step && key < state->keys; key += state->step)
        insert(state, &state->records[key], key);
}

static void *begin_with(size_t keys, size_t buckets, unsigned step, unsigned threads)
{
    struct state *state = lockfree_map(sizeof *state);
    pthread_mutex_init(&state->mutex, NULL);
    state->keys = keys;
    state->step = step;
    state->buckets_count = buckets;
    state->buckets = lockfree_map(buckets * sizeof *state->buckets);
    state->records = lockfree_map(keys * sizeof *state->records);
    state->pool = lockfree_pool_create(threads);
    reset(state);
    return state;
}

static void *begin_map(const struct lockfree_row *row, unsigned threads)
{
    return begin_with(lockfree_set_keys(), lockfree_set_keys(), (unsigned)row->argument, threads);
}

static void *begin_list(const struct lockfree_row *row, unsigned threads)
{
    return begin_with((size_t)row->argument, 1, 2, threads);
}

static void finish(void *context)
{
    struct state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state->records, state->keys * sizeof *state->records);
    lockfree_unmap(state->buckets, state->buckets_count * sizeof *state->buckets);
    lockfree_unmap(state, sizeof *state);
}

static void thread_begin(struct thread *self, struct lockfree_worker *worker)
{
    self->state = worker->state;
    lockfree_pool_thread_init(&self->pool, self->state->pool);
    lockfree_begin(worker);
}

static void work_find(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_find(worker, &self, (struct lockfree_set){.find = find, .pass = lockfree_no_pass});
    lockfree_end(worker);
}

static void work_insert(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_insert(worker, &self, (struct lockfree_set){.insert = insert_own, .pass = lockfree_no_pass});
    lockfree_end(worker);
}

static void work_update(struct lockfree_worker *worker)
{
    struct lockfree_set set = {find, insert_any, remove_any, lockfree_no_pass};
    struct thread self;
    thread_begin(&self, worker);
    bool is_list = self.state->buckets_count == 1;
    struct lockfree_set_updates updates = {(uint32_t)self.state->keys,
                                           is_list ? LOCKFREE_LIST_PERCENT : LOCKFREE_MAP_PERCENT};
    lockfree_set_update(worker, &self, set, updates);
    lockfree_end(worker);
}

#define MAP .bench = "map", .impl = "mutex", .begin = begin_map, .finish = finish
#define LIST                                                                                                 \
    .bench = "list", .impl = "mutex", .begin = begin_list, .reset = reset, .finish = finish,                 \
    .work = work_update

static struct lockfree_row rows[] = {
    {MAP, .mix = LOCKFREE_MAP_FIND, .work = work_find, .argument = 1},
    {MAP, .mix = LOCKFREE_MAP_INSERT, .work = work_insert, .reset = reset, .measures_all = true},
    {MAP, .mix = LOCKFREE_MAP_UPDATES, .work = work_update, .reset = reset, .argument = 2},
    {LIST, .mix = LOCKFREE_LIST_SHORT, .argument = 64},
    {LIST, .mix = LOCKFREE_LIST_LONG, .argument = 512},
};

LOCKFREE_REGISTER(rows)
