#include "lockfree/backoff.h"
#include "lockfree/ring_mpmc.h"
#include "tests/support/check.h"

static LF_ISOLATED struct ring_mpmc_slot memory[64];
static struct ring_mpmc ring;
static struct backoff backoff;

static void start(size_t capacity)
{
    ring_mpmc_init(&ring, memory, capacity);
    backoff_init(&backoff, 1);
}

TEST(it_holds_exactly_its_capacity)
{
    for (size_t capacity = 2; capacity <= 64; capacity *= 2) {
        CHECK_INT(ring_mpmc_bytes(capacity), capacity * 16);
        start(capacity);
        uint64_t item = 99;
        CHECK(!ring_mpmc_pop(&ring, &item, &backoff) && item == 99);
        for (size_t i = 0; i < capacity; i++) {
            CHECK_INT(ring_mpmc_count(&ring), i);
            CHECK(ring_mpmc_push(&ring, i, &backoff));
        }
        CHECK(!ring_mpmc_push(&ring, 1000, &backoff));
        CHECK_INT(ring_mpmc_count(&ring), capacity);
        for (size_t i = 0; i < capacity; i++) {
            CHECK(ring_mpmc_pop(&ring, &item, &backoff));
            CHECK_INT(item, i);
        }
        CHECK(!ring_mpmc_pop(&ring, &item, &backoff));
        CHECK_INT(backoff_losses(&backoff), 0);
    }
}

TEST(order_is_kept_round_after_round)
{
    start(8);
    uint64_t in = 0, out = 0, item;
    for (unsigned step = 0; step < 10000; step++) {
        for (unsigned i = 0; i < step % 11; i++)
            in += ring_mpmc_push(&ring, in, &backoff);
        for (unsigned i = 0; i < step % 7 && ring_mpmc_pop(&ring, &item, &backoff); i++)
            CHECK_INT(item, out++);
        CHECK(in - out <= 8);
        CHECK_INT(ring_mpmc_count(&ring), in - out);
    }
    CHECK(out > 20000);
}

TEST(a_batch_moves_what_fits)
{
    uint64_t items[20], got[20];
    start(8);
    for (unsigned i = 0; i < 20; i++)
        items[i] = 100 + i;
    CHECK_INT(ring_mpmc_push_batch(&ring, items, 0, &backoff), 0);
    CHECK_INT(ring_mpmc_push_batch(&ring, items, 5, &backoff), 5);
    CHECK_INT(ring_mpmc_push_batch(&ring, items + 5, 15, &backoff), 3);
    CHECK_INT(ring_mpmc_push_batch(&ring, items, 1, &backoff), 0);
    CHECK_INT(ring_mpmc_pop_batch(&ring, got, 0, &backoff), 0);
    CHECK_INT(ring_mpmc_pop_batch(&ring, got, 6, &backoff), 6);
    CHECK_INT(ring_mpmc_push_batch(&ring, items + 8, 6, &backoff), 6);
    CHECK_INT(ring_mpmc_pop_batch(&ring, got + 6, 14, &backoff), 8);
    CHECK(memcmp(items, got, 14 * sizeof *items) == 0);
    CHECK_INT(ring_mpmc_pop_batch(&ring, got, 1, &backoff), 0);
    CHECK_INT(backoff_losses(&backoff), 0);
}

/* A position that was claimed and not filled (its producer was stopped) blocks what comes behind it, and is
 * answered, not waited for. Then it is filled, and all comes out in order. */
TEST(a_stopped_producer_blocks_its_position_and_no_caller)
{
    uint64_t item, got[4];
    start(4);
    CHECK(ring_mpmc_push(&ring, 10, &backoff));
    uint64_t position = lf_fetch_add(&ring.tail, 1, relaxed);
    CHECK(ring_mpmc_push(&ring, 12, &backoff));
    CHECK(ring_mpmc_pop(&ring, &item, &backoff) && item == 10);
    CHECK(!ring_mpmc_pop(&ring, &item, &backoff));
    CHECK_INT(ring_mpmc_pop_batch(&ring, got, 4, &backoff), 0);
    CHECK(ring_mpmc_push(&ring, 13, &backoff) && ring_mpmc_push(&ring, 14, &backoff));
    CHECK(!ring_mpmc_push(&ring, 15, &backoff));
    lf_store(&memory[position].item, 11, relaxed);
    lf_store(&memory[position].turn, position + 1, release);
    CHECK_INT(ring_mpmc_pop_batch(&ring, got, 4, &backoff), 4);
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(got[i], 11 + i);
}

/* Producers go by their last look at the head until it says full, and take another then. */
TEST(an_old_look_at_the_head_is_renewed)
{
    uint64_t items[4] = {1, 2, 3, 4}, item;
    start(4);
    CHECK_INT(ring_mpmc_push_batch(&ring, items, 4, &backoff), 4);
    CHECK(!ring_mpmc_push(&ring, 5, &backoff));
    CHECK(ring_mpmc_pop(&ring, &item, &backoff) && item == 1);
    CHECK_INT(lf_load(&ring.head_seen, relaxed), 0);
    CHECK(ring_mpmc_push(&ring, 5, &backoff));
    CHECK_INT(lf_load(&ring.head_seen, relaxed), 1);
    CHECK(!ring_mpmc_push(&ring, 6, &backoff));
    for (uint64_t i = 2; i <= 5; i++)
        CHECK(ring_mpmc_pop(&ring, &item, &backoff) && item == i);
}

TEST(the_indices_share_no_line)
{
    CHECK(offsetof(struct ring_mpmc, head) - offsetof(struct ring_mpmc, tail) >= 128);
    CHECK(offsetof(struct ring_mpmc, slots) - offsetof(struct ring_mpmc, head) >= 128);
}
