/* map: look-ups, inserts, and look-ups with some updates. The hash of a key is lockfree_mix(key), and nodes
 * are records of 64 bytes. */
#include "micro/lockfree_set.h"

#include "lockfree/container_of.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"
#include "micro/lockfree_pool.h"

struct record {
    union {
        struct lockfree_pool_node unused;
        struct map_node node;
    };
    struct reclaim_node retirement;
    _Alignas(LOCKFREE_SET_NODE_BYTES) char end[];
};

struct state {
    struct map map;
    struct reclaim domain;
    struct reclaim_thread *slots;
    unsigned threads;
    unsigned step; /* every step-th key is there at first; 0: none */
    size_t keys;
    struct list_node *buckets;
    struct record *records; /* a record per key */
    struct lockfree_pool *pool;
};

struct thread {
    struct state *state;
    struct reclaim_thread *reclaim;
    struct map_thread map;
    struct lockfree_pool_thread pool;
};

size_t lockfree_set_keys(void)
{
    return lockfree_scaled((size_t)1 << 21, 256);
}

static size_t slots_bytes(unsigned threads)
{
    return sizeof(struct state) + threads * sizeof(struct reclaim_thread);
}

static void reset(void *context)
{
    struct state *state = context;
    struct map_thread self;
    struct map_options options = {
        .buckets = state->buckets, .buckets_max = state->keys, .buckets_initial = state->keys};
    lockfree_pool_reset(state->pool);
    reclaim_init(&state->domain, state->slots, state->threads, SIZE_MAX);
    map_init(&state->map, &options);
    map_thread_init(&self, &state->map, 0);
    for (size_t key = 0; state->step && key < state->keys; key += state->step)
        map_insert(&self, &state->records[key].node, lockfree_mix(key), NULL);
    map_thread_fini(&self);
}

static void *begin(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = lockfree_map(slots_bytes(threads));
    state->slots = (struct reclaim_thread *)(state + 1);
    state->threads = threads;
    state->step = (unsigned)row->argument;
    state->keys = lockfree_set_keys();
    state->buckets = lockfree_map(state->keys * sizeof *state->buckets);
    state->records = lockfree_map(state->keys * sizeof *state->records);
    state->pool = lockfree_pool_create(threads);
    reset(state);
    return state;
}

static void finish(void *context)
{
    struct state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state->records, state->keys * sizeof *state->records);
    lockfree_unmap(state->buckets, state->keys * sizeof *state->buckets);
    lockfree_unmap(state, slots_bytes(state->threads));
}

LOCKFREE_INLINE bool find(void *context, uint64_t key)
{
    struct thread *self = context;
    return map_find(&self->state->map, lockfree_mix(key), NULL) != NULL;
}

/* The key's own record. */
LOCKFREE_INLINE bool insert_own(void *context, uint64_t key)
{
    struct thread *self = context;
    return !map_insert(&self->map, &self->state->records[key].node, lockfree_mix(key), NULL);
}

LOCKFREE_INLINE bool insert_any(void *context, uint64_t key)
{
    struct thread *self = context;
    struct record *record = lockfree_pool_take(&self->pool);
    if (!record || !map_insert(&self->map, &record->node, lockfree_mix(key), NULL))
        return record != NULL;
    lockfree_pool_give(&self->pool, record);
    return false;
}

static void on_release(struct reclaim_node *node, void *context)
{
    lockfree_pool_give(context, container_of(node, struct record, retirement));
}

LOCKFREE_INLINE bool remove_any(void *context, uint64_t key)
{
    struct thread *self = context;
    struct record *record = (struct record *)map_remove(&self->map, lockfree_mix(key), NULL);
    return record && reclaim_retire(self->reclaim, &record->retirement, on_release);
}

static void pass(void *context)
{
    reclaim_quiescent(((struct thread *)context)->reclaim);
}

static void thread_begin(struct thread *self, struct lockfree_worker *worker)
{
    self->state = worker->state;
    self->reclaim = reclaim_claim(&self->state->domain, &self->pool);
    map_thread_init(&self->map, &self->state->map, worker->index);
    lockfree_pool_thread_init(&self->pool, self->state->pool);
    reclaim_online(self->reclaim);
    lockfree_begin(worker);
}

static void thread_end(struct thread *self, struct lockfree_worker *worker)
{
    worker->losses = backoff_losses(&self->map.backoff);
    lockfree_end(worker);
    reclaim_offline(self->reclaim);
    reclaim_leave(self->reclaim);
    map_thread_fini(&self->map);
}

static void work_find(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_find(worker, &self, (struct lockfree_set){.find = find, .pass = pass});
    thread_end(&self, worker);
}

static void work_insert(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_insert(worker, &self, (struct lockfree_set){.insert = insert_own, .pass = pass});
    thread_end(&self, worker);
}

static void work_update(struct lockfree_worker *worker)
{
    struct lockfree_set set = {find, insert_any, remove_any, pass};
    struct lockfree_set_updates updates = {(uint32_t)lockfree_set_keys(), LOCKFREE_MAP_PERCENT};
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_update(worker, &self, set, updates);
    thread_end(&self, worker);
}

#define MAP .bench = "map", .impl = "lycosa", .begin = begin, .finish = finish, .counts_losses = true

static struct lockfree_row rows[] = {
    {MAP, .mix = LOCKFREE_MAP_FIND, .work = work_find, .argument = 1},
    {MAP, .mix = LOCKFREE_MAP_INSERT, .work = work_insert, .reset = reset, .measures_all = true},
    {MAP, .mix = LOCKFREE_MAP_UPDATES, .work = work_update, .reset = reset, .argument = 2},
};

LOCKFREE_REGISTER(rows)
