#include "lockfree/arena.h"
#include "tests/support/check.h"

#include <errno.h>

#define MIB ((size_t)1 << 20)

TEST(pieces_are_zero_aligned_and_apart)
{
    struct arena arena;
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = 3 * MIB}), 0);
    CHECK_INT(arena.bytes, 4 * MIB);
    CHECK_INT((uintptr_t)arena.base % (2 * MIB), 0);
    char *end = arena.base;
    for (size_t align = 1; align <= 4096; align *= 2) {
        char *piece = arena_take(&arena, 100, align);
        CHECK(piece && piece >= end && (uintptr_t)piece % align == 0);
        for (int i = 0; i < 100; i++)
            CHECK_INT(piece[i], 0);
        memset(piece, 0xff, 100);
        end = piece + 100;
    }
    arena_fini(&arena);
}

TEST(a_full_arena_gives_null_and_stays_usable)
{
    struct arena arena;
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = 1}), 0);
    CHECK_INT(arena.bytes, 2 * MIB);
    CHECK(arena_take(&arena, 2 * MIB + 1, 1) == NULL);
    CHECK(arena_take(&arena, SIZE_MAX, 64) == NULL);
    CHECK(arena_take(&arena, 2 * MIB - 10, 1) == arena.base);
    CHECK(arena_take(&arena, 11, 1) == NULL);
    CHECK(arena_take(&arena, 1, 64) == NULL);
    char *last = arena_take(&arena, 10, 1);
    CHECK(last == arena.base + 2 * MIB - 10);
    last[9] = 1;
    arena_fini(&arena);
}

TEST(more_than_the_address_space_is_refused)
{
    struct arena arena;
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = SIZE_MAX}), -ENOMEM);
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = (size_t)1 << 60}), -ENOMEM);
}

TEST(untouched_memory_is_in_no_huge_page)
{
    struct arena arena;
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = 8 * MIB}), 0);
    CHECK_INT(arena_huge_bytes(&arena), 0);
    arena_fini(&arena);
}

TEST(small_pages_stay_small)
{
    struct arena arena;
    CHECK_INT(
        arena_init(&arena, &(struct arena_options){.bytes = 8 * MIB, .small_pages = true, .populate = true}),
        0);
    CHECK_INT(arena_huge_bytes(&arena), 0);
    arena_fini(&arena);
}

TEST(huge_pages_are_counted)
{
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char setting[64] = "";
    if (!file || !fgets(setting, sizeof setting, file) || strstr(setting, "[never]"))
        SKIP("this kernel gives no huge pages");
    fclose(file);
    struct arena arena;
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = 16 * MIB, .populate = true}), 0);
    size_t huge = arena_huge_bytes(&arena);
    CHECK(huge <= 16 * MIB && huge % (2 * MIB) == 0);
    if (huge == 0)
        SKIP("the kernel had no huge page left");
    arena_fini(&arena);
}
