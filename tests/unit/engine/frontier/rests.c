#include "engine/frontier/rests.h"

#include "tests/support/check.h"

enum { MANY = 10000 };

static uint64_t hash_of(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15;
}

TEST(nothing_is_owed_at_first)
{
    struct rests rests = {0};
    CHECK_INT(rests_get(&rests, 7).next_ns, 0);
    rests_forget(&rests, 7);
    rests_fini(&rests);
}

/* Number 0 has the hash 0, which marks a free place. */
TEST(each_gets_its_own)
{
    struct rests rests = {0};
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(rests_put(&rests, hash_of(i), (struct rest){.next_ns = 100 + i, .failures = (uint16_t)i}));
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK_INT(rests_get(&rests, hash_of(i)).next_ns, 100 + i);
        CHECK_INT(rests_get(&rests, hash_of(i)).failures, i);
        CHECK_INT(rests_get(&rests, hash_of(MANY + i)).next_ns, 0);
    }
    CHECK_INT(rests.count, MANY);
    CHECK(rests.room * sizeof *rests.places <= (size_t)MANY * 4 * sizeof *rests.places);
    rests_fini(&rests);
}

TEST(the_longest_rest_counts)
{
    struct rests rests = {0};
    CHECK(rests_put(&rests, 7, (struct rest){.next_ns = 5}));
    CHECK(rests_put(&rests, 7, (struct rest){.next_ns = 9}));
    CHECK(rests_put(&rests, 7, (struct rest){.next_ns = 8, .failures = 1}));
    CHECK_INT(rests_get(&rests, 7).next_ns, 9);
    CHECK_INT(rests_get(&rests, 7).failures, 1);
    CHECK_INT(rests.count, 1);
    rests_fini(&rests);
}

TEST(what_was_paid_is_forgotten_and_nothing_else)
{
    struct rests rests = {0};
    /* Both want the same place. */
    CHECK(rests_put(&rests, 64, (struct rest){.next_ns = 5, .failures = 1}));
    CHECK(rests_put(&rests, 128, (struct rest){.next_ns = 6, .failures = 2}));
    rests_forget(&rests, 64);
    rests_forget(&rests, 192); /* not there */
    CHECK_INT(rests_get(&rests, 64).next_ns, 0);
    CHECK_INT(rests_get(&rests, 64).failures, 0);
    CHECK_INT(rests_get(&rests, 128).next_ns, 6);
    CHECK_INT(rests_get(&rests, 128).failures, 2);
    rests_fini(&rests);
}
