/* list: one sorted list, look-ups with a fifth of updates. */
#include "micro/lockfree_set.h"

#include "lockfree/container_of.h"
#include "lockfree/list.h"
#include "lockfree/reclaim.h"
#include "micro/lockfree_pool.h"

struct record {
    union {
        struct lockfree_pool_node unused;
        struct list_node node;
    };
    struct reclaim_node retirement;
};
_Static_assert(sizeof(struct record) <= LOCKFREE_SET_NODE_BYTES, "a record comes from the pool");

struct state {
    struct list list;
    struct reclaim domain;
    struct reclaim_thread *slots;
    unsigned threads;
    unsigned keys;
    struct lockfree_pool *pool;
};

struct thread {
    struct state *state;
    struct reclaim_thread *reclaim;
    struct backoff backoff;
    struct lockfree_pool_thread pool;
};

static size_t state_bytes(unsigned threads)
{
    return sizeof(struct state) + threads * sizeof(struct reclaim_thread);
}

static void *begin(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = lockfree_map(state_bytes(threads));
    state->slots = (struct reclaim_thread *)(state + 1);
    state->threads = threads;
    state->keys = (unsigned)row->argument;
    state->pool = lockfree_pool_create(threads);
    return state;
}

LOCKFREE_INLINE bool find(void *context, uint64_t key)
{
    struct thread *self = context;
    return list_find(&self->state->list, key, NULL) != NULL;
}

LOCKFREE_INLINE bool insert(void *context, uint64_t key)
{
    struct thread *self = context;
    struct record *record = lockfree_pool_take(&self->pool);
    if (!record)
        return false;
    record->node.key = key;
    if (!list_insert(&self->state->list, &record->node, NULL, &self->backoff))
        return true;
    lockfree_pool_give(&self->pool, record);
    return false;
}

static void on_release(struct reclaim_node *node, void *context)
{
    lockfree_pool_give(context, container_of(node, struct record, retirement));
}

LOCKFREE_INLINE bool remove_key(void *context, uint64_t key)
{
    struct thread *self = context;
    struct record *record = (struct record *)list_remove(&self->state->list, key, NULL, &self->backoff);
    return record && reclaim_retire(self->reclaim, &record->retirement, on_release);
}

static void pass(void *context)
{
    reclaim_quiescent(((struct thread *)context)->reclaim);
}

/* Every second key is there at first. */
static void reset(void *context)
{
    struct state *state = context;
    struct thread self = {.state = state};
    lockfree_pool_reset(state->pool);
    lockfree_pool_thread_init(&self.pool, state->pool);
    backoff_init(&self.backoff, 0);
    reclaim_init(&state->domain, state->slots, state->threads, SIZE_MAX);
    list_init(&state->list, NULL);
    for (unsigned key = 0; key < state->keys; key += 2)
        insert(&self, key);
}

static void finish(void *context)
{
    struct state *state = context;
    lockfree_pool_destroy(state->pool);
    lockfree_unmap(state, state_bytes(state->threads));
}

static void work(struct lockfree_worker *worker)
{
    struct lockfree_set set = {find, insert, remove_key, pass};
    struct thread self = {.state = worker->state};
    self.reclaim = reclaim_claim(&self.state->domain, &self.pool);
    backoff_init(&self.backoff, worker->index);
    lockfree_pool_thread_init(&self.pool, self.state->pool);
    reclaim_online(self.reclaim);
    lockfree_begin(worker);
    lockfree_set_update(worker, &self, set,
                        (struct lockfree_set_updates){self.state->keys, LOCKFREE_LIST_PERCENT});
    worker->losses = backoff_losses(&self.backoff);
    lockfree_end(worker);
    reclaim_offline(self.reclaim);
}

#define LIST                                                                                                 \
    .bench = "list", .impl = "lycosa", .begin = begin, .reset = reset, .work = work, .finish = finish,       \
    .counts_losses = true

static struct lockfree_row rows[] = {
    {LIST, .mix = LOCKFREE_LIST_SHORT, .argument = 64},
    {LIST, .mix = LOCKFREE_LIST_LONG, .argument = 512},
};

LOCKFREE_REGISTER(rows)
