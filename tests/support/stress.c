#include "tests/support/stress.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

/* Long enough for a sanitised build on a busy machine; reached only by an operation that waits for the parked
 * one. */
#define PARKED_SECONDS_MAX 120

/* What the calling thread does at its atomic operations. */
static _Thread_local struct {
    uint64_t random;
    unsigned yield_every;
    unsigned points_left; /* until it parks; 0: never */
} self;

static struct {
    sem_t arrived, go_on;
    bool parked; /* read after `arrived` */
    unsigned point;
} lot;

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

uint64_t stress_random(struct stress_worker *worker, uint64_t bound)
{
    return next_random(&worker->random) % bound;
}

void lf_yield_point(void)
{
    if (self.points_left && --self.points_left == 0) {
        lot.parked = true;
        sem_post(&lot.arrived);
        while (sem_wait(&lot.go_on) != 0)
            ;
    }
    if (self.yield_every && next_random(&self.random) % self.yield_every == 0)
        sched_yield();
}

unsigned stress_threads_default(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 2 ? 4 : (unsigned)cores * 2 + 1;
}

struct crew {
    const struct stress_plan *plan;
    unsigned threads, rounds;
    pthread_barrier_t start, end;
};

struct member {
    struct crew *crew;
    struct stress_worker worker;
    pthread_t thread;
};

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    self.random = member->worker.random;
    self.yield_every = crew->plan->yield_every;
    for (unsigned round = 0; round < crew->rounds; round++) {
        member->worker.round = round;
        pthread_barrier_wait(&crew->start);
        crew->plan->work(&member->worker);
        pthread_barrier_wait(&crew->end);
    }
    return NULL;
}

void stress_run(const struct stress_plan *plan)
{
    struct crew crew = {.plan = plan,
                        .threads = plan->threads ? plan->threads : stress_threads_default(),
                        .rounds = plan->rounds ? plan->rounds : 1};
    struct member *members = calloc(crew.threads, sizeof *members);
    pthread_barrier_init(&crew.start, NULL, crew.threads + 1);
    pthread_barrier_init(&crew.end, NULL, crew.threads + 1);
    for (unsigned i = 0; i < crew.threads; i++) {
        members[i] = (struct member){.crew = &crew,
                                     .worker = {.index = i,
                                                .threads = crew.threads,
                                                .random = (plan->seed + i + 1) * 0x9e3779b97f4a7c15u,
                                                .shared = plan->shared}};
        CHECK(pthread_create(&members[i].thread, NULL, member_main, &members[i]) == 0);
    }
    for (unsigned round = 0; round < crew.rounds; round++) {
        if (plan->begin)
            plan->begin(plan->shared, crew.threads);
        pthread_barrier_wait(&crew.start);
        pthread_barrier_wait(&crew.end);
        if (plan->check)
            plan->check(plan->shared, crew.threads);
    }
    for (unsigned i = 0; i < crew.threads; i++)
        pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&crew.start);
    pthread_barrier_destroy(&crew.end);
    free(members);
}

static void *parked_main(void *argument)
{
    const struct stress_parking *parking = argument;
    self.points_left = lot.point;
    parking->operation(parking->shared);
    if (self.points_left) {
        self.points_left = 0;
        lot.parked = false;
        sem_post(&lot.arrived);
    }
    return NULL;
}

unsigned stress_park(const struct stress_parking *parking)
{
    CHECK(sem_init(&lot.arrived, 0, 0) == 0 && sem_init(&lot.go_on, 0, 0) == 0);
    for (lot.point = 1;; lot.point++) {
        pthread_t thread;
        parking->begin(parking->shared);
        CHECK(pthread_create(&thread, NULL, parked_main, (void *)parking) == 0);
        while (sem_wait(&lot.arrived) != 0)
            ;
        bool parked = lot.parked;
        alarm(PARKED_SECONDS_MAX);
        parking->others(parking->shared);
        alarm(0);
        if (parked)
            sem_post(&lot.go_on);
        pthread_join(thread, NULL);
        parking->finish(parking->shared);
        if (!parked)
            break;
    }
    sem_destroy(&lot.arrived);
    sem_destroy(&lot.go_on);
    return lot.point - 1;
}
