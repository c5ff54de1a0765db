/* Threads add fingerprints of one sequence to a small index, so that generations are dropped all the time. What a
 * thread added it finds, unless its generation is gone; whatever is found has the URL it was added with. */
#include "tests/support/stress.h"

#include "engine/duplicates/near.c"
#include "engine/duplicates/near_plan.c"

enum { STEPS = 4000 };

static struct {
    struct near near;
    _Atomic(uint64_t) found, added;
} all;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void begin(void *unused, unsigned threads)
{
    static unsigned rounds;
    (void)unused;
    (void)threads;
    CHECK_INT(near_init(&all.near, &(struct near_options){.bytes = NEAR_BYTES_MIN, .distance = 3}), 0);
    if (rounds++ % 2)
        all.near.way = NEAR_PLAIN;
    lf_store(&all.found, 0, relaxed);
    lf_store(&all.added, 0, relaxed);
}

/* In even rounds all threads add the same, in odd ones each its own. */
static uint64_t fingerprint_at(const struct stress_worker *worker, uint64_t step)
{
    uint64_t own = worker->round % 2 ? worker->index : 0;
    return mix((step * 64 + own + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

static void check_match(uint64_t fingerprint, const struct near_match *match)
{
    CHECK_INT(__builtin_popcountll(match->fingerprint ^ fingerprint), match->distance);
    CHECK(match->distance <= 3);
    CHECK(match->url == mix(match->fingerprint) || match->url == 0);
}

static void work(struct stress_worker *worker)
{
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t before = lf_load(&all.near.generation, relaxed);
        uint64_t fingerprint = fingerprint_at(worker, step);
        struct near_match match;
        bool is_known = near_add(&all.near, fingerprint, mix(fingerprint), &match);
        if (is_known) {
            check_match(fingerprint, &match);
            lf_fetch_add(&all.found, 1, relaxed);
        } else {
            lf_fetch_add(&all.added, 1, relaxed);
        }
        uint64_t close_by = fingerprint ^ UINT64_C(1) << stress_random(worker, 64);
        if (near_find(&all.near, close_by, &match))
            check_match(close_by, &match);
        else if (!is_known) /* what others added may be old already, or on its way into the tables */
            CHECK(lf_load(&all.near.generation, relaxed) >= before + NEAR_GENERATIONS);
    }
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    uint64_t added = lf_load(&all.added, relaxed);
    CHECK_INT(added + lf_load(&all.found, relaxed), (uint64_t)threads * STEPS);
    CHECK_INT(near_count(&all.near) + near_dropped(&all.near) + near_refused(&all.near), added);
    CHECK(near_count(&all.near) <= near_count_max(&all.near));
    for (unsigned t = 0; t < all.near.tables_count; t++) /* nobody left a cell behind */
        for (uint64_t i = 0; i < all.near.tables[t].lines_count + NEAR_HOPS_MAX; i++)
            for (unsigned cell = 0; cell < NEAR_CELLS; cell++)
                CHECK(tag_at(lf_load(&all.near.tables[t].lines[i].control, relaxed), cell) != CLAIMED);
    near_fini(&all.near);
}

TEST(what_is_added_is_found_with_its_url)
{
    stress_run(&(struct stress_plan){
        .begin = begin, .work = work, .check = check, .rounds = 4, .yield_every = 500, .seed = 5});
}

static void park_begin(void *unused)
{
    begin(unused, 2);
    all.near.way = NEAR_PLAIN;
}

static void park_add(void *unused)
{
    (void)unused;
    near_add(&all.near, 4711, mix(4711), NULL);
}

/* Fills the same lines. */
static void park_others(void *unused)
{
    (void)unused;
    for (uint64_t i = 1; i < 30; i++)
        near_add(&all.near, 4711 ^ i * UINT64_C(0x1010101000000000), i, NULL);
    CHECK(near_find(&all.near, 4711 ^ UINT64_C(0x1010101000000000), NULL));
}

static void park_finish(void *unused)
{
    (void)unused;
    struct near_match match;
    CHECK(near_find(&all.near, 4711, &match));
    near_fini(&all.near);
}

TEST(a_stopped_thread_holds_up_nobody)
{
    CHECK(stress_park(&(struct stress_parking){
              .begin = park_begin, .operation = park_add, .others = park_others, .finish = park_finish}) >
          10);
}
