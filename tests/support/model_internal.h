/* What the parts of the model share: model.c (search and report), model_thread.c (coroutines, one step after
 * another), model_memory.c (atomics, views, races, freed memory), model_planted.c (bugs to be found). */
#pragma once

#include "tests/support/model.h"

#if defined(__SANITIZE_ADDRESS__)
#define MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MODEL_ASAN 1
#endif
#endif

/* A run of a case makes a few hundred steps; ten times as many is a loop without end. */
#define MODEL_STEPS_MAX 4000

struct model_step {
    unsigned thread;
    const char *site;
    uint64_t before, after; /* value read, value written */
    bool reads, writes, is_weak;
};

/* model.c: decisions. Each returns 0 for the plain course: go on, the last store. */
/* Which of the threads in `runnable` (bit mask, not empty) goes next. `self` goes on unless preempted; it is
 * not in the mask where it cannot go on. Where `is_point` is false the search sees no use in a preemption. */
unsigned model_choose_thread(unsigned runnable, unsigned self, bool is_point);
/* Which of `count` ways to take, way 0 being the strong one. */
unsigned model_choose_weak(unsigned count);
/* Called where a new address turned out to be shared: the search so far has not preempted there. */
void model_on_shared(void);

/* model_thread.c. */
void model_thread_begin(const struct model_case *c);
/* Runs all threads to their ends, or up to the first failure. */
void model_thread_run(void);
/* Leaves the run from inside a thread. */
void model_thread_abandon(void) __attribute__((noreturn));
/* A step begins: other threads may run first if `is_shared`. */
struct model_step *model_thread_step(const char *site, bool is_shared);
/* The running thread changed memory: those that wait may look again. */
void model_thread_on_write(void);
size_t model_thread_trace(const struct model_step **steps);

/* model_planted.c. */
void model_planted_begin(void);
bool model_planted_is_on(void);
/* Whether this kind of bug is planted at the operation under way. */
bool model_planted_here(const char *kind, const char *site);
/* MODEL_SITES: print each atomic operation of the sources once, and explore just enough to meet them. */
bool model_planted_is_listing(void);
void model_planted_list(const char *site);

/* model_memory.c. */
/* Forgets what was learned about shared addresses. */
void model_memory_forget(void);
void model_memory_begin(void);
/* All threads have ended: nobody may have written to freed memory. */
void model_memory_finish(void);
