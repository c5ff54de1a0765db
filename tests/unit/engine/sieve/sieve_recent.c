#include "engine/sieve/sieve_recent.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

enum { MAX = 5000 };

static struct sieve_recent recent;

static void begin(void)
{
    size_t bytes = sieve_recent_bytes(MAX);
    void *memory = aligned_alloc(LF_CACHE_LINE, bytes);
    memset(memory, 0, bytes);
    sieve_recent_init(&recent, memory, bytes);
    CHECK(sieve_recent_room(&recent) >= MAX);
}

static uint64_t signature_of(uint64_t i)
{
    return i * UINT64_C(0x9E3779B97F4A7C15); /* 0 among them */
}

/* Until it is full: then sorted, and empty again. */
TEST(it_holds_what_it_has_room_for)
{
    begin();
    for (unsigned round = 0; round < 3; round++) {
        size_t count = sieve_recent_room(&recent);
        for (uint64_t i = 0; i < count; i++) {
            CHECK(!sieve_recent_has(&recent, signature_of(i)));
            CHECK(sieve_recent_add(&recent, signature_of(i)));
            CHECK(sieve_recent_has(&recent, signature_of(i)));
        }
        CHECK(!sieve_recent_add(&recent, signature_of(3)));
        CHECK_INT(sieve_recent_room(&recent), 0);
        CHECK_INT(recent.count, count);
        sieve_recent_sort(&recent);
        CHECK_INT(recent.memory[0], 0);
        for (size_t i = 1; i < count; i++)
            CHECK(recent.memory[i - 1] < recent.memory[i]);
        sieve_recent_clear(&recent);
        CHECK_INT(recent.count, 0);
    }
    free(recent.memory);
}

TEST(a_group_is_counted_as_single_ones_are)
{
    uint64_t group[SIEVE_ASK_GROUP];
    begin();
    for (uint64_t i = 0; i < SIEVE_ASK_GROUP; i++)
        group[i] = signature_of(i / 2);
    CHECK_INT(sieve_recent_add_batch(&recent, group, SIEVE_ASK_GROUP), SIEVE_ASK_GROUP / 2);
    CHECK_INT(sieve_recent_add_batch(&recent, group, SIEVE_ASK_GROUP), 0);
    CHECK_INT(recent.count, SIEVE_ASK_GROUP / 2);
    for (uint64_t i = 0; i < SIEVE_ASK_GROUP / 2; i++)
        CHECK(sieve_recent_has(&recent, signature_of(i)));
    free(recent.memory);
}
