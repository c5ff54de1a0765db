/* bench_lockfree: the structures of lockfree/ beside a mutex and the libraries ck, urcu, liblfds, xenium.
 *
 * A part (lockfree_NOUN.c for a structure, lockfree_PEER for a library) registers its rows from a
 * constructor. Rows of one bench and mix form a group: they are begun together, measured in turns, one sample
 * each per round, so that a noisy moment hits all alike, and finished together.
 *
 * A sample: the row's `work` runs in each of the threads, pinned to a processor of its own. It sets up what
 * is the thread's, calls lockfree_begin(), repeats blocks of operations until lockfree_is_over() and counts
 * those that succeeded in worker->ops, then calls lockfree_end() and takes down what it set up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lockfree_sample;

struct lockfree_worker {
    void *state;    /* what the row's begin returned */
    unsigned index; /* 0 to threads - 1 */
    unsigned threads;
    uint32_t phase;  /* of the sample, as this worker saw it last */
    uint64_t random; /* for lockfree_random */
    uint64_t ops;    /* successful operations so far */
    uint64_t losses; /* races lost, where the implementation counts them */
    struct lockfree_sample *sample;
    uint64_t begin_ns, begin_cpu_ns, begin_ops; /* lockfree_begin's */
    double ops_per_s, cpu_share;                /* lockfree_end's */
    uint64_t measured_ops;
};

struct lockfree_row {
    const char *bench;
    const char *mix;
    const char *impl; /* lycosa, mutex, ck, urcu, lfds, xenium, floor (the memory's limit), heap */
    unsigned threads_min, threads_max; /* 0: no limit */
    bool counts_losses;
    bool measures_all;  /* no warm-up: the work is of limited size and is measured from its beginning */
    const char *absent; /* why the row cannot be measured here; NULL when it can */
    int argument;       /* for the functions: what tells rows with the same functions apart */
    void *(*begin)(const struct lockfree_row *row, unsigned threads);
    void (*reset)(void *state); /* before each sample; may be NULL */
    void (*work)(struct lockfree_worker *worker);
    void (*finish)(void *state);
    size_t order; /* the frame's own */
};

void lockfree_register(struct lockfree_row *row);

#define LOCKFREE_REGISTER(rows)                                                                              \
    __attribute__((constructor)) static void register_rows(void)                                             \
    {                                                                                                        \
        for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                           \
            lockfree_register(&(rows)[i]);                                                                   \
    }

/* Waits until all workers of the sample are here. */
void lockfree_begin(struct lockfree_worker *worker);
void lockfree_end(struct lockfree_worker *worker);
/* The phase is another than worker->phase. True when the sample is over. */
bool lockfree_on_phase(struct lockfree_worker *worker, uint32_t phase);

/* The first member of a sample, read by all and written three times. */
struct lockfree_phase {
    uint32_t value;
};

static inline bool lockfree_is_over(struct lockfree_worker *worker)
{
    uint32_t phase = __atomic_load_n(&((struct lockfree_phase *)worker->sample)->value, __ATOMIC_RELAXED);
    return phase != worker->phase && lockfree_on_phase(worker, phase);
}

/* Weyl sequence through the mixer of splitmix64: well mixed 64 bits, and number i can be had again. */
static inline uint64_t lockfree_mix(uint64_t i)
{
    uint64_t x = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

static inline uint64_t lockfree_random(struct lockfree_worker *worker)
{
    uint64_t x = worker->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return worker->random = x;
}

/* A number below `limit`, from 32 random bits. */
static inline uint32_t lockfree_below(uint64_t random, uint32_t limit)
{
    return (uint32_t)((random >> 32) * limit >> 32);
}

static inline void lockfree_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* All sizes follow from --memory. */
size_t lockfree_memory_bytes(void);
/* The largest power of two that is at most `most` and at most a `part`th of the memory. */
size_t lockfree_scaled(size_t most, size_t part);
/* What the large structures of these benches hold. */
uint32_t lockfree_wheel_ids(void);
size_t lockfree_set_keys(void);
/* Zeroed memory in huge pages where the system gives them, at a multiple of 128. Ends the program with the
 * reason when there is none. */
void *lockfree_map(size_t bytes);
void lockfree_unmap(void *memory, size_t bytes);

#ifdef __cplusplus
}
#endif
