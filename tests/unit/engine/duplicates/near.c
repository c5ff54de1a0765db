/* Against brute force: for every distance, with random fingerprints and with such as lie as near to each
 * other as can be. */
#include "engine/duplicates/near.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "engine/duplicates/near_parts.h"
#include "tests/support/check.h"

static uint64_t seed = 1;

static uint64_t draw(void)
{
    uint64_t mixed = seed += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* With `bits` different bits changed. */
static uint64_t change(uint64_t fingerprint, unsigned bits)
{
    uint64_t mask = 0;
    while ((unsigned)__builtin_popcountll(mask) < bits)
        mask |= UINT64_C(1) << draw() % 64;
    return fingerprint ^ mask;
}

/* What the index is expected to hold. */
struct held {
    uint64_t *fingerprints, *urls;
    size_t count;
};

static unsigned nearest(const struct held *held, uint64_t fingerprint)
{
    unsigned least = 64;
    for (size_t i = 0; i < held->count; i++) {
        unsigned distance = (unsigned)__builtin_popcountll(held->fingerprints[i] ^ fingerprint);
        least = distance < least ? distance : least;
    }
    return least;
}

static bool has_url(const struct held *held, const struct near_match *match)
{
    for (size_t i = 0; i < held->count; i++)
        if (held->fingerprints[i] == match->fingerprint && held->urls[i] == match->url)
            return true;
    return false;
}

/* Adds one and checks the answer; finds it, too. */
static void add_checked(struct near *near, struct held *held, uint64_t fingerprint)
{
    struct near_match match = {0}, found = {0};
    unsigned expected = nearest(held, fingerprint);
    uint64_t url = draw();
    bool is_near = expected <= near->distance;
    CHECK_INT(near_find(near, fingerprint, &found), is_near);
    CHECK_INT(near_add(near, fingerprint, url, &match), is_near);
    if (is_near) {
        CHECK_INT(match.distance, expected);
        CHECK_INT(found.distance, expected);
        CHECK_INT(__builtin_popcountll(match.fingerprint ^ fingerprint), expected);
        CHECK(has_url(held, &match));
    } else {
        held->fingerprints[held->count] = fingerprint;
        held->urls[held->count++] = url;
        CHECK(near_add(near, fingerprint, url, NULL));
    }
}

/* Where the next fingerprint comes from: anywhere, or some bits away from one that is held, or from a small part of
 * all. */
static uint64_t next_fingerprint(const struct held *held, unsigned distance)
{
    unsigned kind = (unsigned)(draw() % 4);
    if (kind == 0 || held->count == 0)
        return draw();
    if (kind == 1)
        return draw() & UINT64_C(0xFF000FF0000FF000);
    return change(held->fingerprints[draw() % held->count], (unsigned)(draw() % (distance + 3)));
}

static void check_recall(unsigned distance, enum near_way way, size_t count)
{
    struct near near;
    struct held held = {malloc(count * 8), malloc(count * 8), 0};
    CHECK_INT(near_init(&near, &(struct near_options){.bytes = 1u << 21, .distance = distance}), 0);
    CHECK(near_count_max(&near) > count);
    near.way = way < near.way ? way : near.way;
    for (size_t i = 0; i < count; i++)
        add_checked(&near, &held, next_fingerprint(&held, distance));
    CHECK_INT(near_count(&near), held.count);
    CHECK_INT(near_dropped(&near), 0);
    CHECK_INT(near_refused(&near), 0);
    near_fini(&near);
    free(held.fingerprints);
    free(held.urls);
}

TEST(nothing_within_the_distance_is_missed)
{
    for (unsigned distance = 0; distance <= NEAR_DISTANCE_MAX; distance++)
        for (enum near_way way = NEAR_PLAIN; way <= NEAR_AVX512; way++)
            check_recall(distance, way, 4000);
}

/* The more there are to hold, the fewer tables: what takes least time was measured (bench/README.md). */
TEST(the_layout_follows_the_number)
{
    static const struct {
        uint64_t count;
        unsigned tables;
    } rows[] = {{300000, 4}, {1200000, 3}, {3000000, 3}, {10000000, 3}, {20000000, 2}, {30000000, 2}, {100000000, 2}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(near_plan(near_bytes_for(rows[i].count, 3), 3).tables_count, rows[i].tables);
    CHECK_INT(near_plan(64 << 20, 3).tables_count, 3); /* the default memory */
}

/* Every pattern of up to three changed bits, around one fingerprint among others. */
TEST(every_pattern_of_three_bits_is_found)
{
    struct near near;
    struct near_match match;
    uint64_t centre = draw();
    CHECK_INT(near_init(&near, &(struct near_options){.bytes = 1u << 22, .distance = 3}), 0);
    CHECK(!near_add(&near, centre, 4711, &match));
    for (unsigned i = 0; i < 10000; i++)
        near_add(&near, draw(), i, NULL);
    for (unsigned a = 0; a < 64; a++)
        for (unsigned b = a; b < 64; b++)
            for (unsigned c = b; c < 64; c++) {
                uint64_t mask = UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c;
                CHECK(near_find(&near, centre ^ mask, &match));
                CHECK_INT(match.distance, __builtin_popcountll(mask));
                CHECK_INT(match.url, 4711);
            }
    near_fini(&near);
}

/* The oldest generation goes as a whole, and everything else stays. */
TEST(full_memory_drops_the_oldest_generation)
{
    struct near near;
    CHECK_INT(near_init(&near, &(struct near_options){.bytes = NEAR_BYTES_MIN, .distance = 3}), 0);
    uint64_t generation = near_count_max(&near) / NEAR_GENERATIONS, many = 40 * near_count_max(&near);
    uint64_t *all = malloc(many * 8);
    uint64_t count = 0;
    while (count < many) {
        uint64_t fingerprint = draw();
        if (near_add(&near, fingerprint, count, NULL))
            continue;
        all[count++] = fingerprint;
        uint64_t dropped = near_dropped(&near);
        CHECK_INT(near_count(&near) + dropped, count);
        CHECK_INT(dropped % generation, 0);
        CHECK(near_count(&near) <= near_count_max(&near));
        CHECK(count < near_count_max(&near) || near_count(&near) >= near_count_max(&near) - generation);
        if (count % generation)
            continue;
        for (uint64_t i = 0; i < count; i++) {
            struct near_match match;
            bool found = near_find(&near, all[i], &match);
            CHECK(found == (i >= dropped) || (found && match.distance)); /* another may be near by chance */
            CHECK(!found || match.distance || match.url == i);
        }
    }
    CHECK_INT(near_refused(&near), 0);
    CHECK(near_dropped(&near) > 38 * near_count_max(&near));
    near_fini(&near);
    free(all);
}

/* All agree in three quarters of their bits: the lines within reach are filled, the others are refused and counted,
 * and those that are held are found. */
TEST(a_flood_of_one_line_is_bounded)
{
    struct near near;
    struct near_match match;
    CHECK_INT(near_init(&near, &(struct near_options){.bytes = 1u << 22, .distance = 0}), 0);
    uint64_t tried = 2 * (NEAR_HOPS_MAX + 1) * NEAR_CELLS;
    for (uint64_t i = 0; i < tried; i++)
        CHECK(!near_add(&near, UINT64_C(0x123456789ABC0000) + i, i, NULL));
    CHECK_INT(near_count(&near), tried / 2);
    CHECK_INT(near_refused(&near), tried / 2);
    for (uint64_t i = 0; i < tried / 2; i++) {
        CHECK(near_find(&near, UINT64_C(0x123456789ABC0000) + i, &match));
        CHECK_INT(match.url, i);
    }
    CHECK(!near_add(&near, draw(), 1, NULL));
    near_fini(&near);
}

TEST(memory_that_is_not_there_is_an_error)
{
    struct near near;
    struct rlimit before, little = {.rlim_cur = 1u << 20};
    CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
    little.rlim_max = before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_AS, &little), 0);
    int error = near_init(&near, &(struct near_options){.bytes = UINT64_C(1) << 36, .distance = 3});
    CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
    CHECK_INT(error, -ENOMEM);
}
