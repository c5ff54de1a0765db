/* The machine itself: small programs whose outcomes are known must show exactly those. */
#include "lockfree/atomic.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#include <stdlib.h>

static _Atomic(int) x, y, ready;
static int payload, seen[4];
static unsigned outcomes; /* bit mask over the whole search */

static void begin(void)
{
    lf_store(&x, 0, relaxed);
    lf_store(&y, 0, relaxed);
    lf_store(&ready, 0, relaxed);
    payload = 0;
    memset(seen, 0, sizeof seen);
}

static void note_outcome(void)
{
    outcomes |= 1u << (seen[0] + 2 * seen[1]);
}

/* Message passing: plain data behind a flag. */
static void publish_release(void)
{
    model_write(payload, 7);
    lf_store(&ready, 1, release);
}

static void publish_relaxed(void)
{
    model_write(payload, 7);
    lf_store(&ready, 1, relaxed);
}

static void consume_acquire(void)
{
    if (lf_load(&ready, acquire))
        model_check(model_read(payload) == 7);
}

static void consume_relaxed(void)
{
    if (lf_load(&ready, relaxed))
        model_check(model_read(payload) == 7);
}

static struct model_case passing(const char *name, void (*publish)(void), void (*consume)(void))
{
    return (struct model_case){
        .name = name, .begin = begin, .threads = {publish, consume}, .preemptions = 2, .weak = 2};
}

TEST(message_passing)
{
    struct model_case good = passing("passing", publish_release, consume_acquire);
    model_verify(&good);
    struct model_case no_release = passing("passing_no_release", publish_relaxed, consume_acquire);
    model_expect(&no_release, MODEL_RACED);
    struct model_case no_acquire = passing("passing_no_acquire", publish_release, consume_relaxed);
    model_expect(&no_acquire, MODEL_RACED);
}

/* The same with atomics alone: no race to see, but a stale value. */
static void post_relaxed(void)
{
    lf_store(&x, 1, relaxed);
    lf_store(&y, 1, relaxed);
}

static void post_release(void)
{
    lf_store(&x, 1, relaxed);
    lf_store(&y, 1, release);
}

static void look_relaxed(void)
{
    seen[0] = lf_load(&y, relaxed);
    seen[1] = lf_load(&x, relaxed);
    model_check(!(seen[0] == 1 && seen[1] == 0));
}

static void look_acquire(void)
{
    seen[0] = lf_load(&y, acquire);
    seen[1] = lf_load(&x, relaxed);
    model_check(!(seen[0] == 1 && seen[1] == 0));
}

TEST(message_of_atomics)
{
    struct model_case good = passing("atomics", post_release, look_acquire);
    model_verify(&good);
    struct model_case no_release = passing("atomics_no_release", post_relaxed, look_acquire);
    model_expect(&no_release, MODEL_CHECKED);
    struct model_case no_acquire = passing("atomics_no_acquire", post_release, look_relaxed);
    model_expect(&no_acquire, MODEL_CHECKED);
    no_release.weak = 0;
    model_verify(&no_release);
}

/* A read-modify-write in between keeps the release sequence; a store in between breaks it. */
static void increment_between(void)
{
    lf_fetch_add(&ready, 1, relaxed);
}

static void overwrite_between(void)
{
    if (lf_load(&ready, relaxed) == 1)
        lf_store(&ready, 2, relaxed);
}

static void consume_second(void)
{
    if (lf_load(&ready, acquire) == 2)
        model_check(model_read(payload) == 7);
}

static void publish_first(void)
{
    model_write(payload, 7);
    lf_exchange(&ready, 1, acq_rel);
}

static void check_sequence(const char *name, void (*between)(void), enum model_verdict verdict)
{
    struct model_case c = {.name = name,
                           .begin = begin,
                           .threads = {publish_first, between, consume_second},
                           .preemptions = 3,
                           .weak = 1};
    if (verdict == MODEL_PASSED)
        model_verify(&c);
    else
        model_expect(&c, verdict);
}

TEST(release_sequence)
{
    check_sequence("sequence_rmw", increment_between, MODEL_PASSED);
    check_sequence("sequence_store", overwrite_between, MODEL_RACED);
}

/* Store buffering, the heart of Dekker's algorithm. */
static void left_relaxed(void)
{
    lf_store(&x, 1, release);
    seen[0] = lf_load(&y, acquire);
}

static void right_relaxed(void)
{
    lf_store(&y, 1, release);
    seen[1] = lf_load(&x, acquire);
}

static void left_ordered(void)
{
    lf_store(&x, 1, seq_cst);
    seen[0] = lf_load(&y, seq_cst);
}

static void right_ordered(void)
{
    lf_store(&y, 1, seq_cst);
    seen[1] = lf_load(&x, seq_cst);
}

TEST(store_buffering)
{
    struct model_case c = passing("dekker_relaxed", left_relaxed, right_relaxed);
    c.finish = note_outcome;
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0xf);
    c = passing("dekker_seq_cst", left_ordered, right_ordered);
    c.finish = note_outcome;
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0xe);
}

/* Independent reads of independent writes: two readers disagree on the order of two stores. */
static void write_x(void)
{
    lf_store(&x, 1, release);
}

static void write_y(void)
{
    lf_store(&y, 1, release);
}

static void read_xy(void)
{
    seen[0] = lf_load(&x, acquire) == 1 && lf_load(&y, acquire) == 0;
}

static void read_yx(void)
{
    seen[1] = lf_load(&y, acquire) == 1 && lf_load(&x, acquire) == 0;
}

TEST(independent_reads)
{
    struct model_case c = {.name = "iriw",
                           .begin = begin,
                           .threads = {write_x, write_y, read_xy, read_yx},
                           .finish = note_outcome,
                           .preemptions = 3,
                           .weak = 1};
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0xf);
    c.weak = 0;
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0x7);
}

/* 2+2W: two threads store to both places in opposite order; both first stores win. */
static void store_xy(void)
{
    lf_store(&x, 1, relaxed);
    lf_store(&y, 2, relaxed);
}

static void store_yx(void)
{
    lf_store(&y, 1, relaxed);
    lf_store(&x, 2, relaxed);
}

static void note_last_stores(void)
{
    outcomes |= 1u << ((lf_load(&x, relaxed) - 1) + 2 * (lf_load(&y, relaxed) - 1));
}

TEST(stores_overtake)
{
    struct model_case c = passing("2+2w", store_xy, store_yx);
    c.finish = note_last_stores;
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0xf);
    c.weak = 0;
    outcomes = 0;
    model_verify(&c);
    CHECK_INT(outcomes, 0xe);
}

/* Lost update: load and store in place of an atomic addition. */
static void add_in_two(void)
{
    lf_store(&x, lf_load(&x, relaxed) + 1, relaxed);
}

static void add_in_one(void)
{
    lf_fetch_add(&x, 1, relaxed);
}

static void add_by_cas(void)
{
    int old = lf_load(&x, relaxed);
    while (!lf_cas_weak(&x, &old, old + 1, relaxed, relaxed))
        lf_pause();
}

static void check_sum(void)
{
    model_check(lf_load(&x, relaxed) == 2);
}

TEST(lost_update)
{
    struct model_case c = passing("update_lost", add_in_two, add_in_two);
    c.finish = check_sum;
    model_expect(&c, MODEL_CHECKED);
    c = passing("update_add", add_in_one, add_by_cas);
    c.finish = check_sum;
    model_verify(&c);
}

/* A weak compare-and-swap may fail for no reason. */
static void swap_once(void)
{
    int old = 0;
    model_check(lf_cas_weak(&x, &old, 1, relaxed, relaxed));
}

TEST(spurious_failure)
{
    struct model_case c = {.name = "cas_weak_once", .begin = begin, .threads = {swap_once}, .weak = 1};
    model_expect(&c, MODEL_CHECKED);
}

/* Freed memory: touched afterwards, or freed without an order to the last access. */
static _Atomic(int *) box;

static void fill_box(void)
{
    begin();
    int *value = model_alloc(sizeof *value);
    *value = 5;
    lf_store(&box, value, relaxed);
}

static void use_box(void)
{
    int *value = lf_load(&box, acquire);
    if (value)
        model_check(model_read(*value) == 5);
    lf_store(&ready, 1, release);
}

static void use_box_untold(void)
{
    int *value = lf_load(&box, acquire);
    if (value)
        model_check(model_read(*value) == 5);
    lf_store(&ready, 1, relaxed);
}

static void empty_box_at_once(void)
{
    int *value = lf_exchange(&box, NULL, acq_rel);
    model_free(value);
}

static void empty_box_later(void)
{
    int *value = lf_exchange(&box, NULL, acq_rel);
    while (!lf_load(&ready, acquire))
        lf_pause();
    model_free(value);
}

TEST(freed_memory)
{
    struct model_case c = passing("freed_at_once", use_box, empty_box_at_once);
    c.begin = fill_box;
    model_expect(&c, MODEL_FREED);
    c = passing("freed_without_order", use_box_untold, empty_box_later);
    c.begin = fill_box;
    model_expect(&c, MODEL_FREED);
    c = passing("freed_in_order", use_box, empty_box_later);
    c.begin = fill_box;
    model_verify(&c);
}

/* Waiting: for what comes, for what never comes, and where the claim is that nobody waits. */
static void wait_for_ready(void)
{
    while (!lf_load(&ready, acquire))
        lf_pause();
    model_check(model_read(payload) == 7);
}

static void wait_without_pause(void)
{
    while (!lf_load(&ready, acquire))
        ;
}

static void nothing(void)
{
    lf_store(&x, 1, relaxed);
}

TEST(waiting)
{
    struct model_case c = passing("wait", publish_release, wait_for_ready);
    model_verify(&c);
    c = passing("wait_for_nothing", nothing, wait_for_ready);
    model_expect(&c, MODEL_LIVELOCK);
    c = passing("spin", publish_release, wait_without_pause);
    model_expect(&c, MODEL_LIVELOCK);
    c = passing("wait_is_not_lock_free", publish_release, wait_for_ready);
    c.lock_free = true;
    model_expect(&c, MODEL_LIVELOCK);
}

static void change_behind(void)
{
    lf_store(&x, 1, relaxed);
    *(volatile int *)&x = 3;
    lf_load(&x, relaxed);
}

TEST(misuse)
{
    struct model_case c = {.name = "changed_behind", .begin = begin, .threads = {change_behind}};
    model_expect(&c, MODEL_MISUSED);
}

/* The search is complete within its bounds: two threads of two steps on one address have 6 interleavings. */
static void two_steps(void)
{
    lf_fetch_add(&x, 1, relaxed);
    lf_fetch_add(&x, 1, relaxed);
}

TEST(number_of_schedules)
{
    struct model_case c = {
        .name = "two_by_two", .begin = begin, .threads = {two_steps, two_steps}, .preemptions = 4};
    CHECK_INT(model_explore(&c).schedules, 6);
    c.preemptions = 0;
    CHECK_INT(model_explore(&c).schedules, 2);
    c.preemptions = 1;
    CHECK_INT(model_explore(&c).schedules, 4);
}

/* A failure found by search or at random repeats under replay, and only there. */
TEST(replay)
{
    struct model_case c = passing("replayed", post_relaxed, look_acquire);
    struct model_result found = model_expect(&c, MODEL_CHECKED);
    CHECK(setenv("MODEL_REPLAY", found.replay, 1) == 0);
    struct model_result again = model_explore(&c);
    CHECK_INT(again.schedules, 1);
    CHECK_INT(again.verdict, MODEL_CHECKED);
    CHECK_STR(again.message, found.message);
    CHECK(setenv("MODEL_REPLAY", "replayed:", 1) == 0);
    CHECK_INT(model_explore(&c).verdict, MODEL_PASSED);
    CHECK(unsetenv("MODEL_REPLAY") == 0);

    c = passing("replayed_random", post_relaxed, look_acquire);
    c.random = 10000;
    c.seed = 1;
    found = model_expect(&c, MODEL_CHECKED);
    CHECK(setenv("MODEL_REPLAY", found.replay, 1) == 0);
    CHECK_INT(model_explore(&c).verdict, MODEL_CHECKED);
    CHECK(unsetenv("MODEL_REPLAY") == 0);
}
