#include "lockfree/arena.h"
#include "lockfree/bloom.h"
#include "tests/support/check.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)

/* The n-th value of a sequence in which no two are equal (splitmix64's output function). */
static uint64_t hash_at(uint64_t n)
{
    uint64_t z = n * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x1234567);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

struct fixture {
    struct arena arena;
    struct bloom bloom;
};

static struct fixture fixture_init(size_t bytes, bool plain)
{
    struct fixture fixture;
    CHECK_INT(arena_init(&fixture.arena, &(struct arena_options){.bytes = bytes}), 0);
    bloom_init(&fixture.bloom, arena_take(&fixture.arena, bytes, BLOOM_BLOCK_BYTES), bytes);
    fixture.bloom.plain |= plain;
    return fixture;
}

TEST(an_empty_filter_has_nothing)
{
    for (int plain = 0; plain < 2; plain++) {
        struct fixture fixture = fixture_init(64, plain);
        for (uint64_t n = 0; n < 1000; n++)
            CHECK(!bloom_has(&fixture.bloom, hash_at(n)));
        CHECK(!bloom_has(&fixture.bloom, 0));
        CHECK(!bloom_has(&fixture.bloom, UINT64_MAX));
        arena_fini(&fixture.arena);
    }
}

typedef bool add_one(struct bloom *bloom, uint64_t hash);

static void check_finds_what_was_added(add_one *add, bool plain)
{
    struct fixture fixture = fixture_init(MIB / 2, plain);
    for (uint64_t n = 0; n < 400000; n++) {
        bool known = bloom_has(&fixture.bloom, hash_at(n));
        CHECK(add(&fixture.bloom, hash_at(n)) == !known);
        CHECK(bloom_has(&fixture.bloom, hash_at(n)));
        CHECK(!add(&fixture.bloom, hash_at(n)));
    }
    for (uint64_t n = 0; n < 400000; n++)
        CHECK(bloom_has(&fixture.bloom, hash_at(n)));
    arena_fini(&fixture.arena);
}

TEST(what_was_added_is_found_and_new_once)
{
    for (int plain = 0; plain < 2; plain++) {
        check_finds_what_was_added(bloom_add_owned, plain);
        check_finds_what_was_added(bloom_add_shared, plain);
    }
}

TEST(odd_hashes_are_hashes_too)
{
    struct fixture fixture = fixture_init(3 * 64, false);
    uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0xFFFFFFFF)};
    for (unsigned i = 0; i < 5; i++) {
        CHECK(bloom_add_owned(&fixture.bloom, odd[i]));
        CHECK(bloom_has(&fixture.bloom, odd[i]));
    }
    arena_fini(&fixture.arena);
}

/* All three ways to add, on either path, must make the same memory: a filter saved by one is read by
 * another. */
TEST(all_ways_to_add_set_the_same_bits)
{
    enum { HASHES = 5000, BYTES = 64 * 101 };
    static uint64_t hashes[HASHES];
    static bool result[HASHES];
    struct fixture fixtures[6];
    for (int i = 0; i < 6; i++)
        fixtures[i] = fixture_init(BYTES, i & 1);
    for (uint64_t n = 0; n < HASHES; n++) {
        hashes[n] = hash_at(n);
        bloom_add_owned(&fixtures[0].bloom, hashes[n]);
        bloom_add_owned(&fixtures[1].bloom, hashes[n]);
        bloom_add_shared(&fixtures[2].bloom, hashes[n]);
    }
    bloom_add_shared_batch(&fixtures[3].bloom, hashes, HASHES, result);
    bloom_add_owned_batch(&fixtures[4].bloom, hashes, HASHES, result);
    bloom_add_owned_batch(&fixtures[5].bloom, hashes, HASHES, result);
    for (int i = 1; i < 6; i++)
        CHECK(memcmp(fixtures[0].arena.base, fixtures[i].arena.base, BYTES) == 0);
    for (int i = 0; i < 6; i++)
        arena_fini(&fixtures[i].arena);
}

typedef size_t add_many(struct bloom *bloom, const uint64_t *hashes, size_t count, bool *result);

/* A batch says of each hash what the single call would have said; of any length, and with repeats inside. */
static void check_batch_is_like_singles(add_one *add, add_many *add_batch, bool plain)
{
    struct fixture single = fixture_init(64 * 999, plain), batch = fixture_init(64 * 999, plain);
    uint64_t hashes[200];
    bool result[200], present[200];
    for (size_t count = 0, n = 0; count <= 200; count++, n += 37) {
        size_t added = 0, found = 0;
        for (size_t i = 0; i < count; i++)
            hashes[i] = hash_at((n + i) / 2);
        for (size_t i = 0; i < count; i++)
            found += bloom_has(&single.bloom, hashes[i]);
        CHECK_INT(bloom_has_batch(&batch.bloom, hashes, count, present), found);
        for (size_t i = 0; i < count; i++)
            CHECK_INT(present[i], bloom_has(&single.bloom, hashes[i]));
        size_t answered = add_batch(&batch.bloom, hashes, count, result);
        for (size_t i = 0; i < count; i++) {
            bool added_now = add(&single.bloom, hashes[i]);
            CHECK_INT(result[i], added_now);
            added += added_now;
        }
        CHECK_INT(answered, added);
    }
    arena_fini(&single.arena);
    arena_fini(&batch.arena);
}

TEST(a_batch_answers_like_single_calls)
{
    for (int plain = 0; plain < 2; plain++) {
        check_batch_is_like_singles(bloom_add_owned, bloom_add_owned_batch, plain);
        check_batch_is_like_singles(bloom_add_shared, bloom_add_shared_batch, plain);
    }
}

static double measured_rate(struct bloom *bloom, uint64_t keys, uint64_t probes)
{
    enum { BATCH = 1000 };
    static uint64_t hashes[BATCH];
    static bool result[BATCH];
    for (uint64_t n = 0; n < keys; n++)
        bloom_add_owned(bloom, hash_at(n));
    uint64_t positive = 0;
    for (uint64_t n = 0; n < probes; n += BATCH) {
        for (unsigned i = 0; i < BATCH; i++)
            hashes[i] = hash_at((UINT64_C(1) << 40) + n + i);
        positive += bloom_has_batch(bloom, hashes, BATCH, result);
    }
    return (double)positive / (double)probes;
}

TEST(measured_rate_is_within_a_tenth_of_the_formula)
{
    const unsigned bits_per_key[] = {8, 10, 12, 16};
    for (unsigned i = 0; i < 4; i++) {
        size_t bytes = MIB;
        struct fixture fixture = fixture_init(bytes, false);
        uint64_t keys = bytes * 8 / bits_per_key[i];
        double expected = bloom_rate(bytes, keys), measured = measured_rate(&fixture.bloom, keys, 3000000);
        printf("%u bits a key: expected %.4f%%, measured %.4f%%\n", bits_per_key[i], 100 * expected,
               100 * measured);
        CHECK(measured < 1.1 * expected && measured > 0.9 * expected);
        arena_fini(&fixture.arena);
    }
}

/* Hashes that agree in some bits, because a caller has divided them among filters by those, spread as
 * well. */
TEST(a_filter_of_one_shard_keeps_its_rate)
{
    for (int low = 0; low < 2; low++) {
        size_t bytes = MIB / 2;
        struct fixture fixture = fixture_init(bytes, false);
        uint64_t fixed = low ? UINT64_C(0xF) : UINT64_C(0xF) << 60, keys = bytes * 8 / 10;
        for (uint64_t n = 0; n < keys; n++)
            bloom_add_owned(&fixture.bloom, hash_at(n) & ~fixed);
        uint64_t positive = 0, probes = 500000;
        for (uint64_t n = 0; n < probes; n++)
            positive += bloom_has(&fixture.bloom, hash_at((UINT64_C(1) << 40) + n) & ~fixed);
        double measured = (double)positive / (double)probes, expected = bloom_rate(bytes, keys);
        CHECK(measured < 1.1 * expected && measured > 0.9 * expected);
        arena_fini(&fixture.arena);
    }
}

/* Computed term by term from the two distributions, the binomial one in exact arithmetic. */
TEST(the_formula_gives_known_values)
{
    const struct {
        unsigned bits_per_key;
        double rate;
    } known[] = {
        {8, 0.029261657}, {10, 0.010557971}, {12, 0.004288626}, {16, 0.000940847}, {20, 0.000273920}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t bytes = 240 * MIB;
        double rate = bloom_rate(bytes, bytes * 8 / known[i].bits_per_key);
        CHECK(rate > known[i].rate * 0.9999 && rate < known[i].rate * 1.0001);
    }
    CHECK(bloom_rate(64, 0) == 0);
    CHECK(bloom_rate(64, 100000) > 0.999);
    CHECK(bloom_rate(64, UINT64_MAX) == 1);
}

TEST(sizing_is_the_smallest_that_keeps_the_rate)
{
    const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6};
    const uint64_t counts[] = {0, 1, 1000, 1000000, 4000000000};
    for (unsigned r = 0; r < 5; r++) {
        for (unsigned c = 0; c < 5; c++) {
            uint64_t bytes = bloom_bytes(counts[c], rates[r]);
            CHECK_INT(bytes % BLOOM_BLOCK_BYTES, 0);
            CHECK(bloom_rate(bytes, counts[c]) <= rates[r]);
            if (bytes > BLOOM_BLOCK_BYTES)
                CHECK(bloom_rate(bytes - BLOOM_BLOCK_BYTES, counts[c]) > rates[r]);
        }
    }
}
