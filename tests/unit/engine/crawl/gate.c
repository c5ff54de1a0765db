#include "engine/crawl/gate.h"

#include <pthread.h>

#include "tests/support/check.h"

TEST(phases_have_names)
{
    CHECK_STR(gate_phase_name(CRAWL_RUNNING), "running");
    CHECK_STR(gate_phase_name(CRAWL_PAUSED), "paused");
    CHECK_STR(gate_phase_name(CRAWL_STOPPING), "stopping");
    CHECK_STR(gate_phase_name(CRAWL_ENDING), "ending");
}

TEST(the_gate_is_open_while_the_crawl_runs)
{
    struct gate gate = {0};
    CHECK(gate_is_open(&gate, 1));
    gate_set_phase(&gate, CRAWL_STOPPING);
    CHECK(!gate_is_open(&gate, 1));
    CHECK_INT(gate_phase(&gate), CRAWL_STOPPING);
}

TEST(there_are_as_many_places_as_pages)
{
    struct gate gate = {0};
    CHECK(gate_has_pages(&gate, 0) && gate_has_pages(&gate, 2));
    CHECK(gate_reserve_page(&gate, 2) && gate_reserve_page(&gate, 2));
    CHECK(!gate_has_pages(&gate, 2) && gate_has_pages(&gate, 0));
    CHECK(!gate_reserve_page(&gate, 2));
    gate_release_page(&gate);
    CHECK(gate_reserve_page(&gate, 2)); /* a refusal took nothing */
}

/* Whoever asks goes by the time that it has, whatever others have noticed. */
TEST(only_a_running_crawl_whose_disk_keeps_up_is_open)
{
    enum { COMMITTED = 1000, LAG_MAX = 200 };
    static const struct {
        uint64_t now_ns;
        enum gate_lag lag;
    } cases[] = {{0, GATE_LAG_NONE},
                 {COMMITTED, GATE_LAG_NONE},
                 {COMMITTED + LAG_MAX / 2 - 1, GATE_LAG_NONE},
                 {COMMITTED + LAG_MAX / 2, GATE_LAG_HOLD},
                 {COMMITTED + LAG_MAX - 1, GATE_LAG_HOLD},
                 {COMMITTED + LAG_MAX, GATE_LAG_CUT},
                 {UINT64_MAX, GATE_LAG_CUT}};
    _Atomic(uint64_t) committed_ns = COMMITTED;
    struct gate gate = {.committed_ns = &committed_ns, .lag_max_ns = LAG_MAX};
    for (int phase = CRAWL_RUNNING; phase <= CRAWL_ENDING; phase++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            bool is_open = phase == CRAWL_RUNNING && cases[i].lag == GATE_LAG_NONE;
            gate_set_phase(&gate, (enum crawl_phase)phase);
            CHECK_INT(gate_lag(&gate, cases[i].now_ns), cases[i].lag);
            CHECK_INT(gate_is_open(&gate, cases[i].now_ns), is_open);
        }
}

TEST(without_a_journal_nothing_lags)
{
    struct gate gate = {0};
    CHECK_INT(gate_lag(&gate, UINT64_MAX), GATE_LAG_NONE);
}

/* The limit may be lowered by a reload below what was reserved by then. */
TEST(a_lower_limit_refuses_until_enough_came_back)
{
    struct gate gate = {0};
    for (int i = 0; i < 5; i++)
        CHECK(gate_reserve_page(&gate, 5));
    CHECK(!gate_has_pages(&gate, 3) && !gate_reserve_page(&gate, 3));
    for (int i = 0; i < 2; i++)
        gate_release_page(&gate);
    CHECK(!gate_has_pages(&gate, 3) && !gate_reserve_page(&gate, 3));
    gate_release_page(&gate);
    CHECK(gate_has_pages(&gate, 3) && gate_reserve_page(&gate, 3));
    CHECK_INT(lf_load(&gate.pages_reserved, relaxed), 3);
}

enum { THREADS = 4, TRIES = 20000, PAGES = 7 };

static struct gate shared;
static _Atomic(int) in_flight, most, kept;

/* Of the pages that are reserved one in a thousand is fetched; the others come back. */
static void *reserve(void *argument)
{
    (void)argument;
    for (int i = 1; i <= TRIES; i++) {
        if (!gate_reserve_page(&shared, PAGES))
            continue;
        int now = lf_fetch_add(&in_flight, 1, relaxed) + 1, seen = lf_load(&most, relaxed);
        while (now > seen && !lf_cas(&most, &seen, now, relaxed, relaxed))
            ;
        if (i % 1000 == 0) {
            lf_fetch_add(&kept, 1, relaxed);
            continue; /* it is a page: its place is taken for good */
        }
        lf_fetch_sub(&in_flight, 1, relaxed);
        gate_release_page(&shared);
    }
    return NULL;
}

TEST(loops_together_never_exceed_the_limit)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, reserve, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK(lf_load(&most, relaxed) <= PAGES && lf_load(&kept, relaxed) <= PAGES);
    CHECK_INT(lf_load(&shared.pages_reserved, relaxed), lf_load(&kept, relaxed));
}
