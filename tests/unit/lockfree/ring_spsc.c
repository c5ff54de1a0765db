#include "lockfree/ring_spsc.h"
#include "tests/support/check.h"

static LF_ISOLATED uint64_t memory[1024];
static struct ring_spsc ring;

TEST(it_holds_exactly_its_capacity)
{
    for (size_t capacity = 1; capacity <= 64; capacity *= 2) {
        CHECK_INT(ring_spsc_bytes(capacity), capacity * 8);
        ring_spsc_init(&ring, memory, capacity);
        uint64_t item = 99;
        CHECK(!ring_spsc_pop(&ring, &item) && item == 99);
        for (size_t i = 0; i < capacity; i++) {
            CHECK_INT(ring_spsc_count(&ring), i);
            CHECK(ring_spsc_push(&ring, i));
        }
        CHECK(!ring_spsc_push(&ring, 1000));
        CHECK_INT(ring_spsc_count(&ring), capacity);
        for (size_t i = 0; i < capacity; i++) {
            CHECK(ring_spsc_pop(&ring, &item));
            CHECK_INT(item, i);
        }
        CHECK(!ring_spsc_pop(&ring, &item));
    }
}

TEST(order_is_kept_round_after_round)
{
    ring_spsc_init(&ring, memory, 8);
    uint64_t in = 0, out = 0, item;
    for (unsigned step = 0; step < 10000; step++) {
        for (unsigned i = 0; i < step % 11; i++)
            in += ring_spsc_push(&ring, in);
        for (unsigned i = 0; i < step % 7; i++) {
            if (!ring_spsc_pop(&ring, &item))
                break;
            CHECK_INT(item, out++);
        }
        CHECK(in - out <= 8);
        CHECK_INT(ring_spsc_count(&ring), in - out);
    }
    CHECK(out > 20000);
}

TEST(a_batch_moves_what_fits)
{
    uint64_t items[20], got[20];
    ring_spsc_init(&ring, memory, 8);
    for (unsigned i = 0; i < 20; i++)
        items[i] = 100 + i;
    CHECK_INT(ring_spsc_push_batch(&ring, items, 0), 0);
    CHECK_INT(ring_spsc_push_batch(&ring, items, 5), 5);
    CHECK_INT(ring_spsc_push_batch(&ring, items + 5, 15), 3);
    CHECK_INT(ring_spsc_push_batch(&ring, items, 1), 0);
    CHECK_INT(ring_spsc_pop_batch(&ring, got, 0), 0);
    CHECK_INT(ring_spsc_pop_batch(&ring, got, 6), 6);
    CHECK_INT(ring_spsc_push_batch(&ring, items + 8, 6), 6);
    CHECK_INT(ring_spsc_pop_batch(&ring, got + 6, 14), 8);
    CHECK(memcmp(items, got, 14 * sizeof *items) == 0);
    CHECK_INT(ring_spsc_pop_batch(&ring, got, 1), 0);
}

TEST(batches_and_single_calls_mix)
{
    uint64_t items[5], got[5], in = 0, out = 0;
    ring_spsc_init(&ring, memory, 16);
    for (unsigned step = 0; step < 5000; step++) {
        for (unsigned i = 0; i < 5; i++)
            items[i] = in + i;
        in += step % 3 ? ring_spsc_push_batch(&ring, items, step % 6) : ring_spsc_push(&ring, in);
        size_t n = step % 2 ? ring_spsc_pop_batch(&ring, got, 5) : ring_spsc_pop(&ring, got);
        for (size_t i = 0; i < n; i++)
            CHECK_INT(got[i], out++);
    }
    CHECK(in > 5000 && in - out <= 16);
}

/* Every moment in which one side has changed a slot and not yet gone on: the count is off by that one
 * item. */
TEST(the_count_holds_in_the_middle_of_an_operation)
{
    for (size_t capacity = 1; capacity <= 4; capacity *= 2) {
        for (size_t inside = 0; inside <= capacity; inside++) {
            ring_spsc_init(&ring, memory, capacity);
            for (size_t i = 0; i < inside; i++)
                CHECK(ring_spsc_push(&ring, i));
            CHECK_INT(ring_spsc_count(&ring), inside);
            if (inside < capacity) {
                lf_store(lf_load(&ring.producer.next, relaxed), 7, relaxed);
                size_t count = ring_spsc_count(&ring);
                CHECK(count == inside || count == inside + 1);
                lf_store(lf_load(&ring.producer.next, relaxed), 0, relaxed);
            }
            if (inside > 0) {
                lf_store(lf_load(&ring.consumer.next, relaxed), 0, relaxed);
                size_t count = ring_spsc_count(&ring);
                CHECK(count == inside || count == inside - 1);
            }
        }
    }
}

TEST(every_word_but_one_can_be_an_item)
{
    const uint64_t items[] = {0, 1, UINT64_MAX - 1, UINT64_C(1) << 63, RING_SPSC_NEVER - 1};
    uint64_t item;
    ring_spsc_init(&ring, memory, 8);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(ring_spsc_push(&ring, items[i]));
        CHECK(ring_spsc_pop(&ring, &item) && item == items[i]);
    }
}

TEST(the_sides_share_no_line)
{
    CHECK(offsetof(struct ring_spsc, consumer) - offsetof(struct ring_spsc, producer) >= 128);
    CHECK_INT(sizeof(struct ring_spsc) % 128, 0);
}
