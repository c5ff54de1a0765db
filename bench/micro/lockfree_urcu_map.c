/* Userspace RCU's hash table (split-ordered lists, as map is), quiescent-state flavour, with as many buckets
 * as map has, without automatic resizing. Its bucket nodes have 16 bytes, as map's have. */
#define _LGPL_SOURCE
#include <urcu-qsbr.h>
#include <urcu/rculfhash.h>

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "micro/lockfree_pool.h"
#include "micro/lockfree_set.h"

/* Removed records wait for a grace period together. */
#define GATHERED_MAX 8192

struct record {
    union {
        struct lockfree_pool_node unused;
        struct cds_lfht_node node;
    };
    uint64_t key;
    struct record *gathered;
    _Alignas(LOCKFREE_SET_NODE_BYTES) char end[];
};

struct state {
    struct cds_lfht *table;
    unsigned step;
    size_t keys;
    struct record *records;
    struct lockfree_pool *pool;
};

struct thread {
    struct state *state;
    struct record *gathered;
    size_t gathered_count;
    struct lockfree_pool_thread pool;
};

/* The table allocates its buckets with calloc. What calloc gives out is put into huge pages beforehand, since
 * map's buckets are in huge pages: a large piece of the heap is asked for, advised, and given back to malloc,
 * which keeps it. */
static void prepare_heap(size_t bytes)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    char *piece = malloc(bytes);
    if (!piece)
        abort();
    uintptr_t page = 4096, begin = ((uintptr_t)piece + page - 1) & ~(page - 1);
    madvise((void *)begin, ((uintptr_t)piece + bytes - begin) & ~(page - 1), MADV_HUGEPAGE);
    free(piece);
}

static int is_key(struct cds_lfht_node *node, const void *key)
{
    return ((struct record *)node)->key == *(const uint64_t *)key;
}

LOCKFREE_INLINE bool insert(struct state *state, struct record *record, uint64_t key)
{
    record->key = key;
    cds_lfht_node_init(&record->node);
    return cds_lfht_add_unique(state->table, lockfree_mix(key), is_key, &key, &record->node) == &record->node;
}

static void empty(struct state *state)
{
    struct cds_lfht_iter iter;
    struct cds_lfht_node *node;
    if (!state->table)
        return;
    cds_lfht_for_each(state->table, &iter, node) cds_lfht_del(state->table, node);
    cds_lfht_destroy(state->table, NULL);
    state->table = NULL;
}

/* The whole number of buckets is allocated at once (the second argument). */
static void reset(void *context)
{
    struct state *state = context;
    rcu_register_thread();
    empty(state);
    lockfree_pool_reset(state->pool);
    state->table = cds_lfht_new(state->keys, state->keys, 0, 0, NULL);
    if (!state->table)
        abort();
    for (size_t key = 0; state->step && key < state->keys; key += state->step)
        insert(state, &state->records[key], key);
    rcu_unregister_thread();
}

static void *begin(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = lockfree_map(sizeof *state);
    state->keys = lockfree_set_keys();
    state->step = (unsigned)row->argument;
    state->records = lockfree_map(state->keys * sizeof *state->records);
    state->pool = lockfree_pool_create(threads);
    prepare_heap(state->keys * sizeof(struct cds_lfht_node) + ((size_t)4 << 20));
    reset(state);
    return state;
}

static void finish(void *context)
{
    struct state *state = context;
    rcu_register_thread();
    empty(state);
    rcu_unregister_thread();
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state->records, state->keys * sizeof *state->records);
    lockfree_unmap(state, sizeof *state);
}

LOCKFREE_INLINE struct cds_lfht_node *look_up(struct state *state, uint64_t key)
{
    struct cds_lfht_iter iter;
    cds_lfht_lookup(state->table, lockfree_mix(key), is_key, &key, &iter);
    return cds_lfht_iter_get_node(&iter);
}

LOCKFREE_INLINE bool find(void *context, uint64_t key)
{
    return look_up(((struct thread *)context)->state, key) != NULL;
}

LOCKFREE_INLINE bool insert_own(void *context, uint64_t key)
{
    struct thread *self = context;
    return insert(self->state, &self->state->records[key], key);
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

static void give_gathered(struct thread *self)
{
    synchronize_rcu();
    while (self->gathered) {
        struct record *record = self->gathered;
        self->gathered = record->gathered;
        lockfree_pool_give(&self->pool, record);
    }
    self->gathered_count = 0;
}

LOCKFREE_INLINE bool remove_any(void *context, uint64_t key)
{
    struct thread *self = context;
    struct cds_lfht_node *node = look_up(self->state, key);
    if (!node || cds_lfht_del(self->state->table, node) != 0)
        return false;
    struct record *record = (struct record *)node;
    record->gathered = self->gathered;
    self->gathered = record;
    if (++self->gathered_count == GATHERED_MAX)
        give_gathered(self);
    return true;
}

static void pass(void *context)
{
    (void)context;
    rcu_quiescent_state();
}

static void thread_begin(struct thread *self, struct lockfree_worker *worker)
{
    *self = (struct thread){.state = worker->state};
    lockfree_pool_thread_init(&self->pool, self->state->pool);
    rcu_register_thread();
    lockfree_begin(worker);
}

static void thread_end(struct lockfree_worker *worker)
{
    lockfree_end(worker);
    rcu_unregister_thread();
}

static void work_find(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_find(worker, &self, (struct lockfree_set){.find = find, .pass = pass});
    thread_end(worker);
}

static void work_insert(struct lockfree_worker *worker)
{
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_insert(worker, &self, (struct lockfree_set){.insert = insert_own, .pass = pass});
    thread_end(worker);
}

static void work_update(struct lockfree_worker *worker)
{
    struct lockfree_set set = {find, insert_any, remove_any, pass};
    struct lockfree_set_updates updates = {(uint32_t)lockfree_set_keys(), LOCKFREE_MAP_PERCENT};
    struct thread self;
    thread_begin(&self, worker);
    lockfree_set_update(worker, &self, set, updates);
    thread_end(worker);
}

#define MAP .bench = "map", .impl = "urcu", .begin = begin, .finish = finish

static struct lockfree_row rows[] = {
    {MAP, .mix = LOCKFREE_MAP_FIND, .work = work_find, .argument = 1},
    {MAP, .mix = LOCKFREE_MAP_INSERT, .work = work_insert, .reset = reset, .measures_all = true},
    {MAP, .mix = LOCKFREE_MAP_UPDATES, .work = work_update, .reset = reset, .argument = 2},
};

LOCKFREE_REGISTER(rows)
