#include "engine/duplicates/near_parts.h"
#include "tests/support/check.h"

/* Whatever the memory, the sum that near_plan.c argues with holds, and the parts are all of the 64 bits. */
TEST(each_layout_covers_its_distance)
{
    for (unsigned distance = 0; distance <= NEAR_DISTANCE_MAX; distance++)
        for (uint64_t bytes = NEAR_BYTES_MIN; bytes <= NEAR_BYTES_MAX; bytes *= 2) {
            struct near_plan plan = near_plan(bytes, distance);
            unsigned width = 0, sum = 0;
            CHECK(plan.tables_count);
            for (unsigned i = 0; i < plan.tables_count; i++) {
                width += plan.width[i];
                sum += plan.radius[i] + 1;
            }
            CHECK_INT(width, 64);
            CHECK(sum > distance);
            CHECK((plan.lines_count + NEAR_HOPS_MAX) * 64 * (plan.tables_count + 1) <= bytes);
        }
}

TEST(memory_for_a_number_is_enough_and_not_too_much)
{
    const uint64_t counts[] = {10000, 1000000, 10000000, 100000000, 1000000000};
    for (unsigned distance = 0; distance <= NEAR_DISTANCE_MAX; distance++)
        for (unsigned i = 0; i < 5; i++) {
            uint64_t bytes = near_bytes_for(counts[i], distance);
            CHECK(near_plan(bytes, distance).count_max >= counts[i]);
            CHECK(bytes <= counts[i] * 64 + (1u << 18));
        }
}

TEST(probes_are_counted_by_the_bits_that_they_change)
{
    CHECK_INT(near_plan_probes(16, 0), 1);
    CHECK_INT(near_plan_probes(16, 1), 1 + 16);
    CHECK_INT(near_plan_probes(32, 2), 1 + 32 + 32 * 31 / 2);
    CHECK_INT(near_plan_probes(64, 3), 1 + 64 + 64 * 63 / 2 + 64 * 63 * 62 / 6);
    CHECK_INT(near_plan_probes(3, 3), 8);
}

/* Each change of the table's part is made once, within the part, and by no more bits than the plan says. */
static void check_probes(const struct near_table *table, unsigned width, unsigned radius)
{
    CHECK_INT(table->probes_count, near_plan_probes(width, radius));
    CHECK_INT(__builtin_popcountll(table->mask), width);
    for (uint32_t i = 0; i < table->probes_count; i++) {
        CHECK((table->probes[i] & ~table->mask) == 0);
        CHECK((unsigned)__builtin_popcountll(table->probes[i]) <= radius);
        for (uint32_t other = 0; other < i; other++)
            CHECK(table->probes[other] != table->probes[i]);
    }
}

TEST(a_query_makes_every_change_once)
{
    unsigned radius_max = 0;
    /* The larger index has parts of which two bits are changed. What of its memory is not used is not touched. */
    for (uint64_t bytes = NEAR_BYTES_MIN; bytes <= UINT64_C(1) << 29; bytes <<= 11)
        for (unsigned distance = 0; distance <= NEAR_DISTANCE_MAX; distance++) {
            struct near near;
            struct near_plan plan = near_plan(bytes, distance);
            CHECK_INT(near_init(&near, &(struct near_options){.bytes = bytes, .distance = distance}), 0);
            CHECK_INT(near.tables_count, plan.tables_count);
            for (unsigned i = 0; i < near.tables_count; i++) {
                check_probes(&near.tables[i], plan.width[i], plan.radius[i]);
                radius_max = plan.radius[i] > radius_max ? plan.radius[i] : radius_max;
            }
            near_fini(&near);
        }
    CHECK_INT(radius_max, 2);
}

/* The parts lie side by side: shifted to the left, each is at the top of a word, and together they are all bits. */
TEST(the_parts_lie_side_by_side)
{
    struct near near;
    CHECK_INT(near_init(&near, &(struct near_options){.bytes = NEAR_BYTES_MIN, .distance = 3}), 0);
    uint64_t all = 0;
    for (unsigned i = 0; i < near.tables_count; i++) {
        uint64_t bits = near.tables[i].mask >> near.tables[i].shift;
        CHECK((all & bits) == 0);
        all |= bits;
    }
    CHECK(all == UINT64_MAX);
    near_fini(&near);
}
