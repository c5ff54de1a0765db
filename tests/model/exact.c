/* exact: a reader never gets a copy of which a part is that of a later one; no cell and no count is lost. The logs are as
 * small as can be: two copies each. */
#include "engine/duplicates/exact.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

enum { LOG_WORDS = 10, CELLS = 2, LOOPS = 2 };

static struct exact exact;
static struct exact_log logs[LOOPS];
static _Atomic(uint64_t) words[LOOPS][LOG_WORDS], cells[CELLS];
static struct exact_copy copy;

static const unsigned char digests[4][EXACT_DIGEST_BYTES] = {"aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb",
                                                             "cccccccccccccccccccc", "dddddddddddddddddddd"};

static void add(unsigned loop, unsigned digest, const char *url, uint64_t date_us)
{
    exact_add(&exact, loop, digests[digest], (struct exact_source){slice_of(url), date_us});
}

static void begin(void)
{
    exact.cells = cells;
    exact.buckets_count = 1;
    exact.loops = LOOPS;
    exact.logs = logs;
    lf_store(&exact.displaced, 0, relaxed);
    for (unsigned i = 0; i < CELLS; i++)
        lf_store(&cells[i], 0, relaxed);
    for (unsigned i = 0; i < LOOPS; i++) {
        logs[i].words = words[i];
        logs[i].words_count = logs[i].oldest = LOG_WORDS;
        lf_store(&logs[i].reserved, LOG_WORDS, relaxed);
        lf_store(&logs[i].added, 0, relaxed);
        lf_store(&logs[i].overwritten, 0, relaxed);
        for (unsigned k = 0; k < LOG_WORDS; k++)
            lf_store(&words[i][k], 0, relaxed);
    }
}

/* The log is full: the next copy overwrites that of digest 0. */
static void begin_full(void)
{
    begin();
    add(0, 0, "first", 1);
    add(0, 1, "other", 2);
}

/* The same payload again, at another place and time. */
static void overwrite(void)
{
    add(0, 0, "new", 3);
}

static void find_either(void)
{
    if (!exact_find(&exact, digests[0], &copy))
        return;
    struct slice url = {copy.url, copy.url_len};
    bool is_first = copy.date_us == 1 && slice_equals(url, SLICE("first"));
    bool is_new = copy.date_us == 3 && slice_equals(url, SLICE("new"));
    model_check(is_first || is_new);
}

static void finish_full(void)
{
    model_check(exact_find(&exact, digests[0], &copy) && copy.date_us == 3);
    model_check(exact_find(&exact, digests[1], &copy) && copy.date_us == 2);
    model_check(exact_overwritten(&exact) == 1 && exact_added(&exact) == 3);
}

TEST(a_copy_is_whole_or_not_found)
{
    struct model_case c = {.name = "exact_overwrite",
                           .begin = begin_full,
                           .threads = {overwrite, find_either},
                           .finish = finish_full,
                           .preemptions = 3,
                           .weak = 2};
    model_verify(&c);
}

/* Two loops take cells of the same line. */
static void add_own(void)
{
    unsigned self = model_self();
    add(self, 2 + self, self ? "one" : "zero", self);
}

static void finish_both(void)
{
    for (unsigned i = 0; i < LOOPS; i++)
        model_check(exact_find(&exact, digests[2 + i], &copy) && copy.date_us == i);
    model_check(exact_displaced(&exact) == 0);
}

static void begin_crowded(void)
{
    begin();
    add(0, 0, "first", 1);
    add(1, 1, "other", 2);
}

static void finish_crowded(void)
{
    unsigned found = 0;
    for (unsigned i = 0; i < 4; i++)
        found += exact_find(&exact, digests[i], &copy);
    model_check(found == CELLS && exact_displaced(&exact) == 2);
}

TEST(no_cell_is_lost)
{
    struct model_case c = {.name = "exact_two_loops",
                           .begin = begin,
                           .threads = {add_own, add_own},
                           .finish = finish_both,
                           .preemptions = 3,
                           .weak = 1};
    model_verify(&c);
    c.name = "exact_displaced";
    c.begin = begin_crowded;
    c.finish = finish_crowded;
    model_verify(&c);
}
