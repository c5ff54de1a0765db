#include "micro/lockfree_sample.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lockfree/clock.h"

/* A sample in which a thread had less of its processor than this is taken again, so many times. */
#define SHARE_MIN   0.95
#define RETRIES_MAX 2
/* How often it is looked whether all workers measure. */
#define POLL_SECONDS 0.0001

enum phase { WARMING_UP, MEASURING, OVER };

struct lockfree_sample {
    _Alignas(128) struct lockfree_phase phase;
    _Alignas(128) pthread_barrier_t barrier;
    unsigned measuring; /* workers that have begun to measure */
    const struct lockfree_row *row;
};

static int processors[LOCKFREE_THREADS_MAX];

unsigned lockfree_sample_processors(void)
{
    cpu_set_t set;
    unsigned count = 0;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    for (int i = 0; i < CPU_SETSIZE && count < LOCKFREE_THREADS_MAX; i++)
        if (CPU_ISSET(i, &set))
            processors[count++] = i;
    return count;
}

static uint64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void note_beginning(struct lockfree_worker *worker)
{
    worker->begin_ops = worker->ops;
    worker->begin_cpu_ns = cpu_now_ns();
    worker->begin_ns = clock_now_ns();
}

static void tell_measuring(struct lockfree_worker *worker)
{
    __atomic_fetch_add(&worker->sample->measuring, 1, __ATOMIC_RELAXED);
}

void lockfree_begin(struct lockfree_worker *worker)
{
    pthread_barrier_wait(&worker->sample->barrier);
    note_beginning(worker);
}

bool lockfree_on_phase(struct lockfree_worker *worker, uint32_t phase)
{
    if (worker->phase == WARMING_UP) {
        note_beginning(worker);
        tell_measuring(worker);
    }
    worker->phase = phase;
    return phase == OVER;
}

void lockfree_end(struct lockfree_worker *worker)
{
    uint64_t spent_ns = clock_now_ns() - worker->begin_ns;
    worker->cpu_share = (double)(cpu_now_ns() - worker->begin_cpu_ns) / (double)(spent_ns + 1);
    worker->measured_ops = worker->ops - worker->begin_ops;
    worker->ops_per_s = (double)worker->measured_ops / ((double)(spent_ns + 1) / 1e9);
    /* Work that came to its end before the warm-up did was measured as a whole. */
    if (worker->phase == WARMING_UP)
        tell_measuring(worker);
}

static void *run_worker(void *context)
{
    struct lockfree_worker *worker = context;
    worker->sample->row->work(worker);
    return NULL;
}

static void wait_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

static void start_worker(pthread_t *thread, struct lockfree_worker *worker)
{
    cpu_set_t set;
    pthread_attr_t attributes;
    CPU_ZERO(&set);
    CPU_SET(processors[worker->index], &set);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    int error = pthread_create(thread, &attributes, run_worker, worker);
    pthread_attr_destroy(&attributes);
    if (error) {
        fprintf(stderr, "bench_lockfree: cannot start thread %u: %s\n", worker->index, strerror(error));
        exit(1);
    }
}

/* Into workers[0..threads). */
static void take_once(const struct lockfree_sample_options *options, struct lockfree_worker *workers)
{
    static struct lockfree_sample sample;
    const struct lockfree_row *row = options->row;
    unsigned threads = options->threads;
    pthread_t ids[LOCKFREE_THREADS_MAX];
    sample.row = row;
    sample.measuring = 0;
    sample.phase.value = row->measures_all ? MEASURING : WARMING_UP;
    pthread_barrier_init(&sample.barrier, NULL, threads + 1);
    if (row->reset)
        row->reset(options->state);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct lockfree_worker){.state = options->state,
                                              .index = i,
                                              .threads = threads,
                                              .phase = sample.phase.value,
                                              .random = lockfree_mix(i) | 1,
                                              .sample = &sample};
        start_worker(&ids[i], &workers[i]);
    }
    pthread_barrier_wait(&sample.barrier);
    if (!row->measures_all) {
        wait_for(options->seconds / 4);
        __atomic_store_n(&sample.phase.value, MEASURING, __ATOMIC_RELAXED);
        /* On a busy machine a worker may be off its processor for longer than the warm-up. */
        while (__atomic_load_n(&sample.measuring, __ATOMIC_RELAXED) < threads)
            wait_for(POLL_SECONDS);
        wait_for(options->seconds);
        __atomic_store_n(&sample.phase.value, OVER, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&sample.barrier);
}

static double share_of(const struct lockfree_worker *workers, unsigned threads)
{
    double share = 1;
    for (unsigned i = 0; i < threads; i++)
        share = workers[i].cpu_share < share ? workers[i].cpu_share : share;
    return share;
}

bool lockfree_sample_take(const struct lockfree_sample_options *options, struct lockfree_worker *workers)
{
    struct lockfree_worker again[LOCKFREE_THREADS_MAX];
    unsigned threads = options->threads;
    take_once(options, workers);
    for (int retry = 0; retry < RETRIES_MAX && share_of(workers, threads) < SHARE_MIN; retry++) {
        take_once(options, again);
        if (share_of(again, threads) > share_of(workers, threads))
            memcpy(workers, again, threads * sizeof *workers);
    }
    return share_of(workers, threads) >= SHARE_MIN;
}
