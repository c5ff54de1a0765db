/* The search through schedules, and the report of one.
 *
 * A run asks for a decision at each step: which thread goes next, which store is read. The search keeps the
 * decisions of the last run as a stack and changes the last one that has an untried way: a depth-first walk
 * without saved states. Only steps on addresses that some run of this search found shared and written are
 * preempted; when another such address turns up, the search starts again with it. */
#include "tests/support/model_internal.h"
#include "tests/support/check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define DECISIONS_MAX (4 * MODEL_STEPS_MAX)
#define TRACE_PRINTED 160
/* AddressSanitizer makes a run ten times as long; its own checks need no complete search. 0: to the end. */
#if defined(MODEL_ASAN)
#define SCHEDULES_USUAL 4000
#else
#define SCHEDULES_USUAL 0
#endif
/* Enough to meet every operation of a case. */
#define LISTED_SCHEDULES 2000
/* One weak way out of so many where a random schedule has the choice. */
#define RANDOM_WEAK_IN 6

struct decision {
    unsigned char ways, way;
};

/* A decision that was not the default, as MODEL_REPLAY names it: tick, 't' and a thread or 'w' and a way. */
struct deviation {
    unsigned tick;
    char kind;
    unsigned value;
};

enum mode { MODE_SEARCH, MODE_RANDOM, MODE_REPLAY };

static struct {
    const struct model_case *c;
    enum mode mode;
    bool has_grown;
    struct decision stack[DECISIONS_MAX];
    size_t depth;
    struct deviation script[DECISIONS_MAX];
    size_t script_length;
    uint64_t random;
    unsigned ticks_typical;
    struct model_result result;
} search;

static struct {
    bool is_exploring, has_failed;
    size_t position; /* in the stack, or in the script */
    unsigned ticks, preemptions, weak;
    int priority[MODEL_THREADS_MAX + 1], priority_min;
    unsigned change_at[8];
    enum model_verdict verdict;
    char message[256];
    size_t made_count;
    struct deviation made[DECISIONS_MAX]; /* last: not cleared between runs */
} run;

static jmp_buf out_of_run;

const char *model_verdict_name(enum model_verdict verdict)
{
    static const char *const names[] = {"passed", "check",    "history", "race",
                                        "freed",  "livelock", "misuse",  "unfinished"};
    return names[verdict];
}

static uint64_t random_below(uint64_t bound)
{
    search.random ^= search.random << 13;
    search.random ^= search.random >> 7;
    search.random ^= search.random << 17;
    return (search.random >> 16) % bound;
}

static void note(char kind, unsigned value)
{
    run.made[run.made_count++] = (struct deviation){.tick = run.ticks, .kind = kind, .value = value};
}

/* Next decision of the search: a remembered one, or the default for the first time. */
static unsigned decide(unsigned ways)
{
    if (ways < 2)
        return 0;
    if (run.position == search.depth) {
        if (search.depth == DECISIONS_MAX)
            model_fail(MODEL_LIVELOCK, "too many decisions");
        search.stack[search.depth++] = (struct decision){.ways = (unsigned char)ways};
    }
    return search.stack[run.position++].way;
}

/* What the script says for this tick, or `otherwise`. */
static unsigned scripted(char kind, unsigned otherwise)
{
    if (run.position == search.script_length)
        return otherwise;
    const struct deviation *next = &search.script[run.position];
    if (next->tick != run.ticks || next->kind != kind)
        return otherwise;
    run.position++;
    return next->value;
}

/* PCT: the runnable thread of highest priority goes; at a few moments drawn in advance the running one falls
 * to the lowest, and so does one that waits. */
static unsigned random_thread(unsigned runnable, unsigned self)
{
    bool is_change = !(runnable & 1u << self);
    for (unsigned i = 0; i < search.c->preemptions && i < 8; i++)
        is_change |= run.change_at[i] == run.ticks;
    if (is_change)
        run.priority[self] = --run.priority_min;
    unsigned best = MODEL_THREADS_MAX;
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        if (runnable & 1u << i && (best == MODEL_THREADS_MAX || run.priority[i] > run.priority[best]))
            best = i;
    return best;
}

static unsigned first_after(unsigned runnable, unsigned self)
{
    for (unsigned i = 1; i <= MODEL_THREADS_MAX + 1; i++)
        if (runnable & 1u << (self + i) % (MODEL_THREADS_MAX + 1))
            return (self + i) % (MODEL_THREADS_MAX + 1);
    return self;
}

static unsigned searched_thread(unsigned runnable, unsigned self, unsigned standard)
{
    bool is_preemption = runnable & 1u << self;
    unsigned others[MODEL_THREADS_MAX + 1] = {standard}, count = 1;
    if (!is_preemption || run.preemptions < search.c->preemptions)
        for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
            if (runnable & 1u << i && i != standard)
                others[count++] = i;
    unsigned next = others[decide(count)];
    run.preemptions += is_preemption && next != self;
    return next;
}

unsigned model_choose_thread(unsigned runnable, unsigned self, bool is_point)
{
    run.ticks++;
    unsigned standard = runnable & 1u << self ? self : first_after(runnable, self);
    unsigned next = standard;
    if (search.mode == MODE_REPLAY)
        next = scripted('t', standard);
    else if (search.mode == MODE_RANDOM)
        next = random_thread(runnable, self);
    else if (is_point)
        next = searched_thread(runnable, self, standard);
    if (!(runnable & 1u << next))
        model_fail(MODEL_MISUSED, "the schedule does not fit: thread %u cannot run at %u", next, run.ticks);
    if (next != standard)
        note('t', next);
    return next;
}

unsigned model_choose_weak(unsigned ways)
{
    run.ticks++;
    unsigned way = 0;
    if (search.mode == MODE_REPLAY)
        way = scripted('w', 0);
    else if (ways < 2 || run.weak == search.c->weak)
        return 0;
    else if (search.mode == MODE_RANDOM)
        way = random_below(RANDOM_WEAK_IN) ? 0 : (unsigned)random_below(ways);
    else
        way = decide(ways);
    if (way >= ways)
        model_fail(MODEL_MISUSED, "the schedule does not fit: no way %u at %u", way, run.ticks);
    if (way) {
        run.weak++;
        note('w', way);
    }
    return way;
}

void model_on_shared(void)
{
    search.has_grown = true;
}

void model_fail(enum model_verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run.message, sizeof run.message, format, args);
    va_end(args);
    if (!run.is_exploring)
        check_failed(__FILE__, __LINE__, "%s", run.message);
    run.has_failed = true;
    run.verdict = verdict;
    if (model_is_running())
        model_thread_abandon();
    longjmp(out_of_run, 1);
}

/* assert() in the sources under test comes here, so that it ends the run and not the program. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    if (!run.is_exploring) {
        fprintf(stderr, "%s:%u: %s: assertion %s failed\n", file, line, function, assertion);
        abort();
    }
    model_fail(MODEL_CHECKED, "%s:%u: assertion %s failed in %s", file, line, assertion, function);
}

static void draw_random(void)
{
    run.priority_min = 0;
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
        run.priority[i] = (int)(1 + random_below(1000));
    for (unsigned i = 0; i < 8; i++)
        run.change_at[i] = (unsigned)random_below(search.ticks_typical) + 1;
}

static void run_once(void)
{
    memset(&run, 0, offsetof(__typeof__(run), made));
    run.is_exploring = true;
    if (search.mode == MODE_RANDOM)
        draw_random();
    if (setjmp(out_of_run) == 0) {
        model_memory_begin();
        search.c->begin();
        model_thread_begin(search.c);
        model_thread_run();
        if (!run.has_failed)
            model_memory_finish();
        if (!run.has_failed && search.c->finish)
            search.c->finish();
    }
    run.is_exploring = false;
    search.result.schedules++;
    const struct model_step *steps;
    search.result.steps += model_thread_trace(&steps);
    if (run.ticks > search.ticks_typical)
        search.ticks_typical = run.ticks;
}

static bool backtrack(void)
{
    while (search.depth) {
        struct decision *last = &search.stack[search.depth - 1];
        if (++last->way < last->ways)
            return true;
        search.depth--;
    }
    return false;
}

static void write_replay(void)
{
    struct model_result *r = &search.result;
    int at = snprintf(r->replay, sizeof r->replay, "%s:", search.c->name);
    for (size_t i = 0; i < run.made_count && at < (int)sizeof r->replay; i++)
        at += snprintf(r->replay + at, sizeof r->replay - (size_t)at, "%s%u%c%u", i ? "." : "",
                       run.made[i].tick, run.made[i].kind, run.made[i].value);
    if (at >= (int)sizeof r->replay)
        snprintf(r->replay, sizeof r->replay, "(too long)");
}

static void take_verdict(void)
{
    search.result.verdict = run.verdict;
    memcpy(search.result.message, run.message, sizeof run.message);
    write_replay();
}

static void explore_random(void)
{
    search.random = search.c->seed * 2 + 0x9e3779b97f4a7c15ull;
    for (uint64_t i = 0; i < search.c->random && !run.has_failed; i++)
        run_once();
}

static void explore_all(void)
{
    uint64_t wasted = 0;
    do {
        search.has_grown = false;
        run_once();
        if (search.has_grown) {
            search.depth = 0;
            wasted = search.result.schedules;
            continue;
        }
        if (model_planted_is_listing() && search.result.schedules - wasted >= LISTED_SCHEDULES)
            return;
        if (search.c->schedules_max && search.result.schedules >= search.c->schedules_max &&
            !run.has_failed) {
            run.has_failed = true;
            run.verdict = MODEL_UNFINISHED;
            snprintf(run.message, sizeof run.message, "stopped after %ju schedules",
                     (uintmax_t)search.result.schedules);
        }
    } while (!run.has_failed && (search.has_grown || backtrack()));
    if (!run.has_failed)
        search.result.schedules -= wasted;
}

static void read_script(const char *text)
{
    search.script_length = 0;
    while (*text && search.script_length < DECISIONS_MAX) {
        struct deviation *d = &search.script[search.script_length++];
        char *end;
        d->tick = (unsigned)strtoul(text, &end, 10);
        if (end == text || (*end != 't' && *end != 'w'))
            check_failed(__FILE__, __LINE__, "MODEL_REPLAY: cannot read \"%s\"", text);
        d->kind = *end;
        d->value = (unsigned)strtoul(end + 1, &end, 10);
        text = *end == '.' ? end + 1 : end;
    }
}

static const char *script_for(const char *name, bool *is_replaying)
{
    const char *replay = getenv("MODEL_REPLAY");
    size_t length = strlen(name);
    *is_replaying = replay != NULL;
    return replay && strncmp(replay, name, length) == 0 && replay[length] == ':' ? replay + length + 1 : NULL;
}

static void on_crash(int signal)
{
    bool planted = model_planted_is_on();
    write_replay();
    printf("%s by crash in %s after %ju schedules: signal %d\nreplay: MODEL_REPLAY=%s\n",
           planted ? "caught" : "failed", search.c->name, (uintmax_t)search.result.schedules + 1, signal,
           search.result.replay);
    if (!planted)
        model_print_trace();
    fflush(stdout);
    _exit(planted ? 0 : 1);
}

static void catch_crashes(void)
{
    static char stack[64 * 1024];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternative, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

struct model_result model_explore(const struct model_case *c)
{
    bool is_replaying;
    const char *script = script_for(c->name, &is_replaying);
    memset(&search.result, 0, sizeof search.result);
    search.c = c;
    model_planted_begin();
    search.depth = 0;
    search.ticks_typical = 1;
    run.has_failed = false;
    catch_crashes();
    model_memory_forget();
    if (script) {
        search.mode = MODE_REPLAY;
        read_script(script);
        run_once();
        printf("replay of %s: %s %s\n", c->name, model_verdict_name(run.verdict), run.message);
        model_print_trace();
    } else if (is_replaying) {
        return search.result;
    } else if (c->random) {
        search.mode = MODE_RANDOM;
        explore_random();
    } else {
        search.mode = MODE_SEARCH;
        explore_all();
    }
    if (run.has_failed)
        take_verdict();
    return search.result;
}

void model_print_trace(void)
{
    const struct model_step *steps;
    size_t count = model_thread_trace(&steps);
    size_t first = count > TRACE_PRINTED ? count - TRACE_PRINTED : 0;
    if (first)
        printf("  (%zu steps before)\n", first);
    for (size_t i = first; i < count; i++) {
        printf("  %4zu %*sthread %u  %s", i, (int)steps[i].thread * 4, "", steps[i].thread, steps[i].site);
        if (steps[i].reads)
            printf("  read %#jx", (uintmax_t)steps[i].before);
        if (steps[i].writes)
            printf("  wrote %#jx", (uintmax_t)steps[i].after);
        printf("%s\n", steps[i].is_weak ? "  (weak)" : "");
    }
}

void model_verify(const struct model_case *c)
{
    struct model_case bounded = *c;
    if (SCHEDULES_USUAL && !c->random && !c->schedules_max)
        bounded.schedules_max = SCHEDULES_USUAL;
    struct model_result r = model_explore(&bounded);
    if (r.schedules == 0)
        return;
    bool is_cut = r.verdict == MODEL_UNFINISHED && bounded.schedules_max == SCHEDULES_USUAL;
    if (r.verdict == MODEL_PASSED || is_cut) {
        printf("%-28s %9ju schedules, %10ju steps, %u preemptions, %u weak%s\n", c->name,
               (uintmax_t)r.schedules, (uintmax_t)r.steps, c->preemptions, c->weak,
               c->random ? ", random" : "");
        fflush(stdout);
        return;
    }
    if (model_planted_is_on()) {
        printf("caught by %s in %s after %ju schedules: %s\nreplay: MODEL_REPLAY=%s\n",
               model_verdict_name(r.verdict), c->name, (uintmax_t)r.schedules, r.message, r.replay);
        exit(0);
    }
    model_print_trace();
    printf("%s: %s\nreplay: MODEL_REPLAY=%s\n", c->name, r.message, r.replay);
    check_failed(__FILE__, __LINE__, "%s failed (%s) after %ju schedules", c->name,
                 model_verdict_name(r.verdict), (uintmax_t)r.schedules);
}

struct model_result model_expect(const struct model_case *c, enum model_verdict verdict)
{
    struct model_result r = model_explore(c);
    if (r.schedules && r.verdict != verdict) {
        model_print_trace();
        check_failed(__FILE__, __LINE__, "%s: expected %s, got %s %s after %ju schedules", c->name,
                     model_verdict_name(verdict), model_verdict_name(r.verdict), r.message,
                     (uintmax_t)r.schedules);
    }
    return r;
}
