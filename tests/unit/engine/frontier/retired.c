#include "engine/frontier/retired.h"

#include "tests/support/check.h"

static struct arena arena;
static struct retired retired;

static void begin(uint32_t hosts_max)
{
    CHECK_INT(arena_init(&arena, &(struct arena_options){.bytes = retired_bytes(hosts_max)}), 0);
    retired_init(&retired, &arena, hosts_max);
}

TEST(what_was_put_is_remembered)
{
    begin(1000);
    uint64_t hash = 0x123456789abcdef0;
    CHECK_INT(retired_get(&retired, hash).share, 0);
    retired_put(&retired, hash, (struct retired_host){.dead_why = 7});
    CHECK_INT(retired_get(&retired, hash).dead_why, 7);
    CHECK_INT(retired_get(&retired, hash ^ 1ull << 40).dead_why, 0); /* its neighbour in the line */
    retired_put(&retired, hash, (struct retired_host){.share = RETIRED_SHARE_WHOLE});
    CHECK_INT(retired_get(&retired, hash).dead_why, 0);
    CHECK_INT(retired_get(&retired, hash).share, RETIRED_SHARE_WHOLE);
    arena_fini(&arena);
}

TEST(a_full_table_forgets_the_older)
{
    begin(16);
    for (uint64_t i = 1; i <= 100000; i++) {
        retired_put(&retired, i * 0x9e3779b97f4a7c15, (struct retired_host){.dead_why = 3});
        CHECK_INT(retired_get(&retired, i * 0x9e3779b97f4a7c15).dead_why, 3);
    }
    arena_fini(&arena);
}

/* A limit of pages holds over any number of retirements. */
TEST(a_share_never_gives_anything_back)
{
    static const uint64_t limits[] = {1, 2, 3, 10, 1000, 999983, 1000000000000};
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t max = limits[i], step = max / 1000 + 1;
        for (uint64_t used = 0; used <= max + step; used += step) {
            uint64_t back = retired_used(retired_share(used, max), max);
            CHECK(back >= (used < max ? used : max));
            CHECK(back <= used + max / (1 << 22) + 1);
        }
    }
    CHECK_INT(retired_share(5, 0), 0);
}
