#include "engine/frontier/sieve.h"

#include <pthread.h>
#include <stdlib.h>

#include "engine/url/hash.h"
#include "tests/support/check.h"

static uint64_t hash_of(uint64_t number)
{
    return hash_bytes(&number, sizeof number);
}

static struct tuning options(enum tuning_sieve kind, unsigned threads, size_t bytes)
{
    static struct tuning tuning;
    tuning_init(&tuning);
    tuning.fixed.memory.sieve_kind = kind;
    tuning.fixed.crawl.threads = threads;
    tuning.fixed.memory.sieve_bytes = bytes;
    return tuning;
}

static void lets_each_out_once(enum tuning_sieve kind, unsigned threads)
{
    static struct sieve sieve;
    struct sieve_loop loop;
    struct tuning tuning = options(kind, threads, 1 << 20);
    CHECK_INT(sieve_init(&sieve, &tuning), 0);
    sieve_loop_init(&loop, &sieve);
    enum sieve_answer answers[4];
    uint64_t hashes[4] = {hash_of(1), hash_of(2), hash_of(1), hash_of(3)};
    sieve_add(&loop, hashes, 4, answers);
    CHECK(answers[0] == SIEVE_NEW && answers[1] == SIEVE_NEW && answers[2] == SIEVE_KNOWN &&
          answers[3] == SIEVE_NEW);
    sieve_add(&loop, hashes, 4, answers);
    for (int i = 0; i < 4; i++)
        CHECK(answers[i] == SIEVE_KNOWN);
    bool found[4];
    hashes[1] = hash_of(4);
    sieve_has(&loop, hashes, 4, found);
    CHECK(found[0] && !found[1] && found[2] && found[3]);
    sieve_loop_fini(&loop);
    CHECK_INT(sieve_count(&sieve), 3);
    sieve_fini(&sieve);
}

TEST(each_kind_lets_a_url_out_once)
{
    lets_each_out_once(TUNING_SIEVE_SIGNATURES, 2);
    lets_each_out_once(TUNING_SIEVE_BLOOM, 1);
    lets_each_out_once(TUNING_SIEVE_BLOOM, 2);
}

static void fills_up(enum tuning_sieve kind)
{
    static struct sieve sieve;
    struct sieve_loop loop;
    struct tuning tuning = options(kind, 1, 1 << 16);
    tuning.fixed.state.spill = false;
    CHECK_INT(sieve_init(&sieve, &tuning), 0);
    sieve_loop_init(&loop, &sieve);
    uint64_t admitted = 0, full = 0, first = hash_of(0);
    for (uint64_t i = 0; i < 2 * sieve_capacity(&sieve); i++) {
        enum sieve_answer answer;
        uint64_t hash = hash_of(i);
        sieve_add(&loop, &hash, 1, &answer);
        admitted += answer == SIEVE_NEW;
        full += answer == SIEVE_FULL;
    }
    CHECK(admitted <= sieve_capacity(&sieve));
    CHECK(admitted >= sieve_capacity(&sieve) * 98 / 100);
    CHECK(full > sieve_capacity(&sieve) / 2);
    enum sieve_answer answer;
    sieve_add(&loop, &first, 1, &answer);
    CHECK(answer == SIEVE_KNOWN);
    CHECK(sieve_false_positive_rate(&sieve) <= 1.01 * SIEVE_BLOOM_RATE_MAX);
    sieve_loop_fini(&loop);
    sieve_fini(&sieve);
}

TEST(a_full_sieve_says_so_and_still_knows_what_it_has)
{
    fills_up(TUNING_SIEVE_SIGNATURES);
    fills_up(TUNING_SIEVE_BLOOM);
}

/* All threads offer the same hashes in the same order: each must be admitted by exactly one of them. */
enum { THREADS = 3, HASHES = 60000 };
static struct sieve shared;
static _Atomic(uint8_t) winners[HASHES];

static void *offer(void *argument)
{
    struct sieve_loop *loop = argument;
    for (uint64_t i = 0; i < HASHES; i += SIEVE_BATCH_MAX) {
        uint64_t hashes[SIEVE_BATCH_MAX];
        enum sieve_answer answers[SIEVE_BATCH_MAX];
        size_t count = HASHES - i < SIEVE_BATCH_MAX ? HASHES - i : SIEVE_BATCH_MAX;
        for (size_t j = 0; j < count; j++)
            hashes[j] = hash_of(i + j);
        sieve_add(loop, hashes, count, answers);
        for (size_t j = 0; j < count; j++)
            if (answers[j] == SIEVE_NEW)
                lf_fetch_add(&winners[i + j], 1, relaxed);
    }
    sieve_loop_fini(loop);
    return NULL;
}

static unsigned run_race(enum tuning_sieve kind)
{
    pthread_t threads[THREADS];
    struct sieve_loop loops[THREADS];
    struct tuning tuning = options(kind, THREADS, 4 << 20);
    CHECK_INT(sieve_init(&shared, &tuning), 0);
    for (unsigned i = 0; i < HASHES; i++)
        lf_store(&winners[i], 0, relaxed);
    for (int i = 0; i < THREADS; i++)
        sieve_loop_init(&loops[i], &shared);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, offer, &loops[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned none = 0;
    for (unsigned i = 0; i < HASHES; i++) {
        CHECK(lf_load(&winners[i], relaxed) <= 1);
        none += lf_load(&winners[i], relaxed) == 0;
    }
    sieve_fini(&shared);
    return none;
}

TEST(of_all_loops_exactly_one_is_told)
{
    for (int round = 0; round < 5; round++) {
        CHECK_INT(run_race(TUNING_SIEVE_SIGNATURES), 0);
        CHECK(run_race(TUNING_SIEVE_BLOOM) < 5); /* false positives at 500 bits a key */
    }
}

/* Each loop asks the disk about a URL once in a while, and not again at once. */
TEST(a_sieve_on_disk_is_asked_later)
{
    static struct sieve sieve;
    struct sieve_loop loops[2];
    struct tuning tuning = options(TUNING_SIEVE_MERCATOR, 2, 1 << 20);
    enum sieve_answer answer;
    CHECK_INT(sieve_init(&sieve, &tuning), 0);
    CHECK(sieve_mill_bytes(&tuning) + sieve.cache_cells * 8 * 2 <= 1 << 20);
    for (int i = 0; i < 2; i++)
        sieve_loop_init(&loops[i], &sieve);
    CHECK(sieve_uses_disk(&sieve) && sieve_is_settled(&sieve));
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t hash = i == 3 ? 0 : hash_of(i);
        for (int j = 0; j < 2; j++) {
            sieve_add(&loops[j], &hash, 1, &answer);
            CHECK(answer == SIEVE_LATER);
            sieve_add(&loops[j], &hash, 1, &answer);
            CHECK(answer == (hash ? SIEVE_KNOWN : SIEVE_LATER));
        }
        CHECK(sieve_confirm(&sieve, hash));
    }
    for (int i = 0; i < 2; i++)
        sieve_loop_fini(&loops[i]);
    sieve_fini(&sieve);
}

/* One loop finds the table full while the other has room reserved: what that one adds counts, until it has agreed. */
TEST(signatures_go_over_to_the_disk_when_all_loops_agree)
{
    static struct sieve sieve;
    struct sieve_loop a, b;
    struct tuning tuning = options(TUNING_SIEVE_SIGNATURES, 2, 1 << 14);
    enum sieve_answer answer = SIEVE_NEW;
    uint64_t next = 0, hash = hash_of(1000000), other = hash_of(1000001);
    CHECK_INT(sieve_init(&sieve, &tuning), 0);
    sieve_loop_init(&a, &sieve);
    sieve_loop_init(&b, &sieve);
    sieve_add(&b, &hash, 1, &answer); /* b reserves room for more */
    CHECK(answer == SIEVE_NEW && !sieve_uses_disk(&sieve));
    while (answer == SIEVE_NEW) {
        hash = hash_of(next++);
        sieve_add(&a, &hash, 1, &answer);
    }
    CHECK(answer == SIEVE_LATER && sieve_uses_disk(&sieve));
    sieve_add(&b, &hash, 1, &answer);
    CHECK(answer == SIEVE_NEW); /* so the disk's answer to a must not count */
    sieve_turn(&a);
    CHECK(!sieve_is_settled(&sieve));
    sieve_turn(&b);
    sieve_turn(&b);
    CHECK(sieve_is_settled(&sieve));
    CHECK(!sieve_confirm(&sieve, hash));
    sieve_add(&b, &other, 1, &answer);
    CHECK(answer == SIEVE_LATER); /* although it has room left */
    sieve_add(&a, &other, 1, &answer);
    CHECK(answer == SIEVE_LATER);
    CHECK(sieve_confirm(&sieve, other));
    hash = hash_of(0);
    sieve_add(&b, &hash, 1, &answer);
    CHECK(answer == SIEVE_KNOWN);
    sieve_loop_fini(&a);
    sieve_loop_fini(&b);
    sieve_fini(&sieve);
}
