#include "engine/url/hash.h"

#include "tests/support/check.h"

/* Checkpoints keep these values: they may not change with the library or the machine. The first is the hash
 * of the empty input that the XXH3 specification gives. */
TEST(values_are_fixed)
{
    CHECK(hash_bytes("", 0) == 0x2d06800538d394c2);
    CHECK(hash_slice(SLICE("http://example.org/")) == hash_bytes("http://example.org/", 19));
    CHECK(hash_slice(SLICE("http://example.org/")) == 0xb73dc5b066f53581);
}

/* A hostile site looks for names that share the top bits of the public hash, so that they share a bucket of a
 * map. Under a key of the run they are spread like any others. */
TEST(names_chosen_for_the_public_hash_are_spread_by_the_keyed_one)
{
    enum { NAMES = 2000, BUCKETS = 64 };
    struct hash_key key;
    unsigned counts[BUCKETS] = {0}, found = 0;
    CHECK_INT(hash_key_init(&key), 0);
    for (unsigned i = 0; found < NAMES; i++) {
        char name[256]; /* long enough for the paths of XXH3 that gcc cannot rule out */
        int len = snprintf(name, sizeof name, "http://%x.evil.test", i);
        if (hash_bytes(name, (size_t)len) >> 58 != 5)
            continue;
        counts[hash_keyed(&key, name, (size_t)len) >> 58]++;
        found++;
    }
    for (unsigned i = 0; i < BUCKETS; i++)
        CHECK(counts[i] < NAMES / 16); /* twice the mean of 31 is six deviations away, four times never */
}

TEST(two_runs_have_different_keys)
{
    struct hash_key one, other;
    CHECK(hash_key_init(&one) == 0 && hash_key_init(&other) == 0);
    CHECK(hash_keyed(&one, "http://a.test", 13) != hash_keyed(&other, "http://a.test", 13));
    CHECK(hash_keyed(&one, "http://a.test", 13) == hash_keyed(&one, "http://a.test", 13));
}
