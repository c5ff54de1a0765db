#include "engine/sieve/sieve_list.h"

#include "lockfree/arena.h"
#include "tests/support/check.h"

enum { MAX = 1000 };

static struct arena arena;
static struct sieve_list list;

static void begin(void)
{
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = sieve_list_bytes(MAX)}), 0);
    sieve_list_init(&list, &arena, MAX);
    CHECK(list.words && list.taken);
}

TEST(each_is_taken_once)
{
    begin();
    for (unsigned round = 0; round < 2; round++) { /* the second time after it was cleared */
        for (uint64_t i = 0; i < MAX; i++)
            sieve_list_push(&list, i * 7919 % 500 * 3);
        sieve_list_sort(&list);
        CHECK_INT(list.count, 500);
        for (uint64_t i = 0; i < 1500; i++)
            CHECK_INT(sieve_list_take(&list, i), i % 3 == 0);
        for (uint64_t i = 0; i < 1500; i++)
            CHECK(!sieve_list_take(&list, i));
        sieve_list_clear(&list);
        CHECK_INT(list.count, 0);
    }
    arena_fini(&arena);
}

TEST(nothing_is_in_an_empty_list)
{
    begin();
    sieve_list_sort(&list);
    CHECK(!sieve_list_take(&list, 0));
    CHECK(!sieve_list_take(&list, UINT64_MAX));
    sieve_list_push(&list, UINT64_MAX);
    sieve_list_sort(&list);
    CHECK(!sieve_list_take(&list, 0));
    CHECK(sieve_list_take(&list, UINT64_MAX));
    arena_fini(&arena);
}
