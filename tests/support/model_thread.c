/* Threads of a model as coroutines. A thread switches to another inside its own step, so that a schedule with
 * few preemptions makes few switches. A coroutine's body is an endless loop over runs; only a run that failed
 * leaves it in the middle, and then its context is made anew. */
#include "tests/support/model_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(MODEL_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

/* A commit is put together on the stack (JOURNAL_PAYLOAD_BYTES_MAX). */
#define STACK_BYTES (1024 * 1024)
/* How often all threads may wait in turn, with no store between, before it counts as a livelock: enough for
 * each to give up a bounded retry and to read what it had read too early. */
#define IDLE_ROUNDS_MAX 64

struct fiber {
    ucontext_t context;
    char *stack;
    size_t stack_bytes;
    void *fake_stack; /* AddressSanitizer's */
};

struct thread {
    struct fiber fiber;
    void (*body)(void);
    bool is_made, is_done, is_waiting;
    bool has_paused;                  /* since its last step */
    uint64_t writes_seen, steps_seen; /* when it began to wait */
};

static struct thread threads[MODEL_THREADS_MAX];
static struct fiber explorer;
static struct {
    unsigned count, self;
    bool is_running, lock_free;
    bool
        has_acted; /* the running thread made a shared step since it got its turn: else a switch is in vain */
    uint64_t writes;
    unsigned idle;
    size_t steps;
} run;
static struct model_step trace[MODEL_STEPS_MAX];

static void fiber_arrive(struct fiber *self)
{
#if defined(MODEL_ASAN)
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &bytes);
    if (!explorer.stack) {
        explorer.stack = (char *)(uintptr_t)bottom;
        explorer.stack_bytes = bytes;
    }
#else
    (void)self;
#endif
}

static void fiber_switch(struct fiber *from, struct fiber *to)
{
#if defined(MODEL_ASAN)
    __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, to->stack_bytes);
#endif
    swapcontext(&from->context, &to->context);
    fiber_arrive(from);
}

/* The threads that can go on. One that waits does so for a store. It may look again without one, if others
 * have made steps meanwhile: a preemption can bring it back, but where the choice is free it would only
 * spin. */
static unsigned runnable_mask(unsigned without, bool is_preemption)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < run.count; i++) {
        const struct thread *t = &threads[i];
        bool has_news = t->writes_seen != run.writes || (is_preemption && t->steps_seen != run.steps);
        if (i != without && !t->is_done && (!t->is_waiting || has_news))
            mask |= 1u << i;
    }
    return mask;
}

static unsigned next_waiting(unsigned self)
{
    for (unsigned i = 1; i <= run.count; i++) {
        unsigned other = (self + i) % run.count;
        if (!threads[other].is_done)
            return other;
    }
    return self;
}

static void go_to(unsigned next)
{
    unsigned self = run.self;
    threads[next].is_waiting = false;
    if (next == self)
        return;
    run.self = next;
    run.has_acted = false;
    fiber_switch(&threads[self].fiber, &threads[next].fiber);
}

static void on_thread_end(void)
{
    struct thread *self = &threads[run.self];
    self->is_done = true;
    unsigned mask = runnable_mask(run.self, false);
    unsigned next = mask ? model_choose_thread(mask, run.self, true) : next_waiting(run.self);
    if (threads[next].is_done) {
        run.is_running = false;
        fiber_switch(&self->fiber, &explorer);
    } else {
        go_to(next);
    }
}

static void thread_main(void)
{
    fiber_arrive(&threads[run.self].fiber);
    for (;;) {
        threads[run.self].body();
        on_thread_end();
    }
}

static void make_fiber(struct thread *t)
{
    struct fiber *f = &t->fiber;
    if (!f->stack) {
        f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (f->stack == MAP_FAILED)
            abort();
        f->stack_bytes = STACK_BYTES;
    }
    getcontext(&f->context);
    f->fake_stack = NULL;
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = f->stack_bytes;
    f->context.uc_link = NULL;
    makecontext(&f->context, thread_main, 0);
    t->is_made = true;
}

void model_thread_begin(const struct model_case *c)
{
    memset(&run, 0, sizeof run);
    run.lock_free = c->lock_free;
    while (run.count < MODEL_THREADS_MAX && c->threads[run.count]) {
        struct thread *t = &threads[run.count++];
        if (!t->is_made || !t->is_done)
            make_fiber(t);
        t->body = c->threads[run.count - 1];
        t->is_done = t->is_waiting = t->has_paused = false;
        t->writes_seen = 0;
    }
}

void model_thread_run(void)
{
    run.is_running = true;
    run.self = model_choose_thread(runnable_mask(MODEL_THREADS_MAX, false), MODEL_THREADS_MAX, true);
    fiber_switch(&explorer, &threads[run.self].fiber);
}

void model_thread_abandon(void)
{
    run.is_running = false;
    for (unsigned i = 0; i < run.count; i++)
        threads[i].is_made = false;
    fiber_switch(&threads[run.self].fiber, &explorer);
    abort();
}

struct model_step *model_thread_step(const char *site, bool is_shared)
{
    if (run.steps == MODEL_STEPS_MAX)
        model_fail(MODEL_LIVELOCK, "no end after %d steps, at %s", MODEL_STEPS_MAX, site);
    struct thread *self = &threads[run.self];
    self->has_paused = false;
    unsigned mask = runnable_mask(MODEL_THREADS_MAX, true) | 1u << run.self;
    go_to(model_choose_thread(mask, run.self, is_shared && run.has_acted));
    run.has_acted |= is_shared;
    if (run.steps == MODEL_STEPS_MAX)
        model_fail(MODEL_LIVELOCK, "no end after %d steps, at %s", MODEL_STEPS_MAX, site);
    struct model_step *step = &trace[run.steps++];
    *step = (struct model_step){.thread = run.self, .site = site};
    return step;
}

void model_thread_on_write(void)
{
    run.writes++;
    run.idle = 0;
}

/* A row of pauses is one: the thread has seen nothing in between. */
void model_pause(void)
{
    struct thread *self = &threads[run.self];
    if (!run.is_running || run.lock_free || self->has_paused)
        return;
    self->has_paused = true;
    unsigned mask = runnable_mask(run.self, false);
    self->is_waiting = true;
    self->writes_seen = run.writes;
    self->steps_seen = run.steps;
    if (mask) {
        go_to(model_choose_thread(mask, run.self, true));
        return;
    }
    if (++run.idle > IDLE_ROUNDS_MAX)
        model_fail(MODEL_LIVELOCK, "every thread waits for another");
    go_to(next_waiting(run.self));
}

size_t model_thread_trace(const struct model_step **steps)
{
    *steps = trace;
    return run.steps;
}

unsigned model_self(void)
{
    return run.self;
}

bool model_is_running(void)
{
    return run.is_running;
}
