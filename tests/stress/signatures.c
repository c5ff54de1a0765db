/* All threads add the same signatures in different orders: each must be new to exactly one of them. */
#include "tests/support/stress.h"

#include "lockfree/signatures.c"

#include <stdlib.h>

enum { SIGNATURES = 4000, BATCH = 40 };

static struct {
    struct signatures set;
    void *memory;
    size_t bytes;
    uint64_t offered;                  /* how many different ones are offered */
    _Atomic uint8_t times[SIGNATURES]; /* told NEW */
    _Atomic uint64_t news, fulls, losses;
} shared;

/* Four at a time have the same home (the factor undoes the set's own), so that threads meet at the same
 * slots. The first is 0. */
static uint64_t signature_at(uint64_t n)
{
    return UINT64_C(0xF1DE83E19937733D) * (n / 4 * (UINT64_MAX / (SIGNATURES / 4)) + n % 4);
}

static void begin(void *unused, unsigned threads)
{
    static unsigned rounds;
    (void)unused;
    (void)threads;
    memset(shared.memory, 0, shared.bytes);
    signatures_init(&shared.set, shared.memory, shared.bytes);
    shared.set.plain |= rounds++ / 2 % 2;
    memset(shared.times, 0, sizeof shared.times);
    lf_store(&shared.news, 0, relaxed);
    lf_store(&shared.fulls, 0, relaxed);
    lf_store(&shared.losses, 0, relaxed);
}

static void tally(uint64_t n, enum signatures_answer answer)
{
    if (answer == SIGNATURES_NEW)
        lf_fetch_add(&shared.times[n], 1, relaxed);
    lf_fetch_add(answer == SIGNATURES_FULL ? &shared.fulls : &shared.news, answer != SIGNATURES_KNOWN,
                 relaxed);
    if (answer != SIGNATURES_FULL)
        CHECK(signatures_has(&shared.set, signature_at(n)));
}

static void work(struct stress_worker *worker)
{
    struct signatures_writer writer;
    uint64_t numbers[BATCH], batch[BATCH], step = 2 * stress_random(worker, 1000) + 1;
    enum signatures_answer answers[BATCH];
    while (shared.offered % step == 0 && step > 1)
        step += 2;
    signatures_writer_init(&writer, &shared.set);
    uint64_t from = worker->round % 2 ? stress_random(worker, shared.offered) : 0;
    step = worker->round % 2 ? step : 1;
    for (uint64_t i = 0; i < shared.offered;) {
        size_t count = 0;
        for (; count < BATCH && i < shared.offered; count++, i++) {
            numbers[count] = (from + i * step) % shared.offered;
            batch[count] = signature_at(numbers[count]);
        }
        if (worker->index % 2) {
            signatures_add_batch(&writer, batch, count, answers);
        } else {
            for (size_t k = 0; k < count; k++)
                answers[k] = signatures_add(&writer, batch[k]);
        }
        for (size_t k = 0; k < count; k++)
            tally(numbers[k], answers[k]);
    }
    lf_fetch_add(&shared.losses, writer.losses, relaxed);
    signatures_writer_fini(&writer);
}

static uint64_t walked(void)
{
    uint64_t cursor = 0, signature, met = 0;
    while (signatures_next(&shared.set, &cursor, &signature))
        met++;
    return met;
}

static void check_all_new_once(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    for (uint64_t n = 0; n < shared.offered; n++)
        CHECK_INT(lf_load(&shared.times[n], relaxed), 1);
    CHECK_INT(lf_load(&shared.fulls, relaxed), 0);
    CHECK_INT(signatures_count(&shared.set), shared.offered);
    CHECK_INT(walked(), shared.offered);
}

static void set_size(uint64_t room, uint64_t offered)
{
    shared.bytes = signatures_bytes(room);
    shared.memory = aligned_alloc(LF_CACHE_LINE, shared.bytes);
    shared.offered = offered;
}

TEST(each_signature_is_new_to_one_thread)
{
    set_size(SIGNATURES + 64 * SIGNATURES_CREDIT, SIGNATURES);
    stress_run(&(struct stress_plan){.begin = begin,
                                     .work = work,
                                     .check = check_all_new_once,
                                     .rounds = 6,
                                     .yield_every = 1000,
                                     .seed = 3});
    free(shared.memory);
}

/* More are offered than there is room for: never more than the stated load, no signature new twice. */
static void check_full(void *unused, unsigned threads)
{
    (void)unused;
    uint64_t news = 0;
    for (uint64_t n = 0; n < shared.offered; n++) {
        uint8_t times = lf_load(&shared.times[n], relaxed);
        CHECK(times <= 1);
        CHECK(signatures_has(&shared.set, signature_at(n)) == (times == 1));
        news += times;
    }
    CHECK(lf_load(&shared.fulls, relaxed) > 0);
    CHECK_INT(signatures_count(&shared.set), news);
    CHECK(news <= shared.set.count_max + 1); /* signature 0 needs no slot */
    CHECK(news + (uint64_t)threads * SIGNATURES_CREDIT > shared.set.count_max);
}

TEST(a_set_that_fills_up_stays_within_its_load)
{
    set_size(SIGNATURES / 2, SIGNATURES);
    stress_run(&(struct stress_plan){
        .begin = begin, .work = work, .check = check_full, .rounds = 4, .yield_every = 1000, .seed = 4});
    free(shared.memory);
}

static struct signatures_writer parked_writer, other_writer;
static enum signatures_answer parked_answer, other_answer;
static uint64_t contended;

static void park_begin(void *unused)
{
    begin(unused, 2);
    shared.set.plain = true; /* a vector load is no place to park */
    signatures_writer_init(&parked_writer, &shared.set);
    signatures_writer_init(&other_writer, &shared.set);
}

static void park_add(void *unused)
{
    (void)unused;
    parked_answer = signatures_add(&parked_writer, contended);
}

static void park_others(void *unused)
{
    (void)unused;
    other_answer = signatures_add(&other_writer, contended);
    for (uint64_t n = 8; n < 40; n++)
        CHECK_INT(signatures_add(&other_writer, signature_at(n)), SIGNATURES_NEW);
    CHECK(signatures_has(&shared.set, contended));
}

static void park_finish(void *unused)
{
    (void)unused;
    CHECK((parked_answer == SIGNATURES_NEW) + (other_answer == SIGNATURES_NEW) == 1);
    CHECK((parked_answer == SIGNATURES_KNOWN) + (other_answer == SIGNATURES_KNOWN) == 1);
    CHECK_INT(walked(), 33);
}

TEST(a_stopped_thread_holds_up_no_add)
{
    const struct stress_parking parking = {
        .begin = park_begin, .operation = park_add, .others = park_others, .finish = park_finish};
    set_size(1000, SIGNATURES);
    contended = signature_at(7);
    CHECK(stress_park(&parking) >= 3);
    contended = 0;
    CHECK(stress_park(&parking) >= 2);
    free(shared.memory);
}
