/* signatures and bloom, on memory that no cache holds, beside the time that one of its lines takes. The
 * baseline is the same structure under a mutex, taken once per call.
 *
 * The set is half as full as it may be at first, and half of the look-ups find something. The filter has half
 * of its bits set, as one that is as full as it was made for. */
#include "micro/lockfree_items.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/bloom.h"
#include "lockfree/signatures.h"
#include "micro/lockfree_memory.h"

/* Some page's links. */
#define BATCH 256

enum operation { HAS, ADD, ADD_OWNED };

struct state {
    enum operation operation;
    struct signatures *set;
    struct bloom *filters; /* one, or one per thread where each owns its part */
    unsigned threads;
    _Alignas(128) pthread_mutex_t mutex;
};

static struct signatures set;
static uint64_t present;  /* the set holds lockfree_mix(0) to lockfree_mix(present - 1) */
static uint64_t sequence; /* and of those with higher numbers, some below this one */

static void fill_set(void)
{
    enum { GROUP = 4096 };
    uint64_t *keys = malloc(GROUP * sizeof *keys);
    enum signatures_answer *answers = malloc(GROUP * sizeof *answers);
    enum lockfree_contents before;
    uint64_t *memory = lockfree_memory(&before, LOCKFREE_SIGNATURES);
    struct signatures_writer writer;
    memset(memory, 0, lockfree_memory_bytes());
    signatures_init(&set, memory, lockfree_memory_bytes());
    signatures_writer_init(&writer, &set);
    present = set.count_max / 2 / GROUP * GROUP;
    for (uint64_t i = 0; i < present; i++) {
        keys[i % GROUP] = lockfree_mix(i);
        if (i % GROUP == GROUP - 1)
            signatures_add_batch(&writer, keys, GROUP, answers);
    }
    signatures_writer_fini(&writer);
    sequence = UINT64_C(1) << 40;
    free(answers);
    free(keys);
}

static struct state *create(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = lockfree_map(sizeof *state);
    state->operation = (enum operation)row->argument;
    state->threads = threads;
    pthread_mutex_init(&state->mutex, NULL);
    return state;
}

static void *begin_set(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = create(row, threads);
    enum lockfree_contents before;
    lockfree_memory(&before, LOCKFREE_SIGNATURES);
    if (before != LOCKFREE_SIGNATURES)
        fill_set();
    state->set = &set;
    return state;
}

/* A set that has become four fifths as full as it may be is filled anew. */
static void reset_set(void *context)
{
    struct state *state = context;
    if (signatures_count(state->set) > state->set->count_max / 5 * 4)
        fill_set();
    sequence += UINT64_C(1) << 40;
}

static void *begin_filter(const struct lockfree_row *row, unsigned threads)
{
    struct state *state = create(row, threads);
    enum lockfree_contents before;
    uint64_t *memory = lockfree_memory(&before, LOCKFREE_RANDOM_BITS);
    size_t bytes = lockfree_memory_bytes(), parts = state->operation == ADD_OWNED ? threads : 1;
    for (size_t i = 0; before != LOCKFREE_RANDOM_BITS && i < bytes / sizeof *memory; i++)
        memory[i] = lockfree_mix(i);
    state->filters = calloc(threads, sizeof *state->filters);
    size_t part_bytes = bytes / parts / BLOOM_BLOCK_BYTES * BLOOM_BLOCK_BYTES;
    for (size_t i = 0; i < threads; i++)
        bloom_init(&state->filters[i], (char *)memory + i % parts * part_bytes, part_bytes);
    return state;
}

/* Keys that were added are not new a second time. */
static void reset_filter(void *context)
{
    (void)context;
    sequence += UINT64_C(1) << 40;
}

static void finish(void *context)
{
    struct state *state = context;
    free(state->filters);
    lockfree_unmap(state, sizeof *state);
}

/* Where the keys of a thread begin that nobody has used. */
static uint64_t unused_keys(const struct lockfree_worker *worker)
{
    return sequence + ((uint64_t)worker->index << 32);
}

/* Numbers of keys, half of which are in the set: steps of about the golden section through twice as many.
 * Cheap, as its cost is part of the figure. */
LOCKFREE_INLINE uint64_t key_to_find(uint64_t *number)
{
    uint64_t range = 2 * present;
    *number += range / 1000 * 618 + 1;
    if (*number >= range)
        *number -= range;
    return lockfree_mix(*number);
}

static void set_has(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    uint64_t number = lockfree_random(worker) % present;
    size_t found = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < BATCH; i++)
            found += signatures_has(state->set, key_to_find(&number));
        worker->ops += BATCH;
    }
    lockfree_end(worker);
    if (worker->ops && !found)
        abort();
}

static void set_has_batch(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    uint64_t keys[BATCH], number = lockfree_random(worker) % present;
    bool results[BATCH];
    size_t found = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < BATCH; i++)
            keys[i] = key_to_find(&number);
        found += signatures_has_batch(state->set, keys, BATCH, results);
        worker->ops += BATCH;
    }
    lockfree_end(worker);
    if (worker->ops && !found)
        abort();
}

/* Ends before its time when the set is full. */
static void set_add(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct signatures_writer writer;
    uint64_t key = unused_keys(worker);
    signatures_writer_init(&writer, state->set);
    lockfree_begin(worker);
    for (size_t added = BATCH; added == BATCH && !lockfree_is_over(worker); worker->ops += added) {
        added = 0;
        for (int i = 0; i < BATCH; i++)
            added += signatures_add(&writer, lockfree_mix(key++)) == SIGNATURES_NEW;
    }
    worker->losses = writer.losses;
    lockfree_end(worker);
    signatures_writer_fini(&writer);
}

static void set_add_batch(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct signatures_writer writer;
    uint64_t key = unused_keys(worker), keys[BATCH];
    enum signatures_answer answers[BATCH];
    signatures_writer_init(&writer, state->set);
    lockfree_begin(worker);
    for (size_t added = BATCH; added == BATCH && !lockfree_is_over(worker); worker->ops += added) {
        for (int i = 0; i < BATCH; i++)
            keys[i] = lockfree_mix(key++);
        added = signatures_add_batch(&writer, keys, BATCH, answers);
    }
    worker->losses = writer.losses;
    lockfree_end(worker);
    signatures_writer_fini(&writer);
}

static void set_locked(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct signatures_writer writer;
    uint64_t key = unused_keys(worker), number = lockfree_random(worker) % present;
    size_t done = BATCH;
    signatures_writer_init(&writer, state->set);
    lockfree_begin(worker);
    while (done == BATCH && !lockfree_is_over(worker)) {
        done = 0;
        for (int i = 0; i < BATCH; i++) {
            uint64_t wanted = state->operation == HAS ? key_to_find(&number) : lockfree_mix(key++);
            pthread_mutex_lock(&state->mutex);
            done += state->operation == HAS ? signatures_has(state->set, wanted) || true
                                            : signatures_add(&writer, wanted) == SIGNATURES_NEW;
            pthread_mutex_unlock(&state->mutex);
        }
        worker->ops += done;
    }
    lockfree_end(worker);
    signatures_writer_fini(&writer);
}

static void filter_single(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct bloom *filter = &state->filters[worker->index];
    uint64_t key = unused_keys(worker);
    size_t positive = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < BATCH; i++) {
            uint64_t hash = lockfree_mix(key++);
            positive += state->operation == HAS   ? bloom_has(filter, hash)
                        : state->operation == ADD ? bloom_add_shared(filter, hash)
                                                  : bloom_add_owned(filter, hash);
        }
        worker->ops += BATCH;
    }
    lockfree_end(worker);
    if (worker->ops > 100 * BATCH && !positive)
        abort();
}

static void filter_batch(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct bloom *filter = &state->filters[worker->index];
    uint64_t key = unused_keys(worker), keys[BATCH];
    bool results[BATCH];
    size_t positive = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < BATCH; i++)
            keys[i] = lockfree_mix(key++);
        positive += state->operation == HAS   ? bloom_has_batch(filter, keys, BATCH, results)
                    : state->operation == ADD ? bloom_add_shared_batch(filter, keys, BATCH, results)
                                              : bloom_add_owned_batch(filter, keys, BATCH, results);
        worker->ops += BATCH;
    }
    lockfree_end(worker);
    if (worker->ops > 100 * BATCH && !positive)
        abort();
}

static void filter_locked(struct lockfree_worker *worker)
{
    struct state *state = worker->state;
    struct bloom *filter = &state->filters[worker->index];
    uint64_t key = unused_keys(worker);
    size_t positive = 0;
    lockfree_begin(worker);
    while (!lockfree_is_over(worker)) {
        for (int i = 0; i < BATCH; i++) {
            uint64_t hash = lockfree_mix(key++);
            pthread_mutex_lock(&state->mutex);
            positive += state->operation == HAS ? bloom_has(filter, hash) : bloom_add_owned(filter, hash);
            pthread_mutex_unlock(&state->mutex);
        }
        worker->ops += BATCH;
    }
    lockfree_end(worker);
    if (worker->ops > 100 * BATCH && !positive)
        abort();
}

#define SET             .bench = "signatures", .begin = begin_set, .reset = reset_set, .finish = finish
#define FILTER          .bench = "bloom", .begin = begin_filter, .reset = reset_filter, .finish = finish
#define FLOOR           .impl = "floor", .begin = lockfree_memory_begin, .work = lockfree_memory_work
#define MIX_HAS         "look-up"
#define MIX_HAS_BATCH   "look-up, batches of 256"
#define MIX_ADD         "add"
#define MIX_ADD_BATCH   "add, batches of 256"
#define MIX_OWNED       "add, owned"
#define MIX_OWNED_BATCH "add, owned, batches"

static struct lockfree_row rows[] = {
    {SET, .impl = "lycosa", .mix = MIX_HAS, .work = set_has, .argument = HAS},
    {FLOOR, .bench = "signatures", .mix = MIX_HAS},
    {SET, .impl = "mutex", .mix = MIX_HAS, .work = set_locked, .argument = HAS},
    {SET, .impl = "lycosa", .mix = MIX_HAS_BATCH, .work = set_has_batch, .argument = HAS},
    {FLOOR, .bench = "signatures", .mix = MIX_HAS_BATCH},
    {SET, .impl = "lycosa", .mix = MIX_ADD, .work = set_add, .argument = ADD, .counts_losses = true},
    {FLOOR, .bench = "signatures", .mix = MIX_ADD},
    {SET, .impl = "mutex", .mix = MIX_ADD, .work = set_locked, .argument = ADD},
    {SET, .impl = "lycosa", .mix = MIX_ADD_BATCH, .work = set_add_batch, .argument = ADD,
     .counts_losses = true},
    {FLOOR, .bench = "signatures", .mix = MIX_ADD_BATCH},
    {FILTER, .impl = "lycosa", .mix = MIX_HAS, .work = filter_single, .argument = HAS},
    {FLOOR, .bench = "bloom", .mix = MIX_HAS},
    {FILTER, .impl = "mutex", .mix = MIX_HAS, .work = filter_locked, .argument = HAS},
    {FILTER, .impl = "lycosa", .mix = MIX_HAS_BATCH, .work = filter_batch, .argument = HAS},
    {FLOOR, .bench = "bloom", .mix = MIX_HAS_BATCH},
    {FILTER, .impl = "lycosa", .mix = MIX_ADD, .work = filter_single, .argument = ADD},
    {FLOOR, .bench = "bloom", .mix = MIX_ADD},
    {FILTER, .impl = "mutex", .mix = MIX_ADD, .work = filter_locked, .argument = ADD},
    {FILTER, .impl = "lycosa", .mix = MIX_ADD_BATCH, .work = filter_batch, .argument = ADD},
    {FLOOR, .bench = "bloom", .mix = MIX_ADD_BATCH},
    {FILTER, .impl = "lycosa", .mix = MIX_OWNED, .work = filter_single, .argument = ADD_OWNED},
    {FLOOR, .bench = "bloom", .mix = MIX_OWNED},
    {FILTER, .impl = "lycosa", .mix = MIX_OWNED_BATCH, .work = filter_batch, .argument = ADD_OWNED},
    {FLOOR, .bench = "bloom", .mix = MIX_OWNED_BATCH},
};

LOCKFREE_REGISTER(rows)
