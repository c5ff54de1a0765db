/* A deterministic scheduler that explores what threads may do with the atomics of lockfree/.
 *
 * Sources compiled with -DLF_MODEL hand every lf_* operation to this machine (see model_atomic.h). The
 * threads of a case are coroutines on one OS thread, and each run follows one schedule: which thread makes
 * the next step, and which store a load reads. model_explore() goes through all schedules within two bounds,
 * the number of preemptions and the number of weak steps, or draws schedules at random (PCT).
 *
 * The memory. In place of one store buffer per thread, every atomic keeps all stores of the run in
 * modification order, and every thread a view: for each atomic the oldest store it may still read. So a
 * weak step is one of
 *   - a load reads an older store than the last one that its view allows (a late store buffer, an
 *     early load);
 *   - a store takes a place in modification order before later stores that its thread has not seen (a store
 *     that leaves its buffer after younger ones, also of other threads);
 *   - a read-modify-write does both, next to the store that it read;
 *   - lf_cas_weak fails for no reason.
 * Release stores carry the view of their thread, acquire loads take it over, read-modify-writes continue a
 * release sequence, seq_cst operations on one atomic see each other in the order in which they ran.
 *
 * With enough weak steps this admits what TSO and PSO machines do and beyond: message passing without
 * release or without acquire, store buffering, independent reads of independent writes, 2+2W.
 * Not modelled: load buffering (a load that reads a store which comes later in the run: neither gcc nor a
 * structure whose stores depend on its loads shows it), release sequences through plain stores of the same
 * thread (C++20 dropped them), stand-alone fences (atomic.h has none), atomics wider than 8 bytes,
 * accesses of different sizes to one atomic, seq_cst beyond the rule above (sound for programs whose
 * critical atomics are seq_cst throughout).
 *
 * What a run fails on: a race between plain accesses (vector clocks, so that the schedule need not hit it),
 * an access to freed memory or a free that is not ordered after all accesses, a failed assertion or
 * model_check, memory of an atomic that changed behind the machine's back, a deadlock or livelock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_THREADS_MAX 4

enum model_verdict {
    MODEL_PASSED,
    MODEL_CHECKED,   /* model_check or assert */
    MODEL_HISTORY,   /* no sequential order explains the history */
    MODEL_RACED,     /* plain accesses without an order between them */
    MODEL_FREED,     /* freed memory touched, or freed while another may touch it */
    MODEL_LIVELOCK,  /* all threads wait, or one ran past the bound on steps */
    MODEL_MISUSED,   /* memory changed without lf_*, wild pointer, mixed sizes */
    MODEL_UNFINISHED /* schedules_max reached before the end of the search */
};

struct model_case {
    const char *name;
    void (*begin)(void);                      /* builds the shared state anew; not explored */
    void (*threads[MODEL_THREADS_MAX])(void); /* the first NULL ends the list */
    void (*finish)(void);   /* looks at the result when all threads have ended; may be NULL */
    unsigned preemptions;   /* bound per schedule */
    unsigned weak;          /* bound on weak steps per schedule */
    bool lock_free;         /* lf_pause lets nobody else run: waiting for a stopped thread is a failure */
    uint64_t random;        /* draw this many schedules in place of the search */
    uint64_t seed;          /* for random */
    uint64_t schedules_max; /* 0: search to the end */
};

struct model_result {
    enum model_verdict verdict;
    uint64_t schedules;
    uint64_t steps;
    char message[256];
    char replay[1024]; /* value for MODEL_REPLAY, with the case's name */
};

/* Explores and returns. With MODEL_REPLAY=NAME:... in the environment a case of that name runs this one
 * schedule and prints its trace; other cases pass without a run. */
struct model_result model_explore(const struct model_case *c);
/* Explores and demands that nothing fails: prints a line with the number of schedules; on failure the trace
 * and the schedule to replay, and ends the program.
 *
 * With MODEL_PLANTED in the environment a bug is in the sources, and a failure prints one line `caught by
 * ...` and ends the program with success. The bug is one of:
 *   - NAME: LF_BUG(NAME, ...) is the bad one;
 *   - relaxed@FUNCTION@TEXT: in that function the operation whose text (`store(&x->y`) begins so is relaxed;
 *   - split@FUNCTION@TEXT: and that read-modify-write becomes a load and a store.
 * With MODEL_SITES in the environment the program prints a line `site FUNCTION FILE:LINE: TEXT` for each
 * atomic operation that it meets. */
void model_verify(const struct model_case *c);
/* Explores and demands a failure of this kind. */
struct model_result model_expect(const struct model_case *c, enum model_verdict verdict);

const char *model_verdict_name(enum model_verdict verdict);
/* Prints the steps of the last run. */
void model_print_trace(void);

/* Inside a case. */
unsigned model_self(void);                 /* number of the running thread */
bool model_is_running(void);               /* between begin and finish */
uint32_t model_time(void);                 /* steps that the running thread made */
uint32_t model_time_seen(unsigned thread); /* up to which of its steps `thread` happened before now */
void model_fail(enum model_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void model_pause(void);
bool model_is_planted(const char *bug);

#define MODEL_TEXT_(x) #x
#define MODEL_TEXT(x)  MODEL_TEXT_(x)
#define MODEL_SITE     __FILE__ ":" MODEL_TEXT(__LINE__) ": "

#define model_check(condition)                                                                               \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            model_fail(MODEL_CHECKED, "%s%s is false", MODEL_SITE, #condition);                              \
    } while (0)

/* Payload of a case, checked for races and for use after free. */
#define model_read(lvalue)                                                                                   \
    (model_memory_read(&(lvalue), sizeof(lvalue), MODEL_SITE "read(" #lvalue ")"), (lvalue))
#define model_write(lvalue, value)                                                                           \
    (model_memory_write(&(lvalue), sizeof(lvalue), MODEL_SITE "write(" #lvalue ")"), (lvalue) = (value))
/* Memory of a run, filled with MODEL_FRESH, aligned to 128. Its address is not given out twice in a run;
 * after model_free every access fails. All of it is taken back at the end of the run. */
#define model_alloc(bytes) model_memory_alloc(bytes)
#define model_free(ptr)    model_memory_free((ptr), MODEL_SITE "free(" #ptr ")")
#define MODEL_FRESH        0xa5

void model_memory_read(const void *ptr, size_t bytes, const char *site);
void model_memory_write(void *ptr, size_t bytes, const char *site);
void *model_memory_alloc(size_t bytes);
void model_memory_free(void *ptr, const char *site);
