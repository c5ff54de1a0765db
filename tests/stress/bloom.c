/* Threads add to one filter, dense enough that they meet in the same words all the time: no hash that was
 * added is ever missed, by the thread itself at once and by all at the end; and a hash added by all is new to
 * at most one. */
#include "tests/support/stress.h"

#include "lockfree/bloom.c"

enum { HASHES = 4000, BLOCKS = 128, THREADS_MAX = 64 };

static LF_ISOLATED _Atomic uint64_t memory[BLOCKS * BLOOM_BLOCK_BYTES / 8];
static LF_ISOLATED _Atomic uint64_t alone[BLOCKS * BLOOM_BLOCK_BYTES / 8];

static struct {
    struct bloom bloom;
    bool own_hashes; /* each thread adds its own, rather than all the same */
    _Atomic uint32_t news[HASHES];
} shared;

static uint64_t hash_at(uint64_t n)
{
    uint64_t z = (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ z >> 31;
}

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    for (unsigned i = 0; i < BLOCKS * BLOOM_BLOCK_BYTES / 8; i++)
        lf_store(&memory[i], 0, relaxed);
    for (unsigned i = 0; i < HASHES; i++)
        lf_store(&shared.news[i], 0, relaxed);
    bloom_init(&shared.bloom, memory, sizeof memory);
}

static void work(struct stress_worker *worker)
{
    enum { BATCH = 50 };
    uint64_t hashes[BATCH];
    bool is_new[BATCH], found[BATCH];
    uint64_t first = shared.own_hashes ? worker->index : 0, step = shared.own_hashes ? worker->threads : 1;
    for (uint64_t n = first; n < HASHES;) {
        uint64_t numbers[BATCH];
        size_t count = 0;
        for (; count < BATCH && n < HASHES; n += step, count++) {
            numbers[count] = n;
            hashes[count] = hash_at(n);
        }
        if (worker->index % 2) {
            bloom_add_shared_batch(&shared.bloom, hashes, count, is_new);
        } else {
            for (size_t i = 0; i < count; i++)
                is_new[i] = bloom_add_shared(&shared.bloom, hashes[i]);
        }
        CHECK_INT(bloom_has_batch(&shared.bloom, hashes, count, found), count);
        for (size_t i = 0; i < count; i++) {
            CHECK(found[i] && bloom_has(&shared.bloom, hashes[i]));
            lf_fetch_add(&shared.news[numbers[i]], is_new[i], relaxed);
        }
    }
}

/* The filter must be, bit for bit, what one thread makes of the same hashes. */
static void check(void *unused, unsigned threads)
{
    (void)unused;
    (void)threads;
    struct bloom single;
    memset((void *)alone, 0, sizeof alone);
    bloom_init(&single, alone, sizeof alone);
    unsigned alone_new = 0, news = 0;
    for (uint64_t n = 0; n < HASHES; n++) {
        bool is_new = bloom_add_owned(&single, hash_at(n));
        uint32_t told = lf_load(&shared.news[n], relaxed);
        CHECK(told <= 1);
        news += told;
        alone_new += is_new;
        CHECK(bloom_has(&shared.bloom, hash_at(n)));
    }
    CHECK(alone_new > HASHES / 2);
    CHECK(news > alone_new / 2); /* the others became false positives in the middle of their add */
    CHECK(memcmp((void *)memory, (void *)alone, sizeof memory) == 0);
}

TEST(no_hash_is_ever_missed)
{
    for (unsigned i = 0; i < 4; i++) {
        shared.own_hashes = i & 1;
        stress_run(&(struct stress_plan){.begin = begin,
                                         .work = work,
                                         .check = check,
                                         .rounds = 40,
                                         .yield_every = i < 2 ? 25 : 0,
                                         .seed = i});
    }
}

static bool parked_new, other_new;

static void park_begin(void *unused)
{
    begin(unused, 2);
}

static void park_add(void *unused)
{
    (void)unused;
    parked_new = bloom_add_shared(&shared.bloom, hash_at(1));
}

static void park_others(void *unused)
{
    (void)unused;
    other_new = bloom_add_shared(&shared.bloom, hash_at(1));
    CHECK(bloom_has(&shared.bloom, hash_at(1)));
}

static void park_finish(void *unused)
{
    (void)unused;
    CHECK(parked_new != other_new);
    CHECK(bloom_has(&shared.bloom, hash_at(1)));
}

TEST(a_stopped_add_holds_up_nobody_and_one_is_told_new)
{
    CHECK(stress_park(&(struct stress_parking){
              .begin = park_begin, .operation = park_add, .others = park_others, .finish = park_finish}) >=
          6);
}
